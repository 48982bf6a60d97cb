// Conversion of arrays between the caller's layout and the kernels' layout.
#pragma once

#include "plan.h"

namespace ntm::NTM_TARGET {

// Memories: (N, M) for the caller, panels for the kernels.
template <typename T>
void panels_in(T* memory, const T* plain, const Plan& plan) {
  if (plan.row > plan.locations) std::fill_n(memory + (plan.row - kPanel) * plan.width, kPanel * plan.width, T(0));
  for (Index n = 0; n < plan.locations; n += kPanel)
    transpose_to_panel(memory + n * plan.width, plain + n * plan.width, plan.width,
                       std::min(kPanel, plan.locations - n), plan.width);
}

template <typename T>
void panels_out(T* plain, const T* memory, const Plan& plan) {
  for (Index n = 0; n < plan.locations; n += kPanel)
    transpose(plain + n * plan.width, plan.width, memory + n * plan.width, kPanel, plan.width,
              std::min(kPanel, plan.locations - n));
}

// Rows: `length` elements for the caller, padded with zeros to `row` for the kernels. A null source
// means zeros.
template <typename T>
void pad_rows(T* rows, const T* plain, Index count, Index length, Index row) {
  for (Index i = 0; i < count; ++i) {
    std::fill(rows + i * row, rows + (i + 1) * row, T(0));
    if (plain) std::copy(plain + i * length, plain + (i + 1) * length, rows + i * row);
  }
}

template <typename T>
void strip_rows(T* plain, const T* rows, Index count, Index length, Index row) {
  for (Index i = 0; i < count; ++i) std::copy(rows + i * row, rows + i * row + length, plain + i * length);
}

// Convert the state of sequence b between the caller's layout and the kernels' layout. A null part
// of the caller's state means zeros.
template <typename T>
void state_in(const MutableState<T>& to, const State<T>& from, Index b, const Plan& plan) {
  for (int part = 0; part < kParts; ++part) {
    const Shape shape = plan.parts[part];
    const T* plain = from[part] ? from[part] + b * shape.size() : nullptr;
    if (part != kMemory)
      pad_rows(to[part], plain, shape.rows, shape.columns, plan.part_strides[part]);
    else if (plain)
      panels_in(to[part], plain, plan);
    else
      std::fill_n(to[part], plan.memory_size(), T(0));
  }
}

template <typename T>
void state_out(const MutableState<T>& to, Index b, const State<T>& from, const Plan& plan) {
  for (int part = 0; part < kParts; ++part) {
    const Shape shape = plan.parts[part];
    T* plain = to[part] + b * shape.size();
    if (part == kMemory)
      panels_out(plain, from[part], plan);
    else
      strip_rows(plain, from[part], shape.rows, shape.columns, plan.part_strides[part]);
  }
}

}  // namespace ntm::NTM_TARGET

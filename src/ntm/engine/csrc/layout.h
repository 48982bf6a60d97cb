// Arrays as the caller holds them, to and from the layout that the kernels use.
#pragma once

#include "plan.h"

namespace ntm::NTM_TARGET {

// (N, M) as the caller holds a memory, to and from panels, as the kernels do.
template <typename T>
void panels_in(T* memory, const T* plain, const Plan& plan) {
  for (Index n = 0; n < plan.row; ++n)
    for (Index m = 0; m < plan.width; ++m)
      memory[(n / kPanel * plan.width + m) * kPanel + n % kPanel] =
          n < plan.locations ? plain[n * plan.width + m] : T(0);
}

template <typename T>
void panels_out(T* plain, const T* memory, const Plan& plan) {
  for (Index n = 0; n < plan.locations; ++n)
    for (Index m = 0; m < plan.width; ++m)
      plain[n * plan.width + m] = memory[(n / kPanel * plan.width + m) * kPanel + n % kPanel];
}

// Rows of N elements to and from rows padded with zeros. A null source stands for zeros.
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

// The part of `pointer` that belongs to one sequence; null stays null.
template <typename Pointer>
Pointer slice(Pointer pointer, Index sequence, Index size) {
  return pointer ? pointer + sequence * size : nullptr;
}

}  // namespace ntm::NTM_TARGET

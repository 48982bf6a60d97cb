// Sections 3.1 and 3.2 on one sequence: read, erase, add; each forward next to its backward.
//
// A memory is held transposed, (M x row): value m of all locations is contiguous, and the locations are what
// vectors run over. Columns from N to row are zero.
#pragma once

#include "plan.h"

namespace ntm::NTM_TARGET {

template <typename T>
using Scratch = std::vector<T>;

// Calls function(count), with the count known at compile time where it is small, as it mostly is.
template <typename Function>
void with_count(Index count, const Function& function) {
  if (count == 1)
    function(std::integral_constant<Index, 1>{});
  else if (count == 2)
    function(std::integral_constant<Index, 2>{});
  else
    function(count);
}

// result[h, m] = sum over n of a[h, n] b[m, n]
template <typename T>
void row_products(T* __restrict result, Index result_stride, const T* __restrict a, Index heads, const T* __restrict b,
                  Index width, Index row) {
  constexpr Index lanes = kLanes<T>, block = 4;
  for (Index h = 0; h < heads; ++h, a += row, result += result_stride) {
    Index m = 0;
    for (; m + block <= width; m += block) {
      Vec<T> sum[block] = {};
      for (Index n = 0; n < row; n += lanes)
        for (Index i = 0; i < block; ++i) sum[i] += load(a + n) * load(b + (m + i) * row + n);
      for (Index i = 0; i < block; ++i) result[m + i] = sum_of<T>(sum[i]);
    }
    for (; m < width; ++m) {
      Vec<T> sum = {};
      for (Index n = 0; n < row; n += lanes) sum += load(a + n) * load(b + m * row + n);
      result[m] = sum_of<T>(sum);
    }
  }
}

// Equation 2: reads (heads x M).
template <typename T>
void read(T* reads, const T* weightings, const T* memory, const Plan& plan) {
  row_products(reads, plan.width, weightings, plan.read_heads, memory, plan.width, plan.row);
}

// dweightings (heads x row) += dreads memory. The memory's own gradient is `memory_gradient`'s business.
template <typename T>
void read_backward(T* dweightings, const T* dreads, const T* memory, const Plan& plan) {
  multiply<T>(dweightings, plan.row, {dreads, plan.width, 1}, rows_of(memory, plan.row), plan.read_heads, plan.row,
              plan.width, From::result);
}

// 1 / |M(i)| of every location, with the epsilon of equation 6.
template <typename T>
void inverse_norms(T* result, const T* memory, const Plan& plan) {
  constexpr Index lanes = kLanes<T>;
  for (Index n = 0; n < plan.row; n += lanes) {
    Vec<T> squares = {};
    for (Index m = 0; m < plan.width; ++m) {
      const Vec<T> value = load(memory + m * plan.row + n);
      squares += value * value;
    }
    store<T>(result + n, T(1) / sqrt<T>(squares + T(plan.similarity_epsilon)));
  }
}

// Equations 3 and 4: memory = previous * product of (1 - w e) + sum of w a, over the write heads.
// `heads` points to the squashed values of the first write head.
template <typename T>
void write(T* __restrict memory, const T* __restrict previous, const T* __restrict weightings,
           const T* __restrict heads, const Plan& plan) {
  constexpr Index lanes = kLanes<T>;
  const HeadLayout at = plan.write.squashed;
  const Index row = plan.row;
  with_count(plan.write_heads, [=](auto count) {
    for (Index m = 0; m < plan.width; ++m)
      for (Index n = 0; n < row; n += lanes) {
        Vec<T> kept = load(previous + m * row + n), added = {};
        for (Index h = 0; h < count; ++h) {
          const Vec<T> weighting = load(weightings + h * row + n);
          kept *= T(1) - weighting * heads[h * at.size + at.erase + m];
          added += weighting * heads[h * at.size + at.add + m];
        }
        store<T>(memory + m * row + n, kept + added);
      }
  });
}

// dmemory becomes the gradient of `previous`; dweightings += ; derase and dadd (heads x M) =
// `room` has space for three vectors per head.
template <typename T>
void write_backward(T* __restrict dmemory, T* __restrict dweightings, T* __restrict derase, T* __restrict dadd,
                    const T* __restrict previous, const T* __restrict weightings, const T* __restrict heads,
                    const Plan& plan, Vec<T>* __restrict room) {
  constexpr Index lanes = kLanes<T>;
  const HeadLayout at = plan.write.squashed;
  const Index row = plan.row, width = plan.width;
  with_count(plan.write_heads, [=](auto count) {
    Vec<T> few[3 * 2];  // stays in registers, unlike the room that any number of heads needs
    Vec<T>* const before = std::is_integral_v<decltype(count)> ? room : few;
    Vec<T>*const erase_sum = before + count, *const add_sum = erase_sum + count;
    for (Index m = 0; m < width; ++m) {
      for (Index h = 0; h < count; ++h) erase_sum[h] = add_sum[h] = Vec<T>{};
      for (Index n = 0; n < row; n += lanes) {
        const Vec<T> d = load(dmemory + m * row + n);
        Vec<T> kept = load(previous + m * row + n);
        for (Index h = 0; h < count; ++h) {  // what is left of the value when head h's turn to erase comes
          before[h] = kept;
          kept *= T(1) - load(weightings + h * row + n) * heads[h * at.size + at.erase + m];
        }
        Vec<T> dkept = d;  // gradient of what is left after head h
        for (Index h = count - 1; h >= 0; --h) {
          const Vec<T> weighting = load(weightings + h * row + n);
          const T erase = heads[h * at.size + at.erase + m], add = heads[h * at.size + at.add + m];
          const Vec<T> lost = dkept * before[h];
          erase_sum[h] -= lost * weighting;
          add_sum[h] += d * weighting;
          T* dweighting = dweightings + h * row + n;
          store<T>(dweighting, load(dweighting) + d * add - lost * erase);
          dkept *= T(1) - weighting * erase;
        }
        store<T>(dmemory + m * row + n, dkept);
      }
      for (Index h = 0; h < count; ++h) {
        derase[h * width + m] = sum_of<T>(erase_sum[h]);
        dadd[h * width + m] = sum_of<T>(add_sum[h]);
      }
    }
  });
}

// dmemory += a sum of outer products (columns[j] over m) x (rows[j] over n), minus memory scaled per location.
template <typename T>
void memory_gradient(T* __restrict dmemory, const T* __restrict memory, const T* __restrict scale,
                     const T* __restrict columns, const T* __restrict rows, Index terms, const Plan& plan) {
  constexpr Index lanes = kLanes<T>;
  const Index row = plan.row, width = plan.width;
  with_count(terms, [=](auto count) {
    for (Index m = 0; m < width; ++m)
      for (Index n = 0; n < row; n += lanes) {
        Vec<T> d = load(dmemory + m * row + n) - load(memory + m * row + n) * load(scale + n);
        for (Index j = 0; j < count; ++j) d += columns[j * width + m] * load(rows + j * row + n);
        store<T>(dmemory + m * row + n, d);
      }
  });
}

}  // namespace ntm::NTM_TARGET

// Sections 3.1 and 3.2 on one sequence: read, erase, add; each forward next to its backward.
//
// A memory is held transposed, (M x row): value m of all locations is contiguous, and the locations are what
// vectors run over. Columns from N to row are zero.
#pragma once

#include "plan.h"

namespace ntm::NTM_TARGET {

template <typename T>
using Scratch = std::vector<T>;

// Passes over a whole memory take a block of locations at a time, whose weightings and sums stay in registers while
// the values of the block go by. Calls pass(count, n) for each block of `vectors` vectors, beginning at location n, with
// the number of heads (or terms) known at compile time where it is small, as it mostly is.
template <typename T, typename Pass>
void for_each_block(Index row, Index count, const Pass& pass) {
  constexpr int panel = kPanel / kLanes<T>;
  const auto run = [&](auto vectors, auto heads) {
    for (Index n = 0; n < row; n += vectors * kLanes<T>) pass(vectors, heads, n);
  };
  const auto choose = [&](auto vectors) {
    if (count == 1)
      run(vectors, std::integral_constant<Index, 1>{});
    else if (count == 2)
      run(vectors, std::integral_constant<Index, 2>{});
    else
      run(vectors, count);
  };
  if (row % (2 * kPanel) == 0)
    choose(std::integral_constant<int, 2 * panel>{});
  else
    choose(std::integral_constant<int, panel>{});
}

// Asks for a memory that will be needed soon: it comes from the tape, far away in the caches, and the blocks above
// are not read in an order that the processor foresees. As much of it as the nearest cache can take.
template <typename T>
void prefetch(const T* memory, const Plan& plan) {
  constexpr Index line = 64 / sizeof(T), most = 16384 / sizeof(T);
  const Index count = std::min(plan.width * plan.row, most);
  for (Index i = 0; i < count; i += line) __builtin_prefetch(memory + i, 1);
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

// 1 / |M(i)| from the squared norm, with the epsilon of equation 6.
template <typename T>
Vec<T> inverse_norm(Vec<T> squares, const Plan& plan) {
  return T(1) / sqrt<T>(squares + T(plan.similarity_epsilon));
}

template <typename T>
void inverse_norms(T* result, const T* memory, const Plan& plan) {
  for (Index n = 0; n < plan.row; n += kLanes<T>) {
    Vec<T> squares = {};
    for (Index m = 0; m < plan.width; ++m) {
      const Vec<T> value = load(memory + m * plan.row + n);
      squares += value * value;
    }
    store<T>(result + n, inverse_norm<T>(squares, plan));
  }
}

template <typename T, int vectors, typename Count>
inline void write_block(Count count, T* __restrict memory, T* __restrict norms, const T* __restrict previous,
                        const T* __restrict weightings, const T* __restrict heads, const Plan& plan) {
  constexpr Index lanes = kLanes<T>;
  const HeadLayout at = plan.write.squashed;
  const Index row = plan.row, width = plan.width;
  Vec<T> squares[vectors] = {};
  for (Index m = 0; m < width; ++m)
    for (int v = 0; v < vectors; ++v) {
      Vec<T> kept = load(previous + m * row + v * lanes), added = {};
      for (Index h = 0; h < count; ++h) {
        const Vec<T> weighting = load(weightings + h * row + v * lanes);
        kept *= T(1) - weighting * heads[h * at.size + at.erase + m];
        added += weighting * heads[h * at.size + at.add + m];
      }
      kept += added;
      squares[v] += kept * kept;
      store<T>(memory + m * row + v * lanes, kept);
    }
  for (int v = 0; v < vectors; ++v) store<T>(norms + v * lanes, inverse_norm<T>(squares[v], plan));
}

// Equations 3 and 4: memory = previous * product of (1 - w e) + sum of w a, over the write heads; and 1 / |M(i)|.
// `heads` points to the squashed values of the first write head.
template <typename T>
void write(T* memory, T* norms, const T* previous, const T* weightings, const T* heads, const Plan& plan) {
  for_each_block<T>(plan.row, plan.write_heads, [&](auto vectors, auto count, Index n) {
    write_block<T, vectors>(count, memory + n, norms + n, previous + n, weightings + n, heads, plan);
  });
}

// `room` has space for a vector per head; the sums over the locations are gathered in erase_sums and add_sums, a
// vector per head and value.
template <typename T, int vectors, typename Count>
inline void write_block_backward(Count count, T* __restrict dmemory, T* __restrict dweightings,
                                 Vec<T>* __restrict erase_sums, Vec<T>* __restrict add_sums,
                                 const T* __restrict previous, const T* __restrict weightings,
                                 const T* __restrict heads, const Plan& plan, Vec<T>* __restrict room) {
  constexpr Index lanes = kLanes<T>;
  constexpr bool few = !std::is_integral_v<Count>;
  const HeadLayout at = plan.write.squashed;
  const Index row = plan.row, width = plan.width;
  Vec<T> dweighting[few ? 2 : 1][vectors], before_few[2];  // in registers, where there are few heads
  Vec<T>* const before = few ? before_few : room;
  if constexpr (few)
    for (Index h = 0; h < count; ++h)
      for (int v = 0; v < vectors; ++v) dweighting[h][v] = load(dweightings + h * row + v * lanes);
  for (Index m = 0; m < width; ++m)
    for (int v = 0; v < vectors; ++v) {
      const Vec<T> d = load(dmemory + m * row + v * lanes);
      Vec<T> kept = load(previous + m * row + v * lanes);
      for (Index h = 0; h < count; ++h) {  // what is left of the value when head h's turn to erase comes
        before[h] = kept;
        kept *= T(1) - load(weightings + h * row + v * lanes) * heads[h * at.size + at.erase + m];
      }
      Vec<T> dkept = d;  // gradient of what is left after head h
      for (Index h = count - 1; h >= 0; --h) {
        const Vec<T> weighting = load(weightings + h * row + v * lanes);
        const T erase = heads[h * at.size + at.erase + m], add = heads[h * at.size + at.add + m];
        const Vec<T> lost = dkept * before[h];
        erase_sums[h * width + m] -= lost * weighting;
        add_sums[h * width + m] += d * weighting;
        if constexpr (few) {
          dweighting[h][v] += d * add - lost * erase;
        } else {
          T* to = dweightings + h * row + v * lanes;
          store<T>(to, load(to) + d * add - lost * erase);
        }
        dkept *= T(1) - weighting * erase;
      }
      store<T>(dmemory + m * row + v * lanes, dkept);
    }
  if constexpr (few)
    for (Index h = 0; h < count; ++h)
      for (int v = 0; v < vectors; ++v) store<T>(dweightings + h * row + v * lanes, dweighting[h][v]);
}

// dmemory becomes the gradient of `previous`; dweightings += ; derase and dadd (heads x M) =
// `room` has space for 1 + 2 M vectors per head.
template <typename T>
void write_backward(T* dmemory, T* dweightings, T* derase, T* dadd, const T* previous, const T* weightings,
                    const T* heads, const Plan& plan, Vec<T>* room) {
  const Index sums = plan.write_heads * plan.width;
  Vec<T>*erase_sums = room + plan.write_heads, *add_sums = erase_sums + sums;
  std::fill(erase_sums, erase_sums + 2 * sums, Vec<T>{});
  for_each_block<T>(plan.row, plan.write_heads, [&](auto vectors, auto count, Index n) {
    write_block_backward<T, vectors>(count, dmemory + n, dweightings + n, erase_sums, add_sums, previous + n,
                                     weightings + n, heads, plan, room);
  });
  for (Index i = 0; i < sums; ++i) {
    derase[i] = sum_of<T>(erase_sums[i]);
    dadd[i] = sum_of<T>(add_sums[i]);
  }
}

template <typename T, int vectors, typename Count>
inline void memory_gradient_block(Count count, T* __restrict dmemory, const T* __restrict memory,
                                  const T* __restrict scale, const T* __restrict columns, const T* __restrict rows,
                                  const Plan& plan) {
  constexpr Index lanes = kLanes<T>;
  const Index row = plan.row, width = plan.width;
  for (Index m = 0; m < width; ++m)
    for (int v = 0; v < vectors; ++v) {
      const Index at = m * row + v * lanes;
      Vec<T> d = load(dmemory + at) - load(memory + at) * load(scale + v * lanes);
      for (Index j = 0; j < count; ++j) d += columns[j * width + m] * load(rows + j * row + v * lanes);
      store<T>(dmemory + at, d);
    }
}

// dmemory += a sum of outer products (columns[j] over m) x (rows[j] over n), minus memory scaled per location.
template <typename T>
void memory_gradient(T* dmemory, const T* memory, const T* scale, const T* columns, const T* rows, Index terms,
                     const Plan& plan) {
  for_each_block<T>(plan.row, terms, [&](auto vectors, auto count, Index n) {
    memory_gradient_block<T, vectors>(count, dmemory + n, memory + n, scale + n, columns, rows + n, plan);
  });
}

}  // namespace ntm::NTM_TARGET

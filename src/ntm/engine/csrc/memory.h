// Sections 3.1 and 3.2 for one sequence: read, erase, add; each forward next to its backward.
//
// A memory is stored in panels of 16 locations, (panels x M x 16). Vectors run over the locations,
// and a pass over a memory of any size reads one contiguous range of addresses. Locations from N to
// row are zero.
#pragma once

#include "plan.h"

namespace ntm::NTM_TARGET {

// A memory as the right factor of a product: its values are the depth, its locations the columns.
template <typename T>
Right<T> panels_of(const T* memory, const Plan& plan) {
  return {memory, kPanel, plan.width * kPanel};
}

// Return the offset of value m, for the locations of vector v, within a block of locations.
template <typename T>
constexpr Index place(Index m, int v, Index width) {
  constexpr int per_panel = kPanel / kLanes<T>;
  return (v / per_panel * width + m) * kPanel + v % per_panel * kLanes<T>;
}

// Panels per block of the passes below. In a browser, registers cannot hold the sums of two.
#if defined(__wasm__)
constexpr Index kBlockPanels = 1;
#else
constexpr Index kBlockPanels = 2;
#endif

// Pass over the locations [from, to) of a memory in blocks: the weightings and sums of a block stay in
// registers while the pass reads the block's values. Calls pass(vectors, reads, writes, n) for each
// block of `vectors` vectors from location n on. With one read head and one write head, the usual
// case, `reads` and `writes` are compile-time constants.
template <typename T, typename Pass>
void for_each_block(const Plan& plan, Index from, Index to, const Pass& pass) {
  constexpr int panel = kPanel / kLanes<T>;
  const auto run = [&](auto vectors, auto reads, auto writes) {
    for (Index n = from; n < to; n += vectors * kLanes<T>) pass(vectors, reads, writes, n);
  };
  const auto choose = [&](auto vectors) {
    constexpr std::integral_constant<Index, 1> one;
    if (plan.read_heads == 1 && plan.write_heads == 1)
      run(vectors, one, one);
    else
      run(vectors, plan.read_heads, plan.write_heads);
  };
  if ((to - from) % (kBlockPanels * kPanel) == 0)
    choose(std::integral_constant<int, kBlockPanels * panel>{});
  else
    choose(std::integral_constant<int, panel>{});
}

// result (heads x M): the sum over the locations n of weights[h, n] times M(n).
template <typename T>
void weighted_sums(T* __restrict result, const T* __restrict weights, Index heads, const T* __restrict memory,
                   const Plan& plan) {
  const Index width = plan.width, row = plan.row;
  for (Index h = 0; h < heads; ++h, weights += row, result += width) {
    Index m = 0;
    const auto run = [&](auto block) {
      for (; m + block <= width; m += block) {
        Vec<T> sum[block] = {};
        for (Index n = 0; n < row; n += kPanel)
          for (int v = 0; v < kPanel / kLanes<T>; ++v)
            for (int i = 0; i < block; ++i)
              sum[i] += load(weights + n + v * kLanes<T>) * load(memory + n * width + place<T>(m + i, v, width));
        store_sums<T>(result + m, sum, int(block));
      }
    };
    run(std::integral_constant<int, 8>{});  // enough sums to keep both multipliers busy
    run(std::integral_constant<int, 4>{});
    run(std::integral_constant<int, 1>{});
  }
}

// Equation 2: reads (heads x M).
template <typename T>
void read(T* reads, const T* weightings, const T* memory, const Plan& plan) {
  weighted_sums(reads, weightings, plan.read_heads, memory, plan);
}

// Call pass(from, to) for parts of a memory, the last first. A large memory exceeds the nearest cache.
// The pass before went over it from its first location to its last, and the cache holds the end.
template <typename Pass>
void from_the_end(const Plan& plan, const Pass& pass) {
  constexpr Index part = 1024;
  for (Index to = plan.row, from; to > 0; to = from) pass(from = (to - 1) / part * part, to);
}

// dweightings (heads x row) += dreads memory. `memory_backward` computes the memory's gradient.
template <typename T>
void read_backward(T* dweightings, const T* dreads, const T* memory, const Plan& plan) {
  from_the_end(plan, [&](Index from, Index to) {
    multiply<T>(dweightings + from, plan.row, {dreads, plan.width, 1}, panels_of(memory + from * plan.width, plan),
                plan.read_heads, to - from, plan.width, From::result);
  });
}

// 1 / |M(i)| from the squared norm, with the epsilon of equation 6.
template <typename T>
Vec<T> inverse_norm(Vec<T> squares, const Plan& plan) {
  return T(1) / sqrt<T>(squares + T(plan.similarity_epsilon));
}

template <typename T>
void inverse_norms(T* result, const T* memory, const Plan& plan) {
  const Index width = plan.width;
  for (Index n = 0; n < plan.row; n += kPanel)
    for (int v = 0; v < kPanel / kLanes<T>; ++v) {
      Vec<T> squares = {};
      for (Index m = 0; m < width; ++m) {
        const Vec<T> value = load(memory + n * width + place<T>(m, v, width));
        squares += value * value;
      }
      store<T>(result + n + v * kLanes<T>, inverse_norm<T>(squares, plan));
    }
}

template <typename T, int vectors, typename Count>
inline void write_block(T* memory, T* __restrict norms, const T* previous, const T* __restrict weightings,
                        const T* __restrict heads, Count count, const Plan& plan) {
  constexpr Index lanes = kLanes<T>;
  const HeadLayout at = plan.write.squashed;
  const Index row = plan.row, width = plan.width;
  Vec<T> squares[vectors];
  for (int v = 0; v < vectors; ++v) squares[v] = Vec<T>{};
  for (Index m = 0; m < width; ++m)
    for (int v = 0; v < vectors; ++v) {
      const auto weighting = [&](Index h) { return load(weightings + h * row + v * lanes); };
      Vec<T> value = load(previous + place<T>(m, v, width));
      for (Index h = 0; h < count; ++h) value *= T(1) - weighting(h) * heads[h * at.size + at.erase + m];
      Vec<T> added = weighting(0) * heads[at.add + m];
      for (Index h = 1; h < count; ++h) added += weighting(h) * heads[h * at.size + at.add + m];
      value += added;
      squares[v] += value * value;
      store<T>(memory + place<T>(m, v, width), value);
    }
  for (int v = 0; norms && v < vectors; ++v) store<T>(norms + v * lanes, inverse_norm<T>(squares[v], plan));
}

// Equations 3 and 4: memory = previous * product of (1 - w e) + sum of w a, over the write heads; and
// 1 / |M(i)|, unless norms is null. memory may be previous.
// `heads` points to the squashed values of the first write head. Only the locations [from, to) are written.
template <typename T>
void write(T* memory, T* norms, const T* previous, const T* weightings, const T* heads, const Plan& plan, Index from,
           Index to) {
  for_each_block<T>(plan, from, to, [&](auto vectors, auto, auto count, Index n) {
    write_block<T, vectors>(memory + n * plan.width, norms ? norms + n : nullptr, previous + n * plan.width,
                            weightings + n, heads, count, plan);
  });
}

// A sum of outer products: value (m, n) is the sum over j of columns[j * stride + m] * rows[j * row + n].
template <typename T>
struct OuterProducts {
  const T* columns;
  Index stride;
  const T* rows;
};

template <typename T, int vectors, typename Count>
inline void add_outer_products(Vec<T> (&sum)[vectors], const OuterProducts<T>& products, Count count, Index m,
                               Index row) {
  for (Index j = 0; j < count; ++j) {
    const T column = products.columns[j * products.stride + m];
    for (int v = 0; v < vectors; ++v) sum[v] += column * load(products.rows + j * row + v * kLanes<T>);
  }
}

// Gradients that flow into and out of one memory at one step.
template <typename T>
struct MemoryGradient {
  T* dmemory;  // gradient of `memory`; becomes the gradient of `previous`
  const T *memory, *previous;
  const T* scale;                           // per location: multiple of M(i) to subtract from dM(i)
  OuterProducts<T> keys, reads, next_keys;  // next_keys: from the write heads of the next step
  const T *weightings, *heads;              // of the write heads: (heads x row), and squashed values
  T* dweightings;                           // (heads x row) +=

  // Return the same arrays from location n on, the first location of a panel.
  MemoryGradient from(Index n, const Plan& plan) const {
    const auto later = [n](const OuterProducts<T>& p) { return OuterProducts<T>{p.columns, p.stride, p.rows + n}; };
    const Index at = n * plan.width;
    return {dmemory + at, memory + at,      previous + at,  scale + n, later(keys),
            later(reads), later(next_keys), weightings + n, heads,     dweightings + n};
  }
};

// Sums over the locations, one vector per head and value; reduced to numbers at the end of a pass.
template <typename T>
struct MemorySums {
  Vec<T>*keys, *erase, *add;
};

// Sum all gradients of value m of a block of `memory` in d, and add the block's share to sums.keys.
template <typename T, int vectors, typename Count>
inline void gather_gradient(Vec<T> (&d)[vectors], const MemorySums<T>& sums, const MemoryGradient<T>& g,
                            Count read_heads, Count write_heads, Index m, const Plan& plan) {
  constexpr Index lanes = kLanes<T>;
  const Index row = plan.row, width = plan.width;
  Vec<T> value[vectors];
  for (int v = 0; v < vectors; ++v) {
    value[v] = load(g.memory + place<T>(m, v, width));
    d[v] = load(g.dmemory + place<T>(m, v, width)) - value[v] * load(g.scale + v * lanes);
  }
  for (Index h = 0; h < read_heads; ++h) {
    Vec<T> sum = sums.keys[h * width + m];
    for (int v = 0; v < vectors; ++v) sum += value[v] * load(g.keys.rows + h * row + v * lanes);
    sums.keys[h * width + m] = sum;
  }
  add_outer_products<T>(d, g.next_keys, write_heads, m, row);
  add_outer_products<T>(d, g.reads, read_heads, m, row);
  add_outer_products<T>(d, g.keys, read_heads, m, row);
}

// Go back through the first block of `g`. `workspace`: two blocks of vectors per write head.
template <typename T, int vectors, typename Count>
inline void memory_block_backward(const MemorySums<T> sums, Vec<T>* workspace, const MemoryGradient<T> g,
                                  Count read_heads, Count write_heads, const Plan& plan) {
  constexpr Index lanes = kLanes<T>;
  constexpr bool one = !std::is_integral_v<Count>;  // one head of each kind: all fits into registers
  const HeadLayout at = plan.write.squashed;
  const Index row = plan.row, width = plan.width;
  const auto weighting = [&](Index h, int v) { return load(g.weightings + h * row + v * lanes); };
  Vec<T> registers[2 * vectors];
  Vec<T>* const found = one ? registers : workspace;  // values before each write head erases
  Vec<T>* const dweighting = found + write_heads * vectors;
  for (Index h = 0; h < write_heads; ++h)
    for (int v = 0; v < vectors; ++v) dweighting[h * vectors + v] = load(g.dweightings + h * row + v * lanes);

  for (Index m = 0; m < width; ++m) {
    Vec<T> d[vectors], dleft[vectors];  // dleft: gradient of the values after head h has erased
    gather_gradient<T>(d, sums, g, read_heads, write_heads, m, plan);
    for (int v = 0; v < vectors; ++v) {
      dleft[v] = d[v];
      found[v] = load(g.previous + place<T>(m, v, width));
      for (Index h = 0; h + 1 < write_heads; ++h)
        found[(h + 1) * vectors + v] =
            found[h * vectors + v] * (T(1) - weighting(h, v) * g.heads[h * at.size + at.erase + m]);
    }
    for (Index h = write_heads - 1; h >= 0; --h) {
      const T erase = g.heads[h * at.size + at.erase + m], add = g.heads[h * at.size + at.add + m];
      Vec<T> erase_sum = sums.erase[h * width + m], add_sum = sums.add[h * width + m];
      for (int v = 0; v < vectors; ++v) {
        const Vec<T> before = found[h * vectors + v], weighted = dleft[v] * weighting(h, v);
        erase_sum -= before * weighted;
        add_sum += d[v] * weighting(h, v);
        dweighting[h * vectors + v] += d[v] * add;
        dweighting[h * vectors + v] -= dleft[v] * before * erase;
        dleft[v] -= weighted * erase;
      }
      sums.erase[h * width + m] = erase_sum;
      sums.add[h * width + m] = add_sum;
    }
    for (int v = 0; v < vectors; ++v) store<T>(g.dmemory + place<T>(m, v, width), dleft[v]);
  }

  for (Index h = 0; h < write_heads; ++h)
    for (int v = 0; v < vectors; ++v) store<T>(g.dweightings + h * row + v * lanes, dweighting[h * vectors + v]);
}

// Return the number of vectors for `memory_backward`: its sums, and two blocks per write head.
template <typename T>
Index memory_backward_room(const Plan& plan) {
  constexpr Index largest_block = kBlockPanels * kPanel / kLanes<T>;
  return (plan.read_heads + 2 * plan.write_heads) * plan.width + 2 * largest_block * plan.write_heads;
}

// Go back through reading, the read heads' similarities and writing in one pass. Overwrites dkeys
// (R x M) with the sums of keys.rows times M(i), and derase and dadd (W x M) with their gradients.
template <typename T>
void memory_backward(T* dkeys, T* derase, T* dadd, Vec<T>* workspace, const MemoryGradient<T>& gradient,
                     const Plan& plan) {
  const Index reads = plan.read_heads * plan.width, writes = plan.write_heads * plan.width;
  const MemorySums<T> sums = {workspace, workspace + reads, workspace + reads + writes};
  Vec<T>* const blocks = sums.add + writes;
  std::fill(workspace, blocks, Vec<T>{});
  for_each_block<T>(plan, 0, plan.row, [&](auto vectors, auto reads_count, auto writes_count, Index n) {
    memory_block_backward<T, vectors>(sums, blocks, gradient.from(n, plan), reads_count, writes_count, plan);
  });
  store_sums<T>(dkeys, sums.keys, reads);
  store_sums<T>(derase, sums.erase, writes);
  store_sums<T>(dadd, sums.add, writes);
}

// Go back to the start memory. No head reads or writes it; only the write heads of the first step
// compare their keys with it.
template <typename T>
void start_memory_backward(T* dmemory, const T* memory, const T* scale, const OuterProducts<T>& keys,
                           const Plan& plan) {
  constexpr int vectors = kPanel / kLanes<T>;
  const Index width = plan.width;
  for (Index n = 0; n < plan.row; n += kPanel)
    for (Index m = 0; m < width; ++m) {
      const Index at = n * width;
      Vec<T> d[vectors];
      for (int v = 0; v < vectors; ++v)
        d[v] = load(dmemory + at + place<T>(m, v, width)) -
               load(memory + at + place<T>(m, v, width)) * load(scale + n + v * kLanes<T>);
      add_outer_products<T>(d, {keys.columns, keys.stride, keys.rows + n}, plan.write_heads, m, plan.row);
      for (int v = 0; v < vectors; ++v) store<T>(dmemory + at + place<T>(m, v, width), d[v]);
    }
}

}  // namespace ntm::NTM_TARGET

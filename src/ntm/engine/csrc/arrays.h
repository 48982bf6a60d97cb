// Arrays for a caller of contract.h without tensors: their numbers of elements, and views of them.
#pragma once

#include "contract.h"

namespace ntm::NTM_TARGET {

using Counts = std::vector<Index>;

template <typename T>
using Arrays = std::vector<std::vector<T>>;

template <typename T>
Arrays<T> zeros(const Counts& counts) {
  Arrays<T> arrays;
  for (const Index count : counts) arrays.emplace_back(count);
  return arrays;
}

// Order: controller layers, heads, output; for each the weight, then the bias.
inline Counts weight_counts(const Sizes& s) {
  Counts counts;
  for (const Shape& shape : map_shapes(s)) counts.insert(counts.end(), {shape.size(), shape.rows});
  return counts;
}

inline Counts state_counts(const Sizes& s, Index sequences) {
  Counts counts;
  for (const Shape& shape : state_shapes(s)) counts.push_back(shape.size() * sequences);
  return counts;
}

// Order: hidden, reads, erases, adds, memory, then nine arrays each for read and write heads.
inline Counts record_counts(const Sizes& s, Index rows) {
  const Index shifts = Index(s.shifts.size()), n = s.locations;
  Counts counts = {s.units, s.read_heads * s.width, s.write_heads * s.width, s.write_heads * s.width, n * s.width};
  for (const Index heads : {s.read_heads, s.write_heads})
    for (const Index size : {s.width, Index(1), Index(1), shifts, Index(1), n, n, n, n}) counts.push_back(heads * size);
  for (Index& count : counts) count *= rows;
  return counts;
}

template <typename Pointer, typename T>
WeightsOf<Pointer> weights_of(Arrays<T>& a, Index layers) {
  const auto map = [&](Index i) { return LinearOf<Pointer>{a[2 * i].data(), a[2 * i + 1].data()}; };
  WeightsOf<Pointer> weights;
  for (Index l = 0; l < layers; ++l) weights.controller.push_back(map(l));
  weights.heads = map(layers);
  weights.output = map(layers + 1);
  return weights;
}

template <typename Pointer, typename T>
StateOf<Pointer> state_of(Arrays<T>& a) {
  StateOf<Pointer> state;
  for (int part = 0; part < kParts; ++part) state[part] = a[part].data();
  return state;
}

template <typename T>
Record<T> record_of(Arrays<T>& a) {
  const auto at = [&](Index i) { return a[i].data(); };
  const auto heads = [&](Index i) {
    return HeadRecord<T>{at(i), at(i + 1), at(i + 2), at(i + 3), at(i + 4), at(i + 5), at(i + 6), at(i + 7), at(i + 8)};
  };
  return {at(0), at(1), at(2), at(3), at(4), heads(5), heads(14)};
}

}  // namespace ntm::NTM_TARGET

// Weight gradients, from the rows of all steps.
#pragma once

#include <limits>

#include "adjoints.h"

namespace ntm::NTM_TARGET {

// Weight gradients in pieces that threads share. A piece is some outputs of one linear map, so that
// every sum runs over the rows in order.
template <typename T>
class WeightSums {
 public:
  // Gradient of a linear map, and its two factors dy and x. The bias may be null.
  struct Map {
    LinearOf<T*> gradient;
    const T* dy;
    Right<T> x;
    Index dy_stride, outputs, inputs;
  };

  // start: number of rows at the front, which belong to no step. One thread alone takes a whole map
  // at a time: the rows of a large batch exceed the cache, and every piece reads them all again.
  WeightSums(Index start, Index rows, Index threads)
      : start_(start), rows_(rows), share_(threads == 1 ? std::numeric_limits<Index>::max() : kShare) {}

  void add(const Map& map) {
    for (Index first = 0; first < map.outputs; first += std::min(share_, map.outputs)) pieces_.emplace_back(map, first);
  }

  Index count() const { return Index(pieces_.size()); }

  void operator()(Index, Index piece) const {
    const auto& [map, first] = pieces_[piece];
    weight_gradient(map.gradient.weight, map.gradient.bias, map.dy + start_ * map.dy_stride, map.dy_stride,
                    depths_from(map.x, start_), rows_ - start_, map.inputs, first,
                    first + std::min(share_, map.outputs - first));
  }

 private:
  static constexpr Index kShare = 32;

  Index start_, rows_, share_;
  std::vector<std::pair<Map, Index>> pieces_;
};

// Return the weight gradients of the NTM.
template <typename T>
WeightSums<T> weight_sums_of(const Plan& plan, const Batch& batch, Index rows, const ControlTapeOf<const T*>& tape,
                             const ValueGradients<T>& dvalues, const WeightGradients<T>& dweights) {
  WeightSums<T> sums(batch.sequences, rows, batch.threads);
  const Right<T> features = rows_of(tape.features, tape.features_stride);
  sums.add({dweights.heads, dvalues.heads, features, dvalues.heads_stride, plan.raw_heads, plan.units});
  sums.add({dweights.output, dvalues.output, features, dvalues.output_stride, plan.outputs, plan.features});
  for (Index l = 0; l < plan.layers; ++l)
    sums.add({dweights.controller[l], dvalues.controller[l], rows_of(tape.seen[l], tape.seen_stride[l]),
              dvalues.controller_stride, plan.gates, plan.seen(l)});
  return sums;
}

}  // namespace ntm::NTM_TARGET

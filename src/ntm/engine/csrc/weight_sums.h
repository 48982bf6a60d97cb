// The weights' gradients, from the rows of all steps.
#pragma once

#include "backward.h"

namespace ntm::NTM_TARGET {

// In pieces: some outputs of one map each, so that every sum runs over the rows in their order.
template <typename T>
class WeightSums {
 public:
  WeightSums(const Plan& plan, Index sequences, Index rows, const ControlTapeOf<const T*>& tape,
             const ValueGradients<T>& dvalues, const WeightGradients<T>& dweights)
      : start_(sequences), rows_(rows) {
    add({dweights.heads, dvalues.heads, tape.features, dvalues.heads_stride, tape.features_stride, plan.raw_heads,
         plan.units});
    add({dweights.output, dvalues.output, tape.features, dvalues.output_stride, tape.features_stride, plan.outputs,
         plan.features});
    for (Index l = 0; l < plan.layers; ++l)
      add({dweights.controller[l], dvalues.controller[l], tape.seen[l], dvalues.controller_stride, tape.seen_stride[l],
           plan.gates, plan.seen(l)});
  }

  Index count() const { return Index(pieces_.size()); }

  void operator()(Index, Index piece) const {
    const auto& [map, first] = pieces_[piece];
    weight_gradient(map.gradient.weight, map.gradient.bias, map.dy + start_ * map.dy_stride, map.dy_stride,
                    map.x + start_ * map.x_stride, map.x_stride, rows_ - start_, map.inputs, first,
                    std::min(first + kShare, map.outputs));
  }

 private:
  static constexpr Index kShare = 16;

  struct Map {
    LinearOf<T*> gradient;
    const T *dy, *x;
    Index dy_stride, x_stride, outputs, inputs;
  };

  void add(const Map& map) {
    for (Index first = 0; first < map.outputs; first += kShare) pieces_.emplace_back(map, first);
  }

  Index start_, rows_;  // the start rows belong to no step
  std::vector<std::pair<Map, Index>> pieces_;
};

}  // namespace ntm::NTM_TARGET

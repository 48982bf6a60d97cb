// The layer's linear maps, packed for products in one direction.
#pragma once

#include "plan.h"

namespace ntm::NTM_TARGET {

template <typename T>
struct Maps {
  Packed<T> heads, output;
  std::vector<Packed<T>> controller;
};

template <typename T>
Maps<T> forward_maps(const Plan& plan) {
  Maps<T> maps = {{plan.units, plan.raw_heads}, {plan.features, plan.outputs}, {}};
  for (Index l = 0; l < plan.layers; ++l) maps.controller.emplace_back(plan.seen(l), plan.gates);
  return maps;
}

template <typename T>
Maps<T> backward_maps(const Plan& plan) {
  Maps<T> maps = {{plan.raw_heads, plan.units}, {plan.outputs, plan.features}, {}};
  for (Index l = 0; l < plan.layers; ++l) maps.controller.emplace_back(plan.gates, plan.seen(l));
  return maps;
}

template <typename T>
void pack_forward(Maps<T>& maps, const Weights<T>& weights) {
  maps.heads.pack(weights.heads.weight, weights.heads.bias);
  maps.output.pack(weights.output.weight, weights.output.bias);
  for (std::size_t l = 0; l < weights.controller.size(); ++l)
    maps.controller[l].pack(weights.controller[l].weight, weights.controller[l].bias);
}

template <typename T>
void pack_backward(Maps<T>& maps, const Weights<T>& weights) {
  maps.heads.pack_transposed(weights.heads.weight);
  maps.output.pack_transposed(weights.output.weight);
  for (std::size_t l = 0; l < weights.controller.size(); ++l)
    maps.controller[l].pack_transposed(weights.controller[l].weight);
}

}  // namespace ntm::NTM_TARGET

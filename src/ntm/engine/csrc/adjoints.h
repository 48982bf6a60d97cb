// Arrays of the backward pass: gradients of values, gradients between steps, workspace.
#pragma once

#include "forward.h"

namespace ntm::NTM_TARGET {

// Gradients of the linear maps' values, one row per sequence and step. The weight gradients are
// computed from them.
template <typename T>
struct ValueGradients {
  T *heads, *output;
  std::vector<T*> controller;
  Index heads_stride, output_stride, controller_stride;

  ValueGradients(const Plan& plan, Arena<T*>& arena)
      : heads_stride(padded(plan.raw_heads)),
        output_stride(padded(plan.outputs)),
        controller_stride(padded(plan.gates)) {
    heads = arena.take(heads_stride);
    output = arena.take(output_stride);
    for (Index l = 0; l < plan.layers; ++l) controller.push_back(arena.take(controller_stride));
    arena.size += kPanel;  // vectors may read past the last row
  }
};

// Gradients that flow from one step to the step before, for the sequences of a group. `keys`,
// `products` and `scale` hold the part of the memory's gradient that comes from the write heads'
// similarities. Step t - 1 adds this part, because it loops over that memory anyway.
template <typename T>
struct Adjoints {
  std::array<Buffer<T>, kParts> state;
  std::array<Index, kParts> sizes;  // elements per sequence
  Buffer<T> keys, products, scale;  // per sequence (W x M), (W x row), (row)

  explicit Adjoints(const Plan& plan)
      : keys(buffer<T>(kGroup * plan.write_heads * plan.width)),
        products(buffer<T>(kGroup * plan.write_heads * plan.row)),
        scale(buffer<T>(kGroup * plan.row)) {
    for (int part = 0; part < kParts; ++part) {
      sizes[part] = plan.part_size(part);
      state[part] = buffer<T>(kGroup * sizes[part]);
    }
  }

  // Return one part of the gradient of sequence i's state, and all parts.
  T* at(Part part, Index i) const { return state[part].get() + i * sizes[part]; }
  template <typename Pointer>
  StateOf<Pointer> all(Index i) const {
    StateOf<Pointer> parts;
    for (int part = 0; part < kParts; ++part) parts[part] = at(Part(part), i);
    return parts;
  }

  // Sum the gradients of the first `sequences` sequences in order. The sum replaces the first gradient.
  void sum(Index sequences) const {
    for (int part = 0; part < kParts; ++part)
      for (Index i = 1; i < sequences; ++i)
        for (Index k = 0; k < sizes[part]; ++k) state[part][k] += state[part][i * sizes[part] + k];
  }
};

template <typename T>
struct BackwardWorkspace {
  Adjoints<T> adjoints;
  Index features_stride, units_stride, seen_stride;
  Buffer<T> dfeatures, dh, dseen;
  // For one step of one sequence:
  Chain<T> chain;
  Scratch<T> dsquashed, dproducts, dkeys, derase, dadd, along;
  Buffer<Vec<T>> sums;
  Growing<T> restored;  // memories of one interval, for all sequences of the group

  explicit BackwardWorkspace(const Plan& plan)
      : adjoints(plan),
        features_stride(padded(plan.features)),
        units_stride(padded(plan.units)),
        seen_stride(std::max(padded(plan.seen(0)), padded(plan.seen(plan.layers - 1)))),
        dfeatures(buffer<T>(kGroup * features_stride)),
        dh(buffer<T>(kGroup * units_stride)),
        dseen(buffer<T>(kGroup * seen_stride)),
        chain(plan),
        dsquashed(plan.squashed_heads),
        dproducts(plan.read_heads * plan.row),
        dkeys(std::max(plan.read_heads, plan.write_heads) * plan.width),
        derase(plan.write_heads * plan.width),
        dadd(plan.write_heads * plan.width),
        along(std::max(plan.read_heads, plan.write_heads)),
        sums(buffer<Vec<T>>(memory_backward_room<T>(plan))) {}
};

}  // namespace ntm::NTM_TARGET

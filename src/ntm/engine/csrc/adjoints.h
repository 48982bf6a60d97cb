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
// `products` and `scale` hold the write heads' share of the memory's gradient, through their
// similarities: the step before adds it when it passes over that memory anyway.
template <typename T>
struct Adjoints {
  Buffer<T> memory, read_weightings, write_weightings, reads;
  Buffer<T> keys, products, scale;  // per sequence (W x M), (W x row), (row)
  std::vector<Buffer<T>> hidden, cell;

  explicit Adjoints(const Plan& plan)
      : memory(buffer<T>(kGroup * plan.width * plan.row)),
        read_weightings(buffer<T>(kGroup * plan.read_heads * plan.row)),
        write_weightings(buffer<T>(kGroup * plan.write_heads * plan.row)),
        reads(buffer<T>(kGroup * plan.read_heads * plan.width)),
        keys(buffer<T>(kGroup * plan.write_heads * plan.width)),
        products(buffer<T>(kGroup * plan.write_heads * plan.row)),
        scale(buffer<T>(kGroup * plan.row)) {
    for (Index l = 0; l < plan.recurrent; ++l) {
      hidden.push_back(buffer<T>(kGroup * plan.units));
      cell.push_back(buffer<T>(kGroup * plan.units));
    }
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

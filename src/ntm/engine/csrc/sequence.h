// Whole batches: the two passes over all groups of sequences, as the contract has them.
#pragma once

#include "weight_sums.h"

namespace ntm::NTM_TARGET {

// Rows of a tape, whatever the lengths.
inline Index tape_rows(Index steps, Index sequences, bool keep) { return sequences * (keep ? steps + 1 : 2); }

template <typename T>
void forward(T* logits, const MutableState<T>& final, T* tape, const SequencesOf<const T*>& x, const State<T>& start,
             const Weights<T>& weights, bool keep, const Batch& batch, const Sizes& sizes) {
  const Plan plan(sizes);
  const Order order(batch);
  const Rows rows(order, 0, batch.sequences, keep);
  Arena<T*> arena = {tape_rows(batch.steps, batch.sequences, keep), tape};
  const MemoryTapeOf<T*> memory(plan, arena, arena.rows);
  const ControlTapeOf<T*> control(plan, arena);
  const MemoryRows memories(rows);
  Maps<T> maps = forward_maps<T>(plan);
  pack_forward(maps, weights);
  const Forward<T> pass(plan, order, maps, x, {memory, memories, rows, control, rows});
  const auto all = [](Index, Index) { return true; };
  const auto copy = [&](Index t, Index position, const T* from) {
    std::copy_n(from, plan.outputs, logits + (t * batch.sequences + order.sequence[position]) * plan.outputs);
  };
  std::vector<ForwardWorkspace<T>> workspaces;
  make_workspaces(workspaces, plan, batch);
  const auto work = group_work(batch, workspaces, [&](ForwardWorkspace<T>& workspace, Index begin, Index end) {
    for (Index p = begin; p < end; ++p) pass.begin(p, start, order.sequence[p]);
    pass.run(workspace, begin, end, all, copy);
    for (Index p = begin; p < end; ++p) pass.end(p, final);
  });
  Phase groups(groups_of(batch), work);
  run_parallel(batch.threads, groups);
}

template <typename T>
void backward(T* dx, const WeightGradients<T>& dweights, const MutableState<T>& dstart, const T* dlogits,
              const State<T>& dfinal, const T* tape, const Weights<T>& weights, const Batch& batch,
              const Sizes& sizes) {
  const Plan plan(sizes);
  const Order order(batch);
  const Rows rows(order, 0, batch.sequences, true);
  Arena<const T*> arena = {tape_rows(batch.steps, batch.sequences, true), tape};
  const MemoryTapeOf<const T*> memory(plan, arena, arena.rows);
  const ControlTapeOf<const T*> control(plan, arena);
  const Buffer<T> values = buffer<T>(elements<ValueGradients<T>, T>(plan, rows.total));
  Arena<T*> value_arena = {rows.total, values.get()};
  const ValueGradients<T> dvalues(plan, value_arena);
  const MemoryRows memories(rows);
  Maps<T> maps = backward_maps<T>(plan);
  pack_backward(maps, weights);
  const Backward<T> pass(plan, order, maps, {memory, memories, rows, control, rows}, dvalues);
  const auto nothing_lost = [](Index, Index, Index) {};
  std::vector<BackwardWorkspace<T>> workspaces;
  make_workspaces(workspaces, plan, batch);
  const auto work = group_work(batch, workspaces, [&](BackwardWorkspace<T>& workspace, Index begin, Index end) {
    pass.take_logits(begin, end, dlogits);
    pass.run(workspace, begin, end, dfinal, dx, nothing_lost);
    for (Index p = begin; p < end; ++p) pass.give_start(workspace.adjoints, p - begin, order.sequence[p], dstart);
  });
  const WeightSums<T> sums(plan, batch.sequences, rows.total, control, dvalues, dweights);
  Phase groups(groups_of(batch), work);
  Phase weight_sums(sums.count(), sums);
  run_parallel(batch.threads, groups, weight_sums);
}

}  // namespace ntm::NTM_TARGET

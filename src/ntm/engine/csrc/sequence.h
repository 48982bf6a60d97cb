// Whole batches: `forward` and `backward` of contract.h, over all groups of sequences.
#pragma once

#include "backward.h"
#include "weight_sums.h"

namespace ntm::NTM_TARGET {

// Return the number of rows of a tape, for any lengths.
inline Index tape_rows(Index steps, Index sequences, bool keep) { return sequences * (keep ? steps + 1 : 2); }

// Tape of whole sequences: `forward` fills it, `backward` and `record` read it.
template <typename Pointer>
struct WholeTape {
  const Order order;
  const Rows rows;
  Arena<Pointer> arena;  // of memory and control
  const MemoryTapeOf<Pointer> memory;
  const ControlTapeOf<Pointer> control;
  const MemoryRows memories;
  const TapeOf<Pointer> parts;

  WholeTape(Pointer tape, bool keep, const Plan& plan, const Batch& batch)
      : order(batch),
        rows(order, 0, batch.sequences, keep),
        arena{tape_rows(batch.steps, batch.sequences, keep), tape},
        memory(plan, arena, arena.rows),
        control(plan, arena),
        memories(rows),
        parts{memory, memories, rows, control, rows} {}
  WholeTape(const WholeTape&) = delete;  // its parts refer to each other
};

template <typename T>
void forward(T* logits, const MutableState<T>& final, const WeightingsOf<T*>& weightings, T* tape,
             const SequencesOf<const T*>& x, const State<T>& start, const Weights<T>& weights, bool keep,
             const Batch& batch, const Sizes& sizes) {
  const Plan plan(sizes);
  const WholeTape<T*> whole(tape, keep, plan, batch);
  const Order& order = whole.order;
  Maps<T> maps = forward_maps<T>(plan);
  pack_forward(maps, weights);
  const Forward<T> pass(plan, order, maps, x, whole.parts);
  const auto all = [](Index, Index) { return true; };
  const auto copy = [&](Index t, Index position, const T* from) {
    std::copy_n(from, plan.outputs, logits + (t * batch.sequences + order.sequence[position]) * plan.outputs);
    pass.give_weightings(weightings, t, position);
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
              const State<T>& dfinal, const WeightingsOf<const T*>& dweightings, const T* tape,
              const Weights<T>& weights, const Batch& batch, const Sizes& sizes) {
  const Plan plan(sizes);
  const WholeTape<const T*> whole(tape, true, plan, batch);
  const Order& order = whole.order;
  const Rows& rows = whole.rows;
  const Buffer<T> values = buffer<T>(elements<ValueGradients<T>, T>(plan, rows.total));
  Arena<T*> value_arena = {rows.total, values.get()};
  const ValueGradients<T> dvalues(plan, value_arena);
  Maps<T> maps = backward_maps<T>(plan);
  pack_backward(maps, weights);
  const Backward<T> pass(plan, order, maps, whole.parts, dvalues);
  const auto nothing_lost = [](Index, Index, Index) {};
  std::vector<BackwardWorkspace<T>> workspaces;
  make_workspaces(workspaces, plan, batch);
  const auto work = group_work(batch, workspaces, [&](BackwardWorkspace<T>& workspace, Index begin, Index end) {
    pass.take_logits(begin, end, dlogits);
    pass.run(workspace, begin, end, dfinal, dweightings, dx, nothing_lost);
    for (Index p = begin; p < end; ++p) pass.give_start(workspace.adjoints, p - begin, order.sequence[p], dstart);
  });
  const WeightSums<T> sums = weight_sums_of(plan, batch.sequences, rows.total, whole.control, dvalues, dweights);
  Phase groups(groups_of(batch), work);
  Phase weight_sums(sums.count(), sums);
  run_parallel(batch.threads, groups, weight_sums);
}

}  // namespace ntm::NTM_TARGET

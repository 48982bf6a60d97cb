// Whole batches: `forward` and `backward` of contract.h, over all groups of sequences.
#pragma once

#include "backward.h"
#include "start.h"
#include "weight_sums.h"

namespace ntm::NTM_TARGET {

// Tape of a whole batch: the memory parts of the groups one after the other, each with room for its
// steps at any lengths, then the control part. The first group also keeps the memories of its last
// interval if they are small, so nothing is written again for a small batch with a few steps.
template <typename Pointer>
class WholeTape {
 public:
  const Order order;
  const Rows rows;

  WholeTape(Pointer data, const Plan& plan, const Batch& batch)
      : order(batch),
        rows(order, 0, batch.sequences, true),
        plan_(plan),
        steps_(batch.steps),
        interval_(checkpoint_interval(batch.sequences, plan)),
        keeps_last_(keeps_last_interval(batch.sequences, plan)),
        data_(data),
        between_(data + batch.sequences * per_sequence(plan, batch)),
        arena_{control_rows(batch), between_ + between_size(plan, batch)},
        control_(plan, arena_) {}
  WholeTape(const WholeTape&) = delete;  // the groups refer to it

  static Index size(const Plan& plan, const Batch& batch) {
    return batch.sequences * per_sequence(plan, batch) + between_size(plan, batch) +
           elements<ControlTapeOf<float*>, float>(plan, control_rows(batch));
  }

  const ControlTapeOf<Pointer>& control() const { return control_; }

  // Return the tape of the group at sorted positions [begin, end). between: room for one memory of
  // each sequence, or null for a tape that is only read.
  TapeOf<Pointer> group(Pointer between, Index begin, Index end) const {
    const bool keeps_last = begin == 0 && keeps_last_;
    const MemoryRows memories = MemoryRows::kept(end - begin, interval_, steps_, keeps_last || !between);
    const Index before = begin * Memory::size(MemoryRows::kept(1, interval_, steps_, true), plan_);
    return {plan_, order, Memory(data_ + before, keeps_last ? between_ : between, memories, plan_), control_, rows,
            begin, end};
  }

 private:
  using Memory = MemoryTapeOf<Pointer>;

  static MemoryRows kept(const Plan& plan, const Batch& batch, Index sequences) {
    return MemoryRows::kept(sequences, checkpoint_interval(batch.sequences, plan), batch.steps, true);
  }
  static Index per_sequence(const Plan& plan, const Batch& batch) { return Memory::size(kept(plan, batch, 1), plan); }
  static Index between_size(const Plan& plan, const Batch& batch) {
    return Memory::between_size(kept(plan, batch, std::min(batch.sequences, kGroup)), plan);
  }
  static Index control_rows(const Batch& batch) { return batch.sequences * (batch.steps + 1); }

  const Plan& plan_;
  const Index steps_, interval_;
  const bool keeps_last_;
  const Pointer data_, between_;
  Arena<Pointer> arena_;
  const ControlTapeOf<Pointer> control_;
};

// Tape of one group whose steps are not kept: its state and the state before, with one memory.
template <typename T>
struct PassingTape {
  const MemoryRows memory_rows;
  const Rows rows;
  Arena<T*> arena;
  const MemoryTapeOf<T*> memory;
  const ControlTapeOf<T*> control;

  PassingTape(Growing<T>& room, const Plan& plan, const Order& order, Index begin, Index end)
      : memory_rows(MemoryRows::passing(end - begin, order.length[begin])),
        rows(order, begin, end, false),
        arena{rows.total,
              room.at_least(memory_size(plan) + between_size(plan) + elements<ControlTapeOf<T*>, T>(plan, rows.total))},
        memory(arena.data, arena.data + memory_size(plan), memory_rows, plan),
        control(plan, past(plan)) {}
  PassingTape(const PassingTape&) = delete;

 private:
  Index memory_size(const Plan& plan) const { return MemoryTapeOf<T*>::size(memory_rows, plan); }
  Index between_size(const Plan& plan) const { return MemoryTapeOf<T*>::between_size(memory_rows, plan); }
  Arena<T*>& past(const Plan& plan) {
    arena.size = memory_size(plan) + between_size(plan);
    return arena;
  }
};

// One call of `forward`: references to its arrays, and the work of one group.
template <typename T>
struct ForwardCall {
  T* logits;
  const MutableState<T>& final;
  const WeightingsOf<T*>& weightings;
  const SequencesOf<const T*>& x;
  const State<T>& start;
  const Maps<T>& maps;
  const Batch& batch;
  const Plan& plan;

  void run(ForwardWorkspace<T>& workspace, const TapeOf<T*>& tape) const {
    const Forward<T> pass(tape, x, maps);
    const Index outputs = plan.outputs, sequences = tape.end - tape.begin;
    const auto number = [&](Index i) { return tape.order.sequence[tape.begin + i]; };
    for (Index i = 0; i < sequences; ++i) pass.begin(i, start, batch.shared_start ? 0 : number(i));
    pass.run(
        workspace, [](Index, Index) { return true; },
        [&](Index t, Index i, const T* from) {
          std::copy_n(from, outputs, logits + (t * batch.sequences + number(i)) * outputs);
          pass.give_weightings(weightings, t, i);
        });
    for (Index i = 0; i < sequences; ++i) pass.end(final, i);
  }
};

template <typename T>
void forward(T* logits, const MutableState<T>& final, const WeightingsOf<T*>& weightings, T* tape,
             const SequencesOf<const T*>& x, const State<T>& start, const Weights<T>& weights, bool keep,
             const Batch& batch, const Sizes& sizes) {
  const Plan plan(sizes);
  Maps<T> maps = forward_maps<T>(plan);
  pack_forward(maps, weights);
  std::vector<ForwardWorkspace<T>> workspaces;
  make_workspaces(workspaces, plan, batch);
  const ForwardCall<T> call = {logits, final, weightings, x, start, maps, batch, plan};
  const auto run = [&](const auto& run_group) {
    const auto work = group_work(batch, workspaces, run_group);
    Phase groups(groups_of(batch), work);
    run_parallel(batch.threads, groups);
  };
  if (keep) {
    const WholeTape<T*> whole(tape, plan, batch);
    run([&](ForwardWorkspace<T>& workspace, Index begin, Index end) {
      call.run(workspace, whole.group(workspace.tape.at_least((end - begin) * plan.memory_size()), begin, end));
    });
  } else {
    const Order order(batch);
    run([&](ForwardWorkspace<T>& workspace, Index begin, Index end) {
      const PassingTape<T> passing(workspace.tape, plan, order, begin, end);
      call.run(workspace, {plan, order, passing.memory, passing.control, passing.rows, begin, end});
    });
  }
}

template <typename T>
void backward(T* dx, const WeightGradients<T>& dweights, const MutableState<T>& dstart, const T* dlogits,
              const State<T>& dfinal, const WeightingsOf<const T*>& dweightings, const T* tape,
              const Weights<T>& weights, const Batch& batch, const Sizes& sizes) {
  const Plan plan(sizes);
  const WholeTape<const T*> whole(tape, plan, batch);
  const Index rows = whole.rows.total;
  const Buffer<T> values = buffer<T>(elements<ValueGradients<T>, T>(plan, rows));
  Arena<T*> arena = {rows, values.get()};
  const ValueGradients<T> dvalues(plan, arena);
  Maps<T> maps = backward_maps<T>(plan);
  pack_backward(maps, weights);
  States<T> dstarts;  // of a shared start: one state per group
  if (batch.shared_start) dstarts.resize(groups_of(batch), plan);
  const MutableState<T> to = batch.shared_start ? dstarts.template view<T*>() : dstart;
  std::vector<BackwardWorkspace<T>> workspaces;
  make_workspaces(workspaces, plan, batch);
  const auto go_back = group_work(batch, workspaces, [&](BackwardWorkspace<T>& workspace, Index begin, Index end) {
    const TapeOf<const T*> group = whole.group(nullptr, begin, end);
    const Backward<T> pass(dvalues, group, maps);
    T* restored = workspace.restored.at_least(MemoryTapeOf<T*>::between_size(group.memory.rows, plan));
    pass.take_logits(dlogits);
    pass.run(dx, workspace, restored, dfinal, dweightings);
    pass.give_start(to, workspace.adjoints, batch.shared_start);
  });
  // One thread starts with the group that went forward last: its tape is still in cache.
  const auto work = [&](Index worker, Index group) {
    go_back(worker, batch.threads == 1 ? groups_of(batch) - 1 - group : group);
  };
  const WeightSums<T> sums = weight_sums_of(plan, batch, rows, whole.control(), dvalues, dweights);
  Phase groups(groups_of(batch), work);
  Phase weight_sums(sums.count(), sums);
  run_parallel(batch.threads, groups, weight_sums);
  if (!batch.shared_start) return;
  const State<T> sum = sum_groups(dstarts, plan);
  for (int part = 0; part < kParts; ++part) std::copy_n(sum[part], plan.parts[part].size(), dstart[part]);
}

}  // namespace ntm::NTM_TARGET

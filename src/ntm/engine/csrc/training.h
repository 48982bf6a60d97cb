// Gradients of a training step, from sequences and targets to every parameter.
#pragma once

#include "loss.h"
#include "sequence.h"

namespace ntm::NTM_TARGET {

// Workspace of one thread, which runs one group at a time forward and back.
template <typename T>
struct TrainingWorkspace {
  ForwardWorkspace<T> forward;
  BackwardWorkspace<T> backward;
  Growing<T> tape;

  explicit TrainingWorkspace(const Plan& plan) : forward(plan), backward(plan) {}
};

template <typename T>
struct Gradients<T>::Buffers {
  Plan plan;
  Weights<T> weights;
  WeightGradients<T> dweights;
  State<T> start;
  MutableState<T> dstart;
  Maps<T> forward_maps, backward_maps;
  std::vector<TrainingWorkspace<T>> workspaces;
  Growing<T> control, values;
  States<T> one_start, dstarts;  // the start state, and its gradient from each group
  std::vector<double> nats;      // cost of the sequence at each sorted position

  void prepare(const Batch&);
};

template <typename T>
Gradients<T>::Gradients(const WeightGradients<T>& dweights, const MutableState<T>& dstart, const Weights<T>& weights,
                        const State<T>& start, const Sizes& sizes) {
  const Plan plan(sizes);
  buffers_.reset(new Buffers{
      plan, weights, dweights, start, dstart, forward_maps<T>(plan), backward_maps<T>(plan), {}, {}, {}, {}, {}, {}});
}

template <typename T>
Gradients<T>::~Gradients() = default;

// Allocate everything on the calling thread, which reuses its free blocks (blocks.h).
template <typename T>
void Gradients<T>::Buffers::prepare(const Batch& batch) {
  pack_forward(forward_maps, weights);
  pack_backward(backward_maps, weights);
  dstarts.resize(groups_of(batch), plan);
  nats.assign(batch.sequences, 0);
  make_workspaces(workspaces, plan, batch);
}

// One call of `compute`: references to its arrays, and the work of one group.
template <typename T>
struct TrainingStep {
  const ValueGradients<T>& dvalues;
  const MutableState<T> dstarts;
  std::vector<double>& nats;
  const ControlTapeOf<T*>& control;
  const ControlTapeOf<const T*>& const_control;
  const Rows& rows;
  const SequencesOf<const T*>& x;
  const Loss<T> loss;
  const State<T> start;
  const Maps<T>&forward_maps, &backward_maps;
  const Order& order;
  const Plan& plan;
  const Index interval;
  const bool keeps_last;

  // Run forward, loss and backward for the sequences at sorted positions [begin, end).
  void run(TrainingWorkspace<T>& workspace, Index begin, Index end) const {
    const MemoryTapeOf<T*> memory = memory_tape(workspace.tape, begin, end);
    const MemoryRows written = MemoryRows::kept(end - begin, interval, order.length[begin], keeps_last);
    const TapeOf<T*> tape = {plan,  order, {memory.checkpoints, memory.between, written, plan}, control, rows,
                             begin, end};
    const MemoryTapeOf<const T*> kept(memory.checkpoints, keeps_last ? memory.between : nullptr, memory.rows, plan);
    const TapeOf<const T*> const_tape = {plan, order, kept, const_control, rows, begin, end};
    const Forward<T> forward(tape, x, forward_maps);
    const Backward<T> backward(dvalues, const_tape, backward_maps);
    double cost[kGroup];  // local: threads that write to neighbouring elements of one array slow each other down
    for (Index i = 0; i < end - begin; ++i) {
      forward.begin(i, start, 0);
      cost[i] = loss.beyond(tape.length(i), order.steps, order.sequence[begin + i]);
    }
    forward.run(
        workspace.forward, [&](Index t, Index i) { return loss.weight(t, order.sequence[begin + i]) != 0; },
        [&](Index t, Index i, const T* logits) { cost[i] += take(logits, t, begin + i); });
    std::copy_n(cost, end - begin, nats.begin() + begin);
    backward.run(nullptr, workspace.backward, memory.between, State<T>{}, {});
    backward.give_start(dstarts, workspace.backward.adjoints, true);
  }

 private:
  // Return the memory part of the tape for one group. The groups of a thread use the same room.
  MemoryTapeOf<T*> memory_tape(Growing<T>& room, Index begin, Index end) const {
    using Memory = MemoryTapeOf<T*>;
    const MemoryRows memories = MemoryRows::kept(end - begin, interval, order.length[begin], true);
    const Index size = Memory::size(memories, plan);
    T* data = room.at_least(size + Memory::between_size(memories, plan));
    return {data, data + size, memories, plan};
  }

  // Return the cost of one step, and write its gradient to dvalues.
  double take(const T* logits, Index t, Index position) const {
    T* dlogits = dvalues.output + rows.at(t, position) * dvalues.output_stride;
    const Index b = order.sequence[position];
    if (loss.weight(t, b) != 0) return loss.step(dlogits, logits, t, b);
    std::fill_n(dlogits, plan.outputs, T(0));
    return 0;
  }
};

// Each thread runs one group forward and back before it takes the next group. It then holds the
// memory part of the tape for one group only, which stays in cache. The control part, from which the
// weight gradients are computed, is kept for all groups.
template <typename T>
double Gradients<T>::compute(const SequencesOf<const T*>& x, const SequencesOf<const T*>& targets,
                             const SequencesOf<const T*>& mask, const Batch& batch) {
  const FlushDenormals mode;
  Buffers& own = *buffers_;
  const Plan& plan = own.plan;
  const Order order(batch);
  own.prepare(batch);
  const State<T> start = learned_state(own.one_start, own.start, plan);
  const Rows rows(order, 0, batch.sequences, true);
  Arena<T*> arena = {rows.total, own.control.at_least(elements<ControlTapeOf<T*>, T>(plan, rows.total))};
  const ControlTapeOf<T*> control(plan, arena);
  const ControlTapeOf<const T*> const_control(control);
  Arena<T*> value_arena = {rows.total, own.values.at_least(elements<ValueGradients<T>, T>(plan, rows.total))};
  const ValueGradients<T> dvalues(plan, value_arena);
  const TrainingStep<T> step = {dvalues,
                                own.dstarts.template view<T*>(),
                                own.nats,
                                control,
                                const_control,
                                rows,
                                x,
                                {targets, mask, plan.outputs, T(1) / T(batch.sequences), batch.symbols},
                                start,
                                own.forward_maps,
                                own.backward_maps,
                                order,
                                plan,
                                checkpoint_interval(batch.sequences, plan),
                                keeps_last_interval(batch.sequences, plan)};
  const auto work = group_work(batch, own.workspaces, [&](TrainingWorkspace<T>& workspace, Index begin, Index end) {
    step.run(workspace, begin, end);
  });
  const WeightSums<T> sums = weight_sums_of(plan, batch, rows.total, const_control, dvalues, own.dweights);
  Phase groups(groups_of(batch), work);
  Phase weight_sums(sums.count(), sums);
  run_parallel(batch.threads, groups, weight_sums);
  learned_gradients(own.dstart, sum_groups(own.dstarts, plan), start, plan);
  return std::accumulate(own.nats.begin(), own.nats.end(), 0.0) / double(batch.sequences);
}

}  // namespace ntm::NTM_TARGET

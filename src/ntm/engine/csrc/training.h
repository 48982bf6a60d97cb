// Gradients of a training step, from sequences and targets to every parameter.
#pragma once

#include "loss.h"
#include "sequence.h"
#include "start.h"

namespace ntm::NTM_TARGET {

// Workspace of one thread, which runs one group at a time forward and back.
template <typename T>
struct TrainingWorkspace {
  ForwardWorkspace<T> forward;
  BackwardWorkspace<T> backward;
  Growing<T> tape;

  explicit TrainingWorkspace(const Plan& plan) : forward(plan), backward(plan) {}
};

// Return the checkpoint interval: the memory is stored once every this many steps, and the memories
// between two checkpoints are recomputed. If all memories fit into 2 MiB, one interval covers all
// steps, and nothing is recomputed. Otherwise an interval of sqrt(steps) takes the least space for
// the checkpoints and the memories of one interval.
template <typename T>
Index memory_interval(const Plan& plan, Index steps, Index sequences) {
  constexpr Index near = 2 << 20;
  const Index bytes = steps * sequences * plan.width * plan.row * Index(sizeof(T));
  return bytes <= near ? steps + 1 : Index(std::ceil(std::sqrt(double(steps))));
}

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
  Index interval;                // checkpoint interval of the memory

  void prepare(const Batch&, const Order&);
};

template <typename T>
Gradients<T>::Gradients(const WeightGradients<T>& dweights, const MutableState<T>& dstart, const Weights<T>& weights,
                        const State<T>& start, const Sizes& sizes) {
  const Plan plan(sizes);
  buffers_.reset(new Buffers{plan,
                             weights,
                             dweights,
                             start,
                             dstart,
                             forward_maps<T>(plan),
                             backward_maps<T>(plan),
                             {},
                             {},
                             {},
                             {},
                             {},
                             {},
                             0});
}

template <typename T>
Gradients<T>::~Gradients() = default;

// Allocate everything on the calling thread, which reuses its free blocks (blocks.h).
template <typename T>
void Gradients<T>::Buffers::prepare(const Batch& batch, const Order& order) {
  pack_forward(forward_maps, weights);
  pack_backward(backward_maps, weights);
  dstarts.resize(plan, groups_of(batch));
  nats.assign(batch.sequences, 0);
  make_workspaces(workspaces, plan, batch);
  const Index largest = std::min(kGroup, batch.sequences);  // the first group is also the longest
  Arena<T*> tape = {Rows(order, 0, largest, true).total, nullptr};
  interval = memory_interval<T>(plan, order.steps, largest);
  MemoryTapeOf<T*>(plan, tape, MemoryRows(0, largest, order.steps, interval).total);
  for (auto& workspace : workspaces) workspace.tape.at_least(tape.size);
}

// One call of `compute`: references to its arrays, and the work of one group.
template <typename T>
struct TrainingStep {
  const Plan& plan;
  const Maps<T>&forward_maps, &backward_maps;
  const Order& order;
  const Rows& rows;
  const ControlTapeOf<T*>& control;
  const ControlTapeOf<const T*>& const_control;
  const ValueGradients<T>& dvalues;
  const SequencesOf<const T*>& x;
  const Loss<T> loss;
  const State<T> start;
  const MutableState<T> dstart;
  const Index interval;
  std::vector<double>& nats;

  // Run forward, loss and backward for the sequences at sorted positions [begin, end).
  void run(TrainingWorkspace<T>& workspace, Index begin, Index end) const {
    const Rows group_rows(order, begin, end, true);
    const MemoryRows memories(begin, end, order.length[begin], interval);
    Arena<T*> arena = {group_rows.total, workspace.tape.at_least(0)};
    const MemoryTapeOf<T*> memory(plan, arena, memories.total);
    Arena<const T*> const_arena = {group_rows.total, arena.data};
    const MemoryTapeOf<const T*> const_memory(plan, const_arena, memories.total);
    const Forward<T> forward(plan, order, forward_maps, x, {memory, memories, group_rows, control, rows});
    const Backward<T> backward(plan, order, backward_maps, {const_memory, memories, group_rows, const_control, rows},
                               dvalues);
    forward.begin_alike(begin, end, start);
    double cost[kGroup];  // local: threads that write to neighbouring elements of one array slow each other down
    for (Index p = begin; p < end; ++p) cost[p - begin] = loss.beyond(order.length[p], order.steps, order.sequence[p]);
    forward.run(
        workspace.forward, begin, end, [&](Index t, Index p) { return loss.weight(t, order.sequence[p]) != 0; },
        [&](Index t, Index p, const T* logits) { cost[p - begin] += take(t, p, logits); });
    std::copy_n(cost, end - begin, nats.begin() + begin);
    backward.run(workspace.backward, begin, end, State<T>{}, {}, nullptr,
                 [&](Index t, Index p, Index count) { forward.write_again(t, p, count); });
    backward.give_common_start(workspace.backward.adjoints, begin, end, dstart);
  }

 private:
  // Return the cost of one step, and write its gradient to dvalues.
  double take(Index t, Index position, const T* logits) const {
    T* dlogits = dvalues.output + rows.at(t, position) * dvalues.output_stride;
    const Index b = order.sequence[position];
    if (loss.weight(t, b) != 0) return loss.step(dlogits, logits, t, b);
    std::fill_n(dlogits, plan.outputs, T(0));
    return 0;
  }
};

// Each thread runs one group forward and back before it takes the next group. It then holds the
// memories of one group only, and they stay in cache. The rows from which the weight gradients are
// computed are kept for all groups.
template <typename T>
double Gradients<T>::compute(const SequencesOf<const T*>& x, const SequencesOf<const T*>& targets,
                             const SequencesOf<const T*>& mask, const Batch& batch) {
  const FlushDenormals mode;
  Buffers& own = *buffers_;
  const Plan& plan = own.plan;
  const Order order(batch);
  own.prepare(batch, order);
  const State<T> start = learned_state(own.one_start, own.start, plan);
  const Rows rows(order, 0, batch.sequences, true);
  Arena<T*> arena = {rows.total, own.control.at_least(elements<ControlTapeOf<T*>, T>(plan, rows.total))};
  const ControlTapeOf<T*> control(plan, arena);
  Arena<const T*> const_arena = {rows.total, arena.data};
  const ControlTapeOf<const T*> const_control(plan, const_arena);
  Arena<T*> value_arena = {rows.total, own.values.at_least(elements<ValueGradients<T>, T>(plan, rows.total))};
  const ValueGradients<T> dvalues(plan, value_arena);
  const TrainingStep<T> step = {plan,
                                own.forward_maps,
                                own.backward_maps,
                                order,
                                rows,
                                control,
                                const_control,
                                dvalues,
                                x,
                                {targets, mask, plan.outputs, T(1) / T(batch.sequences)},
                                start,
                                own.dstarts.template view<T*>(),
                                own.interval,
                                own.nats};
  const auto work = group_work(batch, own.workspaces, [&](TrainingWorkspace<T>& workspace, Index begin, Index end) {
    step.run(workspace, begin, end);
  });
  const WeightSums<T> sums = weight_sums_of(plan, batch.sequences, rows.total, const_control, dvalues, own.dweights);
  Phase groups(groups_of(batch), work);
  Phase weight_sums(sums.count(), sums);
  run_parallel(batch.threads, groups, weight_sums);
  learned_gradients(own.dstart, own.dstarts, start, plan);
  return std::accumulate(own.nats.begin(), own.nats.end(), 0.0) / double(batch.sequences);
}

}  // namespace ntm::NTM_TARGET

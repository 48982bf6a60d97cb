// What a training step needs besides the network: the loss, the optimiser, and a watch over both.
#pragma once

#include <array>

#include "sequence.h"

namespace ntm::NTM_TARGET {

// Elements of each part of a state, per sequence.
inline std::array<Index, 6> state_sizes(const Sizes& s) {
  const Index hidden = s.lstm ? s.layers * s.units : 0;
  return {s.locations * s.width, s.read_heads * s.locations, s.write_heads * s.locations, s.read_heads * s.width,
          hidden, hidden};
}

template <typename Pointer>
std::array<Pointer, 6> parts(const StateOf<Pointer>& s) {
  return {s.memory, s.read_weightings, s.write_weightings, s.reads, s.hidden, s.cell};
}

constexpr bool is_weighting(int part) { return part == 1 || part == 2; }

// weightings = softmax of each row of logits, and its backward; the weightings may stand in place of the logits.
template <typename T>
void softmax_rows(T* weightings, const T* logits, Index rows, Index columns) {
  std::vector<T> values(padded(columns));
  for (Index r = 0; r < rows; ++r) {
    std::copy_n(logits + r * columns, columns, values.begin());
    softmax(values.data(), values.data(), T(1), columns, Index(values.size()));
    std::copy_n(values.begin(), columns, weightings + r * columns);
  }
}

template <typename T>
void softmax_rows_backward(T* dlogits, const T* dweightings, const T* weightings, Index rows, Index columns) {
  for (Index r = 0; r < rows; ++r) {
    const T *w = weightings + r * columns, *d = dweightings + r * columns;
    T mean = 0;
    for (Index i = 0; i < columns; ++i) mean += w[i] * d[i];
    for (Index i = 0; i < columns; ++i) dlogits[r * columns + i] = w[i] * (d[i] - mean);
  }
}

// Binary cross-entropy of logits, summed over the scored steps and the outputs, as a share of the whole batch's.
template <typename T>
struct Loss {
  const SequencesOf<const T*>&targets, &mask;
  Index outputs;
  T share;

  T weight(Index t, Index b) const { return mask.data[t * mask.time_stride + b * mask.batch_stride]; }

  // The cost of one step in nats, and the gradient of the logits.
  double step(T* dlogits, const T* logits, Index t, Index b) const {
    constexpr Index lanes = kLanes<T>;
    const T* target = targets.data + t * targets.time_stride + b * targets.batch_stride;
    const T scored = weight(t, b);
    double nats = 0;
    for (Index o = 0; o < outputs; o += lanes) {
      const int left = int(std::min(lanes, outputs - o));
      const Vec<T> z = load_partial(logits + o, left), y = load_partial(target + o, left);
      const Vec<T> e = exp<T>(-abs<T>(z));
      const Vec<T> cost = max<T>(z, Vec<T>{}) - z * y + log1p<T>(e);
      for (int i = 0; i < left; ++i) nats += cost[i];
      store_partial<T>(dlogits + o, scored * share * ((z >= 0 ? T(1) - Vec<T>{} : e) / (T(1) + e) - y), left);
    }
    return scored * nats;
  }

  // The cost of steps that a sequence did not run: they are scored as if the logits were zero.
  double beyond(Index length, Index steps, Index b) const {
    double nats = 0;
    for (Index t = length; t < steps; ++t) nats += weight(t, b) * double(outputs) * std::log(2.0);
    return nats;
  }
};

// Memory that grows when more is asked for. What it held is then lost.
template <typename T>
class Growing {
 public:
  T* at_least(Index count) {
    if (count > count_) data_ = buffer<T>(count_ = count);
    return data_.get();
  }

 private:
  Index count_ = 0;
  Buffer<T> data_;
};

// A worker's own: one group at a time goes forward and back in it.
template <typename T>
struct TrainingRoom {
  ForwardRoom<T> forward;
  BackwardRoom<T> backward;
  Growing<T> tape;

  explicit TrainingRoom(const Plan& plan) : forward(plan), backward(plan) {}
};

// Of how many steps the memory of one is kept. Memories that are few enough to stay near are all kept; of more, as many
// as leave the fewest places taken by those that are kept and those between two of them.
template <typename T>
Index memory_interval(const Plan& plan, Index steps, Index sequences) {
  constexpr Index near = 2 << 20;
  const Index bytes = steps * sequences * plan.width * plan.row * Index(sizeof(T));
  return bytes <= near ? steps + 1 : Index(std::ceil(std::sqrt(double(steps))));
}

template <typename T>
struct Gradients<T>::Workshop {
  Plan plan;
  Weights<T> weights;
  WeightGradients<T> dweights;
  State<T> start;
  MutableState<T> dstart;
  Maps<T> forward_maps, backward_maps;
  std::vector<TrainingRoom<T>> rooms;
  Growing<T> control, values;
  std::vector<T> one_start[6], dstarts[6];  // the start, and every group's gradient of it
  std::vector<double> nats;                 // of every sorted position
  Index interval;                           // between memories that are kept

  void set_start();
  void prepare(const Batch&, const Order&);
  void sum_dstart(Index groups);
};

template <typename T>
Gradients<T>::Gradients(const Sizes& sizes, const Weights<T>& weights, const WeightGradients<T>& dweights,
                        const State<T>& start, const MutableState<T>& dstart) {
  const Plan plan(sizes);
  workshop_.reset(new Workshop{plan, weights, dweights, start, dstart, forward_maps<T>(plan), backward_maps<T>(plan),
                               {}, {}, {}, {}, {}, {}, 0});
}

template <typename T>
Gradients<T>::~Gradients() = default;

template <typename Pointer, typename T>
StateOf<Pointer> as_state(std::vector<T> (&arrays)[6]) {
  return {arrays[0].data(), arrays[1].data(), arrays[2].data(), arrays[3].data(), arrays[4].data(), arrays[5].data()};
}

template <typename T>
void Gradients<T>::Workshop::set_start() {
  const auto sizes = state_sizes(plan);
  const auto from = parts(start);
  for (int part = 0; part < 6; ++part) {
    one_start[part].resize(sizes[part]);
    if (is_weighting(part))
      softmax_rows(one_start[part].data(), from[part], sizes[part] / plan.locations, plan.locations);
    else
      std::copy_n(from[part], sizes[part], one_start[part].data());
  }
}

// Everything that the threads will need, made before they start: what a thread allocates, it must ask the system for.
template <typename T>
void Gradients<T>::Workshop::prepare(const Batch& batch, const Order& order) {
  pack_forward(forward_maps, weights);
  pack_backward(backward_maps, weights);
  set_start();
  const auto sizes = state_sizes(plan);
  for (int part = 0; part < 6; ++part) dstarts[part].resize(groups_of(batch) * sizes[part]);
  nats.assign(batch.sequences, 0);
  make_rooms(rooms, plan, batch);
  const Index largest = std::min(kGroup, batch.sequences);  // the first group is also the longest
  Shelf<T*> tape = {Rows(order, 0, largest, true).total, nullptr};
  interval = memory_interval<T>(plan, order.steps, largest);
  MemoryTapeOf<T*>(plan, tape, MemoryRows(0, largest, order.steps, interval).total);
  for (auto& room : rooms) room.tape.at_least(tape.size);
}

template <typename T>
void Gradients<T>::Workshop::sum_dstart(Index groups) {
  const auto sizes = state_sizes(plan);
  const auto to = parts(dstart);
  for (int part = 0; part < 6; ++part) {
    T* sum = dstarts[part].data();
    for (Index g = 1; g < groups; ++g)
      for (Index i = 0; i < sizes[part]; ++i) sum[i] += sum[g * sizes[part] + i];
    if (is_weighting(part))
      softmax_rows_backward(to[part], sum, one_start[part].data(), sizes[part] / plan.locations, plan.locations);
    else
      std::copy_n(sum, sizes[part], to[part]);
  }
}

// One call of `compute`: where everything is, and what one group does.
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

  // Forward, loss and backward of the sequences at sorted positions [begin, end).
  void run(TrainingRoom<T>& room, Index begin, Index end) const {
    const Rows group_rows(order, begin, end, true);
    const MemoryRows memories(begin, end, order.length[begin], interval);
    Shelf<T*> shelf = {group_rows.total, room.tape.at_least(0)};
    const MemoryTapeOf<T*> memory(plan, shelf, memories.total);
    Shelf<const T*> const_shelf = {group_rows.total, shelf.data};
    const MemoryTapeOf<const T*> const_memory(plan, const_shelf, memories.total);
    const Forward<T> forward(plan, order, forward_maps, x, {memory, memories, group_rows, control, rows});
    const Backward<T> backward(plan, order, backward_maps, {const_memory, memories, group_rows, const_control, rows},
                               dvalues);
    forward.begin(begin, start, 0);
    for (Index p = begin + 1; p < end; ++p) forward.begin_like(p, begin);
    double cost[kGroup];  // here at first: threads that write side by side to one array wait for each other
    for (Index p = begin; p < end; ++p)
      cost[p - begin] = loss.beyond(order.length[p], order.steps, order.sequence[p]);
    forward.run(
        room.forward, begin, end, [&](Index t, Index p) { return loss.weight(t, order.sequence[p]) != 0; },
        [&](Index t, Index p, const T* logits) { cost[p - begin] += take(t, p, logits); });
    std::copy_n(cost, end - begin, nats.begin() + begin);
    backward.run(room.backward, begin, end, State<T>{}, nullptr,
                 [&](Index t, Index p, Index count) { forward.write_again(t, p, count); });
    backward.sum_starts(room.backward.carry, end - begin);
    backward.give_start(room.backward.carry, 0, begin / kGroup, dstart);
  }

 private:
  // The cost of one step; its gradient goes to dvalues.
  double take(Index t, Index position, const T* logits) const {
    T* dlogits = dvalues.output + rows.at(t, position) * dvalues.output_stride;
    const Index b = order.sequence[position];
    if (loss.weight(t, b) != 0) return loss.step(dlogits, logits, t, b);
    std::fill_n(dlogits, plan.outputs, T(0));
    return 0;
  }
};

// Each group goes forward and back before its thread turns to the next one, so that only one group's memories per
// thread are alive at a time, in a cache near by. What the weights' gradients are made of is kept of all.
template <typename T>
double Gradients<T>::compute(Batch batch, const SequencesOf<const T*>& x, const SequencesOf<const T*>& targets,
                             const SequencesOf<const T*>& mask) {
  const FlushDenormals mode;
  Workshop& shop = *workshop_;
  const Plan& plan = shop.plan;
  const Order order(batch);
  shop.prepare(batch, order);
  const Rows rows(order, 0, batch.sequences, true);
  Shelf<T*> shelf = {rows.total, shop.control.at_least(elements<ControlTapeOf<T*>, T>(plan, rows.total))};
  const ControlTapeOf<T*> control(plan, shelf);
  Shelf<const T*> const_shelf = {rows.total, shelf.data};
  const ControlTapeOf<const T*> const_control(plan, const_shelf);
  Shelf<T*> value_shelf = {rows.total, shop.values.at_least(elements<ValueGradients<T>, T>(plan, rows.total))};
  const ValueGradients<T> dvalues(plan, value_shelf);
  const TrainingStep<T> step = {
      plan, shop.forward_maps, shop.backward_maps, order, rows, control, const_control, dvalues, x,
      {targets, mask, plan.outputs, T(1) / T(batch.sequences)},
      as_state<const T*>(shop.one_start), as_state<T*>(shop.dstarts), shop.interval, shop.nats};
  const auto work = group_work(
      batch, shop.rooms, [&](TrainingRoom<T>& room, Index begin, Index end) { step.run(room, begin, end); });
  const WeightSums<T> sums(plan, batch.sequences, rows.total, const_control, dvalues, shop.dweights);
  Phase groups(groups_of(batch), work);
  Phase weight_sums(sums.count(), sums);
  run_parallel(batch.threads, groups, weight_sums);
  shop.sum_dstart(groups_of(batch));
  return std::accumulate(shop.nats.begin(), shop.nats.end(), 0.0) / double(batch.sequences);
}

template <typename T>
void rmsprop(const Optimised<T>& on, const RMSPropSettings& settings) {
  const FlushDenormals mode;
  constexpr Index lanes = kLanes<T>;
  const T rate = T(settings.rate), decay = T(settings.decay), momentum = T(settings.momentum);
  const T epsilon = T(settings.epsilon), clip = T(settings.clip), fresh = T(1 - settings.decay);
  for (Index i = 0; i < on.count; i += lanes) {
    const int left = int(std::min<Index>(lanes, on.count - i));
    const auto get = [&](const T* from) { return left == lanes ? load(from + i) : load_partial(from + i, left); };
    const auto put = [&](T* to, Vec<T> v) { left == lanes ? store<T>(to + i, v) : store_partial<T>(to + i, v, left); };
    const Vec<T> g = min<T>(max<T>(get(on.gradient), broadcast<T>(-clip)), broadcast<T>(clip));
    const Vec<T> n = decay * get(on.mean_square) + fresh * g * g;
    const Vec<T> m = decay * get(on.mean) + fresh * g;
    // A variance is never negative, but the rounding of two large, nearly equal numbers can be.
    const Vec<T> d = momentum * get(on.delta) - rate * g / sqrt<T>(max<T>(n - m * m, Vec<T>{}) + epsilon);
    put(on.mean_square, n);
    put(on.mean, m);
    put(on.delta, d);
    put(on.parameter, get(on.parameter) + d);
  }
}

// Any NaN or infinity makes the sum of x - x differ from zero.
template <typename T>
bool all_finite(Index count, const T* values) {
  constexpr Index lanes = kLanes<T>;
  Vec<T> sum = {};
  Index i = 0;
  for (; i + lanes <= count; i += lanes) {
    const Vec<T> v = load(values + i);
    sum += v - v;
  }
  T rest = sum_of<T>(sum);
  for (; i < count; ++i) rest += values[i] - values[i];
  return rest == 0;
}

}  // namespace ntm::NTM_TARGET

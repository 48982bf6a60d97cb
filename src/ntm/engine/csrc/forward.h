// Forward pass: all steps of a group of sequences. It fills the tape.
#pragma once

#include "controllers.h"
#include "maps.h"
#include "tape.h"

namespace ntm::NTM_TARGET {

template <typename T>
struct ForwardWorkspace {
  Chain<T> chain;
  HeadNumbers<T> numbers;
  Index raw_stride, output_stride;
  Buffer<T> values, raw, outputs;
  Growing<T> tape, between;  // buffers that only this pass uses

  explicit ForwardWorkspace(const Plan& plan)
      : chain(plan),
        numbers(plan),
        raw_stride(padded(plan.raw_heads)),
        output_stride(padded(plan.outputs)),
        values(buffer<T>(kGroup * padded(plan.gates))),
        raw(buffer<T>(kGroup * raw_stride)),
        outputs(buffer<T>(kGroup * output_stride)) {}
};

template <typename T>
class Forward {
 public:
  Forward(const TapeOf<T*>& tape, const SequencesOf<const T*>& x, const Maps<T>& maps)
      : tape_(tape), x_(x), maps_(maps), plan_(tape.plan) {}

  // Start sequence i of the group from state `b` of `start`.
  void begin(Index i, const State<T>& start, Index b) const {
    const MutableState<T> state = tape_.state(-1, i);
    state_in(state, start, b, plan_);
    inverse_norms(tape_.memory.record(-1, i).inverse_norms, state[kMemory], plan_);
  }

  // Copy out the final state of sequence i.
  void end(const MutableState<T>& final, Index i) const {
    const auto state = tape_.state(tape_.length(i) - 1, i);
    state_out(final, sequence(i), readable(state), plan_);
  }

  // Copy out the weightings of step t of sequence i.
  void give_weightings(const WeightingsOf<T*>& weightings, Index t, Index i) const {
    const Index to = t * Index(tape_.order.sequence.size()) + sequence(i), locations = plan_.locations;
    const RecordOf<T*> record = tape_.memory.record(t, i);
    const auto give = [&](T* all, const T* rows, Index heads) {
      if (all) strip_rows(all + to * heads * locations, rows, heads, locations, plan_.row);
    };
    give(weightings.read, record.read.weightings, plan_.read_heads);
    give(weightings.write, record.write.weightings, plan_.write_heads);
  }

  // Run all steps. Calls take(t, i, logits) for each step of each sequence. If wanted(t, i) is false
  // for all sequences, logits is null.
  template <typename Wanted, typename Take>
  void run(ForwardWorkspace<T>& workspace, const Wanted& wanted, const Take& take) const {
    T *raw = workspace.raw.get(), *outputs = workspace.outputs.get();
    const Index stride = tape_.control.features_stride;
    for (Index t = 0; t < tape_.length(0); ++t) {
      const Index running = tape_.order.running(t, tape_.begin, tape_.end);
      const T* features = tape_.features(t, 0);
      control(workspace.values.get(), t, running);
      maps_.heads.apply(raw, workspace.raw_stride, features, stride, running, workspace.raw_stride);
      for (Index i = 0; i < running; ++i) use_memory(workspace, raw + i * workspace.raw_stride, t, i);
      bool any = false;
      for (Index i = 0; i < running; ++i) any = any || wanted(t, i);
      if (any) maps_.output.apply(outputs, workspace.output_stride, features, stride, running, workspace.output_stride);
      for (Index i = 0; i < running; ++i) take(t, i, any ? outputs + i * workspace.output_stride : nullptr);
    }
  }

 private:
  static constexpr Index kNear = 128;  // locations of a memory that stay in the nearest cache

  static State<T> readable(const MutableState<T>& state) {
    State<T> same;
    std::copy(state.begin(), state.end(), same.begin());
    return same;
  }

  Index sequence(Index i) const { return tape_.order.sequence[tape_.begin + i]; }

  // Run one step of the controller for `running` sequences. Writes the first part of the features.
  void control(T* values, Index t, Index running) const {
    const ControlTapeOf<T*>& control = tape_.control;
    for (Index l = 0; l < plan_.layers; ++l) {
      T* seen = control.seen[l] + tape_.row(t, 0) * control.seen_stride[l];
      for (Index i = 0; i < running; ++i) see(seen + i * control.seen_stride[l], t, i, l);
      const Index stride = control.gates_stride;
      T* result = plan_.recurrent() ? control.gates[l] + tape_.row(t, 0) * stride : values;
      maps_.controller[l].apply(result, stride, seen, control.seen_stride[l], running, stride);
      for (Index i = 0; i < running; ++i) {
        T* h = plan_.recurrent() ? tape_.hidden(t, i, l) : tape_.features(t, i);
        control_layer<T>(h, tape_.cell(t, i, l), result + i * stride, tape_.cell(t - 1, i, l), plan_);
      }
    }
    if (!plan_.recurrent()) return;
    for (Index i = 0; i < running; ++i)
      std::copy_n(tape_.hidden(t, i, plan_.layers - 1), plan_.units, tape_.features(t, i));
  }

  // Copy the inputs of layer l: x and the last reads, or the layer below; then the last hidden state.
  void see(T* to, Index t, Index i, Index l) const {
    if (l == 0) {
      to = std::copy_n(x_.data + t * x_.time_stride + sequence(i) * x_.batch_stride, plan_.inputs, to);
      to = std::copy_n(tape_.features(t - 1, i) + plan_.units, plan_.read_heads * plan_.width, to);
    } else {
      to = std::copy_n(tape_.hidden(t, i, l - 1), plan_.units, to);
    }
    if (plan_.recurrent()) std::copy_n(tape_.hidden(t - 1, i, l), plan_.units, to);
  }

  // Write to the memory, then read it, at one step of one sequence.
  void use_memory(ForwardWorkspace<T>& workspace, const T* raw, Index t, Index i) const {
    const RecordOf<T*> record = tape_.memory.record(t, i), last = tape_.memory.record(t - 1, i);
    T *memory = tape_.memory.memory(t, i), *previous = tape_.memory.memory(t - 1, i);
    T *read_heads = tape_.heads(t, i), *write_heads = read_heads + plan_.write.first_squashed;
    squash(read_heads, raw, workspace.numbers, plan_);
    from_the_end(plan_, [&](Index from, Index to) {
      key_products<T>(record.write.similarity, previous, write_heads, plan_.write, plan_, from, to);
    });
    address_all(record.write, workspace.chain, last.write.weightings, last.inverse_norms, write_heads, plan_.write);
    // The read heads compare their keys with a part of the memory while it is in cache.
    for (Index from = 0; from < plan_.row; from += kNear) {
      const Index to = std::min(from + kNear, plan_.row);
      write_step<T>(memory, record.inverse_norms, previous, tape_, t, i, from, to);
      key_products<T>(record.read.similarity, memory, read_heads, plan_.read, plan_, from, to);
    }
    address_all(record.read, workspace.chain, last.read.weightings, record.inverse_norms, read_heads, plan_.read);
    read<T>(tape_.features(t, i) + plan_.units, record.read.weightings, memory, plan_);
  }

  // Address with all heads of a kind. to.similarity holds the products of keys and locations.
  void address_all(const AddressingOf<T*>& to, Chain<T>& chain, const T* previous, const T* norms, const T* heads,
                   const HeadKind& kind) const {
    cosine_similarity(to.similarity, norms, heads, kind, plan_);
    for (Index h = 0; h < kind.count; ++h)
      address(to.head(h, plan_), chain, previous + h * plan_.row, heads + h * kind.squashed.size, kind.squashed, plan_);
  }

  const TapeOf<T*>& tape_;
  const SequencesOf<const T*>& x_;
  const Maps<T>& maps_;
  const Plan& plan_;
};

}  // namespace ntm::NTM_TARGET

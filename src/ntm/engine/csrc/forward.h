// Forward pass: all steps of a group of sequences. It fills the tape.
#pragma once

#include "controllers.h"
#include "groups.h"
#include "layout.h"
#include "maps.h"

namespace ntm::NTM_TARGET {

// The two parts of a tape, and their rows.
template <typename Pointer>
struct TapeOf {
  const MemoryTapeOf<Pointer>& memory;
  const MemoryRows& memories;
  const Rows& memory_rows;
  const ControlTapeOf<Pointer>& control;
  const Rows& control_rows;
};

template <typename T>
struct ForwardWorkspace {
  Chain<T> chain;
  HeadNumbers<T> numbers;
  Index raw_stride, output_stride;
  Buffer<T> values, raw, outputs;

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
  Forward(const Plan& plan, const Order& order, const Maps<T>& maps, const SequencesOf<const T*>& x,
          const TapeOf<T*>& tape)
      : plan_(plan),
        order_(order),
        maps_(maps),
        x_(x),
        memory_(tape.memory),
        memories_(tape.memories),
        memory_rows_(tape.memory_rows),
        control_(tape.control),
        rows_(tape.control_rows) {}

  // Start the sequence at a sorted position from state `b` of `start`.
  void begin(Index position, const State<T>& start, Index b) const {
    const Index row = memory_rows_.at(-1, position), control_row = rows_.at(-1, position);
    T* memory = memory_at(-1, position);
    panels_in(memory, start.memory + b * plan_.locations * plan_.width, plan_);
    inverse_norms(memory_.inverse_norms + row * plan_.row, memory, plan_);
    pad_rows(read_weightings(row), start.read_weightings + b * plan_.read_heads * plan_.locations, plan_.read_heads,
             plan_.locations, plan_.row);
    pad_rows(write_weightings(row), start.write_weightings + b * plan_.write_heads * plan_.locations, plan_.write_heads,
             plan_.locations, plan_.row);
    const T* reads = start.reads + b * plan_.read_heads * plan_.width;
    std::copy(reads, reads + plan_.read_heads * plan_.width, features(control_row) + plan_.units);
    for (Index l = 0; l < plan_.recurrent; ++l) {
      const Index at = (b * plan_.layers + l) * plan_.units;
      std::copy(start.hidden + at, start.hidden + at + plan_.units, hidden(l, control_row));
      std::copy(start.cell + at, start.cell + at + plan_.units, cell(l, control_row));
    }
  }

  // Start all sequences at sorted positions [begin, end) from state 0.
  void begin_alike(Index begin, Index end, const State<T>& start) const {
    this->begin(begin, start, 0);
    for (Index p = begin + 1; p < end; ++p) begin_like(p, begin);
  }

  void end(Index position, const MutableState<T>& final) const {
    const Index b = order_.sequence[position], last = order_.length[position] - 1;
    const Index row = memory_rows_.at(last, position), control_row = rows_.at(last, position);
    panels_out(final.memory + b * plan_.locations * plan_.width, memory_at(last, position), plan_);
    strip_rows(final.read_weightings + b * plan_.read_heads * plan_.locations, read_weightings(row), plan_.read_heads,
               plan_.locations, plan_.row);
    strip_rows(final.write_weightings + b * plan_.write_heads * plan_.locations, write_weightings(row),
               plan_.write_heads, plan_.locations, plan_.row);
    std::copy(features(control_row) + plan_.units, features(control_row) + plan_.features,
              final.reads + b * plan_.read_heads * plan_.width);
    for (Index l = 0; l < plan_.recurrent; ++l) {
      const Index at = (b * plan_.layers + l) * plan_.units;
      std::copy(hidden(l, control_row), hidden(l, control_row) + plan_.units, final.hidden + at);
      std::copy(cell(l, control_row), cell(l, control_row) + plan_.units, final.cell + at);
    }
  }

  // Copy out the weightings of step t of the sequence at a sorted position.
  void give_weightings(const WeightingsOf<T*>& weightings, Index t, Index position) const {
    const Index to = t * Index(order_.sequence.size()) + order_.sequence[position];
    const Index row = memory_rows_.at(t, position), locations = plan_.locations;
    if (weightings.read)
      strip_rows(weightings.read + to * plan_.read_heads * locations, read_weightings(row), plan_.read_heads, locations,
                 plan_.row);
    if (weightings.write)
      strip_rows(weightings.write + to * plan_.write_heads * locations, write_weightings(row), plan_.write_heads,
                 locations, plan_.row);
  }

  // Run all steps of the sequences at sorted positions [begin, end). Calls take(t, position,
  // logits) for each step of each sequence. If wanted(t, position) is false for all sequences,
  // logits is null.
  template <typename Wanted, typename Take>
  void run(ForwardWorkspace<T>& workspace, Index begin, Index end, const Wanted& wanted, const Take& take) const {
    T *raw = workspace.raw.get(), *outputs = workspace.outputs.get();
    for (Index t = 0; t < order_.length[begin]; ++t) {
      const Index running = order_.running(t, begin, end), row = rows_.at(t, begin);
      control(t, begin, running, workspace.values.get());
      maps_.heads.apply(raw, workspace.raw_stride, features(row), control_.features_stride, running,
                        workspace.raw_stride);
      for (Index i = 0; i < running; ++i) use_memory(t, begin + i, raw + i * workspace.raw_stride, workspace);
      bool any = false;
      for (Index i = 0; i < running; ++i) any = any || wanted(t, begin + i);
      if (any)
        maps_.output.apply(outputs, workspace.output_stride, features(row), control_.features_stride, running,
                           workspace.output_stride);
      for (Index i = 0; i < running; ++i) take(t, begin + i, any ? outputs + i * workspace.output_stride : nullptr);
    }
  }

  // Recompute the memories of the `count` steps before t, which other steps have overwritten.
  void write_again(Index t, Index position, Index count) const {
    for (Index u = t - count; u < t; ++u) write_memory(u, position);
  }

 private:
  T* memory_at(Index t, Index position) const {
    return memory_.memory + memories_.at(t, position) * memory_.memory_stride;
  }
  T* features(Index row) const { return control_.features + row * control_.features_stride; }
  T* hidden(Index l, Index row) const { return control_.hidden[l] + row * control_.hidden_stride; }
  T* cell(Index l, Index row) const { return control_.cell[l] + row * control_.hidden_stride; }
  T* read_weightings(Index row) const { return memory_.read.at(row).weightings; }
  T* write_weightings(Index row) const { return memory_.write.at(row).weightings; }

  // Start a sequence from the state of another one.
  void begin_like(Index position, Index other) const {
    const Index row = memory_rows_.at(-1, position), from = memory_rows_.at(-1, other);
    const auto copy = [&](T* array, Index stride) { std::copy_n(array + from * stride, stride, array + row * stride); };
    std::copy_n(memory_at(-1, other), memory_.memory_stride, memory_at(-1, position));
    copy(memory_.inverse_norms, plan_.row);
    copy(memory_.read.weightings, memory_.read.stride);
    copy(memory_.write.weightings, memory_.write.stride);
    const Index control_row = rows_.at(-1, position), control_from = rows_.at(-1, other);
    std::copy_n(features(control_from), plan_.features, features(control_row));
    for (Index l = 0; l < plan_.recurrent; ++l) {
      std::copy_n(hidden(l, control_from), plan_.units, hidden(l, control_row));
      std::copy_n(cell(l, control_from), plan_.units, cell(l, control_row));
    }
  }

  // Run one step of the controller for `running` sequences. Writes the first part of the features.
  void control(Index t, Index begin, Index running, T* values) const {
    const Index row = rows_.at(t, begin), previous = rows_.at(t - 1, begin);
    for (Index l = 0; l < plan_.layers; ++l) {
      T* seen = control_.seen[l] + row * control_.seen_stride[l];
      for (Index i = 0; i < running; ++i) {
        T* to = seen + i * control_.seen_stride[l];
        if (l == 0) {
          const T* x = x_.data + t * x_.time_stride + order_.sequence[begin + i] * x_.batch_stride;
          to = std::copy_n(x, plan_.inputs, to);
          to = std::copy_n(features(previous + i) + plan_.units, plan_.read_heads * plan_.width, to);
        } else {
          to = std::copy_n(hidden(l - 1, row + i), plan_.units, to);
        }
        if (plan_.lstm) std::copy_n(hidden(l, previous + i), plan_.units, to);
      }
      const Index stride = control_.gates_stride;
      T* result = plan_.lstm ? control_.gates[l] + row * stride : values;
      maps_.controller[l].apply(result, stride, seen, control_.seen_stride[l], running, stride);
      for (Index i = 0; i < running; ++i) {
        if (plan_.lstm)
          lstm(hidden(l, row + i), cell(l, row + i), result + i * stride, cell(l, previous + i), plan_.units);
        else
          feedforward(features(row + i), result + i * stride, plan_.units);
      }
    }
    if (!plan_.lstm) return;
    for (Index i = 0; i < running; ++i) std::copy_n(hidden(plan_.layers - 1, row + i), plan_.units, features(row + i));
  }

  // Write to the memory, then read it, at one step of one sequence.
  void use_memory(Index t, Index position, const T* raw, ForwardWorkspace<T>& workspace) const {
    const Plan& plan = plan_;
    const Index row = memory_rows_.at(t, position), previous = memory_rows_.at(t - 1, position);
    const Index control_row = rows_.at(t, position);
    T* read_heads = control_.heads + control_row * control_.heads_stride;
    T* write_heads = read_heads + plan.write.first_squashed;
    squash(read_heads, raw, workspace.numbers, plan);
    const T* memory = memory_at(t, position);

    address_all(memory_.write.at(row), write_weightings(previous), memory_at(t - 1, position),
                memory_.inverse_norms + previous * plan.row, write_heads, plan.write, workspace.chain);
    write_memory(t, position);
    address_all(memory_.read.at(row), read_weightings(previous), memory, memory_.inverse_norms + row * plan.row,
                read_heads, plan.read, workspace.chain);
    read(features(control_row) + plan.units, read_weightings(row), memory, plan);
  }

  void write_memory(Index t, Index position) const {
    const Index row = memory_rows_.at(t, position);
    const T* heads = control_.heads + rows_.at(t, position) * control_.heads_stride + plan_.write.first_squashed;
    write(memory_at(t, position), memory_.inverse_norms + row * plan_.row, memory_at(t - 1, position),
          write_weightings(row), heads, plan_);
  }

  void address_all(const AddressingOf<T*>& to, const T* previous, const T* memory, const T* norms, const T* heads,
                   const HeadKind& kind, Chain<T>& chain) const {
    cosine_similarity(to.similarity, memory, norms, heads, kind, plan_);
    for (Index h = 0; h < kind.count; ++h)
      address(to.from(h * plan_.row), chain, previous + h * plan_.row, heads + h * kind.squashed.size, kind.squashed,
              plan_);
  }

  const Plan& plan_;
  const Order& order_;
  const Maps<T>& maps_;
  const SequencesOf<const T*>& x_;
  const MemoryTapeOf<T*>& memory_;
  const MemoryRows& memories_;
  const Rows& memory_rows_;
  const ControlTapeOf<T*>& control_;
  const Rows& rows_;
};

}  // namespace ntm::NTM_TARGET

// Whole sequences: forward in time filling the tape, backward in time reading it, and the record copied out of it.
//
// Sequences run in groups. Within a group all take a step together, so that the linear maps see several rows at
// once; groups are independent, and threads share them.
#pragma once

#include "controllers.h"
#if defined(__wasm__)
#include "serial.h"
#else
#include "parallel.h"
#endif

namespace ntm::NTM_TARGET {

// Sequences per group: enough to feed the matrix products, few enough for their tape to stay near and for all threads
// to be busy to the end.
constexpr Index kGroup = 4;

inline Index groups_of(const Batch& batch) { return (batch.sequences + kGroup - 1) / kGroup; }

// Makes rooms before there are threads: what a short-lived one allocates, the system must give anew at every call.
template <typename Room>
void make_rooms(std::vector<Room>& rooms, const Plan& plan, const Batch& batch) {
  while (Index(rooms.size()) < std::clamp<Index>(batch.threads, 1, groups_of(batch))) rooms.emplace_back(plan);
}

// Work for a phase: run(room, begin, end) for every group of sorted positions, the longest sequences first. Each thread
// has a room of its own.
template <typename Room, typename Run>
auto group_work(const Batch& batch, std::vector<Room>& rooms, const Run& run) {
  return [&, run](Index worker, Index group) {
    run(rooms[worker], group * kGroup, std::min((group + 1) * kGroup, batch.sequences));
  };
}

// (N, M) as the caller holds a memory, to and from panels, as the kernels do.
template <typename T>
void panels_in(T* memory, const T* plain, const Plan& plan) {
  for (Index n = 0; n < plan.row; ++n)
    for (Index m = 0; m < plan.width; ++m)
      memory[(n / kPanel * plan.width + m) * kPanel + n % kPanel] = n < plan.locations ? plain[n * plan.width + m] : T(0);
}

template <typename T>
void panels_out(T* plain, const T* memory, const Plan& plan) {
  for (Index n = 0; n < plan.locations; ++n)
    for (Index m = 0; m < plan.width; ++m)
      plain[n * plan.width + m] = memory[(n / kPanel * plan.width + m) * kPanel + n % kPanel];
}

// Rows of N elements to and from rows padded with zeros. A null source stands for zeros.
template <typename T>
void pad_rows(T* rows, const T* plain, Index count, Index length, Index row) {
  for (Index i = 0; i < count; ++i) {
    std::fill(rows + i * row, rows + (i + 1) * row, T(0));
    if (plain) std::copy(plain + i * length, plain + (i + 1) * length, rows + i * row);
  }
}

template <typename T>
void strip_rows(T* plain, const T* rows, Index count, Index length, Index row) {
  for (Index i = 0; i < count; ++i) std::copy(rows + i * row, rows + i * row + length, plain + i * length);
}

// The part of `pointer` that belongs to one sequence; null stays null.
template <typename Pointer>
Pointer slice(Pointer pointer, Index sequence, Index size) {
  return pointer ? pointer + sequence * size : nullptr;
}

// The layer's linear maps, packed for products in one direction.
template <typename T>
struct Maps {
  Packed<T> heads, output;
  std::vector<Packed<T>> controller;
};

template <typename T>
Maps<T> forward_maps(const Plan& plan) {
  Maps<T> maps = {{plan.units, plan.raw_heads}, {plan.features, plan.outputs}, {}};
  for (Index l = 0; l < plan.layers; ++l) maps.controller.emplace_back(plan.seen(l), plan.gates);
  return maps;
}

template <typename T>
Maps<T> backward_maps(const Plan& plan) {
  Maps<T> maps = {{plan.raw_heads, plan.units}, {plan.outputs, plan.features}, {}};
  for (Index l = 0; l < plan.layers; ++l) maps.controller.emplace_back(plan.gates, plan.seen(l));
  return maps;
}

template <typename T>
void pack_forward(Maps<T>& maps, const Weights<T>& weights) {
  maps.heads.pack(weights.heads.weight, weights.heads.bias);
  maps.output.pack(weights.output.weight, weights.output.bias);
  for (std::size_t l = 0; l < weights.controller.size(); ++l)
    maps.controller[l].pack(weights.controller[l].weight, weights.controller[l].bias);
}

template <typename T>
void pack_backward(Maps<T>& maps, const Weights<T>& weights) {
  maps.heads.pack_transposed(weights.heads.weight);
  maps.output.pack_transposed(weights.output.weight);
  for (std::size_t l = 0; l < weights.controller.size(); ++l)
    maps.controller[l].pack_transposed(weights.controller[l].weight);
}

// A tape as one pass uses it: its two parts, and their rows.
template <typename Pointer>
struct TapeOf {
  const MemoryTapeOf<Pointer>& memory;
  const MemoryRows& memories;
  const Rows& memory_rows;
  const ControlTapeOf<Pointer>& control;
  const Rows& control_rows;
};

template <typename T>
struct ForwardRoom {
  Chain<T> chain;
  HeadNumbers<T> numbers;
  Index raw_stride, output_stride;
  Buffer<T> values, raw, outputs;

  explicit ForwardRoom(const Plan& plan)
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

  // Takes the start of the sequence at a sorted position: state `b` of those given.
  void begin(Index position, const State<T>& start, Index b) const {
    const Index row = memory_rows_.at(-1, position), control_row = rows_.at(-1, position);
    T* memory = memory_at(-1, position);
    panels_in(memory, start.memory + b * plan_.locations * plan_.width, plan_);
    inverse_norms(memory_.inverse_norms + row * plan_.row, memory, plan_);
    pad_rows(read_weightings(row), start.read_weightings + b * plan_.read_heads * plan_.locations, plan_.read_heads,
             plan_.locations, plan_.row);
    pad_rows(write_weightings(row), start.write_weightings + b * plan_.write_heads * plan_.locations,
             plan_.write_heads, plan_.locations, plan_.row);
    const T* reads = start.reads + b * plan_.read_heads * plan_.width;
    std::copy(reads, reads + plan_.read_heads * plan_.width, features(control_row) + plan_.units);
    for (Index l = 0; l < plan_.recurrent; ++l) {
      const Index at = (b * plan_.layers + l) * plan_.units;
      std::copy(start.hidden + at, start.hidden + at + plan_.units, hidden(l, control_row));
      std::copy(start.cell + at, start.cell + at + plan_.units, cell(l, control_row));
    }
  }

  // The same, for a sequence that starts as another one does.
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

  void end(Index position, const MutableState<T>& final) const {
    const Index b = order_.sequence[position], last = order_.length[position] - 1;
    const Index row = memory_rows_.at(last, position), control_row = rows_.at(last, position);
    panels_out(final.memory + b * plan_.locations * plan_.width, memory_at(last, position), plan_);
    strip_rows(final.read_weightings + b * plan_.read_heads * plan_.locations, read_weightings(row),
               plan_.read_heads, plan_.locations, plan_.row);
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

  // All steps of the sequences at sorted positions [begin, end). Calls take(t, position, logits) for each, and computes
  // logits only where wanted(t, position) of any sequence; elsewhere they are null.
  template <typename Wanted, typename Take>
  void run(ForwardRoom<T>& room, Index begin, Index end, const Wanted& wanted, const Take& take) const {
    T *raw = room.raw.get(), *outputs = room.outputs.get();
    for (Index t = 0; t < order_.length[begin]; ++t) {
      const Index running = order_.running(t, begin, end), row = rows_.at(t, begin);
      control(t, begin, running, room.values.get());
      maps_.heads.apply(raw, room.raw_stride, features(row), control_.features_stride, running, room.raw_stride);
      for (Index i = 0; i < running; ++i) use_memory(t, begin + i, raw + i * room.raw_stride, room);
      bool any = false;
      for (Index i = 0; i < running; ++i) any = any || wanted(t, begin + i);
      if (any)
        maps_.output.apply(outputs, room.output_stride, features(row), control_.features_stride, running,
                           room.output_stride);
      for (Index i = 0; i < running; ++i) take(t, begin + i, any ? outputs + i * room.output_stride : nullptr);
    }
  }

  // Writes the memories of `count` steps before t again, which others have taken the places of.
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

  // The controller's step for `running` sequences: its output becomes the first part of their features.
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
    for (Index i = 0; i < running; ++i)
      std::copy_n(hidden(plan_.layers - 1, row + i), plan_.units, features(row + i));
  }

  // Write, then read, at one step of one sequence.
  void use_memory(Index t, Index position, const T* raw, ForwardRoom<T>& room) const {
    const Plan& plan = plan_;
    const Index row = memory_rows_.at(t, position), previous = memory_rows_.at(t - 1, position);
    const Index control_row = rows_.at(t, position);
    T* read_heads = control_.heads + control_row * control_.heads_stride;
    T* write_heads = read_heads + plan.write.first_squashed;
    squash(read_heads, raw, room.numbers, plan);
    const T* memory = memory_at(t, position);

    address_all(memory_.write.at(row), write_weightings(previous), memory_at(t - 1, position),
                memory_.inverse_norms + previous * plan.row, write_heads, plan.write, room.chain);
    write_memory(t, position);
    address_all(memory_.read.at(row), read_weightings(previous), memory, memory_.inverse_norms + row * plan.row,
                read_heads, plan.read, room.chain);
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

// The gradients of the linear maps' values, a row per sequence and step: what the weights' gradients are made of.
template <typename T>
struct ValueGradients {
  T *heads, *output;
  std::vector<T*> controller;
  Index heads_stride, output_stride, controller_stride;

  ValueGradients(const Plan& plan, Shelf<T*>& shelf)
      : heads_stride(padded(plan.raw_heads)),
        output_stride(padded(plan.outputs)),
        controller_stride(padded(plan.gates)) {
    heads = shelf.take(heads_stride);
    output = shelf.take(output_stride);
    for (Index l = 0; l < plan.layers; ++l) controller.push_back(shelf.take(controller_stride));
    shelf.size += kPanel;  // vectors may read past the last row
  }
};

// What flows from one step to the one before it, for the sequences of a group. Of the similarities of a step's write
// heads, the gradients `keys`, `products` and `scale` wait for the step before, which passes over the same memory.
template <typename T>
struct Carry {
  Buffer<T> memory, read_weightings, write_weightings, reads;
  Buffer<T> keys, products, scale;  // per sequence (W x M), (W x row), (row)
  std::vector<Buffer<T>> hidden, cell;

  explicit Carry(const Plan& plan)
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
struct BackwardRoom {
  Carry<T> carry;
  Index features_stride, units_stride, seen_stride;
  Buffer<T> dfeatures, dh, dseen;
  // For one step of one sequence:
  Chain<T> chain;
  Scratch<T> dsquashed, dproducts, dkeys, derase, dadd, along, tanh_cell;
  Buffer<Vec<T>> sums;

  explicit BackwardRoom(const Plan& plan)
      : carry(plan),
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
        tanh_cell(plan.units),
        sums(buffer<Vec<T>>(memory_backward_room<T>(plan))) {}
};

template <typename T>
class Backward {
 public:
  Backward(const Plan& plan, const Order& order, const Maps<T>& maps, const TapeOf<const T*>& tape,
           const ValueGradients<T>& dvalues)
      : plan_(plan),
        order_(order),
        maps_(maps),
        memory_(tape.memory),
        memories_(tape.memories),
        memory_rows_(tape.memory_rows),
        control_(tape.control),
        rows_(tape.control_rows),
        dvalues_(dvalues) {}

  // Takes the gradients of the logits, (T, B, O), of the sequences at sorted positions [begin, end).
  void take_logits(Index begin, Index end, const T* dlogits) const {
    for (Index p = begin; p < end; ++p)
      for (Index t = 0; t < order_.length[p]; ++t) {
        const Index from = (t * Index(order_.sequence.size()) + order_.sequence[p]) * plan_.outputs;
        std::copy_n(dlogits + from, plan_.outputs, dvalues_.output + rows_.at(t, p) * dvalues_.output_stride);
      }
  }

  // All steps of the sequences at sorted positions [begin, end), last step first; the logits' gradients are there.
  // The carry is then the gradient of the start. Calls restore(t, position, count) where the memories of `count` steps
  // before t are needed again and are no longer there.
  template <typename Restore>
  void run(BackwardRoom<T>& room, Index begin, Index end, const State<T>& dfinal, T* dx,
           const Restore& restore) const {
    const Index sequences = end - begin;
    for (Index i = 0; i < sequences; ++i) take_final(room.carry, i, order_.sequence[begin + i], dfinal);
    for (Index t = order_.length[begin] - 1; t >= 0; --t) {
      const Index running = order_.running(t, begin, end), row = rows_.at(t, begin);
      output_backward(row, running, room);
      for (Index i = 0; i < running; ++i) {
        T* dreads = room.dfeatures.get() + i * room.features_stride + plan_.units;
        const T* carried = room.carry.reads.get() + i * plan_.read_heads * plan_.width;
        for (Index k = 0; k < plan_.read_heads * plan_.width; ++k) dreads[k] += carried[k];
        const Index lost = memories_.lost_before(t);
        if (lost > 0 && t + 1 < order_.length[begin + i]) restore(t, begin + i, lost);
        use_memory_backward(t, begin + i, i, dreads, room);
      }
      maps_.heads.apply(room.dh.get(), room.units_stride, dvalues_.heads + row * dvalues_.heads_stride,
                        dvalues_.heads_stride, running, room.units_stride);
      for (Index i = 0; i < running; ++i)
        for (Index u = 0; u < plan_.units; ++u)
          room.dh[i * room.units_stride + u] += room.dfeatures[i * room.features_stride + u];
      control_backward(t, begin, running, room, dx);
    }
    for (Index i = 0; i < sequences; ++i) finish_memory(room.carry, i, begin + i);
  }

  // The gradient of the start of sequence i of a group becomes number b of those given.
  void give_start(const Carry<T>& carry, Index i, Index b, const MutableState<T>& dstart) const {
    const Index locations = plan_.locations, width = plan_.width;
    panels_out(dstart.memory + b * locations * width, carry.memory.get() + i * width * plan_.row, plan_);
    strip_rows(dstart.read_weightings + b * plan_.read_heads * locations,
               carry.read_weightings.get() + i * plan_.read_heads * plan_.row, plan_.read_heads, locations, plan_.row);
    strip_rows(dstart.write_weightings + b * plan_.write_heads * locations,
               carry.write_weightings.get() + i * plan_.write_heads * plan_.row, plan_.write_heads, locations,
               plan_.row);
    const Index reads = plan_.read_heads * width;
    std::copy_n(carry.reads.get() + i * reads, reads, dstart.reads + b * reads);
    for (Index l = 0; l < plan_.recurrent; ++l) {
      const Index at = (b * plan_.layers + l) * plan_.units;
      std::copy_n(carry.hidden[l].get() + i * plan_.units, plan_.units, dstart.hidden + at);
      std::copy_n(carry.cell[l].get() + i * plan_.units, plan_.units, dstart.cell + at);
    }
  }

  // Adds up the gradients of the starts of a group's sequences, in their order, in the place of the first.
  void sum_starts(const Carry<T>& carry, Index sequences) const {
    const auto sum = [&](const Buffer<T>& array, Index size) {
      for (Index i = 1; i < sequences; ++i)
        for (Index k = 0; k < size; ++k) array[k] += array[i * size + k];
    };
    sum(carry.memory, memory_.memory_stride);
    sum(carry.read_weightings, plan_.read_heads * plan_.row);
    sum(carry.write_weightings, plan_.write_heads * plan_.row);
    sum(carry.reads, plan_.read_heads * plan_.width);
    for (Index l = 0; l < plan_.recurrent; ++l) {
      sum(carry.hidden[l], plan_.units);
      sum(carry.cell[l], plan_.units);
    }
  }

 private:
  void take_final(Carry<T>& carry, Index i, Index b, const State<T>& dfinal) const {
    const Index locations = plan_.locations, width = plan_.width;
    T* memory = carry.memory.get() + i * width * plan_.row;
    if (dfinal.memory)
      panels_in(memory, dfinal.memory + b * locations * width, plan_);
    else
      std::fill(memory, memory + width * plan_.row, T(0));
    pad_rows(carry.read_weightings.get() + i * plan_.read_heads * plan_.row,
             slice(dfinal.read_weightings, b, plan_.read_heads * locations), plan_.read_heads, locations, plan_.row);
    pad_rows(carry.write_weightings.get() + i * plan_.write_heads * plan_.row,
             slice(dfinal.write_weightings, b, plan_.write_heads * locations), plan_.write_heads, locations, plan_.row);
    const Index reads = plan_.read_heads * width;
    pad_rows(carry.reads.get() + i * reads, slice(dfinal.reads, b, reads), 1, reads, reads);
    std::fill_n(carry.keys.get() + i * plan_.write_heads * width, plan_.write_heads * width, T(0));
    std::fill_n(carry.products.get() + i * plan_.write_heads * plan_.row, plan_.write_heads * plan_.row, T(0));
    std::fill_n(carry.scale.get() + i * plan_.row, plan_.row, T(0));
    for (Index l = 0; l < plan_.recurrent; ++l) {
      const Index at = b * plan_.layers + l;
      pad_rows(carry.hidden[l].get() + i * plan_.units, slice(dfinal.hidden, at, plan_.units), 1, plan_.units,
               plan_.units);
      pad_rows(carry.cell[l].get() + i * plan_.units, slice(dfinal.cell, at, plan_.units), 1, plan_.units,
               plan_.units);
    }
  }

  // What the first step's write heads left to be added to the start memory's gradient.
  void finish_memory(const Carry<T>& carry, Index i, Index position) const {
    start_memory_backward(carry.memory.get() + i * memory_.memory_stride, memory_at(-1, position),
                          carry.scale.get() + i * plan_.row, next_keys(carry, i), plan_);
  }

  OuterProducts<T> next_keys(const Carry<T>& carry, Index i) const {
    return {carry.keys.get() + i * plan_.write_heads * plan_.width, plan_.width,
            carry.products.get() + i * plan_.write_heads * plan_.row};
  }

  const T* memory_at(Index t, Index position) const {
    return memory_.memory + memories_.at(t, position) * memory_.memory_stride;
  }

  // dfeatures from the logits' gradients. Many steps are not scored, and theirs are all zero.
  void output_backward(Index row, Index running, BackwardRoom<T>& room) const {
    const T* dlogits = dvalues_.output + row * dvalues_.output_stride;
    bool scored = false;
    for (Index i = 0; i < running; ++i, dlogits += dvalues_.output_stride)
      scored = scored || std::any_of(dlogits, dlogits + plan_.outputs, [](T d) { return d != 0; });
    if (scored)
      maps_.output.apply(room.dfeatures.get(), room.features_stride, dvalues_.output + row * dvalues_.output_stride,
                         dvalues_.output_stride, running, room.features_stride);
    else
      std::fill_n(room.dfeatures.get(), running * room.features_stride, T(0));
  }

  // Read, then write, backwards, at one step of sequence i of the group.
  void use_memory_backward(Index t, Index position, Index i, const T* dreads, BackwardRoom<T>& room) const {
    const Plan& plan = plan_;
    const Carry<T>& carry = room.carry;
    const Index row = memory_rows_.at(t, position), previous = memory_rows_.at(t - 1, position);
    const T *memory = memory_at(t, position), *before = memory_at(t - 1, position);
    const T* read_heads = control_.heads + rows_.at(t, position) * control_.heads_stride;
    const T* write_heads = read_heads + plan.write.first_squashed;
    T* dread = carry.read_weightings.get() + i * plan.read_heads * plan.row;
    T* dwrite = carry.write_weightings.get() + i * plan.write_heads * plan.row;
    T* scale = carry.scale.get() + i * plan.row;
    T* dproducts = carry.products.get() + i * plan.write_heads * plan.row;
    T *dsquashed = room.dsquashed.data(), *dwrite_heads = dsquashed + plan.write.first_squashed;

    read_backward(dread, dreads, memory, plan);
    const AddressingOf<const T*> read = memory_.read.at(row), write = memory_.write.at(row);
    address_all_backward(dread, room.dproducts.data(), dsquashed, scale, room, read,
                         memory_.read.at(previous).weightings, memory_.inverse_norms + row * plan.row, read_heads,
                         plan.read);
    const MemoryGradient<T> gradient = {
        carry.memory.get() + i * memory_.memory_stride, memory, before, scale,
        {read_heads, plan.read.squashed.size, room.dproducts.data()}, {dreads, plan.width, read.weightings},
        next_keys(carry, i), write.weightings, write_heads, dwrite};
    memory_backward(gradient, room.dkeys.data(), room.derase.data(), room.dadd.data(), plan, room.sums.get());
    give_keys(dsquashed, room, read_heads, plan.read);

    std::fill_n(scale, plan.row, T(0));
    address_all_backward(dwrite, dproducts, dwrite_heads, scale, room, write, memory_.write.at(previous).weightings,
                         memory_.inverse_norms + previous * plan.row, write_heads, plan.write);
    weighted_sums(room.dkeys.data(), dproducts, plan.write_heads, before, plan);
    give_keys(dwrite_heads, room, write_heads, plan.write);
    heads_backward(t, position, i, room);
  }

  // From the gradients of the squashed values to those of the linear map's. The keys are kept for the step before.
  void heads_backward(Index t, Index position, Index i, BackwardRoom<T>& room) const {
    const Plan& plan = plan_;
    const HeadLayout& at = plan.write.squashed;
    const Index row = rows_.at(t, position);
    const T* read_heads = control_.heads + row * control_.heads_stride;
    const T* write_heads = read_heads + plan.write.first_squashed;
    T* dwrite_heads = room.dsquashed.data() + plan.write.first_squashed;
    for (Index h = 0; h < plan.write_heads; ++h) {
      std::copy_n(write_heads + h * at.size, plan.width, &room.carry.keys[(i * plan.write_heads + h) * plan.width]);
      std::copy_n(&room.derase[h * plan.width], plan.width, dwrite_heads + h * at.size + at.erase);
      std::copy_n(&room.dadd[h * plan.width], plan.width, dwrite_heads + h * at.size + at.add);
    }
    T* draw = dvalues_.heads + row * dvalues_.heads_stride;
    squash_backward(draw, room.dsquashed.data(), read_heads, plan.read, false, plan);
    squash_backward(draw + plan.write.first_raw, dwrite_heads, write_heads, plan.write, true, plan);
    clip(draw, plan.raw_heads, plan);
  }

  // The addressing of all heads of a kind, down to the gradients of the products k . M(i).
  void address_all_backward(T* dweightings, T* dproducts, T* dsquashed, T* scale, BackwardRoom<T>& room,
                            const AddressingOf<const T*>& from, const T* previous, const T* norms, const T* heads,
                            const HeadKind& kind) const {
    for (Index h = 0; h < kind.count; ++h) {
      const Index at = h * plan_.row, head = h * kind.squashed.size;
      address_backward<T>({dproducts + at, scale, &room.along[h]}, dweightings + at, dsquashed + head, room.chain,
                          from.from(at), previous + at, norms, heads + head, kind.squashed, plan_);
    }
  }

  // The gradients of the keys, from the sums over the locations in room.dkeys.
  void give_keys(T* dsquashed, const BackwardRoom<T>& room, const T* heads, const HeadKind& kind) const {
    const Index size = kind.squashed.size;
    for (Index h = 0; h < kind.count; ++h)
      for (Index m = 0; m < plan_.width; ++m)
        dsquashed[h * size + m] = room.dkeys[h * plan_.width + m] - heads[h * size + m] * room.along[h];
  }

  void control_backward(Index t, Index begin, Index running, BackwardRoom<T>& room, T* dx) const {
    T *dh = room.dh.get(), *dseen = room.dseen.get();
    const Index dh_stride = room.units_stride;
    const Carry<T>& carry = room.carry;
    const Index row = rows_.at(t, begin), previous = rows_.at(t - 1, begin), units = plan_.units;
    const Index stride = dvalues_.controller_stride;
    for (Index l = plan_.layers - 1; l >= 0; --l) {
      T* dvalues = dvalues_.controller[l] + row * stride;
      for (Index i = 0; i < running; ++i) {
        T* d = dh + i * dh_stride;
        if (!plan_.lstm) {
          feedforward_backward(dvalues + i * stride, d, control_.features + (row + i) * control_.features_stride, units);
          clip(dvalues + i * stride, plan_.gates, plan_);
          continue;
        }
        for (Index u = 0; u < units; ++u) d[u] += carry.hidden[l][i * units + u];
        lstm_backward(dvalues + i * stride, carry.cell[l].get() + i * units, d,
                      control_.gates[l] + (row + i) * control_.gates_stride,
                      control_.cell[l] + (row + i) * control_.hidden_stride,
                      control_.cell[l] + (previous + i) * control_.hidden_stride, units, room.tanh_cell);
        clip(dvalues + i * stride, plan_.gates, plan_);
      }
      const Index seen_stride = control_.seen_stride[l], below = plan_.below(l);
      maps_.controller[l].apply(dseen, seen_stride, dvalues, stride, running, seen_stride);
      for (Index i = 0; i < running; ++i) {
        const T* d = dseen + i * seen_stride;
        if (plan_.lstm) std::copy_n(d + below, units, carry.hidden[l].get() + i * units);
        if (l > 0) {
          std::copy_n(d, units, dh + i * dh_stride);
          continue;
        }
        const Index reads = plan_.read_heads * plan_.width;
        std::copy_n(d + plan_.inputs, reads, carry.reads.get() + i * reads);
        const Index to = (t * Index(order_.sequence.size()) + order_.sequence[begin + i]) * plan_.inputs;
        if (dx) std::copy_n(d, plan_.inputs, dx + to);
      }
    }
  }

  const Plan& plan_;
  const Order& order_;
  const Maps<T>& maps_;
  const MemoryTapeOf<const T*>& memory_;
  const MemoryRows& memories_;
  const Rows& memory_rows_;
  const ControlTapeOf<const T*>& control_;
  const Rows& rows_;
  const ValueGradients<T>& dvalues_;
};

// The weights' gradients, from the rows of all steps, in pieces: some outputs of one map each, so that every sum runs
// over the rows in their order.
template <typename T>
class WeightSums {
 public:
  WeightSums(const Plan& plan, Index sequences, Index rows, const ControlTapeOf<const T*>& tape,
             const ValueGradients<T>& dvalues, const WeightGradients<T>& dweights)
      : start_(sequences), rows_(rows) {
    add({dweights.heads, dvalues.heads, tape.features, dvalues.heads_stride, tape.features_stride, plan.raw_heads,
         plan.units});
    add({dweights.output, dvalues.output, tape.features, dvalues.output_stride, tape.features_stride, plan.outputs,
         plan.features});
    for (Index l = 0; l < plan.layers; ++l)
      add({dweights.controller[l], dvalues.controller[l], tape.seen[l], dvalues.controller_stride,
           tape.seen_stride[l], plan.gates, plan.seen(l)});
  }

  Index count() const { return Index(pieces_.size()); }

  void operator()(Index, Index piece) const {
    const auto& [map, first] = pieces_[piece];
    weight_gradient(map.gradient.weight, map.gradient.bias, map.dy + start_ * map.dy_stride, map.dy_stride,
                    map.x + start_ * map.x_stride, map.x_stride, rows_ - start_, map.inputs, first,
                    std::min(first + kShare, map.outputs));
  }

 private:
  static constexpr Index kShare = 16;

  struct Map {
    LinearOf<T*> gradient;
    const T *dy, *x;
    Index dy_stride, x_stride, outputs, inputs;
  };

  void add(const Map& map) {
    for (Index first = 0; first < map.outputs; first += kShare) pieces_.emplace_back(map, first);
  }

  Index start_, rows_;  // the start rows belong to no step
  std::vector<std::pair<Map, Index>> pieces_;
};

// Rows of a tape, whatever the lengths.
inline Index tape_rows(Index steps, Index sequences, bool keep) { return sequences * (keep ? steps + 1 : 2); }

template <typename T>
void forward(const Sizes& sizes, const Batch& batch, const Weights<T>& weights, const SequencesOf<const T*>& x,
             const State<T>& start, bool keep, T* tape, T* logits, const MutableState<T>& final) {
  const Plan plan(sizes);
  const Order order(batch);
  const Rows rows(order, 0, batch.sequences, keep);
  Shelf<T*> shelf = {tape_rows(batch.steps, batch.sequences, keep), tape};
  const MemoryTapeOf<T*> memory(plan, shelf, shelf.rows);
  const ControlTapeOf<T*> control(plan, shelf);
  const MemoryRows memories(rows);
  Maps<T> maps = forward_maps<T>(plan);
  pack_forward(maps, weights);
  const Forward<T> pass(plan, order, maps, x, {memory, memories, rows, control, rows});
  const auto all = [](Index, Index) { return true; };
  const auto copy = [&](Index t, Index position, const T* from) {
    std::copy_n(from, plan.outputs, logits + (t * batch.sequences + order.sequence[position]) * plan.outputs);
  };
  std::vector<ForwardRoom<T>> rooms;
  make_rooms(rooms, plan, batch);
  const auto work = group_work(batch, rooms, [&](ForwardRoom<T>& room, Index begin, Index end) {
    for (Index p = begin; p < end; ++p) pass.begin(p, start, order.sequence[p]);
    pass.run(room, begin, end, all, copy);
    for (Index p = begin; p < end; ++p) pass.end(p, final);
  });
  Phase groups(groups_of(batch), work);
  run_parallel(batch.threads, groups);
}

template <typename T>
void backward(const Sizes& sizes, const Batch& batch, const Weights<T>& weights, const T* tape, const T* dlogits,
              const State<T>& dfinal, T* dx, const WeightGradients<T>& dweights, const MutableState<T>& dstart) {
  const Plan plan(sizes);
  const Order order(batch);
  const Rows rows(order, 0, batch.sequences, true);
  Shelf<const T*> shelf = {tape_rows(batch.steps, batch.sequences, true), tape};
  const MemoryTapeOf<const T*> memory(plan, shelf, shelf.rows);
  const ControlTapeOf<const T*> control(plan, shelf);
  const Buffer<T> values = buffer<T>(elements<ValueGradients<T>, T>(plan, rows.total));
  Shelf<T*> value_shelf = {rows.total, values.get()};
  const ValueGradients<T> dvalues(plan, value_shelf);
  const MemoryRows memories(rows);
  Maps<T> maps = backward_maps<T>(plan);
  pack_backward(maps, weights);
  const Backward<T> pass(plan, order, maps, {memory, memories, rows, control, rows}, dvalues);
  const auto nothing_lost = [](Index, Index, Index) {};
  std::vector<BackwardRoom<T>> rooms;
  make_rooms(rooms, plan, batch);
  const auto work = group_work(batch, rooms, [&](BackwardRoom<T>& room, Index begin, Index end) {
    pass.take_logits(begin, end, dlogits);
    pass.run(room, begin, end, dfinal, dx, nothing_lost);
    for (Index p = begin; p < end; ++p) pass.give_start(room.carry, p - begin, order.sequence[p], dstart);
  });
  const WeightSums<T> sums(plan, batch.sequences, rows.total, control, dvalues, dweights);
  Phase groups(groups_of(batch), work);
  Phase weight_sums(sums.count(), sums);
  run_parallel(batch.threads, groups, weight_sums);
}

// One head kind's part of the record, for one step of one sequence; `to` counts (time, batch).
template <typename T>
void record_heads(const HeadRecord<T>& record, Index to, const T* heads, const AddressingOf<const T*>& from,
                  const T* previous, const HeadKind& kind, const Plan& plan, Chain<T>& chain) {
  const HeadLayout& at = kind.squashed;
  const Index shifts = Index(plan.shifts.size());
  for (Index h = 0; h < kind.count; ++h) {
    const T* head = heads + h * at.size;
    const Index one = to * kind.count + h;
    std::copy_n(head + at.key, plan.width, record.keys + one * plan.width);
    record.strengths[one] = head[at.strength];
    record.gates[one] = head[at.gate];
    std::copy_n(head + at.shift, shifts, record.shifts + one * shifts);
    record.sharpness[one] = 1 + head[at.excess];
    interpolate(chain.gated, from.content + h * plan.row, previous + h * plan.row, head[at.gate], plan);
    std::copy_n(from.content + h * plan.row, plan.locations, record.content + one * plan.locations);
    std::copy_n(chain.gated.values(), plan.locations, record.gated + one * plan.locations);
    with_shifts(head + at.shift, plan, [&](auto count, const auto& weights) {
      for (Index n = 0; n < plan.locations; n += kLanes<T>)
        store_partial<T>(record.shifted + one * plan.locations + n,
                         rotated(chain.gated.values() + n, count, weights, plan),
                         int(std::min<Index>(kLanes<T>, plan.locations - n)));
    });
    std::copy_n(from.weightings + h * plan.row, plan.locations, record.weightings + one * plan.locations);
  }
}

template <typename T>
void record(const Sizes& sizes, const Batch& batch, const T* tape, const Record<T>& out) {
  const Plan plan(sizes);
  const Order order(batch);
  const Rows rows(order, 0, batch.sequences, true);
  Shelf<const T*> shelf = {tape_rows(batch.steps, batch.sequences, true), tape};
  const MemoryTapeOf<const T*> memory(plan, shelf, shelf.rows);
  const ControlTapeOf<const T*> control(plan, shelf);
  const FlushDenormals mode;
  Chain<T> chain(plan);
  const Index width = plan.width;
  for (Index p = 0; p < batch.sequences; ++p)
    for (Index t = 0; t < order.length[p]; ++t) {
      const Index row = rows.at(t, p), previous = rows.at(t - 1, p), to = t * batch.sequences + order.sequence[p];
      const T* features = control.features + row * control.features_stride;
      const T* heads = control.heads + row * control.heads_stride;
      std::copy_n(features, plan.units, out.hidden + to * plan.units);
      std::copy_n(features + plan.units, plan.read_heads * width, out.reads + to * plan.read_heads * width);
      const HeadLayout& at = plan.write.squashed;
      for (Index h = 0; h < plan.write_heads; ++h) {
        const T* head = heads + plan.write.first_squashed + h * at.size;
        std::copy_n(head + at.erase, width, out.erases + (to * plan.write_heads + h) * width);
        std::copy_n(head + at.add, width, out.adds + (to * plan.write_heads + h) * width);
      }
      const auto kind = [&](const HeadRecord<T>& record, const AddressingOf<const T*>& from, const HeadKind& of) {
        record_heads(record, to, heads + of.first_squashed, from.at(row), from.at(previous).weightings, of, plan,
                     chain);
      };
      kind(out.read, memory.read, plan.read);
      kind(out.write, memory.write, plan.write);
      if (out.memory)
        panels_out(out.memory + to * plan.locations * width, memory.memory + row * memory.memory_stride, plan);
    }
}

}  // namespace ntm::NTM_TARGET

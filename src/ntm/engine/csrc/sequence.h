// Whole sequences: forward in time filling the tape, backward in time reading it, and the record copied out of it.
//
// Sequences run in groups. Within a group all take a step together, so that the linear maps see several rows at
// once; groups are independent, and threads share them.
#pragma once

#include "controllers.h"
#include "parallel.h"

namespace ntm::NTM_TARGET {

// Sequences per group: few enough to keep all threads busy to the end, enough to feed the matrix products.
inline Index group_size(const Batch& batch) {
  if (batch.threads <= 1) return 16;
  const Index share = batch.sequences / (4 * batch.threads);
  return std::clamp<Index>((share + 3) / 4 * 4, 4, 16);
}

// Calls work(room, begin, end) for every group of sorted positions. Each has room of its own, made here and not by the
// threads: what a short-lived thread allocates, the system must give anew at every call.
template <typename Room, typename Work>
void for_each_group(const Plan& plan, const Batch& batch, const Work& work) {
  const Index size = group_size(batch), groups = (batch.sequences + size - 1) / size;
  std::vector<Room> rooms;
  rooms.reserve(groups);
  for (Index g = 0; g < groups; ++g) rooms.emplace_back(plan, std::min(size, batch.sequences));
  parallel_for(groups, batch.threads,
               [&](Index g) { work(rooms[g], g * size, std::min((g + 1) * size, batch.sequences)); });
}

// (N, M) as the caller holds a memory, to and from (M x row), as the kernels do.
template <typename T>
void transpose_in(T* memory, const T* plain, const Plan& plan) {
  for (Index m = 0; m < plan.width; ++m) {
    for (Index n = 0; n < plan.locations; ++n) memory[m * plan.row + n] = plain[n * plan.width + m];
    std::fill(memory + m * plan.row + plan.locations, memory + (m + 1) * plan.row, T(0));
  }
}

template <typename T>
void transpose_out(T* plain, const T* memory, const Plan& plan) {
  for (Index n = 0; n < plan.locations; ++n)
    for (Index m = 0; m < plan.width; ++m) plain[n * plan.width + m] = memory[m * plan.row + n];
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

template <typename T>
struct ForwardRoom {
  Chain<T> chain;
  Index raw_stride, output_stride;
  Buffer<T> values, raw, outputs;

  ForwardRoom(const Plan& plan, Index sequences)
      : chain(plan),
        raw_stride(padded(plan.raw_heads)),
        output_stride(padded(plan.outputs)),
        values(buffer<T>(sequences * padded(plan.gates))),
        raw(buffer<T>(sequences * raw_stride)),
        outputs(buffer<T>(sequences * output_stride)) {}
};

template <typename T>
class Forward {
 public:
  Forward(const Plan& plan, const Rows& rows, const Weights<T>& weights, const SequencesOf<const T*>& x,
          const Tape<T>& tape)
      : plan_(plan),
        rows_(rows),
        x_(x),
        tape_(tape),
        heads_(Packed<T>::forward(weights.heads.weight, weights.heads.bias, plan.raw_heads, plan.units)),
        output_(Packed<T>::forward(weights.output.weight, weights.output.bias, plan.outputs, plan.features)) {
    for (Index l = 0; l < plan.layers; ++l)
      controller_.push_back(Packed<T>::forward(weights.controller[l].weight, weights.controller[l].bias, plan.gates,
                                               plan.seen(l)));
  }

  void begin(Index position, const State<T>& start) const {
    const Index b = rows_.order[position], row = rows_.at(-1, position);
    T* memory = tape_.memory + row * tape_.memory_stride;
    transpose_in(memory, start.memory + b * plan_.locations * plan_.width, plan_);
    inverse_norms(tape_.inverse_norms + row * plan_.row, memory, plan_);
    pad_rows(read_weightings(row), start.read_weightings + b * plan_.read_heads * plan_.locations, plan_.read_heads,
             plan_.locations, plan_.row);
    pad_rows(write_weightings(row), start.write_weightings + b * plan_.write_heads * plan_.locations,
             plan_.write_heads, plan_.locations, plan_.row);
    const T* reads = start.reads + b * plan_.read_heads * plan_.width;
    std::copy(reads, reads + plan_.read_heads * plan_.width, features(row) + plan_.units);
    for (Index l = 0; l < plan_.recurrent; ++l) {
      const Index at = (b * plan_.layers + l) * plan_.units;
      std::copy(start.hidden + at, start.hidden + at + plan_.units, hidden(l, row));
      std::copy(start.cell + at, start.cell + at + plan_.units, cell(l, row));
    }
  }

  void end(Index position, const MutableState<T>& final) const {
    const Index b = rows_.order[position], row = rows_.at(rows_.length[position] - 1, position);
    transpose_out(final.memory + b * plan_.locations * plan_.width, tape_.memory + row * tape_.memory_stride, plan_);
    strip_rows(final.read_weightings + b * plan_.read_heads * plan_.locations, read_weightings(row),
               plan_.read_heads, plan_.locations, plan_.row);
    strip_rows(final.write_weightings + b * plan_.write_heads * plan_.locations, write_weightings(row),
               plan_.write_heads, plan_.locations, plan_.row);
    std::copy(features(row) + plan_.units, features(row) + plan_.features,
              final.reads + b * plan_.read_heads * plan_.width);
    for (Index l = 0; l < plan_.recurrent; ++l) {
      const Index at = (b * plan_.layers + l) * plan_.units;
      std::copy(hidden(l, row), hidden(l, row) + plan_.units, final.hidden + at);
      std::copy(cell(l, row), cell(l, row) + plan_.units, final.cell + at);
    }
  }

  // All steps of the sequences at sorted positions [begin, end).
  void run(ForwardRoom<T>& room, Index begin, Index end, T* logits) const {
    T *raw = room.raw.get(), *outputs = room.outputs.get();
    for (Index t = 0; t < rows_.steps; ++t) {
      const Index running = rows_.running(t, begin, end);
      if (running == 0) break;
      const Index row = rows_.at(t, begin), previous = rows_.at(t - 1, begin);
      control(t, begin, running, room.values.get());
      heads_.apply(raw, room.raw_stride, features(row), tape_.features_stride, running, room.raw_stride);
      for (Index i = 0; i < running; ++i) use_memory(row + i, previous + i, raw + i * room.raw_stride, room.chain);
      output_.apply(outputs, room.output_stride, features(row), tape_.features_stride, running, room.output_stride);
      for (Index i = 0; i < running; ++i) {
        const Index to = (t * Index(rows_.order.size()) + rows_.order[begin + i]) * plan_.outputs;
        std::copy_n(outputs + i * room.output_stride, plan_.outputs, logits + to);
      }
    }
  }

 private:
  T* features(Index row) const { return tape_.features + row * tape_.features_stride; }
  T* hidden(Index l, Index row) const { return tape_.hidden[l] + row * tape_.hidden_stride; }
  T* cell(Index l, Index row) const { return tape_.cell[l] + row * tape_.hidden_stride; }
  T* read_weightings(Index row) const { return tape_.read_weightings + row * plan_.read_heads * plan_.row; }
  T* write_weightings(Index row) const { return tape_.write_weightings + row * plan_.write_heads * plan_.row; }

  // The controller's step for `running` sequences: its output becomes the first part of their features.
  void control(Index t, Index begin, Index running, T* values) const {
    const Index row = rows_.at(t, begin), previous = rows_.at(t - 1, begin);
    for (Index l = 0; l < plan_.layers; ++l) {
      T* seen = tape_.seen[l] + row * tape_.seen_stride[l];
      for (Index i = 0; i < running; ++i) {
        T* to = seen + i * tape_.seen_stride[l];
        if (l == 0) {
          const T* x = x_.data + t * x_.time_stride + rows_.order[begin + i] * x_.batch_stride;
          to = std::copy_n(x, plan_.inputs, to);
          to = std::copy_n(features(previous + i) + plan_.units, plan_.read_heads * plan_.width, to);
        } else {
          to = std::copy_n(hidden(l - 1, row + i), plan_.units, to);
        }
        if (plan_.lstm) std::copy_n(hidden(l, previous + i), plan_.units, to);
      }
      const Index stride = tape_.gates_stride;
      T* result = plan_.lstm ? tape_.gates[l] + row * stride : values;
      controller_[l].apply(result, stride, seen, tape_.seen_stride[l], running, stride);
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
  void use_memory(Index row, Index previous, const T* raw, Chain<T>& chain) const {
    const Plan& plan = plan_;
    T* read_heads = tape_.heads + row * tape_.heads_stride;
    T* write_heads = read_heads + plan.write.first_squashed;
    squash(read_heads, raw, plan.read, false, plan);
    squash(write_heads, raw + plan.write.first_raw, plan.write, true, plan);
    T* memory = tape_.memory + row * tape_.memory_stride;
    const T* before = tape_.memory + previous * tape_.memory_stride;
    T* norms = tape_.inverse_norms + row * plan.row;
    prefetch(memory, plan);

    address_all(write_weightings(row), write_weightings(previous), tape_.write_similarity, row, before,
                tape_.inverse_norms + previous * plan.row, write_heads, plan.write, chain);
    write(memory, norms, before, write_weightings(row), write_heads, plan);
    address_all(read_weightings(row), read_weightings(previous), tape_.read_similarity, row, memory, norms, read_heads,
                plan.read, chain);
    read(features(row) + plan.units, read_weightings(row), memory, plan);
  }

  void address_all(T* weightings, const T* previous, T* similarities, Index row, const T* memory, const T* norms,
                   const T* heads, const HeadKind& kind, Chain<T>& chain) const {
    T* similarity = similarities + row * kind.count * plan_.row;
    cosine_similarity(similarity, memory, norms, heads, kind, plan_);
    for (Index h = 0; h < kind.count; ++h)
      address(weightings + h * plan_.row, chain, similarity + h * plan_.row, previous + h * plan_.row,
              heads + h * kind.squashed.size, kind.squashed, plan_);
  }

  const Plan& plan_;
  const Rows& rows_;
  const SequencesOf<const T*>& x_;
  const Tape<T>& tape_;
  Packed<T> heads_, output_;
  std::vector<Packed<T>> controller_;
};

// The gradients of the linear maps' values, a row per sequence and step: what the weights' gradients are made of.
template <typename T>
struct ValueGradients {
  Buffer<T> heads, output;
  std::vector<Buffer<T>> controller;
  Index heads_stride, output_stride, controller_stride;

  ValueGradients(const Plan& plan, Index rows)
      : heads(buffer<T>(rows * padded(plan.raw_heads) + kPanel)),
        output(buffer<T>(rows * padded(plan.outputs) + kPanel)),
        heads_stride(padded(plan.raw_heads)),
        output_stride(padded(plan.outputs)),
        controller_stride(padded(plan.gates)) {
    for (Index l = 0; l < plan.layers; ++l) controller.push_back(buffer<T>(rows * controller_stride + kPanel));
  }
};

// What flows from one step to the one before it, for the sequences of a group.
template <typename T>
struct Carry {
  Buffer<T> memory, read_weightings, write_weightings, reads;
  std::vector<Buffer<T>> hidden, cell;

  Carry(const Plan& plan, Index sequences)
      : memory(buffer<T>(sequences * plan.width * plan.row)),
        read_weightings(buffer<T>(sequences * plan.read_heads * plan.row)),
        write_weightings(buffer<T>(sequences * plan.write_heads * plan.row)),
        reads(buffer<T>(sequences * plan.read_heads * plan.width)) {
    for (Index l = 0; l < plan.recurrent; ++l) {
      hidden.push_back(buffer<T>(sequences * plan.units));
      cell.push_back(buffer<T>(sequences * plan.units));
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
  Scratch<T> dsquashed, scale, columns, rows, dkeys, derase, dadd, along, tanh_cell;
  Buffer<Vec<T>> per_head;

  BackwardRoom(const Plan& plan, Index sequences)
      : carry(plan, sequences),
        features_stride(padded(plan.features)),
        units_stride(padded(plan.units)),
        seen_stride(std::max(padded(plan.seen(0)), padded(plan.seen(plan.layers - 1)))),
        dfeatures(buffer<T>(sequences * features_stride)),
        dh(buffer<T>(sequences * units_stride)),
        dseen(buffer<T>(sequences * seen_stride)),
        chain(plan),
        dsquashed(plan.squashed_heads),
        scale(plan.row),
        columns(2 * std::max(plan.read_heads, plan.write_heads) * plan.width),
        rows(2 * std::max(plan.read_heads, plan.write_heads) * plan.row),
        dkeys(std::max(plan.read_heads, plan.write_heads) * plan.width),
        derase(plan.write_heads * plan.width),
        dadd(plan.write_heads * plan.width),
        along(std::max(plan.read_heads, plan.write_heads)),
        tanh_cell(plan.units),
        per_head(buffer<Vec<T>>((1 + 2 * plan.width) * plan.write_heads)) {}
};

template <typename T>
class Backward {
 public:
  Backward(const Plan& plan, const Rows& rows, const Weights<T>& weights, const ConstTape<T>& tape,
           const ValueGradients<T>& dvalues)
      : plan_(plan),
        rows_(rows),
        tape_(tape),
        dvalues_(dvalues),
        heads_(Packed<T>::backward(weights.heads.weight, plan.raw_heads, plan.units)),
        output_(Packed<T>::backward(weights.output.weight, plan.outputs, plan.features)) {
    for (Index l = 0; l < plan.layers; ++l)
      controller_.push_back(Packed<T>::backward(weights.controller[l].weight, plan.gates, plan.seen(l)));
  }

  // All steps of the sequences at sorted positions [begin, end), last step first.
  void run(BackwardRoom<T>& room, Index begin, Index end, const T* dlogits, const State<T>& dfinal, T* dx,
           const MutableState<T>& dstart) const {
    const Index sequences = end - begin;
    for (Index i = 0; i < sequences; ++i) take_final(room.carry, i, rows_.order[begin + i], dfinal);
    for (Index t = rows_.steps - 1; t >= 0; --t) {
      const Index running = rows_.running(t, begin, end);
      if (running == 0) continue;
      const Index row = rows_.at(t, begin), previous = rows_.at(t - 1, begin);
      gather_outputs(t, begin, running, dlogits);
      output_.apply(room.dfeatures.get(), room.features_stride, dvalues_.output.get() + row * dvalues_.output_stride,
                    dvalues_.output_stride, running, room.features_stride);
      for (Index i = 0; i < running; ++i) {
        T* dreads = room.dfeatures.get() + i * room.features_stride + plan_.units;
        const T* carried = room.carry.reads.get() + i * plan_.read_heads * plan_.width;
        for (Index k = 0; k < plan_.read_heads * plan_.width; ++k) dreads[k] += carried[k];
        use_memory_backward(row + i, previous + i, i, dreads, room);
      }
      heads_.apply(room.dh.get(), room.units_stride, dvalues_.heads.get() + row * dvalues_.heads_stride,
                   dvalues_.heads_stride, running, room.units_stride);
      for (Index i = 0; i < running; ++i)
        for (Index u = 0; u < plan_.units; ++u)
          room.dh[i * room.units_stride + u] += room.dfeatures[i * room.features_stride + u];
      control_backward(t, begin, running, room, dx);
    }
    for (Index i = 0; i < sequences; ++i) give_start(room.carry, i, rows_.order[begin + i], dstart);
  }

 private:
  void take_final(Carry<T>& carry, Index i, Index b, const State<T>& dfinal) const {
    const Index locations = plan_.locations, width = plan_.width;
    T* memory = carry.memory.get() + i * width * plan_.row;
    if (dfinal.memory)
      transpose_in(memory, dfinal.memory + b * locations * width, plan_);
    else
      std::fill(memory, memory + width * plan_.row, T(0));
    pad_rows(carry.read_weightings.get() + i * plan_.read_heads * plan_.row,
             slice(dfinal.read_weightings, b, plan_.read_heads * locations), plan_.read_heads, locations, plan_.row);
    pad_rows(carry.write_weightings.get() + i * plan_.write_heads * plan_.row,
             slice(dfinal.write_weightings, b, plan_.write_heads * locations), plan_.write_heads, locations, plan_.row);
    const Index reads = plan_.read_heads * width;
    pad_rows(carry.reads.get() + i * reads, slice(dfinal.reads, b, reads), 1, reads, reads);
    for (Index l = 0; l < plan_.recurrent; ++l) {
      const Index at = b * plan_.layers + l;
      pad_rows(carry.hidden[l].get() + i * plan_.units, slice(dfinal.hidden, at, plan_.units), 1, plan_.units,
               plan_.units);
      pad_rows(carry.cell[l].get() + i * plan_.units, slice(dfinal.cell, at, plan_.units), 1, plan_.units,
               plan_.units);
    }
  }

  void give_start(const Carry<T>& carry, Index i, Index b, const MutableState<T>& dstart) const {
    const Index locations = plan_.locations, width = plan_.width;
    transpose_out(dstart.memory + b * locations * width, carry.memory.get() + i * width * plan_.row, plan_);
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

  void gather_outputs(Index t, Index begin, Index running, const T* dlogits) const {
    for (Index i = 0; i < running; ++i) {
      const Index from = (t * Index(rows_.order.size()) + rows_.order[begin + i]) * plan_.outputs;
      std::copy_n(dlogits + from, plan_.outputs,
                  dvalues_.output.get() + (rows_.at(t, begin) + i) * dvalues_.output_stride);
    }
  }

  // Read, then write, backwards, at one step of sequence i of the group.
  void use_memory_backward(Index row, Index previous, Index i, const T* dreads, BackwardRoom<T>& room) const {
    const Plan& plan = plan_;
    const Carry<T>& carry = room.carry;
    const T* read_heads = tape_.heads + row * tape_.heads_stride;
    const T* write_heads = read_heads + plan.write.first_squashed;
    const T* memory = tape_.memory + row * tape_.memory_stride;
    const T* before = tape_.memory + previous * tape_.memory_stride;
    const T* read_weightings = tape_.read_weightings + row * plan.read_heads * plan.row;
    const T* write_weightings = tape_.write_weightings + row * plan.write_heads * plan.row;
    T* dmemory = carry.memory.get() + i * plan.width * plan.row;
    T* dread = carry.read_weightings.get() + i * plan.read_heads * plan.row;
    T* dwrite = carry.write_weightings.get() + i * plan.write_heads * plan.row;

    prefetch(before, plan);
    read_backward(dread, dreads, memory, plan);
    std::copy_n(dreads, plan.read_heads * plan.width, &room.columns[plan.read_heads * plan.width]);
    std::copy_n(read_weightings, plan.read_heads * plan.row, &room.rows[plan.read_heads * plan.row]);
    address_all_backward(dmemory, dread, 2, row, previous, memory, tape_.inverse_norms + row * plan.row,
                         tape_.read_similarity, tape_.read_weightings, read_heads, plan.read, room);

    write_backward(dmemory, dwrite, room.derase.data(), room.dadd.data(), before, write_weightings, write_heads,
                   plan, room.per_head.get());
    address_all_backward(dmemory, dwrite, 1, row, previous, before, tape_.inverse_norms + previous * plan.row,
                         tape_.write_similarity, tape_.write_weightings, write_heads, plan.write, room);
    const HeadLayout& at = plan.write.squashed;
    T* dsquashed = room.dsquashed.data();
    for (Index h = 0; h < plan.write_heads; ++h) {
      T* dhead = dsquashed + plan.write.first_squashed + h * at.size;
      std::copy_n(&room.derase[h * plan.width], plan.width, dhead + at.erase);
      std::copy_n(&room.dadd[h * plan.width], plan.width, dhead + at.add);
    }
    T* draw = dvalues_.heads.get() + row * dvalues_.heads_stride;
    squash_backward(draw, dsquashed, read_heads, plan.read, false, plan);
    squash_backward(draw + plan.write.first_raw, dsquashed + plan.write.first_squashed, write_heads, plan.write, true,
                    plan);
    clip(draw, plan.raw_heads, plan);
  }

  // The addressing of all heads of a kind. The memory's gradient takes `terms` outer products per head: the keys',
  // and, where there are two, those that the caller has put behind them in room.columns and room.rows.
  void address_all_backward(T* dmemory, T* dweightings, Index terms, Index row, Index previous, const T* memory,
                            const T* norms, const T* similarities, const T* weightings, const T* heads,
                            const HeadKind& kind, BackwardRoom<T>& room) const {
    const Plan& plan = plan_;
    const Index stride = kind.count * plan.row;
    const T* similarity = similarities + row * stride;
    T *dsimilarity = room.rows.data(), *dsquashed = room.dsquashed.data() + kind.first_squashed;
    for (Index h = 0; h < kind.count; ++h) {
      address_backward(dweightings + h * plan.row, dsimilarity + h * plan.row, dsquashed + h * kind.squashed.size,
                       room.chain, weightings + row * stride + h * plan.row, similarity + h * plan.row,
                       weightings + previous * stride + h * plan.row, heads + h * kind.squashed.size, kind.squashed,
                       plan);
      std::copy_n(heads + h * kind.squashed.size, plan.width, &room.columns[h * plan.width]);
    }
    cosine_similarity_backward(dsimilarity, room.dkeys.data(), room.scale.data(), similarity, memory, norms,
                               heads, kind, plan, room.along);
    for (Index h = 0; h < kind.count; ++h)
      std::copy_n(&room.dkeys[h * plan.width], plan.width, dsquashed + h * kind.squashed.size);
    memory_gradient(dmemory, memory, room.scale.data(), room.columns.data(), room.rows.data(),
                    terms * kind.count, plan);
  }

  void control_backward(Index t, Index begin, Index running, BackwardRoom<T>& room, T* dx) const {
    T *dh = room.dh.get(), *dseen = room.dseen.get();
    const Index dh_stride = room.units_stride;
    const Carry<T>& carry = room.carry;
    const Index row = rows_.at(t, begin), previous = rows_.at(t - 1, begin), units = plan_.units;
    const Index stride = dvalues_.controller_stride;
    for (Index l = plan_.layers - 1; l >= 0; --l) {
      T* dvalues = dvalues_.controller[l].get() + row * stride;
      for (Index i = 0; i < running; ++i) {
        T* d = dh + i * dh_stride;
        if (!plan_.lstm) {
          feedforward_backward(dvalues + i * stride, d, tape_.features + (row + i) * tape_.features_stride, units);
          clip(dvalues + i * stride, plan_.gates, plan_);
          continue;
        }
        for (Index u = 0; u < units; ++u) d[u] += carry.hidden[l][i * units + u];
        lstm_backward(dvalues + i * stride, carry.cell[l].get() + i * units, d,
                      tape_.gates[l] + (row + i) * tape_.gates_stride,
                      tape_.cell[l] + (row + i) * tape_.hidden_stride,
                      tape_.cell[l] + (previous + i) * tape_.hidden_stride, units, room.tanh_cell);
        clip(dvalues + i * stride, plan_.gates, plan_);
      }
      const Index seen_stride = tape_.seen_stride[l], below = plan_.below(l);
      controller_[l].apply(dseen, seen_stride, dvalues, stride, running, seen_stride);
      for (Index i = 0; i < running; ++i) {
        const T* d = dseen + i * seen_stride;
        if (plan_.lstm) std::copy_n(d + below, units, carry.hidden[l].get() + i * units);
        if (l > 0) {
          std::copy_n(d, units, dh + i * dh_stride);
          continue;
        }
        const Index reads = plan_.read_heads * plan_.width;
        std::copy_n(d + plan_.inputs, reads, carry.reads.get() + i * reads);
        const Index to = (t * Index(rows_.order.size()) + rows_.order[begin + i]) * plan_.inputs;
        if (dx) std::copy_n(d, plan_.inputs, dx + to);
      }
    }
  }

  const Plan& plan_;
  const Rows& rows_;
  const ConstTape<T>& tape_;
  const ValueGradients<T>& dvalues_;
  Packed<T> heads_, output_;
  std::vector<Packed<T>> controller_;
};

// The weights' gradients, from the rows of all steps. Threads share the outputs of each map, so that every sum runs
// over the rows in their order.
template <typename T>
void weight_gradients(const Plan& plan, const Batch& batch, Index rows, const ConstTape<T>& tape,
                      const ValueGradients<T>& dvalues, const WeightGradients<T>& dweights) {
  struct Map {
    LinearOf<T*> gradient;
    const T *dy, *x;
    Index dy_stride, x_stride, outputs, inputs;
  };
  std::vector<Map> maps = {{dweights.heads, dvalues.heads.get(), tape.features, dvalues.heads_stride,
                            tape.features_stride, plan.raw_heads, plan.units},
                           {dweights.output, dvalues.output.get(), tape.features, dvalues.output_stride,
                            tape.features_stride, plan.outputs, plan.features}};
  for (Index l = 0; l < plan.layers; ++l)
    maps.push_back({dweights.controller[l], dvalues.controller[l].get(), tape.seen[l], dvalues.controller_stride,
                    tape.seen_stride[l], plan.gates, plan.seen(l)});
  constexpr Index share = 16;
  struct Piece {
    const Map* map;
    Index first;
  };
  std::vector<Piece> pieces;
  for (const Map& map : maps)
    for (Index first = 0; first < map.outputs; first += share) pieces.push_back({&map, first});
  const Index start = batch.sequences;  // the start rows belong to no step
  parallel_for(Index(pieces.size()), batch.threads, [&](Index p) {
    const Map& map = *pieces[p].map;
    weight_gradient(map.gradient.weight, map.gradient.bias, map.dy + start * map.dy_stride, map.dy_stride,
                    map.x + start * map.x_stride, map.x_stride, rows - start, map.inputs, pieces[p].first,
                    std::min(pieces[p].first + share, map.outputs));
  });
}

// Rows of a tape, whatever the lengths.
inline Index tape_rows(Index steps, Index sequences, bool keep) { return sequences * (keep ? steps + 1 : 2); }

template <typename T>
void forward(const Sizes& sizes, const Batch& batch, const Weights<T>& weights, const SequencesOf<const T*>& x,
             const State<T>& start, bool keep, T* tape_data, T* logits, const MutableState<T>& final) {
  const Plan plan(sizes);
  const Rows rows(batch, keep);
  const Tape<T> tape(plan, tape_rows(batch.steps, batch.sequences, keep), tape_data);
  const Forward<T> pass(plan, rows, weights, x, tape);
  for_each_group<ForwardRoom<T>>(plan, batch, [&](ForwardRoom<T>& room, Index begin, Index end) {
    for (Index p = begin; p < end; ++p) pass.begin(p, start);
    pass.run(room, begin, end, logits);
    for (Index p = begin; p < end; ++p) pass.end(p, final);
  });
}

template <typename T>
void backward(const Sizes& sizes, const Batch& batch, const Weights<T>& weights, const T* tape_data, const T* dlogits,
              const State<T>& dfinal, T* dx, const WeightGradients<T>& dweights, const MutableState<T>& dstart) {
  const Plan plan(sizes);
  const Rows rows(batch, true);
  const ConstTape<T> tape(plan, tape_rows(batch.steps, batch.sequences, true), tape_data);
  const ValueGradients<T> dvalues(plan, rows.total);
  const Backward<T> pass(plan, rows, weights, tape, dvalues);
  for_each_group<BackwardRoom<T>>(plan, batch, [&](BackwardRoom<T>& room, Index begin, Index end) {
    pass.run(room, begin, end, dlogits, dfinal, dx, dstart);
  });
  weight_gradients(plan, batch, rows.total, tape, dvalues, dweights);
}

// One head kind's part of the record, for one step of one sequence; `to` counts (time, batch).
template <typename T>
void record_heads(const HeadRecord<T>& record, Index to, const T* heads, const T* similarity, const T* previous,
                  const T* weightings, const HeadKind& kind, const Plan& plan, Chain<T>& chain) {
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
    follow_chain(chain, similarity + h * plan.row, previous + h * plan.row, head, at, plan);
    std::copy_n(chain.content.data(), plan.locations, record.content + one * plan.locations);
    std::copy_n(chain.gated.values(), plan.locations, record.gated + one * plan.locations);
    std::copy_n(chain.shifted.data(), plan.locations, record.shifted + one * plan.locations);
    std::copy_n(weightings + h * plan.row, plan.locations, record.weightings + one * plan.locations);
  }
}

template <typename T>
void record(const Sizes& sizes, const Batch& batch, const T* tape_data, const Record<T>& out) {
  const Plan plan(sizes);
  const Rows rows(batch, true);
  const ConstTape<T> tape(plan, tape_rows(batch.steps, batch.sequences, true), tape_data);
  const FlushDenormals mode;
  Chain<T> chain(plan);
  const Index width = plan.width;
  for (Index p = 0; p < batch.sequences; ++p)
    for (Index t = 0; t < rows.length[p]; ++t) {
      const Index row = rows.at(t, p), previous = rows.at(t - 1, p), to = t * batch.sequences + rows.order[p];
      const T* features = tape.features + row * tape.features_stride;
      const T* heads = tape.heads + row * tape.heads_stride;
      std::copy_n(features, plan.units, out.hidden + to * plan.units);
      std::copy_n(features + plan.units, plan.read_heads * width, out.reads + to * plan.read_heads * width);
      const HeadLayout& at = plan.write.squashed;
      for (Index h = 0; h < plan.write_heads; ++h) {
        const T* head = heads + plan.write.first_squashed + h * at.size;
        std::copy_n(head + at.erase, width, out.erases + (to * plan.write_heads + h) * width);
        std::copy_n(head + at.add, width, out.adds + (to * plan.write_heads + h) * width);
      }
      const auto kind = [&](const HeadRecord<T>& record, const T* similarity, const T* weightings,
                            const HeadKind& heads_kind) {
        const Index stride = heads_kind.count * plan.row;
        record_heads(record, to, heads + heads_kind.first_squashed, similarity + row * stride,
                     weightings + previous * stride, weightings + row * stride, heads_kind, plan, chain);
      };
      kind(out.read, tape.read_similarity, tape.read_weightings, plan.read);
      kind(out.write, tape.write_similarity, tape.write_weightings, plan.write);
      if (out.memory)
        transpose_out(out.memory + to * plan.locations * width, tape.memory + row * tape.memory_stride, plan);
    }
}

}  // namespace ntm::NTM_TARGET

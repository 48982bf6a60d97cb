// The tape: everything that a step keeps for the backward pass, and where.
//
// It has two parts. The control part holds the values of heads and controller, with the rows of all
// sequences one after the other, because the weight gradients are sums over them. The memory part
// belongs to one group of sequences. It holds a record of each step, and the memory of every K-th
// step: a checkpoint. The memories between two checkpoints are written again when the backward pass
// needs them. The same parts serve autograd, the fused step and the trace.
#pragma once

#include "addressing.h"
#include "groups.h"
#include "layout.h"

namespace ntm::NTM_TARGET {

// Rows of the control part for the sequences at sorted positions [begin, end). The start comes
// first, with one row per sequence. Each step follows with one row per running sequence. Without
// `keep`, the steps share two sets of rows in turn, because only the last state is needed.
class Rows {
 public:
  Index total;

  Rows(const Order& order, Index begin, Index end, bool keep) : total(end - begin), begin_(begin), count_(total) {
    if (!keep) {
      total *= 2;
      return;
    }
    first_.reserve(order.length[begin] + 1);
    first_.push_back(-begin);
    for (Index t = 0; t < order.length[begin]; ++t) {
      first_.push_back(total - begin);
      total += order.running(t, begin, end);
    }
  }

  // Return the row of step t (-1: the start) of the sequence at a sorted position.
  Index at(Index t, Index position) const {
    return first_.empty() ? (t + 1) % 2 * count_ + position - begin_ : first_[t + 1] + position;
  }

 private:
  Index begin_, count_;
  std::vector<Index> first_;  // first row of the start and of each step, minus `begin`; empty without keep
};

// Allocator of consecutive arrays with `rows` rows. With null data it only counts elements.
template <typename Pointer>
struct Arena {
  Index rows;
  Pointer data;
  Index size = 0;

  Pointer take(Index stride) {
    Pointer array = data ? data + size : nullptr;
    size += rows * stride;
    return array;
  }
};

// Return the number of elements of `Arrays` with `rows` rows.
template <typename Arrays, typename T>
Index elements(const Plan& plan, Index rows) {
  Arena<T*> arena = {rows, nullptr};
  Arrays(plan, arena);
  return arena.size;
}

// Control part: values of heads and controller, one row per step of a sequence.
template <typename Pointer>
struct ControlTapeOf {
  Pointer heads, features;           // squashed head values; [h, reads]
  std::vector<Pointer> seen, gates;  // per layer: inputs of its linear map; gates of a recurrent layer
  Pointer hidden = {}, cell = {};    // of all recurrent layers
  Index features_stride, heads_stride, gates_stride, hidden_stride;
  std::vector<Index> seen_stride;

  ControlTapeOf(const Plan& plan, Arena<Pointer>& arena) {
    features = arena.take(features_stride = padded(plan.features));
    gates_stride = padded(plan.gates);
    hidden_stride = plan.part_size(kHidden);
    for (Index l = 0; l < plan.layers; ++l) {
      seen_stride.push_back(padded(plan.seen(l)));
      seen.push_back(arena.take(seen_stride[l]));
      if (plan.recurrent()) gates.push_back(arena.take(gates_stride));
    }
    if (plan.recurrent()) hidden = arena.take(hidden_stride), cell = arena.take(hidden_stride);
    heads = arena.take(heads_stride = padded(plan.squashed_heads));
    arena.size += kPanel;  // vectors may read past the last row
  }

  // The same arrays, to be read only.
  template <typename Other>
  ControlTapeOf(const ControlTapeOf<Other>& other)
      : heads(other.heads),
        features(other.features),
        seen(other.seen.begin(), other.seen.end()),
        gates(other.gates.begin(), other.gates.end()),
        hidden(other.hidden),
        cell(other.cell),
        features_stride(other.features_stride),
        heads_stride(other.heads_stride),
        gates_stride(other.gates_stride),
        hidden_stride(other.hidden_stride),
        seen_stride(other.seen_stride) {}
};

// Record of one step of one sequence: 1 / |M(i)| (row), and the addressing of all heads.
template <typename Pointer>
struct RecordOf {
  Pointer inverse_norms;
  AddressingOf<Pointer> read, write;

  RecordOf(Pointer record, const Plan& plan)
      : inverse_norms(record),
        read(record + plan.row, plan.read_heads * plan.row),
        write(read.end(), plan.write_heads * plan.row) {}

  static Index size(const Plan& plan) { return plan.row * (1 + 4 * (plan.read_heads + plan.write_heads)); }
};

// Return how many memories of each sequence of a group take half a MiB (float) and stay in cache.
inline Index memories_in_cache(Index sequences, const Plan& plan) {
  return 128 * 1024 / (std::min(sequences, kGroup) * plan.memory_size());
}

// Return K for the groups of a batch of `sequences` sequences.
inline Index checkpoint_interval(Index sequences, const Plan& plan) {
  return std::max(memories_in_cache(sequences, plan), Index(8));
}

// Whether the forward pass keeps the memories of the last interval for the way back. If they exceed
// the cache, it overwrites one memory instead, which stays in cache from step to step.
inline bool keeps_last_interval(Index sequences, const Plan& plan) {
  return memories_in_cache(sequences, plan) >= checkpoint_interval(sequences, plan);
}

// Rows of the memory part, for a group of `sequences` sequences.
struct MemoryRows {
  Index sequences;
  Index interval;     // K: steps from one checkpoint to the next
  Index checkpoints;  // memories of every K-th step, from the start on
  Index between;      // memories of the steps between two checkpoints: rows that the steps use in turn
  Index records;      // rows that the steps use in turn

  // Keep all steps. Between two checkpoints, there is room for the memories of one interval, or for
  // one memory, which every step overwrites.
  static MemoryRows kept(Index sequences, Index interval, Index steps, bool whole_interval) {
    return {sequences, interval, steps / interval + 1, whole_interval ? std::min(interval - 1, steps) : 1, steps + 1};
  }
  // Keep the last state alone, for any number of steps.
  static MemoryRows passing(Index sequences, Index steps) { return {sequences, steps + 1, 1, 1, 2}; }
};

// Memory part of one group.
template <typename Pointer>
struct MemoryTapeOf {
  const Plan& plan;
  MemoryRows rows;
  Pointer checkpoints, records, between;  // between: null if the memories of the last interval are not kept

  MemoryTapeOf(Pointer data, Pointer between, const MemoryRows& rows, const Plan& plan)
      : plan(plan),
        rows(rows),
        checkpoints(data),
        records(data + rows.checkpoints * rows.sequences * plan.memory_size()),
        between(between) {}

  // The same arrays, to be read only.
  template <typename Other>
  MemoryTapeOf(const MemoryTapeOf<Other>& other)
      : plan(other.plan),
        rows(other.rows),
        checkpoints(other.checkpoints),
        records(other.records),
        between(other.between) {}

  // Return the number of elements of checkpoints and records, and of the memories between.
  static Index size(const MemoryRows& rows, const Plan& plan) {
    return rows.sequences * (rows.checkpoints * plan.memory_size() + rows.records * RecordOf<Pointer>::size(plan));
  }
  static Index between_size(const MemoryRows& rows, const Plan& plan) {
    return rows.sequences * rows.between * plan.memory_size();
  }

  // Return the record of step t (-1: the start) of sequence i of the group.
  RecordOf<Pointer> record(Index t, Index i) const {
    const Index row = (t + 1) % rows.records * rows.sequences + i;
    return {records + row * RecordOf<Pointer>::size(plan), plan};
  }

  // Return the memory after step t (-1: the start) of sequence i of the group.
  Pointer memory(Index t, Index i) const { return is_checkpoint(t) ? checkpoint(t, i) : between + place(t, i); }

  bool is_checkpoint(Index t) const { return (t + 1) % rows.interval == 0; }
  Pointer checkpoint(Index t, Index i) const {
    return checkpoints + ((t + 1) / rows.interval * rows.sequences + i) * plan.memory_size();
  }
  // Return the offset of a memory among the memories between two checkpoints.
  Index place(Index t, Index i) const {
    return (((t + 1) % rows.interval - 1) % rows.between * rows.sequences + i) * plan.memory_size();
  }
};

// Both parts of the tape, as a group of sequences from sorted position `begin` on sees them.
template <typename Pointer>
struct TapeOf {
  const Plan& plan;
  const Order& order;
  const MemoryTapeOf<Pointer> memory;
  const ControlTapeOf<Pointer>& control;
  const Rows& rows;  // of the control part
  Index begin, end;

  Index length(Index i) const { return order.length[begin + i]; }
  Index row(Index t, Index i) const { return rows.at(t, begin + i); }
  Pointer features(Index t, Index i) const { return control.features + row(t, i) * control.features_stride; }
  Pointer heads(Index t, Index i) const { return control.heads + row(t, i) * control.heads_stride; }
  Pointer hidden(Index t, Index i, Index l) const { return layer(control.hidden, t, i, l); }
  Pointer cell(Index t, Index i, Index l) const { return layer(control.cell, t, i, l); }

  // Return the parts of the state after step t (-1: the start), in the kernels' layout.
  StateOf<Pointer> state(Index t, Index i) const {
    const RecordOf<Pointer> record = memory.record(t, i);
    return {memory.memory(t, i),         record.read.weightings, record.write.weightings,
            features(t, i) + plan.units, hidden(t, i, 0),        cell(t, i, 0)};
  }

 private:
  // Null without recurrent layers.
  Pointer layer(Pointer array, Index t, Index i, Index l) const {
    return !array ? nullptr : array + row(t, i) * control.hidden_stride + l * plan.part_strides[kHidden];
  }
};

// Write the locations [from, to) of the memory of step t of sequence i: equations 3 and 4. norms: 1 / |M(i)|, or null.
template <typename T, typename Pointer>
void write_step(T* memory, T* norms, const T* previous, const TapeOf<Pointer>& tape, Index t, Index i, Index from,
                Index to) {
  write<T>(memory, norms, previous, tape.memory.record(t, i).write.weightings,
           tape.heads(t, i) + tape.plan.write.first_squashed, tape.plan, from, to);
}

// The memories of a group on the way back. Checkpoints, and the memories of the last interval if
// they were kept, are on the tape. The memories of an interval are written again when the way back
// reaches it.
template <typename T>
class Memories {
 public:
  // restored: room for the memories of one interval.
  Memories(T* restored, const TapeOf<const T*>& tape) : restored_(restored), tape_(tape) {}

  // Make the memories after steps t and t - 1 available. Call this for each t, from the last to the first.
  void reach(Index t, Index i) const {
    const bool last = t + 1 == tape_.length(i);
    if (last ? kept() : !tape_.memory.is_checkpoint(t)) return;
    for (Index u = t / interval() * interval(); u <= t; ++u)
      if (!tape_.memory.is_checkpoint(u))
        write_step<T>(restored_ + tape_.memory.place(u, i), nullptr, at(u - 1, i), tape_, u, i, 0, tape_.plan.row);
  }

  const T* at(Index t, Index i) const {
    if (tape_.memory.is_checkpoint(t)) return tape_.memory.checkpoint(t, i);
    const bool last = t >= (tape_.length(i) - 1) / interval() * interval();
    return (last && kept() ? tape_.memory.between : restored_) + tape_.memory.place(t, i);
  }

 private:
  bool kept() const { return tape_.memory.between != nullptr; }
  Index interval() const { return tape_.memory.rows.interval; }

  T* const restored_;
  const TapeOf<const T*>& tape_;
};

}  // namespace ntm::NTM_TARGET

// Everything that follows from the sizes: strides, layout of the tape, row of each step.
#pragma once

#include <algorithm>
#include <numeric>

#include "linear.h"

namespace ntm::NTM_TARGET {

// Offsets of one head's squashed values on the tape. `excess` is the sharpness minus 1. `level` is
// the position of the scalar shift between the first shift (0) and the last (1); softmax shifts do
// not use it. The tape holds these two because the gradient needs their small values, which
// rounding would lose in 1 + excess and first + span * level. The slopes are the slopes of softplus
// at strength and excess.
struct HeadLayout {
  Index key = 0, strength, gate, excess, level, strength_slope, excess_slope, shift, erase, add, size;

  HeadLayout(Index width, Index shifts, bool writes)
      : strength(width),
        gate(strength + 1),
        excess(gate + 1),
        level(excess + 1),
        strength_slope(level + 1),
        excess_slope(strength_slope + 1),
        shift(excess_slope + 1),
        erase(shift + shifts),
        add(erase + (writes ? width : 0)),
        size(add + (writes ? width : 0)) {}
};

// Offsets of one head's raw values, in the order in which the linear layer emits them (heads.py).
struct RawHeadLayout {
  Index key = 0, strength, gate, shift, sharpness, erase, add, size;

  RawHeadLayout(Index width, Index shift_outputs, bool writes)
      : strength(width),
        gate(strength + 1),
        shift(gate + 1),
        sharpness(shift + shift_outputs),
        erase(sharpness + 1),
        add(erase + (writes ? width : 0)),
        size(add + (writes ? width : 0)) {}
};

// One kind of head, read or write: the number of heads and the offsets of their values.
struct HeadKind {
  Index count;
  HeadLayout squashed;
  RawHeadLayout raw;
  Index first_squashed, first_raw;  // offsets of the first head's values
};

struct Plan : Sizes {
  Index row;                   // N rounded up to whole panels: length of every array over the locations
  Index recurrent;             // number of LSTM layers: 0 for a feedforward controller
  Index shift_outputs;         // raw values per head for the shift
  Index gates;                 // values that a controller layer's linear map emits
  Index reach;                 // largest of the offsets, without its sign
  std::vector<Index> offsets;  // shifts as the shortest equal rotations: at most N / 2 either way
  HeadKind read, write;
  Index raw_heads, squashed_heads, features;

  explicit Plan(const Sizes& sizes)
      : Sizes(sizes),
        row(padded(locations)),
        recurrent(lstm ? layers : 0),
        shift_outputs(scalar_shift ? 1 : Index(shifts.size())),
        gates(lstm ? 4 * units : units),
        reach(0),
        read(kind(read_heads, false, 0, 0)),
        write(kind(write_heads, true, read_heads * read.squashed.size, read_heads * read.raw.size)),
        raw_heads(write.first_raw + write_heads * write.raw.size),
        squashed_heads(write.first_squashed + write_heads * write.squashed.size),
        features(units + read_heads * width) {
    for (Index shift : shifts) {
      Index offset = ((shift % locations) + locations) % locations;
      if (offset > locations / 2) offset -= locations;
      offsets.push_back(offset);
      reach = std::max(reach, offset < 0 ? -offset : offset);
    }
  }

  // Return the number of inputs of controller layer l, without and with its hidden state (LSTM).
  Index below(Index l) const { return l == 0 ? inputs + read_heads * width : units; }
  Index seen(Index l) const { return below(l) + (lstm ? units : 0); }

 private:
  HeadKind kind(Index count, bool writes, Index first_squashed, Index first_raw) const {
    return {count, HeadLayout(width, Index(shifts.size()), writes), RawHeadLayout(width, shift_outputs, writes),
            first_squashed, first_raw};
  }
};

// Sequences sorted by length, the longest first: at every step, the running sequences come first.
struct Order {
  std::vector<Index> sequence, length;  // of each sorted position
  Index steps;                          // length of the longest sequence

  explicit Order(const Batch& batch) : sequence(batch.sequences), length(batch.sequences) {
    const auto length_of = [&](Index b) { return batch.lengths ? Index(batch.lengths[b]) : batch.steps; };
    std::iota(sequence.begin(), sequence.end(), Index(0));
    std::stable_sort(sequence.begin(), sequence.end(), [&](Index a, Index b) { return length_of(a) > length_of(b); });
    for (Index p = 0; p < batch.sequences; ++p) length[p] = length_of(sequence[p]);
    steps = length[0];
  }

  // Return the number of sequences at sorted positions [begin, end) that run at step t.
  Index running(Index t, Index begin, Index end) const {
    Index p = end;
    while (p > begin && length[p - 1] <= t) --p;
    return p - begin;
  }
};

// Rows of a tape for the sequences at sorted positions [begin, end). The start comes first, with
// one row per sequence. Each step follows with one row per running sequence. Without `keep`, the
// steps share two sets of rows in turn, because only the last state is needed.
class Rows {
 public:
  Index total;

  Rows(const Order& order, Index begin, Index end, bool keep) : total(end - begin), first_{-begin} {
    const Index start = total;
    for (Index t = 0; t < order.length[begin]; ++t) {
      first_.push_back((keep ? total : (t + 1) % 2 * start) - begin);
      total += keep ? order.running(t, begin, end) : 0;
    }
    if (!keep) total = 2 * start;
  }

  // Return the row of step t (-1: the start) of the sequence at a sorted position.
  Index at(Index t, Index position) const { return first_[t + 1] + position; }

 private:
  std::vector<Index> first_;  // first row of the start and of each step, minus `begin`
};

// Rows of the array of memories. Either each step has a row, as in `Rows`. Or, for one group, each
// interval-th step has a row: a checkpoint, of which the start is the first. The steps between two
// checkpoints then use rows that all intervals share, and are recomputed when they are needed.
class MemoryRows {
 public:
  Index total;

  explicit MemoryRows(const Rows& rows) : total(rows.total), rows_(&rows) {}
  MemoryRows(Index begin, Index end, Index steps, Index interval)
      : begin_(begin), sequences_(end - begin), interval_(interval), kept_(steps / interval + 1) {
    total = (kept_ + interval - 1) * sequences_;
  }

  // Return the row of step t (-1: the start) of the sequence at a sorted position.
  Index at(Index t, Index position) const {
    if (rows_) return rows_->at(t, position);
    const Index between = (t + 1) % interval_;
    return (between == 0 ? (t + 1) / interval_ : kept_ + between - 1) * sequences_ + position - begin_;
  }

  // Return the number of steps before t to recompute before the backward pass goes back from t.
  Index lost_before(Index t) const { return !rows_ && (t + 1) % interval_ == 0 ? interval_ - 1 : 0; }

 private:
  const Rows* rows_ = nullptr;
  Index begin_ = 0, sequences_ = 0, interval_ = 0, kept_ = 0;
};

// Allocator of consecutive arrays with `rows` rows. With null data it only counts elements.
template <typename Pointer>
struct Arena {
  Index rows;
  Pointer data;
  Index size = 0;

  Pointer take(Index stride) { return take(stride, rows); }
  Pointer take(Index stride, Index count) {
    Pointer array = data ? data + size : nullptr;
    size += count * stride;
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

// Stages of addressing for all heads of one kind, (heads x row) each: equations 6 and 5, the
// logarithm of equation 8, and equation 9.
template <typename Pointer>
struct AddressingOf {
  Index stride;
  Pointer similarity, content, logs, weightings;

  AddressingOf(Index heads, const Plan& plan, Arena<Pointer>& arena)
      : stride(heads * plan.row),
        similarity(arena.take(stride)),
        content(arena.take(stride)),
        logs(arena.take(stride)),
        weightings(arena.take(stride)) {}

  // Return the arrays from a row of the tape on, or from an element on.
  AddressingOf at(Index row) const { return from(row * stride); }
  AddressingOf from(Index element) const {
    AddressingOf later = *this;
    for (Pointer* array : {&later.similarity, &later.content, &later.logs, &later.weightings}) *array += element;
    return later;
  }
};

// Large part of the tape, with one row per sequence and step: the memory and its addressing.
template <typename Pointer>
struct MemoryTapeOf {
  Index memory_stride;
  Pointer memory, inverse_norms;  // (panels x M x 16), and (row): 1 / |M(i)|
  AddressingOf<Pointer> read, write;

  MemoryTapeOf(const Plan& plan, Arena<Pointer>& arena, Index memories)
      : memory_stride(plan.width * plan.row),
        memory(arena.take(memory_stride, memories)),
        inverse_norms(arena.take(plan.row)),
        read(plan.read_heads, plan, arena),
        write(plan.write_heads, plan, arena) {}
};

// Small part of the tape: heads and controller. The weight gradients are computed from it.
template <typename Pointer>
struct ControlTapeOf {
  Pointer heads, features;                         // squashed head values; [h, reads]
  std::vector<Pointer> seen, gates, hidden, cell;  // per layer; the last three for an LSTM only
  Index features_stride, heads_stride, gates_stride, hidden_stride;
  std::vector<Index> seen_stride;

  ControlTapeOf(const Plan& plan, Arena<Pointer>& arena) {
    features = arena.take(features_stride = padded(plan.features));
    gates_stride = padded(plan.gates);
    hidden_stride = padded(plan.units);
    for (Index l = 0; l < plan.layers; ++l) {
      seen_stride.push_back(padded(plan.seen(l)));
      seen.push_back(arena.take(seen_stride[l]));
      if (!plan.lstm) continue;
      gates.push_back(arena.take(gates_stride));
      hidden.push_back(arena.take(hidden_stride));
      cell.push_back(arena.take(hidden_stride));
    }
    heads = arena.take(heads_stride = padded(plan.squashed_heads));
    arena.size += kPanel;  // vectors may read past the last row
  }
};

}  // namespace ntm::NTM_TARGET

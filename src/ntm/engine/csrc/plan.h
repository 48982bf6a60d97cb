// What follows from the sizes: strides, the tape's layout, and which row of it a step of a sequence has.
#pragma once

#include <algorithm>
#include <numeric>

#include "linear.h"

namespace ntm::NTM_TARGET {

// The squashed values of one head, in the order in which the tape holds them. `excess` is what the sharpness has
// above 1 and `level` where the scalar shift lies between the first shift (0) and the last (1; unused with softmax
// shifts): of 1 + excess and of first + span * level, small ones could not be recovered for the gradient. The slopes
// are those of softplus, at strength and excess.
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

// The raw values of one head, in the order in which the linear layer emits them (heads.py).
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

// One kind of head: how many, and where their values lie.
struct HeadKind {
  Index count;
  HeadLayout squashed;
  RawHeadLayout raw;
  Index first_squashed, first_raw;  // where the first head's values begin
};

struct Plan : Sizes {
  Index row;                   // N rounded up: of an array over the locations, and of a memory
  Index recurrent;             // LSTM layers: 0 for a feedforward controller
  Index shift_outputs;         // raw values per head for the shift
  Index gates;                 // values a controller layer's linear map emits
  Index reach;                 // of the widest rotation, once rotations are taken the short way round
  std::vector<Index> offsets;  // the shifts, the short way round
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

  // Inputs of controller layer l: what is below it and, for an LSTM, its own hidden state.
  Index below(Index l) const { return l == 0 ? inputs + read_heads * width : units; }
  Index seen(Index l) const { return below(l) + (lstm ? units : 0); }

 private:
  HeadKind kind(Index count, bool writes, Index first_squashed, Index first_raw) const {
    return {count, HeadLayout(width, Index(shifts.size()), writes), RawHeadLayout(width, shift_outputs, writes),
            first_squashed, first_raw};
  }
};

// Sequences in order of falling length, so that the ones still running at a step are always the first ones.
struct Order {
  std::vector<Index> sequence, length;  // of each sorted position
  Index steps;                          // of the longest

  explicit Order(const Batch& batch) : sequence(batch.sequences), length(batch.sequences) {
    const auto length_of = [&](Index b) { return batch.lengths ? Index(batch.lengths[b]) : batch.steps; };
    std::iota(sequence.begin(), sequence.end(), Index(0));
    std::stable_sort(sequence.begin(), sequence.end(), [&](Index a, Index b) { return length_of(a) > length_of(b); });
    for (Index p = 0; p < batch.sequences; ++p) length[p] = length_of(sequence[p]);
    steps = length[0];
  }

  // How many of the sorted positions in [begin, end) run at step t.
  Index running(Index t, Index begin, Index end) const {
    Index p = end;
    while (p > begin && length[p - 1] <= t) --p;
    return p - begin;
  }
};

// Rows of the sequences at sorted positions [begin, end), one per step they run: those of step t follow those of step
// t - 1, and those of the start come before all. Without `keep` the rows of two steps take turns: only the last state
// is wanted.
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

  // The row of step t (or -1, the start) of the sequence at a sorted position.
  Index at(Index t, Index position) const { return first_[t + 1] + position; }

 private:
  std::vector<Index> first_;  // of the start and then of every step, less `begin`
};

// Where the memory of each step is held, as a row of its own array: either as in `Rows`, or thinned out, for the
// sequences of a group. Then the memory of every interval-th step is kept, the start's among them, and those between
// share their places with those of all other intervals: they are written again when they are wanted.
class MemoryRows {
 public:
  Index total;

  explicit MemoryRows(const Rows& rows) : total(rows.total), rows_(&rows) {}
  MemoryRows(Index begin, Index end, Index steps, Index interval)
      : begin_(begin), sequences_(end - begin), interval_(interval), kept_(steps / interval + 1) {
    total = (kept_ + interval - 1) * sequences_;
  }

  // The row of step t (or -1, the start) of the sequence at a sorted position.
  Index at(Index t, Index position) const {
    if (rows_) return rows_->at(t, position);
    const Index between = (t + 1) % interval_;
    return (between == 0 ? (t + 1) / interval_ : kept_ + between - 1) * sequences_ + position - begin_;
  }

  // How many steps before t have to be written again before one goes back from there.
  Index lost_before(Index t) const { return !rows_ && (t + 1) % interval_ == 0 ? interval_ - 1 : 0; }

 private:
  const Rows* rows_ = nullptr;
  Index begin_ = 0, sequences_ = 0, interval_ = 0, kept_ = 0;
};

// Hands out arrays of `rows` rows, one after the other, and counts their elements. Null data: only the count is wanted.
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

// How many elements arrays of `rows` rows have.
template <typename Arrays, typename T>
Index elements(const Plan& plan, Index rows) {
  Arena<T*> arena = {rows, nullptr};
  Arrays(plan, arena);
  return arena.size;
}

// How the heads of one kind came to their weightings: equations 6, 5, the logarithm of 8, and 9; (heads x row) each.
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

  // The arrays of one row of the tape, and of one head of those.
  AddressingOf at(Index row) const { return from(row * stride); }
  AddressingOf from(Index element) const {
    AddressingOf later = *this;
    for (Pointer* array : {&later.similarity, &later.content, &later.logs, &later.weightings}) *array += element;
    return later;
  }
};

// The large part of the tape: the memory, and what was done to it. A row per sequence and step.
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

// The small part: heads and controller, and what the weights' gradients will be made of.
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

// What follows from the sizes: strides, the tape's layout, and which row of it a step of a sequence has.
#pragma once

#include <algorithm>
#include <numeric>

#include "linear.h"

namespace ntm::NTM_TARGET {

// The squashed values of one head, in the order in which the tape holds them. `excess` is what the sharpness has
// above 1 and `level` where the scalar shift lies between the first shift (0) and the last (1; unused with softmax
// shifts): of 1 + excess and of first + span * level, small ones could not be recovered for the gradient.
struct HeadLayout {
  Index key = 0, strength, gate, excess, level, shift, erase, add, size;

  HeadLayout(Index width, Index shifts, bool writes)
      : strength(width),
        gate(strength + 1),
        excess(gate + 1),
        level(excess + 1),
        shift(level + 1),
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
  Index row;            // N rounded up: the stride between the M rows of a memory, which is held transposed
  Index recurrent;      // LSTM layers: 0 for a feedforward controller
  Index shift_outputs;  // raw values per head for the shift
  Index gates;          // values a controller layer's linear map emits
  Index reach;          // of the widest rotation, once rotations are taken the short way round
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

// Sequences in order of falling length, so that the ones still running at a step are always the first ones, and
// a row per sequence and step they run: rows of step t follow those of step t - 1. The first B rows are the start.
struct Rows {
  std::vector<Index> order;   // sorted position -> sequence
  std::vector<Index> length;  // of each sorted position
  std::vector<Index> first;   // first[0]: start rows; first[t + 1]: rows of step t
  Index steps, total;

  // Without `keep` the rows of two steps take turns: only the last state is wanted.
  Rows(const Batch& batch, bool keep) : order(batch.sequences), length(batch.sequences) {
    const auto length_of = [&](Index b) { return batch.lengths ? Index(batch.lengths[b]) : batch.steps; };
    std::iota(order.begin(), order.end(), Index(0));
    std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return length_of(a) > length_of(b); });
    for (Index p = 0; p < batch.sequences; ++p) length[p] = length_of(order[p]);
    steps = length[0];
    first = {0};
    total = batch.sequences;
    for (Index t = 0, running = batch.sequences; t < steps; ++t) {
      while (length[running - 1] <= t) --running;
      first.push_back(keep ? total : (t + 1) % 2 * batch.sequences);
      total += keep ? running : 0;
    }
    if (!keep) total = 2 * batch.sequences;
  }

  // How many of the sorted positions in [begin, end) run at step t.
  Index running(Index t, Index begin, Index end) const {
    Index p = end;
    while (p > begin && length[p - 1] <= t) --p;
    return p - begin;
  }

  // The row of step t (or -1, the start) of the sequence at a sorted position.
  Index at(Index t, Index position) const { return first[t + 1] + position; }
};

// Pointers into the tape: arrays of rows, one row per sequence and step.
template <typename T, typename Pointer>
struct TapeOf {
  Pointer memory, inverse_norms;                       // (M x row) transposed, and (row): 1 / |M(i)|
  Pointer read_similarity, write_similarity;           // (heads x row)
  Pointer read_weightings, write_weightings;           // (heads x row)
  Pointer heads, features;                             // squashed head values; [h, reads]
  std::vector<Pointer> seen, gates, hidden, cell;      // per layer; the last three for an LSTM only
  Index memory_stride, features_stride, heads_stride;
  std::vector<Index> seen_stride;
  Index gates_stride, hidden_stride, size = 0;

  // Null data: only the size is wanted.
  TapeOf(const Plan& plan, Index rows, Pointer data) {
    const auto take = [&](Index stride) {
      Pointer p = data ? data + size : nullptr;
      size += rows * stride;
      return p;
    };
    memory = take(memory_stride = plan.width * plan.row);
    inverse_norms = take(plan.row);
    read_similarity = take(plan.read_heads * plan.row);
    write_similarity = take(plan.write_heads * plan.row);
    read_weightings = take(plan.read_heads * plan.row);
    write_weightings = take(plan.write_heads * plan.row);
    heads = take(heads_stride = plan.squashed_heads);
    features = take(features_stride = padded(plan.features));
    gates_stride = padded(plan.gates);
    hidden_stride = padded(plan.units);
    for (Index l = 0; l < plan.layers; ++l) {
      seen_stride.push_back(padded(plan.seen(l)));
      seen.push_back(take(seen_stride[l]));
      if (!plan.lstm) continue;
      gates.push_back(take(gates_stride));
      hidden.push_back(take(hidden_stride));
      cell.push_back(take(hidden_stride));
    }
    size += kPanel;  // vectors may read past the last row
  }
};

template <typename T>
using Tape = TapeOf<T, T*>;
template <typename T>
using ConstTape = TapeOf<T, const T*>;

}  // namespace ntm::NTM_TARGET

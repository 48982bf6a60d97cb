// Everything that follows from the sizes: strides, offsets of the heads' values, order of the sequences.
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
  Index shift_outputs;         // raw values per head for the shift
  Index gates;                 // values that a controller layer's linear map emits
  Index reach;                 // largest of the offsets, without its sign
  std::vector<Index> offsets;  // shifts as the shortest equal rotations: at most N / 2 either way
  HeadKind read, write;
  Index raw_heads, squashed_heads, features;
  std::array<Shape, kParts> parts;         // shapes of a state's parts
  std::array<Index, kParts> part_strides;  // row stride of each part in the kernels' layout; memories are in panels

  explicit Plan(const Sizes& sizes)
      : Sizes(sizes),
        row(padded(locations)),
        shift_outputs(shift_values()),
        gates(emitted()),
        reach(0),
        read(kind(read_heads, false, 0, 0)),
        write(kind(write_heads, true, read_heads * read.squashed.size, read_heads * read.raw.size)),
        raw_heads(write.first_raw + write_heads * write.raw.size),
        squashed_heads(write.first_squashed + write_heads * write.squashed.size),
        features(units + read_heads * width),
        parts(state_shapes(sizes)),
        part_strides{width, row, row, width, padded(units), padded(units)} {
    for (Index shift : shifts) {
      Index offset = ((shift % locations) + locations) % locations;
      if (offset > locations / 2) offset -= locations;
      offsets.push_back(offset);
      reach = std::max(reach, offset < 0 ? -offset : offset);
    }
  }

  // Return the number of elements of a memory, and of any part of a state, in the kernels' layout.
  Index memory_size() const { return row * width; }
  Index part_size(int part) const { return part == kMemory ? memory_size() : parts[part].rows * part_strides[part]; }

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

}  // namespace ntm::NTM_TARGET

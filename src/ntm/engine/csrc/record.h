// Trace of the heads, copied out of the tape.
#pragma once

#include "sequence.h"

namespace ntm::NTM_TARGET {

// Copy one head kind's part of the record for one step of one sequence. `to`: row of (time, batch).
template <typename T>
void record_heads(const HeadRecord<T>& record, Chain<T>& chain, Index to, const T* heads,
                  const AddressingOf<const T*>& from, const T* previous, const HeadKind& kind, const Plan& plan) {
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

// Copy the record of step t of sequence i of a group. `to`: row of (time, batch).
template <typename T>
void record_step(const Record<T>& out, Chain<T>& chain, Index to, const TapeOf<const T*>& tape,
                 const Memories<T>& memories, Index t, Index i) {
  const Plan& plan = tape.plan;
  const Index width = plan.width;
  const T *features = tape.features(t, i), *heads = tape.heads(t, i);
  std::copy_n(features, plan.units, out.hidden + to * plan.units);
  std::copy_n(features + plan.units, plan.read_heads * width, out.reads + to * plan.read_heads * width);
  const HeadLayout& at = plan.write.squashed;
  for (Index h = 0; h < plan.write_heads; ++h) {
    const T* head = heads + plan.write.first_squashed + h * at.size;
    std::copy_n(head + at.erase, width, out.erases + (to * plan.write_heads + h) * width);
    std::copy_n(head + at.add, width, out.adds + (to * plan.write_heads + h) * width);
  }
  const RecordOf<const T*> step = tape.memory.record(t, i), last = tape.memory.record(t - 1, i);
  record_heads(out.read, chain, to, heads, step.read, last.read.weightings, plan.read, plan);
  record_heads(out.write, chain, to, heads + plan.write.first_squashed, step.write, last.write.weightings, plan.write,
               plan);
  if (!out.memory) return;
  memories.reach(t, i);
  panels_out(out.memory + to * plan.locations * width, memories.at(t, i), plan);
}

template <typename T>
void record(const Record<T>& out, const T* tape, const Batch& batch, const Sizes& sizes) {
  const Plan plan(sizes);
  const WholeTape<const T*> whole(tape, plan, batch);
  const FlushDenormals mode;
  Chain<T> chain(plan);
  Growing<T> restored;
  for (Index begin = 0; begin < batch.sequences; begin += kGroup) {
    const TapeOf<const T*> group = whole.group(nullptr, begin, std::min(begin + kGroup, batch.sequences));
    const Memories<T> memories(restored.at_least(MemoryTapeOf<T*>::between_size(group.memory.rows, plan)), group);
    for (Index i = 0; i < group.end - begin; ++i)
      for (Index t = group.length(i) - 1; t >= 0; --t)
        record_step(out, chain, t * batch.sequences + whole.order.sequence[begin + i], group, memories, t, i);
  }
}

}  // namespace ntm::NTM_TARGET

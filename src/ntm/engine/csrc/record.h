// Trace of the heads, copied out of the tape.
#pragma once

#include "sequence.h"

namespace ntm::NTM_TARGET {

// Copy one head kind's part of the record for one step of one sequence. `to`: row of (time, batch).
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
void record(const Record<T>& out, const T* tape, const Batch& batch, const Sizes& sizes) {
  const Plan plan(sizes);
  const WholeTape<const T*> whole(tape, true, plan, batch);
  const Order& order = whole.order;
  const Rows& rows = whole.rows;
  const auto& memory = whole.memory;
  const auto& control = whole.control;
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

// Backward pass: all steps of a group of sequences, the last step first. It reads the tape.
#pragma once

#include "adjoints.h"

namespace ntm::NTM_TARGET {

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

  // Copy in dlogits (T, B, O) for the sequences at sorted positions [begin, end).
  void take_logits(Index begin, Index end, const T* dlogits) const {
    for (Index p = begin; p < end; ++p)
      for (Index t = 0; t < order_.length[p]; ++t) {
        const Index from = (t * Index(order_.sequence.size()) + order_.sequence[p]) * plan_.outputs;
        std::copy_n(dlogits + from, plan_.outputs, dvalues_.output + rows_.at(t, p) * dvalues_.output_stride);
      }
  }

  // Run all steps of the sequences at sorted positions [begin, end), the last step first. The
  // gradients of the logits are already in dvalues. Afterwards the adjoints hold the gradients of
  // the start. restore(t, position, count) must recompute the memories of `count` steps before t.
  template <typename Restore>
  void run(BackwardWorkspace<T>& workspace, Index begin, Index end, const State<T>& dfinal,
           const WeightingsOf<const T*>& dweightings, T* dx, const Restore& restore) const {
    const Index sequences = end - begin;
    for (Index i = 0; i < sequences; ++i) take_final(workspace.adjoints, i, order_.sequence[begin + i], dfinal);
    for (Index t = order_.length[begin] - 1; t >= 0; --t) {
      const Index running = order_.running(t, begin, end), row = rows_.at(t, begin);
      output_backward(row, running, workspace);
      for (Index i = 0; i < running; ++i) {
        T* dreads = workspace.dfeatures.get() + i * workspace.features_stride + plan_.units;
        const T* carried = workspace.adjoints.reads.get() + i * plan_.read_heads * plan_.width;
        for (Index k = 0; k < plan_.read_heads * plan_.width; ++k) dreads[k] += carried[k];
        const Index lost = memories_.lost_before(t);
        if (lost > 0 && t + 1 < order_.length[begin + i]) restore(t, begin + i, lost);
        take_weightings(workspace.adjoints, i, t, begin + i, dweightings);
        use_memory_backward(t, begin + i, i, dreads, workspace);
      }
      maps_.heads.apply(workspace.dh.get(), workspace.units_stride, dvalues_.heads + row * dvalues_.heads_stride,
                        dvalues_.heads_stride, running, workspace.units_stride);
      for (Index i = 0; i < running; ++i)
        for (Index u = 0; u < plan_.units; ++u)
          workspace.dh[i * workspace.units_stride + u] += workspace.dfeatures[i * workspace.features_stride + u];
      control_backward(t, begin, running, workspace, dx);
    }
    for (Index i = 0; i < sequences; ++i) finish_memory(workspace.adjoints, i, begin + i);
  }

  // Copy the gradient of the start of sequence i of a group to state `b` of dstart.
  void give_start(const Adjoints<T>& adjoints, Index i, Index b, const MutableState<T>& dstart) const {
    const Index locations = plan_.locations, width = plan_.width;
    panels_out(dstart.memory + b * locations * width, adjoints.memory.get() + i * width * plan_.row, plan_);
    strip_rows(dstart.read_weightings + b * plan_.read_heads * locations,
               adjoints.read_weightings.get() + i * plan_.read_heads * plan_.row, plan_.read_heads, locations,
               plan_.row);
    strip_rows(dstart.write_weightings + b * plan_.write_heads * locations,
               adjoints.write_weightings.get() + i * plan_.write_heads * plan_.row, plan_.write_heads, locations,
               plan_.row);
    const Index reads = plan_.read_heads * width;
    std::copy_n(adjoints.reads.get() + i * reads, reads, dstart.reads + b * reads);
    for (Index l = 0; l < plan_.recurrent; ++l) {
      const Index at = (b * plan_.layers + l) * plan_.units;
      std::copy_n(adjoints.hidden[l].get() + i * plan_.units, plan_.units, dstart.hidden + at);
      std::copy_n(adjoints.cell[l].get() + i * plan_.units, plan_.units, dstart.cell + at);
    }
  }

  // Sum the start gradients of the sequences at sorted positions [begin, end), which started from
  // one state, and copy the sum to their group's state of dstarts.
  void give_common_start(const Adjoints<T>& adjoints, Index begin, Index end, const MutableState<T>& dstarts) const {
    sum_starts(adjoints, end - begin);
    give_start(adjoints, 0, begin / kGroup, dstarts);
  }

 private:
  // Sum the start gradients of a group's sequences in order. The sum replaces the first gradient.
  void sum_starts(const Adjoints<T>& adjoints, Index sequences) const {
    const auto sum = [&](const Buffer<T>& array, Index size) {
      for (Index i = 1; i < sequences; ++i)
        for (Index k = 0; k < size; ++k) array[k] += array[i * size + k];
    };
    sum(adjoints.memory, memory_.memory_stride);
    sum(adjoints.read_weightings, plan_.read_heads * plan_.row);
    sum(adjoints.write_weightings, plan_.write_heads * plan_.row);
    sum(adjoints.reads, plan_.read_heads * plan_.width);
    for (Index l = 0; l < plan_.recurrent; ++l) {
      sum(adjoints.hidden[l], plan_.units);
      sum(adjoints.cell[l], plan_.units);
    }
  }

  void take_final(Adjoints<T>& adjoints, Index i, Index b, const State<T>& dfinal) const {
    const Index locations = plan_.locations, width = plan_.width;
    T* memory = adjoints.memory.get() + i * width * plan_.row;
    if (dfinal.memory)
      panels_in(memory, dfinal.memory + b * locations * width, plan_);
    else
      std::fill(memory, memory + width * plan_.row, T(0));
    pad_rows(adjoints.read_weightings.get() + i * plan_.read_heads * plan_.row,
             slice(dfinal.read_weightings, b, plan_.read_heads * locations), plan_.read_heads, locations, plan_.row);
    pad_rows(adjoints.write_weightings.get() + i * plan_.write_heads * plan_.row,
             slice(dfinal.write_weightings, b, plan_.write_heads * locations), plan_.write_heads, locations, plan_.row);
    const Index reads = plan_.read_heads * width;
    pad_rows(adjoints.reads.get() + i * reads, slice(dfinal.reads, b, reads), 1, reads, reads);
    std::fill_n(adjoints.keys.get() + i * plan_.write_heads * width, plan_.write_heads * width, T(0));
    std::fill_n(adjoints.products.get() + i * plan_.write_heads * plan_.row, plan_.write_heads * plan_.row, T(0));
    std::fill_n(adjoints.scale.get() + i * plan_.row, plan_.row, T(0));
    for (Index l = 0; l < plan_.recurrent; ++l) {
      const Index at = b * plan_.layers + l;
      pad_rows(adjoints.hidden[l].get() + i * plan_.units, slice(dfinal.hidden, at, plan_.units), 1, plan_.units,
               plan_.units);
      pad_rows(adjoints.cell[l].get() + i * plan_.units, slice(dfinal.cell, at, plan_.units), 1, plan_.units,
               plan_.units);
    }
  }

  // Add the caller's gradients of the weightings at step t to the gradients from later steps.
  void take_weightings(Adjoints<T>& adjoints, Index i, Index t, Index position,
                       const WeightingsOf<const T*>& dweightings) const {
    const Index from = t * Index(order_.sequence.size()) + order_.sequence[position], locations = plan_.locations;
    const auto add = [&](const Buffer<T>& sums, const T* gradients, Index heads) {
      for (Index h = 0; gradients && h < heads; ++h)
        for (Index n = 0; n < locations; ++n)
          sums[(i * heads + h) * plan_.row + n] += gradients[(from * heads + h) * locations + n];
    };
    add(adjoints.read_weightings, dweightings.read, plan_.read_heads);
    add(adjoints.write_weightings, dweightings.write, plan_.write_heads);
  }

  // Add the share of the first step's write heads to the gradient of the start memory.
  void finish_memory(const Adjoints<T>& adjoints, Index i, Index position) const {
    start_memory_backward(adjoints.memory.get() + i * memory_.memory_stride, memory_at(-1, position),
                          adjoints.scale.get() + i * plan_.row, next_keys(adjoints, i), plan_);
  }

  OuterProducts<T> next_keys(const Adjoints<T>& adjoints, Index i) const {
    return {adjoints.keys.get() + i * plan_.write_heads * plan_.width, plan_.width,
            adjoints.products.get() + i * plan_.write_heads * plan_.row};
  }

  const T* memory_at(Index t, Index position) const {
    return memory_.memory + memories_.at(t, position) * memory_.memory_stride;
  }

  // Compute dfeatures from the gradients of the logits. Both are zero at steps that are not scored.
  void output_backward(Index row, Index running, BackwardWorkspace<T>& workspace) const {
    const T* dlogits = dvalues_.output + row * dvalues_.output_stride;
    bool scored = false;
    for (Index i = 0; i < running; ++i, dlogits += dvalues_.output_stride)
      scored = scored || std::any_of(dlogits, dlogits + plan_.outputs, [](T d) { return d != 0; });
    if (scored)
      maps_.output.apply(workspace.dfeatures.get(), workspace.features_stride,
                         dvalues_.output + row * dvalues_.output_stride, dvalues_.output_stride, running,
                         workspace.features_stride);
    else
      std::fill_n(workspace.dfeatures.get(), running * workspace.features_stride, T(0));
  }

  // Go back through reading, then writing, at one step of sequence i of the group.
  void use_memory_backward(Index t, Index position, Index i, const T* dreads, BackwardWorkspace<T>& workspace) const {
    const Plan& plan = plan_;
    const Adjoints<T>& adjoints = workspace.adjoints;
    const Index row = memory_rows_.at(t, position), previous = memory_rows_.at(t - 1, position);
    const T *memory = memory_at(t, position), *before = memory_at(t - 1, position);
    const T* read_heads = control_.heads + rows_.at(t, position) * control_.heads_stride;
    const T* write_heads = read_heads + plan.write.first_squashed;
    T* dread = adjoints.read_weightings.get() + i * plan.read_heads * plan.row;
    T* dwrite = adjoints.write_weightings.get() + i * plan.write_heads * plan.row;
    T* scale = adjoints.scale.get() + i * plan.row;
    T* dproducts = adjoints.products.get() + i * plan.write_heads * plan.row;
    T *dsquashed = workspace.dsquashed.data(), *dwrite_heads = dsquashed + plan.write.first_squashed;

    read_backward(dread, dreads, memory, plan);
    const AddressingOf<const T*> read = memory_.read.at(row), write = memory_.write.at(row);
    address_all_backward(dread, workspace.dproducts.data(), dsquashed, scale, workspace, read,
                         memory_.read.at(previous).weightings, memory_.inverse_norms + row * plan.row, read_heads,
                         plan.read);
    const MemoryGradient<T> gradient = {adjoints.memory.get() + i * memory_.memory_stride,
                                        memory,
                                        before,
                                        scale,
                                        {read_heads, plan.read.squashed.size, workspace.dproducts.data()},
                                        {dreads, plan.width, read.weightings},
                                        next_keys(adjoints, i),
                                        write.weightings,
                                        write_heads,
                                        dwrite};
    memory_backward(gradient, workspace.dkeys.data(), workspace.derase.data(), workspace.dadd.data(), plan,
                    workspace.sums.get());
    give_keys(dsquashed, workspace, read_heads, plan.read);

    std::fill_n(scale, plan.row, T(0));
    address_all_backward(dwrite, dproducts, dwrite_heads, scale, workspace, write,
                         memory_.write.at(previous).weightings, memory_.inverse_norms + previous * plan.row,
                         write_heads, plan.write);
    weighted_sums(workspace.dkeys.data(), dproducts, plan.write_heads, before, plan);
    give_keys(dwrite_heads, workspace, write_heads, plan.write);
    heads_backward(t, position, i, workspace);
  }

  // Turn the gradients of the squashed values into gradients of the raw values. Keeps the write
  // heads' keys for the step before.
  void heads_backward(Index t, Index position, Index i, BackwardWorkspace<T>& workspace) const {
    const Plan& plan = plan_;
    const HeadLayout& at = plan.write.squashed;
    const Index row = rows_.at(t, position);
    const T* read_heads = control_.heads + row * control_.heads_stride;
    const T* write_heads = read_heads + plan.write.first_squashed;
    T* dwrite_heads = workspace.dsquashed.data() + plan.write.first_squashed;
    for (Index h = 0; h < plan.write_heads; ++h) {
      std::copy_n(write_heads + h * at.size, plan.width,
                  &workspace.adjoints.keys[(i * plan.write_heads + h) * plan.width]);
      std::copy_n(&workspace.derase[h * plan.width], plan.width, dwrite_heads + h * at.size + at.erase);
      std::copy_n(&workspace.dadd[h * plan.width], plan.width, dwrite_heads + h * at.size + at.add);
    }
    T* draw = dvalues_.heads + row * dvalues_.heads_stride;
    squash_backward(draw, workspace.dsquashed.data(), read_heads, plan.read, false, plan);
    squash_backward(draw + plan.write.first_raw, dwrite_heads, write_heads, plan.write, true, plan);
    clip(draw, plan.raw_heads, plan);
  }

  // Go back through the addressing of all heads of a kind, to the gradients of k . M(i).
  void address_all_backward(T* dweightings, T* dproducts, T* dsquashed, T* scale, BackwardWorkspace<T>& workspace,
                            const AddressingOf<const T*>& from, const T* previous, const T* norms, const T* heads,
                            const HeadKind& kind) const {
    for (Index h = 0; h < kind.count; ++h) {
      const Index at = h * plan_.row, head = h * kind.squashed.size;
      address_backward<T>({dproducts + at, scale, &workspace.along[h]}, dweightings + at, dsquashed + head,
                          workspace.chain, from.from(at), previous + at, norms, heads + head, kind.squashed, plan_);
    }
  }

  // Compute the gradients of the keys from the sums over the locations in workspace.dkeys.
  void give_keys(T* dsquashed, const BackwardWorkspace<T>& workspace, const T* heads, const HeadKind& kind) const {
    const Index size = kind.squashed.size;
    for (Index h = 0; h < kind.count; ++h)
      for (Index m = 0; m < plan_.width; ++m)
        dsquashed[h * size + m] = workspace.dkeys[h * plan_.width + m] - heads[h * size + m] * workspace.along[h];
  }

  void control_backward(Index t, Index begin, Index running, BackwardWorkspace<T>& workspace, T* dx) const {
    T *dh = workspace.dh.get(), *dseen = workspace.dseen.get();
    const Index dh_stride = workspace.units_stride;
    const Adjoints<T>& adjoints = workspace.adjoints;
    const Index row = rows_.at(t, begin), previous = rows_.at(t - 1, begin), units = plan_.units;
    const Index stride = dvalues_.controller_stride;
    for (Index l = plan_.layers - 1; l >= 0; --l) {
      T* dvalues = dvalues_.controller[l] + row * stride;
      for (Index i = 0; i < running; ++i) {
        T* d = dh + i * dh_stride;
        if (!plan_.lstm) {
          feedforward_backward(dvalues + i * stride, d, control_.features + (row + i) * control_.features_stride,
                               units);
          clip(dvalues + i * stride, plan_.gates, plan_);
          continue;
        }
        for (Index u = 0; u < units; ++u) d[u] += adjoints.hidden[l][i * units + u];
        lstm_backward(dvalues + i * stride, adjoints.cell[l].get() + i * units, d,
                      control_.gates[l] + (row + i) * control_.gates_stride,
                      control_.cell[l] + (row + i) * control_.hidden_stride,
                      control_.cell[l] + (previous + i) * control_.hidden_stride, units);
        clip(dvalues + i * stride, plan_.gates, plan_);
      }
      const Index seen_stride = control_.seen_stride[l], below = plan_.below(l);
      maps_.controller[l].apply(dseen, seen_stride, dvalues, stride, running, seen_stride);
      for (Index i = 0; i < running; ++i) {
        const T* d = dseen + i * seen_stride;
        if (plan_.lstm) std::copy_n(d + below, units, adjoints.hidden[l].get() + i * units);
        if (l > 0) {
          std::copy_n(d, units, dh + i * dh_stride);
          continue;
        }
        const Index reads = plan_.read_heads * plan_.width;
        std::copy_n(d + plan_.inputs, reads, adjoints.reads.get() + i * reads);
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

}  // namespace ntm::NTM_TARGET

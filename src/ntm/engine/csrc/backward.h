// Backward pass: all steps of a group of sequences, the last step first. It reads the tape.
#pragma once

#include "adjoints.h"

namespace ntm::NTM_TARGET {

template <typename T>
class Backward {
 public:
  Backward(const ValueGradients<T>& dvalues, const TapeOf<const T*>& tape, const Maps<T>& maps)
      : dvalues_(dvalues), tape_(tape), maps_(maps), plan_(tape.plan) {}

  // Copy in dlogits (T, B, O).
  void take_logits(const T* dlogits) const {
    for (Index i = 0; i < sequences(); ++i)
      for (Index t = 0; t < tape_.length(i); ++t)
        std::copy_n(dlogits + at_step(t, i) * plan_.outputs, plan_.outputs,
                    dvalues_.output + tape_.row(t, i) * dvalues_.output_stride);
  }

  // Run all steps, the last step first. The gradients of the logits are already in dvalues.
  // Afterwards the adjoints hold the gradients of the start. restored: room for the memories of one
  // interval.
  void run(T* dx, BackwardWorkspace<T>& workspace, T* restored, const State<T>& dfinal,
           const WeightingsOf<const T*>& dweightings) const {
    const Memories<T> memories(restored, tape_);
    for (Index i = 0; i < sequences(); ++i) take_final(workspace.adjoints, i, dfinal);
    for (Index t = tape_.length(0) - 1; t >= 0; --t) {
      const Index running = tape_.order.running(t, tape_.begin, tape_.end), row = tape_.row(t, 0);
      output_backward(workspace, row, running);
      for (Index i = 0; i < running; ++i) {
        T* dreads = workspace.dfeatures.get() + i * workspace.features_stride + plan_.units;
        const T* carried = workspace.adjoints.at(kReads, i);
        for (Index k = 0; k < plan_.read_heads * plan_.width; ++k) dreads[k] += carried[k];
        take_weightings(workspace.adjoints, dweightings, t, i);
        memories.reach(t, i);
        use_memory_backward(workspace, dreads, memories, t, i);
      }
      maps_.heads.apply(workspace.dh.get(), workspace.units_stride, dvalues_.heads + row * dvalues_.heads_stride,
                        dvalues_.heads_stride, running, workspace.units_stride);
      for (Index i = 0; i < running; ++i)
        for (Index u = 0; u < plan_.units; ++u)
          workspace.dh[i * workspace.units_stride + u] += workspace.dfeatures[i * workspace.features_stride + u];
      control_backward(dx, workspace, t, running);
    }
    for (Index i = 0; i < sequences(); ++i) finish_memory(workspace.adjoints, i);
  }

  // Copy out the gradient of the start of every sequence or, if all started from one state, of the
  // group: their sum, in order.
  void give_start(const MutableState<T>& dstart, const Adjoints<T>& adjoints, bool shared) const {
    if (shared) adjoints.sum(sequences());
    for (Index i = 0; i < (shared ? 1 : sequences()); ++i)
      state_out(dstart, shared ? tape_.begin / kGroup : sequence(i), adjoints.template all<const T*>(i), plan_);
  }

 private:
  Index sequences() const { return tape_.end - tape_.begin; }
  Index sequence(Index i) const { return tape_.order.sequence[tape_.begin + i]; }
  // Return the position of step t of sequence i in the caller's arrays (T, B, ...).
  Index at_step(Index t, Index i) const { return t * Index(tape_.order.sequence.size()) + sequence(i); }

  void take_final(const Adjoints<T>& adjoints, Index i, const State<T>& dfinal) const {
    state_in(adjoints.template all<T*>(i), dfinal, sequence(i), plan_);
    std::fill_n(adjoints.keys.get() + i * plan_.write_heads * plan_.width, plan_.write_heads * plan_.width, T(0));
    std::fill_n(adjoints.products.get() + i * plan_.write_heads * plan_.row, plan_.write_heads * plan_.row, T(0));
    std::fill_n(adjoints.scale.get() + i * plan_.row, plan_.row, T(0));
  }

  // Add the caller's gradients of the weightings at step t to the gradients from later steps.
  void take_weightings(const Adjoints<T>& adjoints, const WeightingsOf<const T*>& dweightings, Index t, Index i) const {
    const Index from = at_step(t, i), locations = plan_.locations;
    const auto add = [&](T* sums, const T* gradients, Index heads) {
      for (Index h = 0; gradients && h < heads; ++h)
        for (Index n = 0; n < locations; ++n) sums[h * plan_.row + n] += gradients[(from * heads + h) * locations + n];
    };
    add(adjoints.at(kReadWeightings, i), dweightings.read, plan_.read_heads);
    add(adjoints.at(kWriteWeightings, i), dweightings.write, plan_.write_heads);
  }

  // Add the share of the first step's write heads to the gradient of the start memory.
  void finish_memory(const Adjoints<T>& adjoints, Index i) const {
    start_memory_backward(adjoints.at(kMemory, i), tape_.memory.checkpoint(-1, i), adjoints.scale.get() + i * plan_.row,
                          next_keys(adjoints, i), plan_);
  }

  OuterProducts<T> next_keys(const Adjoints<T>& adjoints, Index i) const {
    return {adjoints.keys.get() + i * plan_.write_heads * plan_.width, plan_.width,
            adjoints.products.get() + i * plan_.write_heads * plan_.row};
  }

  // Compute dfeatures from the gradients of the logits. Both are zero at steps that are not scored.
  void output_backward(BackwardWorkspace<T>& workspace, Index row, Index running) const {
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
  void use_memory_backward(BackwardWorkspace<T>& workspace, const T* dreads, const Memories<T>& memories, Index t,
                           Index i) const {
    const Plan& plan = plan_;
    const Adjoints<T>& adjoints = workspace.adjoints;
    const RecordOf<const T*> record = tape_.memory.record(t, i), last = tape_.memory.record(t - 1, i);
    const T *memory = memories.at(t, i), *before = memories.at(t - 1, i);
    const T *read_heads = tape_.heads(t, i), *write_heads = read_heads + plan.write.first_squashed;
    T *dread = adjoints.at(kReadWeightings, i), *dwrite = adjoints.at(kWriteWeightings, i);
    T* scale = adjoints.scale.get() + i * plan.row;
    T* dproducts = adjoints.products.get() + i * plan.write_heads * plan.row;
    T *dsquashed = workspace.dsquashed.data(), *dwrite_heads = dsquashed + plan.write.first_squashed;

    read_backward(dread, dreads, memory, plan);
    address_all_backward(dread, workspace.dproducts.data(), dsquashed, scale, workspace, record.read,
                         last.read.weightings, record.inverse_norms, read_heads, plan.read);
    const MemoryGradient<T> gradient = {adjoints.at(kMemory, i),
                                        memory,
                                        before,
                                        scale,
                                        {read_heads, plan.read.squashed.size, workspace.dproducts.data()},
                                        {dreads, plan.width, record.read.weightings},
                                        next_keys(adjoints, i),
                                        record.write.weightings,
                                        write_heads,
                                        dwrite};
    memory_backward(workspace.dkeys.data(), workspace.derase.data(), workspace.dadd.data(), workspace.sums.get(),
                    gradient, plan);
    give_keys(dsquashed, workspace, read_heads, plan.read);

    std::fill_n(scale, plan.row, T(0));
    address_all_backward(dwrite, dproducts, dwrite_heads, scale, workspace, record.write, last.write.weightings,
                         last.inverse_norms, write_heads, plan.write);
    weighted_sums(workspace.dkeys.data(), dproducts, plan.write_heads, before, plan);
    give_keys(dwrite_heads, workspace, write_heads, plan.write);
    heads_backward(workspace, t, i);
  }

  // Turn the gradients of the squashed values into gradients of the raw values. Store the write
  // heads' keys in the adjoints, for step t - 1.
  void heads_backward(BackwardWorkspace<T>& workspace, Index t, Index i) const {
    const Plan& plan = plan_;
    const HeadLayout& at = plan.write.squashed;
    const T *read_heads = tape_.heads(t, i), *write_heads = read_heads + plan.write.first_squashed;
    T* dwrite_heads = workspace.dsquashed.data() + plan.write.first_squashed;
    for (Index h = 0; h < plan.write_heads; ++h) {
      std::copy_n(write_heads + h * at.size, plan.width,
                  &workspace.adjoints.keys[(i * plan.write_heads + h) * plan.width]);
      std::copy_n(&workspace.derase[h * plan.width], plan.width, dwrite_heads + h * at.size + at.erase);
      std::copy_n(&workspace.dadd[h * plan.width], plan.width, dwrite_heads + h * at.size + at.add);
    }
    T* draw = dvalues_.heads + tape_.row(t, i) * dvalues_.heads_stride;
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
                          workspace.chain, from.head(h, plan_), previous + at, norms, heads + head, kind.squashed,
                          plan_);
    }
  }

  // Compute the gradients of the keys from the sums over the locations in workspace.dkeys.
  void give_keys(T* dsquashed, const BackwardWorkspace<T>& workspace, const T* heads, const HeadKind& kind) const {
    const Index size = kind.squashed.size;
    for (Index h = 0; h < kind.count; ++h)
      for (Index m = 0; m < plan_.width; ++m)
        dsquashed[h * size + m] = workspace.dkeys[h * plan_.width + m] - heads[h * size + m] * workspace.along[h];
  }

  void control_backward(T* dx, BackwardWorkspace<T>& workspace, Index t, Index running) const {
    const Index row = tape_.row(t, 0), stride = dvalues_.controller_stride;
    for (Index l = plan_.layers - 1; l >= 0; --l) {
      T* dvalues = dvalues_.controller[l] + row * stride;
      for (Index i = 0; i < running; ++i) layer_backward(dvalues + i * stride, workspace, t, i, l);
      const Index seen_stride = tape_.control.seen_stride[l];
      T* dseen = workspace.dseen.get();
      maps_.controller[l].apply(dseen, seen_stride, dvalues, stride, running, seen_stride);
      for (Index i = 0; i < running; ++i) see_backward(dx, workspace, dseen + i * seen_stride, t, i, l);
    }
  }

  // Go back through the activations of controller layer l, from workspace.dh.
  void layer_backward(T* dvalues, BackwardWorkspace<T>& workspace, Index t, Index i, Index l) const {
    T *dh = workspace.dh.get() + i * workspace.units_stride, *dcell = nullptr;
    const T *values = nullptr, *h = tape_.features(t, i);
    if (plan_.recurrent()) {
      const Index at = l * plan_.part_strides[kHidden];
      const T* dhidden = workspace.adjoints.at(kHidden, i) + at;
      for (Index u = 0; u < plan_.units; ++u) dh[u] += dhidden[u];
      dcell = workspace.adjoints.at(kCell, i) + at;
      values = tape_.control.gates[l] + tape_.row(t, i) * tape_.control.gates_stride;
      h = tape_.hidden(t, i, l);
    }
    control_layer_backward(dvalues, dcell, dh, values, h, tape_.cell(t, i, l), tape_.cell(t - 1, i, l), plan_);
    clip(dvalues, plan_.gates, plan_);
  }

  // Hand on the gradients of the inputs of layer l: the reverse of Forward::see.
  void see_backward(T* dx, BackwardWorkspace<T>& workspace, const T* dseen, Index t, Index i, Index l) const {
    const Adjoints<T>& adjoints = workspace.adjoints;
    if (plan_.recurrent())
      std::copy_n(dseen + plan_.below(l), plan_.units, adjoints.at(kHidden, i) + l * plan_.part_strides[kHidden]);
    if (l > 0) {
      std::copy_n(dseen, plan_.units, workspace.dh.get() + i * workspace.units_stride);
      return;
    }
    std::copy_n(dseen + plan_.inputs, plan_.read_heads * plan_.width, adjoints.at(kReads, i));
    if (dx) std::copy_n(dseen, plan_.inputs, dx + at_step(t, i) * plan_.inputs);
  }

  const ValueGradients<T>& dvalues_;
  const TapeOf<const T*>& tape_;
  const Maps<T>& maps_;
  const Plan& plan_;
};

}  // namespace ntm::NTM_TARGET

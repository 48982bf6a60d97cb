// The LSTM that the paper compares with: the gradients of a training step.
//
// `Rows` numbers the rows: one per step that a sequence runs, so padding is never computed. The
// layers run one after the other, so that a layer's weights stay in cache. Everything that does not
// depend on the step before is computed for many rows at once. Threads share rows, sequences, or
// outputs of a linear map. No sum depends on the number of threads.
#pragma once

#include "controllers.h"
#include "groups.h"
#include "loss.h"
#include "weight_sums.h"

namespace ntm::NTM_TARGET {

// The linear maps, packed for products in one direction.
template <typename T>
struct LSTMMaps {
  std::vector<Packed<T>> below, own;
  Packed<T> output;

  LSTMMaps(const LSTMSizes& s, bool forward)
      : output(forward ? s.layers * s.units : s.outputs, forward ? s.outputs : s.layers * s.units) {
    for (Index l = 0; l < s.layers; ++l) {
      // No gradient flows back to the network's inputs.
      below.push_back(forward ? Packed<T>(s.below(l), 4 * s.units) : Packed<T>(4 * s.units, s.units));
      own.push_back(forward ? Packed<T>(s.units, 4 * s.units) : Packed<T>(4 * s.units, s.units));
    }
  }
};

// Tape of all steps of all sequences, in rows.
template <typename T>
struct LSTMTape {
  Index rows, features_stride, gates_stride, cell_stride, output_stride;
  T *features, *dfeatures, *doutput;         // features: hidden states of all layers; doutput: gradient of the logits
  std::vector<T*> gates, cell;               // per layer; the backward pass replaces the gates by their gradients
  std::vector<T*> own_inputs, below_inputs;  // inputs of a layer's two maps, in panels for the weight gradients

  LSTMTape(const LSTMSizes& s, Arena<T*>& arena)
      : rows(arena.rows),
        features_stride(padded(s.layers * s.units)),
        // Not a power of two: rows a page apart would compete for a few lines of the cache.
        gates_stride(padded(4 * s.units) + kPanel),
        cell_stride(padded(s.units)),
        output_stride(padded(s.outputs)) {
    features = arena.take(features_stride);
    dfeatures = arena.take(features_stride);
    doutput = arena.take(output_stride);
    for (Index l = 0; l < s.layers; ++l) {
      own_inputs.push_back(arena.take(padded(s.units)));
      below_inputs.push_back(arena.take(padded(s.below(l))));
      gates.push_back(arena.take(gates_stride));
      cell.push_back(arena.take(cell_stride));
    }
  }
};

// Gradients that flow back to the step before, for each layer and sorted position.
template <typename T>
struct LSTMAdjoints {
  std::vector<Scratch<T>> hidden, cell;

  LSTMAdjoints(Index layers, Index elements)
      : hidden(layers, Scratch<T>(elements)), cell(layers, Scratch<T>(elements)) {}
};

// The parts of one call of `compute`. Rows are given as [first, last), sequences as sorted positions [begin, end).
template <typename T>
struct LSTMStep {
  const LSTMSizes& sizes;
  const LSTMWeightsOf<const T*>& weights;
  const LSTMMaps<T>&forward, &backward;
  const Order& order;
  const Rows& rows;
  const LSTMTape<T>& tape;
  LSTMAdjoints<T>& adjoints;
  const SequencesOf<const T*>& x;
  const Loss<T> loss;
  std::vector<std::pair<Index, Index>> source;  // step and sequence of every row
  std::vector<double> nats;                     // cost of every row

  // Set the start, and the source and the cost of every row.
  void begin() {
    source.resize(rows.total);
    nats.assign(rows.total, 0);
    for (Index p = 0; p < Index(order.sequence.size()); ++p) {
      const Index row = rows.at(-1, p), length = order.length[p];
      for (Index t = 0; t < length; ++t) source[rows.at(t, p)] = {t, order.sequence[p]};
      nats[row] = loss.beyond(length, order.steps, order.sequence[p]);
      for (Index l = 0; l < sizes.layers; ++l) {
        std::copy_n(weights.start_hidden + l * sizes.units, sizes.units, hidden(l, row));
        std::copy_n(weights.start_cell + l * sizes.units, sizes.units, cell(l, row));
      }
    }
  }

  // Compute a layer's gates from the network's inputs, a 1 for the bias, and the layer below.
  void below_ahead(Index l, Index first, Index last) const {
    const Index width = sizes.below(l), stride = padded(width);
    const Buffer<T> inputs = buffer<T>((last - first) * stride);
    for (Index row = first; row < last; ++row) {
      const auto [t, b] = source[row];
      T* const start = inputs.get() + (row - first) * stride;
      T* to = std::copy_n(x.data + t * x.time_stride + b * x.batch_stride, sizes.inputs, start);
      *to++ = 1;
      if (l > 0) std::copy_n(hidden(l - 1, row), sizes.units, to);
      set_row(tape.below_inputs[l], tape.rows, row, start, width);
    }
    forward.below[l].apply(gates(l, first), tape.gates_stride, inputs.get(), stride, last - first, 4 * sizes.units);
  }

  // Add the share of the step before to the gates, and compute hidden states and cells.
  void own_ahead(Index l, Index begin, Index end) const {
    for (Index t = 0; t < order.length[begin]; ++t) {
      const Index row = rows.at(t, begin), previous = rows.at(t - 1, begin), running = order.running(t, begin, end);
      forward.own[l].add(gates(l, row), tape.gates_stride, hidden(l, previous), tape.features_stride, running,
                         4 * sizes.units);
      for (Index i = 0; i < running; ++i) {
        set_row(tape.own_inputs[l], tape.rows, row + i, hidden(l, previous + i), sizes.units);
        lstm(hidden(l, row + i), cell(l, row + i), gates(l, row + i), cell(l, previous + i), sizes.units);
      }
    }
  }

  // Compute the cost and the gradient of the features.
  void score(Index first, Index last) {
    const Index stride = tape.output_stride;
    const Buffer<T> logits = buffer<T>((last - first) * stride);
    forward.output.apply(logits.get(), stride, hidden(0, first), tape.features_stride, last - first, sizes.outputs);
    for (Index row = first; row < last; ++row) {
      const auto [t, b] = source[row];
      T* const to = tape.doutput + row * stride;
      if (loss.weight(t, b) != 0)
        nats[row] = loss.step(to, logits.get() + (row - first) * stride, t, b);
      else
        std::fill_n(to, sizes.outputs, T(0));
    }
    backward.output.apply(dhidden(0, first), tape.features_stride, tape.doutput + first * stride, stride, last - first,
                          sizes.layers * sizes.units);
  }

  // Go back from a layer's hidden states to its gates and to the step before.
  void own_back(Index l, Index begin, Index end) const {
    const Index units = sizes.units, stride = tape.cell_stride;
    T *const dlast = &adjoints.hidden[l][begin * stride], *const dcell = &adjoints.cell[l][begin * stride];
    for (Index t = order.length[begin]; t-- > 0;) {
      const Index row = rows.at(t, begin), previous = rows.at(t - 1, begin), running = order.running(t, begin, end);
      for (Index i = 0; i < running; ++i) {
        T* const d = dhidden(l, row + i);
        for (Index u = 0; u < units; ++u) d[u] += dlast[i * stride + u];
        lstm_backward(gates(l, row + i), dcell + i * stride, d, gates(l, row + i), cell(l, row + i),
                      cell(l, previous + i), units);
      }
      backward.own[l].apply(dlast, stride, gates(l, row), tape.gates_stride, running, units);
    }
  }

  // Go back from a layer's gates to the hidden states of the layer below.
  void below_back(Index l, Index first, Index last) const {
    const Index units = sizes.units, stride = padded(units);
    const Buffer<T> dbelow = buffer<T>((last - first) * stride);
    backward.below[l].apply(dbelow.get(), stride, gates(l, first), tape.gates_stride, last - first, units);
    for (Index row = first; row < last; ++row) {
      T* const d = dhidden(l - 1, row);
      const T* const from = dbelow.get() + (row - first) * stride;
      for (Index u = 0; u < units; ++u) d[u] += from[u];
    }
  }

 private:
  T* hidden(Index l, Index row) const { return tape.features + row * tape.features_stride + l * sizes.units; }
  T* dhidden(Index l, Index row) const { return tape.dfeatures + row * tape.features_stride + l * sizes.units; }
  T* gates(Index l, Index row) const { return tape.gates[l] + row * tape.gates_stride; }
  T* cell(Index l, Index row) const { return tape.cell[l] + row * tape.cell_stride; }
};

// Call run(first, last) for the rows of all steps, in pieces that threads share.
template <typename Run>
void by_rows(const Batch& batch, Index rows, const Run& run) {
  constexpr Index most = 64;  // rows that share a panel of weights while it is in cache
  const auto work = [&](Index, Index i) {
    const Index first = batch.sequences + i * most;  // the rows of the start belong to no step
    run(first, std::min(first + most, rows));
  };
  Phase phase((rows - batch.sequences + most - 1) / most, work);
  run_parallel(batch.threads, phase);
}

// Call run(begin, end) for all sorted positions, in one piece per thread.
template <typename Run>
void by_sequences(const Batch& batch, const Run& run) {
  const Index pieces = std::clamp<Index>(batch.threads, 1, batch.sequences);
  const auto work = [&](Index, Index i) { run(i * batch.sequences / pieces, (i + 1) * batch.sequences / pieces); };
  Phase phase(pieces, work);
  run_parallel(batch.threads, phase);
}

// Run forward through all layers, and back.
template <typename T>
void through_time(LSTMStep<T>& step, const Batch& batch, Index rows) {
  const Index layers = step.sizes.layers;
  for (Index l = 0; l < layers; ++l) {
    by_rows(batch, rows, [&](Index first, Index last) { step.below_ahead(l, first, last); });
    by_sequences(batch, [&](Index begin, Index end) { step.own_ahead(l, begin, end); });
  }
  by_rows(batch, rows, [&](Index first, Index last) { step.score(first, last); });
  for (Index l = layers; l-- > 0;) {
    by_sequences(batch, [&](Index begin, Index end) { step.own_back(l, begin, end); });
    if (l > 0) by_rows(batch, rows, [&](Index first, Index last) { step.below_back(l, first, last); });
  }
}

template <typename T>
struct LSTMGradients<T>::Buffers {
  LSTMSizes sizes;
  LSTMWeightsOf<T*> dweights;
  LSTMWeightsOf<const T*> weights;
  LSTMMaps<T> forward, backward;
  Growing<T> tape;

  Buffers(const LSTMWeightsOf<T*>& to, const LSTMWeightsOf<const T*>& from, const LSTMSizes& all)
      : sizes(all), dweights(to), weights(from), forward(all, true), backward(all, false) {}

  void pack() {
    for (Index l = 0; l < sizes.layers; ++l) {
      forward.below[l].pack(weights.layers[l].below);
      forward.own[l].pack(weights.layers[l].own);
      if (l > 0) backward.below[l].pack_transposed(weights.layers[l].below + sizes.inputs + 1, sizes.below(l));
      backward.own[l].pack_transposed(weights.layers[l].own);
    }
    forward.output.pack(weights.output.weight, weights.output.bias);
    backward.output.pack_transposed(weights.output.weight);
  }

  WeightSums<T> weight_sums(const LSTMTape<T>& tape, const Batch& batch, Index rows) const {
    WeightSums<T> sums(batch.sequences, rows, batch.threads);
    const Index units = sizes.units;
    for (Index l = 0; l < sizes.layers; ++l) {
      const auto add = [&](T* gradient, const T* inputs, Index width) {
        sums.add({{gradient, nullptr}, tape.gates[l], panels_of(inputs, rows), tape.gates_stride, 4 * units, width});
      };
      add(dweights.layers[l].own, tape.own_inputs[l], units);
      add(dweights.layers[l].below, tape.below_inputs[l], sizes.below(l));
    }
    sums.add({dweights.output, tape.doutput, rows_of(tape.features, tape.features_stride), tape.output_stride,
              sizes.outputs, sizes.layers * units});
    return sums;
  }

  // Compute the gradients of the start: the sums over the sequences, in order.
  void add_up(const LSTMAdjoints<T>& adjoints, Index stride) const {
    const auto sum = [&](T* to, const Scratch<T>& from) {
      std::fill_n(to, sizes.units, T(0));
      for (std::size_t first = 0; first < from.size(); first += stride)
        for (Index u = 0; u < sizes.units; ++u) to[u] += from[first + u];
    };
    for (Index l = 0; l < sizes.layers; ++l) {
      sum(dweights.start_hidden + l * sizes.units, adjoints.hidden[l]);
      sum(dweights.start_cell + l * sizes.units, adjoints.cell[l]);
    }
  }
};

template <typename T>
LSTMGradients<T>::LSTMGradients(const LSTMWeightsOf<T*>& dweights, const LSTMWeightsOf<const T*>& weights,
                                const LSTMSizes& sizes)
    : buffers_(new Buffers(dweights, weights, sizes)) {}

template <typename T>
LSTMGradients<T>::~LSTMGradients() = default;

template <typename T>
double LSTMGradients<T>::compute(const SequencesOf<const T*>& x, const SequencesOf<const T*>& targets,
                                 const SequencesOf<const T*>& mask, const Batch& batch) {
  const FlushDenormals mode;
  Buffers& own = *buffers_;
  own.pack();
  const Order order(batch);
  const Rows rows(order, 0, batch.sequences, true);
  Arena<T*> counted = {rows.total, nullptr};
  LSTMTape<T>(own.sizes, counted);
  Arena<T*> arena = {rows.total, own.tape.at_least(counted.size)};
  const LSTMTape<T> tape(own.sizes, arena);
  LSTMAdjoints<T> adjoints(own.sizes.layers, batch.sequences * tape.cell_stride);
  LSTMStep<T> step = {own.sizes,   own.weights,
                      own.forward, own.backward,
                      order,       rows,
                      tape,        adjoints,
                      x,           {targets, mask, own.sizes.outputs, T(1) / T(batch.sequences), batch.symbols},
                      {},          {}};
  step.begin();
  through_time(step, batch, rows.total);
  const WeightSums<T> sums = own.weight_sums(tape, batch, rows.total);
  Phase weight_sums(sums.count(), sums);
  run_parallel(batch.threads, weight_sums);
  own.add_up(adjoints, tape.cell_stride);
  return std::accumulate(step.nats.begin(), step.nats.end(), 0.0) / double(batch.sequences);
}

}  // namespace ntm::NTM_TARGET

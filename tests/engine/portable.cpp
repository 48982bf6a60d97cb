// The functions of contract.h as a program, for processors without Python. It reads arrays from
// standard input and writes results to standard output, in the order of aarch64.py.
//
//   portable call|train|lstm float|double

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "arrays.h"

namespace ntm::NTM_TARGET {
namespace {

void require(bool there, const char* what) {
  if (there) return;
  std::fprintf(stderr, "portable: %s\n", what);
  std::exit(1);
}

template <typename V>
std::vector<V> take(Index count) {
  std::vector<V> values(count);
  require(Index(std::fread(values.data(), sizeof(V), count, stdin)) == count, "the input ends too early");
  return values;
}

template <typename V>
void give(const std::vector<V>& values) {
  require(std::fwrite(values.data(), sizeof(V), values.size(), stdout) == values.size(), "cannot write the results");
}

Index next() { return take<Index>(1)[0]; }

Sizes take_sizes() {
  Sizes sizes;
  sizes.controller = Controller(next());
  for (Index Sizes::*one : {&Sizes::inputs, &Sizes::outputs, &Sizes::units, &Sizes::layers, &Sizes::locations,
                            &Sizes::width, &Sizes::read_heads, &Sizes::write_heads})
    sizes.*one = next();
  sizes.scalar_shift = next();
  sizes.shifts = take<Index>(next());
  const std::vector<double> limits = take<double>(3);
  sizes.similarity_epsilon = limits[0], sizes.sharpening_epsilon = limits[1], sizes.backward_clip = limits[2];
  return sizes;
}

template <typename T>
Arrays<T> take_all(const Counts& counts) {
  Arrays<T> arrays;
  for (const Index count : counts) arrays.push_back(take<T>(count));
  return arrays;
}

template <typename T>
void give_all(const Arrays<T>& arrays) {
  for (const auto& array : arrays) give(array);
}

struct Call {
  Sizes sizes = take_sizes();
  Index steps = next(), sequences = next();
  std::vector<std::int64_t> lengths = take<std::int64_t>(sequences);
  Batch batch = {steps, sequences, lengths.data(), 2};
  Index rows = steps * sequences;
};

// Run forward, record, and backward twice: without and with gradients of the weightings.
template <typename T>
void call() {
  const Call c;
  const Counts weight_sizes = weight_counts(c.sizes), part_sizes = state_counts(c.sizes, c.sequences);
  const Index each = c.rows * c.sizes.locations;
  const Counts weighting_sizes = {each * c.sizes.read_heads, each * c.sizes.write_heads};
  Arrays<T> weights = take_all<T>(weight_sizes), start = take_all<T>(part_sizes);
  const std::vector<T> x = take<T>(c.rows * c.sizes.inputs);
  Arrays<T> final = zeros<T>(part_sizes), weightings = zeros<T>(weighting_sizes);
  Arrays<T> a = zeros<T>(record_counts(c.sizes, c.rows));
  std::vector<T> tape(tape_size(c.steps, c.sequences, c.sizes)), logits(c.rows * c.sizes.outputs);

  const Weights<T> maps = weights_of<const T*>(weights, c.sizes.layers);
  forward<T>(logits.data(), state_of<T*>(final), {weightings[0].data(), weightings[1].data()}, tape.data(),
             {x.data(), c.sequences * c.sizes.inputs, c.sizes.inputs}, state_of<const T*>(start), maps, true, c.batch,
             c.sizes);
  record<T>(record_of(a), tape.data(), c.batch, c.sizes);
  give(logits);
  for (const auto* arrays : {&final, &weightings, &a}) give_all(*arrays);
  for (const bool with_weightings : {false, true}) {
    const std::vector<T> dlogits = take<T>(logits.size());
    Arrays<T> dfinal = take_all<T>(part_sizes), dweightings = take_all<T>(with_weightings ? weighting_sizes : Counts{});
    Arrays<T> dweights = zeros<T>(weight_sizes), dstart = zeros<T>(part_sizes);
    std::vector<T> dx(x.size());
    WeightingsOf<const T*> dheads = {};
    if (with_weightings) dheads = {dweightings[0].data(), dweightings[1].data()};
    backward<T>(dx.data(), weights_of<T*>(dweights, c.sizes.layers), state_of<T*>(dstart), dlogits.data(),
                state_of<const T*>(dfinal), dheads, tape.data(), maps, c.batch, c.sizes);
    give(dx);
    for (const auto* arrays : {&dweights, &dstart}) give_all(*arrays);
  }
}

// Run training steps on one batch. Writes the cost of each step, then the parameters.
template <typename T>
void train() {
  const Call c;
  const Index updates = next();
  const std::vector<double> s = take<double>(5);
  const RMSPropSettings settings = {s[0], s[1], s[2], s[3], s[4]};
  const Counts weight_sizes = weight_counts(c.sizes), start_sizes = state_counts(c.sizes, 1);
  Arrays<T> weights = take_all<T>(weight_sizes), start = take_all<T>(start_sizes);
  const std::vector<T> x = take<T>(c.rows * c.sizes.inputs), targets = take<T>(c.rows * c.sizes.outputs);
  const std::vector<T> mask = take<T>(c.rows);
  Arrays<T> dweights = zeros<T>(weight_sizes), dstart = zeros<T>(start_sizes);
  Gradients<T> gradients(weights_of<T*>(dweights, c.sizes.layers), state_of<T*>(dstart),
                         weights_of<const T*>(weights, c.sizes.layers), state_of<const T*>(start), c.sizes);
  std::vector<double> nats;
  Arrays<T> squares[2] = {zeros<T>(weight_sizes), zeros<T>(start_sizes)}, means[2] = {squares[0], squares[1]};
  Arrays<T> deltas[2] = {squares[0], squares[1]};
  for (Index update = 0; update < updates; ++update) {
    nats.push_back(gradients.compute({x.data(), c.sequences * c.sizes.inputs, c.sizes.inputs},
                                     {targets.data(), c.sequences * c.sizes.outputs, c.sizes.outputs},
                                     {mask.data(), c.sequences, 1}, c.batch));
    for (const Index kind : {0, 1}) {
      Arrays<T>&parameters = kind ? start : weights, &slopes = kind ? dstart : dweights;
      for (std::size_t i = 0; i < parameters.size(); ++i)
        rmsprop<T>({Index(parameters[i].size()), parameters[i].data(), slopes[i].data(), squares[kind][i].data(),
                    means[kind][i].data(), deltas[kind][i].data()},
                   settings);
    }
  }
  give(nats);
  give_all(weights);
  give_all(start);
}

template <typename Pointer, typename T>
LSTMWeightsOf<Pointer> lstm_weights_of(Arrays<T>& a, Index layers) {
  LSTMWeightsOf<Pointer> weights;
  for (Index l = 0; l < layers; ++l) weights.layers.push_back({a[2 * l].data(), a[2 * l + 1].data()});
  weights.output = {a[2 * layers].data(), a[2 * layers + 1].data()};
  weights.start_hidden = a[2 * layers + 2].data();
  weights.start_cell = a[2 * layers + 3].data();
  return weights;
}

// Compute the cost of one batch and the gradients of all parameters of an LSTM.
template <typename T>
void lstm() {
  const std::vector<Index> sizes = take<Index>(4);
  const LSTMSizes s = {sizes[0], sizes[1], sizes[2], sizes[3]};
  const Index steps = next(), sequences = next(), hidden = s.layers * s.units;
  const std::vector<std::int64_t> lengths = take<std::int64_t>(sequences);
  Counts counts;
  for (Index l = 0; l < s.layers; ++l) counts.insert(counts.end(), {4 * s.units * s.below(l), 4 * s.units * s.units});
  counts.insert(counts.end(), {s.outputs * hidden, s.outputs, hidden, hidden});
  Arrays<T> weights = take_all<T>(counts), dweights = zeros<T>(counts);
  const Index rows = steps * sequences;
  const std::vector<T> x = take<T>(rows * s.inputs), targets = take<T>(rows * s.outputs), mask = take<T>(rows);
  LSTMGradients<T> gradients(lstm_weights_of<T*>(dweights, s.layers), lstm_weights_of<const T*>(weights, s.layers), s);
  give(std::vector<double>{gradients.compute({x.data(), sequences * s.inputs, s.inputs},
                                             {targets.data(), sequences * s.outputs, s.outputs},
                                             {mask.data(), sequences, 1}, {steps, sequences, lengths.data(), 2})});
  give_all(dweights);
}

}  // namespace
}  // namespace ntm::NTM_TARGET

int main(int count, char** words) {
  using namespace ntm::NTM_TARGET;
  require(count == 3, "usage: portable call|train|lstm float|double");
  const std::string what = words[1];
  const bool doubles = !std::strcmp(words[2], "double");
  if (what == "train") {
    doubles ? train<double>() : train<float>();
  } else if (what == "lstm") {
    doubles ? lstm<double>() : lstm<float>();
  } else {
    doubles ? call<double>() : call<float>();
  }
}

// The kernels as WebAssembly, as ../web/engine.js calls them: with numbers and addresses only.
//
// A network owns its arrays, and JavaScript reads and writes them in place. The caller allocates
// the arguments with malloc and frees them. Arrays are contiguous float32 (T, B, channels); lengths
// (B,) may be null.

#include <cmath>
#include <optional>

#include "arrays.h"
#include "start.h"

#if !defined(NTM_SIMILARITY_EPSILON) || !defined(NTM_SHARPENING_EPSILON)
#error "Compile with the epsilons of config.py."
#endif

using namespace ntm::NTM_TARGET;

namespace {

// Gradients and optimiser state of one kind of parameters.
struct Moments {
  Arrays<float> gradients, squares, means, deltas;

  explicit Moments(const Counts& counts)
      : gradients(zeros<float>(counts)), squares(gradients), means(gradients), deltas(gradients) {}

  bool finite() const {
    for (const auto& gradient : gradients)
      if (!all_finite<float>(gradient.data(), Index(gradient.size()))) return false;
    return true;
  }
  void update(Arrays<float>& parameters, const RMSPropSettings& settings) {
    for (std::size_t i = 0; i < parameters.size(); ++i)
      rmsprop<float>({Index(parameters[i].size()), parameters[i].data(), gradients[i].data(), squares[i].data(),
                      means[i].data(), deltas[i].data()},
                     settings);
  }
};

struct Network {
  Sizes sizes;
  Arrays<float> weights, start;  // parameters of the start: its weightings are logits
  Moments weight_moments, start_moments;
  std::optional<Gradients<float>> gradients;
  std::vector<float> logits;
  Arrays<float> record;
  RMSPropSettings optimiser = {};

  explicit Network(const Sizes& given)
      : sizes(given),
        weights(zeros<float>(weight_counts(given))),
        start(zeros<float>(state_counts(given, 1))),
        weight_moments(weight_counts(given)),
        start_moments(state_counts(given, 1)) {}

  Gradients<float>& training() {
    if (!gradients)
      gradients.emplace(weights_of<float*>(weight_moments.gradients, sizes.layers),
                        state_of<float*>(start_moments.gradients), weights_of<const float*>(weights, sizes.layers),
                        state_of<const float*>(start), sizes);
    return *gradients;
  }
};

SequencesOf<const float*> sequences_at(const float* data, Index sequences, Index channels) {
  return {data, sequences * channels, channels};
}

std::vector<float>& parameter(Network& network, Index i) {
  const Index weights = Index(network.weights.size());
  return i < weights ? network.weights[i] : network.start[i - weights];
}

}  // namespace

#define EXPORT(name) extern "C" __attribute__((export_name(#name)))

EXPORT(create)
Network* create(int controller, int inputs, int outputs, int units, int layers, int locations, int width,
                int read_heads, int write_heads, const int* shifts, int shift_count, bool scalar_shift) {
  return new Network({Controller(controller), inputs, outputs, units, layers, locations, width, read_heads, write_heads,
                      std::vector<Index>(shifts, shifts + shift_count), scalar_shift, NTM_SIMILARITY_EPSILON,
                      NTM_SHARPENING_EPSILON, HUGE_VAL});
}

EXPORT(destroy) void destroy(Network* network) { delete network; }

// Parameters in the layer's order: weights, then the start.
EXPORT(parameter_data) float* parameter_data(Network* network, int i) { return parameter(*network, i).data(); }
EXPORT(parameter_count) int parameter_count(Network* network, int i) { return int(parameter(*network, i).size()); }

// Run sequences from the learned start. Keeps the logits (array -1) and the trace of the heads.
EXPORT(trace)
void trace(Network* network, int steps, int sequences, const std::int64_t* lengths, const float* x) {
  const Sizes& sizes = network->sizes;
  const Batch batch = {steps, sequences, lengths, 1, false, true};
  std::vector<float> tape(tape_size(steps, sequences, sizes));
  States<float> start;
  Arrays<float> final = zeros<float>(state_counts(sizes, sequences));
  network->logits.assign(Index(steps) * sequences * sizes.outputs, 0);
  network->record = zeros<float>(record_counts(sizes, Index(steps) * sequences));
  forward<float>(network->logits.data(), state_of<float*>(final), {}, tape.data(),
                 sequences_at(x, sequences, sizes.inputs),
                 learned_state(start, state_of<const float*>(network->start), sizes),
                 weights_of<const float*>(network->weights, sizes.layers), true, batch, sizes);
  record<float>(record_of(network->record), tape.data(), batch, sizes);
}

EXPORT(traced_data)
const float* traced_data(const Network* network, int i) {
  return i < 0 ? network->logits.data() : network->record[i].data();
}

// Limit the gradients at every time step, from the next training step on. Infinity means no limit.
EXPORT(clip_backward)
void clip_backward(Network* network, double bound) {
  if (network->sizes.backward_clip == bound) return;
  network->sizes.backward_clip = bound;
  network->gradients.reset();
}

// Return the mean cost of the sequences in nats, and keep the gradients for `update`. symbols:
// whether the targets are symbols instead of bits.
EXPORT(differentiate)
double differentiate(Network* network, bool symbols, int steps, int sequences, const std::int64_t* lengths,
                     const float* x, const float* targets, const float* mask) {
  const Sizes& sizes = network->sizes;
  return network->training().compute(sequences_at(x, sequences, sizes.inputs),
                                     sequences_at(targets, sequences, sizes.outputs), sequences_at(mask, sequences, 1),
                                     {steps, sequences, lengths, 1, symbols});
}

// Return the settings of `update`, as numbers in the order of RMSPropSettings, for the caller to write.
EXPORT(optimiser_settings)
RMSPropSettings* optimiser_settings(Network* network) { return &network->optimiser; }

// Update the parameters. If a gradient is not finite, change nothing and return false.
EXPORT(update)
bool update(Network* network) {
  if (!network->weight_moments.finite() || !network->start_moments.finite()) return false;
  network->weight_moments.update(network->weights, network->optimiser);
  network->start_moments.update(network->start, network->optimiser);
  return true;
}

// Return the learning rate after this many sequences, as OptimiserSettings.rate_after does.
EXPORT(rate_after)
double rate_after(double rate, double halve_every, double halve_after, double sequences) {
  if (halve_every == 0) return rate;
  return rate * std::pow(0.5, std::fmax(0, sequences - halve_after) / halve_every);
}

// The contract of the native engine: what its functions take, whose memory it is, and its layout.
//
// Plain C++: no Python, no framework. Every array is owned by the caller, contiguous and row-major
// unless a stride says otherwise. T is float or double. Sizes are in elements.
//
//   B  sequences     T  steps       I  inputs    O  outputs      H  controller units   L  LSTM layers
//   N  locations     M  width       R  read heads               W  write heads         S  shifts
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#ifndef NTM_TARGET
#error "Compile with NTM_TARGET naming the instruction set: every name below lives in its namespace."
#endif

namespace ntm::NTM_TARGET {

using Index = std::int64_t;

struct Sizes {
  bool lstm;
  Index inputs, outputs, units, layers;  // layers: 1 for a feedforward controller
  Index locations, width, read_heads, write_heads;
  std::vector<Index> shifts;
  bool scalar_shift;
  double similarity_epsilon, sharpening_epsilon;
  double
      backward_clip;  // bounds the gradients of the controller's and heads' linear maps, at every step; may be infinite
};

// The parameters as the layer holds them. Linear maps are (outputs, inputs) with a bias (outputs):
//   controller[l]  feedforward: (H, I + R M); LSTM layer l: (4 H, below + H), gates i, f, g, o
//   heads          (R (M+3+s) + W (3M+3+s), H), s = S or 1 for the scalar shift; order in heads.py
//   output         (O, H + R M)
template <typename Pointer>
struct LinearOf {
  Pointer weight, bias;
};

template <typename Pointer>
struct WeightsOf {
  std::vector<LinearOf<Pointer>> controller;
  LinearOf<Pointer> heads, output;
};

template <typename T>
using Weights = WeightsOf<const T*>;
template <typename T>
using WeightGradients = WeightsOf<T*>;

// A state: memory (B, N, M), weightings (B, R, N) and (B, W, N), reads (B, R, M), hidden and cell
// (B, L, H). hidden and cell are empty for a feedforward controller. As gradient of the final state a
// null pointer stands for zeros.
template <typename Pointer>
struct StateOf {
  Pointer memory, read_weightings, write_weightings, reads, hidden, cell;
};

template <typename T>
using State = StateOf<const T*>;
template <typename T>
using MutableState = StateOf<T*>;

// The weightings of all heads at every step: read (T, B, R, N), write (T, B, W, N). A null pointer stands for
// weightings that nobody asked for; as gradient of the weightings it stands for zeros.
template <typename Pointer>
struct WeightingsOf {
  Pointer read, write;
};

// Elements of each part of a state, per sequence.
inline std::array<Index, 6> state_sizes(const Sizes& s) {
  const Index hidden = s.lstm ? s.layers * s.units : 0;
  return {s.locations * s.width,
          s.read_heads * s.locations,
          s.write_heads * s.locations,
          s.read_heads * s.width,
          hidden,
          hidden};
}

// (T, B, channels) with any strides over time and batch; channels are contiguous.
template <typename Pointer>
struct SequencesOf {
  Pointer data;
  Index time_stride, batch_stride;
};

struct Batch {
  Index steps, sequences;
  const std::int64_t* lengths;  // (B,), each 0 to T; null: all T
  Index threads;
};

// Everything a head did, copied out of the tape; (T, B, ...) contiguous, zeroed by the caller.
// `memory` may be null.
template <typename T>
struct HeadRecord {
  T *keys, *strengths, *gates, *shifts, *sharpness, *content, *gated, *shifted, *weightings;
};

template <typename T>
struct Record {
  T *hidden, *reads, *erases, *adds, *memory;
  HeadRecord<T> read, write;
};

// The functions, instantiated for float and double. Results do not depend on the number of threads, to the bit.
// Arguments, here and in every kernel: what is written, what is read, then the sizes.

// Elements of the tape that `forward` writes and `backward` reads, whatever the lengths: about N M per step and
// sequence. Without a tape to keep, two steps suffice whatever T is.
Index tape_size(Index steps, Index sequences, bool keep, const Sizes&);

// x, start -> logits (T, B, O) and weightings, both zeroed by the caller, final, tape.
template <typename T>
void forward(T* logits, const MutableState<T>& final, const WeightingsOf<T*>& weightings, T* tape,
             const SequencesOf<const T*>& x, const State<T>& start, const Weights<T>& weights, bool keep,
             const Batch& batch, const Sizes& sizes);

// dlogits, dfinal, dweightings and the tape of a `forward` with keep -> gradients, all overwritten. dx (T, B, I) may be
// null; where it is not, the caller has zeroed it.
template <typename T>
void backward(T* dx, const WeightGradients<T>& dweights, const MutableState<T>& dstart, const T* dlogits,
              const State<T>& dfinal, const WeightingsOf<const T*>& dweightings, const T* tape,
              const Weights<T>& weights, const Batch& batch, const Sizes& sizes);

// Copies the record out of the tape of a `forward` with keep.
template <typename T>
void record(const Record<T>& to, const T* tape, const Batch&, const Sizes&);

// A training step's gradients, from sequences and targets to the gradients of all parameters, the learned start
// included. Its buffers live from call to call.
template <typename T>
class Gradients {
 public:
  // The parameters of the start in a state's order and without its batch axis; weightings are logits there.
  Gradients(const WeightGradients<T>&, const MutableState<T>& dstart, const Weights<T>&, const State<T>& start,
            const Sizes&);
  ~Gradients();

  // Mean over the batch of each sequence's binary cross-entropy in nats, and the gradients of that, overwritten.
  // x (T, B, I), targets (T, B, O) and mask (T, B) may be strided; steps beyond the longest length are not looked at.
  double compute(const SequencesOf<const T*>& x, const SequencesOf<const T*>& targets,
                 const SequencesOf<const T*>& mask, const Batch&);

 private:
  struct Buffers;
  std::unique_ptr<Buffers> buffers_;
};

// The LSTM that the paper compares with. Every layer sees the input, a constant 1, the layer below (but for the first)
// and its own last output; every layer goes to the output.
struct LSTMSizes {
  Index inputs, outputs, units, layers;

  // What a layer sees beside its own last output.
  Index below(Index layer) const { return inputs + 1 + (layer ? units : 0); }
};

// Gates are i, f, g, o.
template <typename Pointer>
struct LSTMWeightsOf {
  struct Layer {
    Pointer below, own;  // (4 H, I + 1 or I + 1 + H) and (4 H, H)
  };
  std::vector<Layer> layers;
  LinearOf<Pointer> output;          // (O, L H)
  Pointer start_hidden, start_cell;  // (L, H)
};

// As Gradients, for that network.
template <typename T>
class LSTMGradients {
 public:
  LSTMGradients(const LSTMWeightsOf<T*>& dweights, const LSTMWeightsOf<const T*>& weights, const LSTMSizes&);
  ~LSTMGradients();

  double compute(const SequencesOf<const T*>& x, const SequencesOf<const T*>& targets,
                 const SequencesOf<const T*>& mask, const Batch&);

 private:
  struct Buffers;
  std::unique_ptr<Buffers> buffers_;
};

// Graves' RMSProp on one parameter: clip g, then
//   n = decay n + (1 - decay) g^2
//   m = decay m + (1 - decay) g
//   d = momentum d - rate g / sqrt(n - m^2 + epsilon)
//   p = p + d
template <typename T>
struct Optimised {
  Index count;
  T* parameter;
  const T* gradient;
  T *mean_square, *mean, *delta;
};
struct RMSPropSettings {
  double rate, decay, momentum, epsilon, clip;
};
template <typename T>
void rmsprop(const Optimised<T>&, const RMSPropSettings&);

// Whether all elements are finite.
template <typename T>
bool all_finite(const T* values, Index count);

}  // namespace ntm::NTM_TARGET

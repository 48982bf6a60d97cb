// The contract of the native engine: its functions, and the layout and owner of every array.
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

// Kinds of controllers, in the order of CONTROLLER_GATES (config.py), and the number of values per
// unit that the linear map of a layer emits. Every size that depends on the kind follows from them.
enum class Controller { feedforward, lstm };
constexpr Index kControllerGates[] = {1, 4};

struct Shape {
  Index rows, columns;

  Index size() const { return rows * columns; }
};

struct Sizes {
  Controller controller;
  Index inputs, outputs, units, layers;  // layers: 1 for a feedforward controller
  Index locations, width, read_heads, write_heads;
  std::vector<Index> shifts;
  bool scalar_shift;
  double similarity_epsilon, sharpening_epsilon;
  double backward_clip;  // limit per step for the gradients of controller and head values; may be infinite

  // Return the number of values that the linear map of a controller layer emits.
  Index emitted() const { return kControllerGates[int(controller)] * units; }
  // Return the number of controller layers that carry state.
  Index recurrent() const { return controller == Controller::feedforward ? 0 : layers; }

  // Return the number of inputs of controller layer l, without and with its own hidden state.
  Index below(Index l) const { return l == 0 ? inputs + read_heads * width : units; }
  Index seen(Index l) const { return below(l) + (recurrent() ? units : 0); }
  // Return the number of values that a head emits for its shift.
  Index shift_values() const { return scalar_shift ? 1 : Index(shifts.size()); }
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

// Return the shape (outputs, inputs) of each linear map: controller layers, heads, output.
inline std::vector<Shape> map_shapes(const Sizes& s) {
  const Index read_head = s.width + 3 + s.shift_values(), write_head = read_head + 2 * s.width;
  std::vector<Shape> shapes;
  for (Index l = 0; l < s.layers; ++l) shapes.push_back({s.emitted(), s.seen(l)});
  shapes.push_back({s.read_heads * read_head + s.write_heads * write_head, s.units});
  shapes.push_back({s.outputs, s.units + s.read_heads * s.width});
  return shapes;
}

template <typename T>
using Weights = WeightsOf<const T*>;
template <typename T>
using WeightGradients = WeightsOf<T*>;

// The parts of a state, in the order in which every list of them has them. A part is an array (B,
// rows, columns) of the shape that `state_shapes` gives. hidden and cell are empty for a feedforward
// controller. In the gradient of the final state, a null pointer means zeros.
enum Part { kMemory, kReadWeightings, kWriteWeightings, kReads, kHidden, kCell, kParts };

template <typename Pointer>
using StateOf = std::array<Pointer, kParts>;

// Return the shape of each part of a state, per sequence.
inline std::array<Shape, kParts> state_shapes(const Sizes& s) {
  return {{{s.locations, s.width},
           {s.read_heads, s.locations},
           {s.write_heads, s.locations},
           {s.read_heads, s.width},
           {s.recurrent(), s.units},
           {s.recurrent(), s.units}}};
}

template <typename T>
using State = StateOf<const T*>;
template <typename T>
using MutableState = StateOf<T*>;

// The weightings of all heads at every step: read (T, B, R, N), write (T, B, W, N). A null pointer
// means that the caller does not want them. In the gradient of the weightings it means zeros.
template <typename Pointer>
struct WeightingsOf {
  Pointer read, write;
};

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
  bool symbols = false;       // targets of a training step: one symbol per step instead of bits
  bool shared_start = false;  // all sequences start from one state; its gradient is then the sum over the sequences
};

// Everything the heads did, copied out of the tape: contiguous arrays (T, B, ...), zeroed by the
// caller. `memory` may be null.
template <typename T>
struct HeadRecord {
  T *keys, *strengths, *gates, *shifts, *sharpness, *content, *gated, *shifted, *weightings;
};

template <typename T>
struct Record {
  T *hidden, *reads, *erases, *adds, *memory;
  HeadRecord<T> read, write;
};

// The functions exist for float and double. Results are equal to the bit for any number of threads.
// Order of arguments, here and in the kernels: what is written, what is read, sizes.

// Return the number of elements of the tape that `forward` with keep writes and that `backward` and
// `record` read, for any lengths. Without `keep` there is no tape.
Index tape_size(Index steps, Index sequences, const Sizes&);

// Run the sequences x from the state `start`. Writes logits (T, B, O), final, weightings and, with
// keep, the tape. Steps beyond a length are not written: with lengths, the caller zeroes logits and
// weightings. Without keep, tape may be null.
template <typename T>
void forward(T* logits, const MutableState<T>& final, const WeightingsOf<T*>& weightings, T* tape,
             const SequencesOf<const T*>& x, const State<T>& start, const Weights<T>& weights, bool keep,
             const Batch& batch, const Sizes& sizes);

// Compute the gradients from dlogits, dfinal, dweightings and the tape of a `forward` with keep.
// The results are overwritten. dx (T, B, I) may be null; otherwise the caller zeroes it.
template <typename T>
void backward(T* dx, const WeightGradients<T>& dweights, const MutableState<T>& dstart, const T* dlogits,
              const State<T>& dfinal, const WeightingsOf<const T*>& dweightings, const T* tape,
              const Weights<T>& weights, const Batch& batch, const Sizes& sizes);

// Copy the record out of the tape of a `forward` with keep.
template <typename T>
void record(const Record<T>& to, const T* tape, const Batch&, const Sizes&);

// Gradients of a training step: from sequences and targets to the gradients of all parameters,
// including the learned start. The buffers are kept between calls.
template <typename T>
class Gradients {
 public:
  // start: parameters of the learned start, in the order of a state and without the batch axis. The
  // parameters of the weightings are logits.
  Gradients(const WeightGradients<T>&, const MutableState<T>& dstart, const Weights<T>&, const State<T>& start,
            const Sizes&);
  ~Gradients();

  // Return the mean over the batch of each sequence's binary cross-entropy in nats, and overwrite
  // the gradients with the gradients of this mean. x (T, B, I), targets (T, B, O) and mask (T, B)
  // may be strided. Steps beyond the longest length are ignored.
  double compute(const SequencesOf<const T*>& x, const SequencesOf<const T*>& targets,
                 const SequencesOf<const T*>& mask, const Batch&);

 private:
  struct Buffers;
  std::unique_ptr<Buffers> buffers_;
};

// The LSTM that the paper compares with. Each layer reads the network's input, a constant 1, the
// layer below (if there is one) and its own previous output. The output reads all layers.
struct LSTMSizes {
  Index inputs, outputs, units, layers;

  // Return the number of a layer's inputs, with the constant 1, without its own previous output.
  Index below(Index layer) const { return inputs + 1 + (layer ? units : 0); }
};

// The order of the gates is i, f, g, o.
template <typename Pointer>
struct LSTMWeightsOf {
  struct Layer {
    Pointer below, own;  // (4 H, I + 1 or I + 1 + H) and (4 H, H)
  };
  std::vector<Layer> layers;
  LinearOf<Pointer> output;          // (O, L H)
  Pointer start_hidden, start_cell;  // (L, H)
};

// Like Gradients, for the LSTM.
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
// Settings of the update. All are doubles: callers may pass them as numbers in this order.
struct RMSPropSettings {
  double rate, decay, momentum, epsilon, clip;
};
template <typename T>
void rmsprop(const Optimised<T>&, const RMSPropSettings&);

// Whether all elements are finite.
template <typename T>
bool all_finite(const T* values, Index count);

}  // namespace ntm::NTM_TARGET

// Python bindings of contract.h. They check every tensor against the contract (tensors.h), for
// every caller. Nothing here is public: engine/native.py makes the tensors.

#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <atomic>
#include <cstring>
#include <functional>
#include <numeric>

#include "blocks.h"
#include "trees.h"

#define NTM_TEXT(name) #name
#define NTM_NAME(name) NTM_TEXT(name)
#define NTM_JOIN(a, b) a##b
#define NTM_MODULE(target) NTM_JOIN(_native_, target)

namespace ntm::NTM_TARGET {

// start: any state with x's batch size, or a shared state of one sequence. Writes logits, final,
// weightings and, with keep, tape. With lengths, the caller zeroes logits and weightings. Each of the
// two weightings may be None, and the tape without keep.
template <typename T>
void bound_forward(nb::handle logits, const nb::list& final, const nb::list& weightings, nb::handle tape, nb::handle x,
                   nb::handle lengths, const nb::list& start, bool shared_start, const nb::list& weights, bool keep,
                   Index threads, const Sizes& sizes) {
  const Strided<T> in(x, sizes.inputs, "x");
  const Batch batch = batch_of(in.steps, in.count, lengths, threads, shared_start);
  T* const out = elements_of<T>(logits, product({batch.steps, batch.sequences, sizes.outputs}), "logits");
  const auto after = state_of<T>(sizes, batch.sequences, final, "final");
  const auto heads = weightings_of<T>(sizes, batch.steps, batch.sequences, weightings, "weightings");
  const Index kept = checked_tape_size(batch.steps, batch.sequences, keep, sizes);
  T* const written = keep ? elements_of<T>(tape, kept, "tape") : nullptr;
  const auto before = state_of<const T>(sizes, shared_start ? 1 : batch.sequences, start, "start");
  const auto maps = weights_of<const T>(sizes, weights, "weights");
  const nb::gil_scoped_release release;
  forward<T>(out, after, heads, written, in.sequences, before, maps, keep, batch, sizes);
}

// dx may be None, as may any part of dfinal and dweightings.
template <typename T>
void bound_backward(nb::handle dx, const nb::list& dweights, const nb::list& dstart, bool shared_start,
                    nb::handle dlogits, const nb::list& dfinal, const nb::list& dweightings, nb::handle tape,
                    const nb::list& weights, Index steps, Index sequences, nb::handle lengths, Index threads,
                    const Sizes& sizes) {
  const Batch batch = batch_of(steps, sequences, lengths, threads, shared_start);
  T* const din = elements_or_null<T>(dx, product({steps, sequences, sizes.inputs}), "dx");
  const auto dmaps = weights_of<T>(sizes, dweights, "dweights");
  const auto dbefore = state_of<T>(sizes, shared_start ? 1 : sequences, dstart, "dstart");
  const T* const dout = elements_of<const T>(dlogits, product({steps, sequences, sizes.outputs}), "dlogits");
  const auto dafter = state_of<const T>(sizes, sequences, dfinal, "dfinal", true);
  const auto dheads = weightings_of<const T>(sizes, steps, sequences, dweightings, "dweightings");
  const T* const kept = elements_of<const T>(tape, checked_tape_size(steps, sequences, true, sizes), "tape");
  const auto maps = weights_of<const T>(sizes, weights, "weights");
  const nb::gil_scoped_release release;
  backward<T>(din, dmaps, dbefore, dout, dafter, dheads, kept, maps, batch, sizes);
}

// Nine tensors, in the order of HeadRecord.
template <typename T>
HeadRecord<T> head_record_of(const Sizes& s, Index rows, Index heads, const nb::list& tensors, std::size_t first) {
  const auto part = [&](std::size_t i, Index each) {
    return elements_of<T>(tensors[first + i], product({rows, heads, each}), "record");
  };
  return {part(0, s.width),     part(1, 1),           part(2, 1),           part(3, s.shifts.size()), part(4, 1),
          part(5, s.locations), part(6, s.locations), part(7, s.locations), part(8, s.locations)};
}

// Tensors: hidden, reads, erases, adds, memory (or None), then nine of the read heads and nine of the write heads.
template <typename T>
void bound_record(const nb::list& tensors, nb::handle tape, Index steps, Index sequences, nb::handle lengths,
                  const Sizes& sizes) {
  require_count(tensors, 23, "record");
  const Batch batch = batch_of(steps, sequences, lengths, 1, false);
  const Index rows = product({steps, sequences}), read = sizes.read_heads, write = sizes.write_heads;
  const auto part = [&](std::size_t i, Index each) {
    return elements_of<T>(tensors[i], product({rows, each}), "record");
  };
  const T* const kept = elements_of<const T>(tape, checked_tape_size(steps, sequences, true, sizes), "tape");
  const Record<T> to = {part(0, sizes.units),
                        part(1, read * sizes.width),
                        part(2, write * sizes.width),
                        part(3, write * sizes.width),
                        elements_or_null<T>(tensors[4], product({rows, sizes.locations, sizes.width}), "record"),
                        head_record_of<T>(sizes, rows, read, tensors, 5),
                        head_record_of<T>(sizes, rows, write, tensors, 14)};
  const nb::gil_scoped_release release;
  record<T>(to, kept, batch, sizes);
}

// Sequences to train on: inputs (time, batch, inputs), targets (time, batch, outputs), mask (time,
// batch) and lengths (batch,). symbols: whether the targets are symbols instead of bits.
template <typename T>
class Block {
 public:
  Block(Index input_size, Index output_size, nb::handle inputs, nb::handle targets, nb::handle mask, nb::handle lengths,
        bool symbols)
      : x_(inputs, input_size, "inputs"),
        targets_(targets, output_size, "targets"),
        mask_(mask, 0, "mask"),
        lengths_(elements_of<const std::int64_t>(lengths, x_.count, "lengths")),
        inputs_(input_size),
        outputs_(output_size),
        symbols_(symbols) {
    for (const Strided<T>* other : {&targets_, &mask_})
      if (other->steps != x_.steps || other->count != x_.count)
        throw std::invalid_argument("targets and mask must have the steps and sequences of the inputs");
    nb::list tensors;
    for (const nb::handle tensor : {inputs, targets, mask, lengths}) tensors.append(tensor);
    kept_.keep(tensors);
  }

  // Compute the gradients for sequences begin to end - 1 of the block.
  template <typename Network, typename NetworkSizes>
  double compute(Network& gradients, const NetworkSizes& sizes, Index begin, Index end, Index threads) const {
    if (sizes.inputs != inputs_ || sizes.outputs != outputs_)
      throw std::invalid_argument("the block was made for a network of other sizes");
    if (begin < 0 || begin >= end || end > x_.count)
      throw std::invalid_argument("sequences " + std::to_string(begin) + " to " + std::to_string(end) +
                                  " are not within a block of " + std::to_string(x_.count));
    const Batch batch = {x_.steps, end - begin, lengths_ + begin, std::min(std::max<Index>(threads, 1), Index(1024)),
                         symbols_};
    require_lengths(batch);
    const nb::gil_scoped_release release;
    return gradients.compute(from(x_, begin), from(targets_, begin), from(mask_, begin), batch);
  }

 private:
  static SequencesOf<const T*> from(const Strided<T>& all, Index begin) {
    SequencesOf<const T*> part = all.sequences;
    part.data += begin * part.batch_stride;
    return part;
  }

  Strided<T> x_, targets_, mask_;
  const std::int64_t* lengths_;
  Index inputs_, outputs_;
  bool symbols_;
  Kept kept_;
};

// Gradients of a network whose parameters stay in place.
template <typename T, typename Network, typename NetworkSizes>
class Bound {
 public:
  // One call at a time: the buffers live from call to call, and Python's lock is released while a call computes.
  double compute(const Block<T>& block, Index begin, Index end, Index threads) {
    if (computes_.exchange(true))
      throw std::runtime_error("Another thread computes gradients of this network; give every thread a network.");
    const Release release{computes_};
    return block.compute(gradients_, sizes_, begin, end, threads);
  }

 protected:
  template <typename... Parameters>
  Bound(std::initializer_list<nb::list> kept, const NetworkSizes& sizes, const Parameters&... parameters)
      : sizes_(sizes), gradients_(parameters..., sizes) {
    for (const nb::list& tensors : kept) kept_.keep(tensors);
  }

 private:
  struct Release {
    std::atomic<bool>& flag;
    ~Release() { flag = false; }
  };

  std::atomic<bool> computes_ = false;
  NetworkSizes sizes_;
  Network gradients_;
  Kept kept_;
};

template <typename T>
struct BoundGradients : Bound<T, Gradients<T>, Sizes> {
  BoundGradients(const nb::list& dweights, const nb::list& dstart, const nb::list& weights, const nb::list& start,
                 const Sizes& sizes)
      : Bound<T, Gradients<T>, Sizes>(
            {dweights, dstart, weights, start}, sizes, weights_of<T>(sizes, dweights, "dweights"),
            state_of<T>(sizes, 1, dstart, "dstart"), weights_of<const T>(sizes, weights, "weights"),
            state_of<const T>(sizes, 1, start, "start")) {}
};

template <typename T>
struct BoundLSTMGradients : Bound<T, LSTMGradients<T>, LSTMSizes> {
  BoundLSTMGradients(const nb::list& dweights, const nb::list& weights, const LSTMSizes& sizes)
      : Bound<T, LSTMGradients<T>, LSTMSizes>({dweights, weights}, sizes,
                                              lstm_weights_of<T>(sizes, dweights, "dweights"),
                                              lstm_weights_of<const T>(sizes, weights, "weights")) {}
};

// Return the settings of an update from numbers in the order of the fields.
RMSPropSettings settings_of(const std::vector<double>& numbers) {
  RMSPropSettings settings;
  if (numbers.size() * sizeof(double) != sizeof settings) refuse("the settings of an update", "one number per field");
  std::memcpy(&settings, numbers.data(), sizeof settings);
  return settings;
}

// Graves' RMSProp over rows of (parameter, gradient, mean_square, mean, delta).
template <typename T>
class Optimiser {
 public:
  // keep: whether to hold references to the tensors, so that their memory stays valid for later steps.
  Optimiser(const nb::list& rows, bool keep) {
    for (const nb::handle row : rows) {
      const auto tensors = nb::cast<nb::list>(row);
      require_count(tensors, 5, "a row of the optimiser");
      const Index count = described<T>(tensors[0], "a row of the optimiser").count();
      const auto part = [&](std::size_t i) { return elements_of<T>(tensors[i], count, "a row of the optimiser"); };
      rows_.push_back({count, part(0), part(1), part(2), part(3), part(4)});
      if (keep) kept_.keep(tensors);
    }
  }

  // Update the parameters. If a gradient is not finite, change nothing and return False.
  bool step(const std::vector<double>& numbers) const {
    const RMSPropSettings settings = settings_of(numbers);
    const nb::gil_scoped_release release;
    for (const auto& one : rows_)
      if (!all_finite<T>(one.gradient, one.count)) return false;
    for (const auto& one : rows_) rmsprop<T>(one, settings);
    return true;
  }

 private:
  std::vector<Optimised<T>> rows_;
  Kept kept_;
};

// Update rows once, like Optimiser::step, without keeping them. Also returns False for tensors that
// the kernels cannot use: mixed dtypes, another device, gaps.
template <typename T>
bool update_once(const nb::list& rows, const std::vector<double>& settings) {
  try {
    return Optimiser<T>(rows, false).step(settings);
  } catch (const std::invalid_argument&) {
    return false;
  } catch (const nb::python_error&) {  // torch cannot describe the tensor, for example a sparse one
    return false;
  }
}

// Return an uninitialised tensor in memory that is kept for later calls (blocks.h). Any thread may free it.
template <typename T>
nb::object bound_empty(const std::vector<std::size_t>& shape) {
  const std::size_t count = std::accumulate(shape.begin(), shape.end(), std::size_t(1), std::multiplies<>());
  T* const data = buffer<T>(Index(count)).release();
  const nb::capsule owner(data, [](void* memory) noexcept { give_block(memory); });
  return nb::cast(nb::ndarray<nb::pytorch, T>(data, shape.size(), shape.data(), owner));
}

// Whether a contiguous tensor holds neither NaN nor infinity.
template <typename T>
bool bound_all_finite(nb::handle tensor) {
  const Described found = described<T>(tensor, "x");
  if (!found.contiguous()) refuse("x", "contiguous");
  return all_finite<T>(reinterpret_cast<const T*>(found.data), found.count());
}

// Return the instruction sets that this processor runs, the best first.
std::vector<std::string> supported() {
  std::vector<std::string> names;
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512bw"))
    names.push_back("avx512");
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) names.push_back("avx2");
#endif
  names.push_back("baseline");
  return names;
}

// Define every function and class for one precision, which is the suffix of their names.
template <typename T>
void define(nb::module_& m, const std::string& suffix) {
  const auto name = [&](const char* function) { return function + suffix; };
  const auto may_be_none = [] { return nb::arg().none(); };
  m.def(name("forward_").c_str(), bound_forward<T>, nb::arg(), nb::arg(), nb::arg(), may_be_none(), nb::arg(),
        may_be_none(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg());
  m.def(name("backward_").c_str(), bound_backward<T>, may_be_none(), nb::arg(), nb::arg(), nb::arg(), nb::arg(),
        nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), may_be_none(), nb::arg(), nb::arg());
  m.def(name("record_").c_str(), bound_record<T>, nb::arg(), nb::arg(), nb::arg(), nb::arg(), may_be_none(), nb::arg());
  m.def(name("update_").c_str(), update_once<T>);
  m.def(name("all_finite_").c_str(), bound_all_finite<T>);
  m.def(name("empty_").c_str(), bound_empty<T>);
  nb::class_<Block<T>>(m, name("Block_").c_str())
      .def(nb::init<Index, Index, nb::handle, nb::handle, nb::handle, nb::handle, bool>());
  nb::class_<BoundGradients<T>>(m, name("Gradients_").c_str())
      .def(nb::init<const nb::list&, const nb::list&, const nb::list&, const nb::list&, const Sizes&>())
      .def("compute", &BoundGradients<T>::compute);
  nb::class_<BoundLSTMGradients<T>>(m, name("LSTMGradients_").c_str())
      .def(nb::init<const nb::list&, const nb::list&, const LSTMSizes&>())
      .def("compute", &BoundLSTMGradients<T>::compute);
  nb::class_<Optimiser<T>>(m, name("Optimiser_").c_str())
      .def("__init__", [](Optimiser<T>* self, const nb::list& rows) { new (self) Optimiser<T>(rows, true); })
      .def("step", &Optimiser<T>::step);
}

NB_MODULE(NTM_MODULE(NTM_TARGET), m) {
  nb::set_leak_warnings(false);  // a graph that lives to the end of the process keeps its Sizes
  nb::class_<Sizes>(m, "Sizes")
      .def(
          "__init__",
          [](Sizes* self, int controller, Index inputs, Index outputs, Index units, Index layers, Index locations,
             Index width, Index read_heads, Index write_heads, std::vector<Index> shifts, bool scalar_shift,
             double similarity_epsilon, double sharpening_epsilon, double backward_clip) {
            new (self) Sizes(checked({Controller(controller), inputs, outputs, units, layers, locations, width,
                                      read_heads, write_heads, std::move(shifts), scalar_shift, similarity_epsilon,
                                      sharpening_epsilon, backward_clip}));
          },
          nb::kw_only(), nb::arg("controller"), nb::arg("inputs"), nb::arg("outputs"), nb::arg("units"),
          nb::arg("layers"), nb::arg("locations"), nb::arg("width"), nb::arg("read_heads"), nb::arg("write_heads"),
          nb::arg("shifts"), nb::arg("scalar_shift"), nb::arg("similarity_epsilon"), nb::arg("sharpening_epsilon"),
          nb::arg("backward_clip"));
  nb::class_<LSTMSizes>(m, "LSTMSizes")
      .def(
          "__init__",
          [](LSTMSizes* self, Index inputs, Index outputs, Index units, Index layers) {
            new (self) LSTMSizes(checked(LSTMSizes{inputs, outputs, units, layers}));
          },
          nb::kw_only(), nb::arg("inputs"), nb::arg("outputs"), nb::arg("units"), nb::arg("layers"));
  m.attr("target") = NTM_NAME(NTM_TARGET);
  m.def("supported", supported);
  m.def("unchanged", unchanged);
  // For tests: describe tensors by DLPack's exchange or by attributes. Returns whether by exchange.
  m.def("use_exchange", [](bool wanted) {
    Torch& torch = Torch::get();
    torch.exchange = wanted ? torch.offered : nullptr;
    return torch.exchange != nullptr;
  });
  m.def("tape_size", checked_tape_size);
  m.def("release_memory", release_blocks);
  define<float>(m, "float");
  define<double>(m, "double");
}

}  // namespace ntm::NTM_TARGET

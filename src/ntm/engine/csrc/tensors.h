// Tensors from Python, checked before a kernel uses their memory.
//
// The checks trust only torch's own description of a plain tensor. An address from Python could be
// anything, and a subclass could report anything.
#pragma once

#include <nanobind/nanobind.h>

#include <initializer_list>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "contract.h"

namespace ntm::NTM_TARGET {

namespace nb = nanobind;

// DLPack's view of a tensor, and torch's function that fills it in. Both are stable across
// versions. Older versions of torch lack the function: the attributes then give the same answers,
// ten times slower.
struct TensorView {
  void* data;
  std::int32_t device_type, device_id, dimensions;
  std::uint8_t kind, bits;
  std::uint16_t lanes;
  const std::int64_t *shape, *strides;
  std::uint64_t byte_offset;
};
struct TensorExchange {
  struct {
    std::uint32_t major, minor;
  } version;
  const void* previous;
  void *allocate, *managed_from_object, *managed_to_object;
  int (*view)(void* object, TensorView* out);
};

// Types and attribute names of torch that every call needs, looked up once.
struct Torch {
  nb::object tensor, parameter, float32, float64, int64;
  nb::object dtype = nb::str("dtype"), is_cpu = nb::str("is_cpu"),
             is_neg = nb::steal(PyUnicode_InternFromString("is_neg")), data_ptr = nb::str("data_ptr"),
             shape = nb::str("shape"), stride = nb::str("stride"), detach = nb::str("detach"), numpy = nb::str("numpy"),
             dict = nb::steal(PyUnicode_InternFromString("__dict__"));
  const TensorExchange *offered = nullptr, *exchange = nullptr;

  Torch() {
    const nb::object torch = nb::module_::import_("torch");
    tensor = torch.attr("Tensor");
    parameter = torch.attr("nn").attr("Parameter");
    float32 = torch.attr("float32");
    float64 = torch.attr("float64");
    int64 = torch.attr("int64");
    const nb::object capsule = nb::getattr(tensor, "__dlpack_c_exchange_api__", nb::none());
    if (!PyCapsule_IsValid(capsule.ptr(), "dlpack_exchange_api")) return;
    const auto* api = static_cast<const TensorExchange*>(PyCapsule_GetPointer(capsule.ptr(), "dlpack_exchange_api"));
    if (api->version.major == 1) exchange = offered = api;
  }

  static Torch& get() {
    static Torch* const torch = new Torch;  // never destroyed: the interpreter may be gone by then
    return *torch;
  }

  // Called for every tensor of every call, so it avoids creating a bound method.
  bool is_negative(nb::handle tensor) const {
    PyObject* const self = tensor.ptr();
    const nb::object answer =
        nb::steal(PyObject_VectorcallMethod(is_neg.ptr(), &self, 1 | PY_VECTORCALL_ARGUMENTS_OFFSET, nullptr));
    if (!answer.is_valid()) throw nb::python_error();
    return answer.is(Py_True);
  }

  nb::handle dtype_of(float) const { return float32; }
  nb::handle dtype_of(double) const { return float64; }
  nb::handle dtype_of(std::int64_t) const { return int64; }
};

// Return the number of elements of an array with these sizes. Refuses sizes beyond any memory.
inline Index product(std::initializer_list<Index> sizes) {
  constexpr Index most = Index(1) << 46;
  Index result = 1;
  for (const Index size : sizes) {
    if (size < 0) throw std::invalid_argument("a size is negative");
    if (size != 0 && result > most / size) throw std::invalid_argument("sizes are too large");
    result *= size;
  }
  return result;
}

[[noreturn]] inline void refuse(const char* name, const std::string& wanted) {
  throw std::invalid_argument(std::string(name) + " must be " + wanted);
}

// Torch's description of a tensor with at most four axes.
struct Described {
  std::uintptr_t data;
  int dimensions;
  Index shape[4], strides[4];

  Index count() const {
    Index product = 1;
    for (int i = 0; i < dimensions; ++i) product *= shape[i];
    return product;
  }
  bool contiguous() const {
    Index expected = 1;
    for (int i = dimensions - 1; i >= 0; expected *= shape[i--])
      if (shape[i] != 1 && strides[i] != expected) return count() == 0;
    return true;
  }
};

inline Described described_by_exchange(nb::handle tensor, const TensorExchange& exchange, Index bits, bool floating,
                                       const char* name) {
  TensorView view;
  if (exchange.view(tensor.ptr(), &view) != 0) {
    PyErr_Clear();
    refuse(name, "a dense tensor on the CPU");
  }
  constexpr int cpu = 1, integer = 0, real = 2;
  if (view.device_type != cpu) refuse(name, "on the CPU");
  if (view.kind != (floating ? real : integer) || view.bits != bits || view.lanes != 1)
    refuse(name, "of the dtype of the call");
  if (view.dimensions > 4) refuse(name, "of at most four axes");
  Described found = {reinterpret_cast<std::uintptr_t>(view.data) + view.byte_offset, view.dimensions, {}, {}};
  for (int i = 0; i < view.dimensions; ++i) found.shape[i] = view.shape[i], found.strides[i] = view.strides[i];
  return found;
}

inline Described described_by_attributes(nb::handle tensor, const Torch& torch, nb::handle dtype, const char* name) {
  if (!tensor.attr(torch.dtype).is(dtype)) refuse(name, "of the dtype of the call");
  if (!nb::cast<bool>(tensor.attr(torch.is_cpu))) refuse(name, "on the CPU");
  const auto shape = nb::cast<nb::tuple>(tensor.attr(torch.shape));
  const auto strides = nb::cast<nb::tuple>(tensor.attr(torch.stride)());
  if (shape.size() > 4) refuse(name, "of at most four axes");
  Described found = {nb::cast<std::uintptr_t>(tensor.attr(torch.data_ptr)()), int(shape.size()), {}, {}};
  for (std::size_t i = 0; i < shape.size(); ++i)
    found.shape[i] = nb::cast<Index>(shape[i]), found.strides[i] = nb::cast<Index>(strides[i]);
  return found;
}

// Return the description of a plain CPU tensor of type T. Refuses subclasses.
template <typename T>
Described described(nb::handle tensor, const char* name) {
  const Torch& torch = Torch::get();
  const nb::handle type = tensor.type();
  if (!type.is(torch.tensor) && !type.is(torch.parameter)) refuse(name, "a torch.Tensor");
  if (torch.is_negative(tensor)) refuse(name, "without a negative bit: call resolve_neg()");
  const Described found =
      torch.exchange ? described_by_exchange(tensor, *torch.exchange, 8 * sizeof(T), std::is_floating_point_v<T>, name)
                     : described_by_attributes(tensor, torch, torch.dtype_of(T()), name);
  if (!found.data && found.count()) refuse(name, "in memory");
  return found;
}

// Return the elements of a contiguous tensor that has exactly `count` of them.
template <typename T>
T* elements_of(nb::handle tensor, Index count, const char* name) {
  const Described found = described<std::remove_const_t<T>>(tensor, name);
  if (!found.contiguous()) refuse(name, "contiguous");
  if (found.count() != count)
    refuse(name, "of " + std::to_string(count) + " elements, got " + std::to_string(found.count()));
  return reinterpret_cast<T*>(found.data);
}

template <typename T>
T* elements_or_null(nb::handle tensor, Index count, const char* name) {
  return tensor.is_none() ? nullptr : elements_of<T>(tensor, count, name);
}

// A tensor (time, batch) or (time, batch, channels) with any strides over time and batch.
template <typename T>
struct Strided {
  SequencesOf<const T*> sequences;
  Index steps, count;

  // channels: 0 for a tensor without that axis.
  Strided(nb::handle tensor, Index channels, const char* name) {
    const Described found = described<T>(tensor, name);
    if (found.dimensions != (channels ? 3 : 2)) refuse(name, channels ? "(time, batch, channels)" : "(time, batch)");
    if (channels && found.shape[2] != channels) refuse(name, "of " + std::to_string(channels) + " channels");
    if (channels > 1 && found.strides[2] != 1) refuse(name, "contiguous over the channels");
    steps = found.shape[0];
    count = found.shape[1];
    if (steps < 1 || count < 1) refuse(name, "of at least one step and one sequence");
    sequences = {reinterpret_cast<const T*>(found.data), found.strides[0], found.strides[1]};
  }
};

// Keeps tensors' memory in place while it lives: torch never resizes storage that numpy shares.
class Kept {
 public:
  void keep(nb::handle tensors) {
    const Torch& torch = Torch::get();
    for (const nb::handle tensor : nb::cast<nb::list>(tensors))
      arrays_.push_back(tensor.attr(torch.detach)().attr(torch.numpy)());
  }

 private:
  std::vector<nb::object> arrays_;
};

inline void require_count(const nb::list& list, std::size_t count, const char* name) {
  if (list.size() != count) refuse(name, std::to_string(count) + " tensors, got " + std::to_string(list.size()));
}

// Return the weights. tensors: in the order of the layer's parameters, which is controller layers,
// heads, output; for each the weight, then the bias.
template <typename T>
WeightsOf<T*> weights_of(const Sizes& s, const nb::list& tensors, const char* name) {
  require_count(tensors, 2 * (s.layers + 2), name);
  std::vector<LinearOf<T*>> maps;
  for (const Shape& shape : map_shapes(s)) {
    const std::size_t next = 2 * maps.size();
    T* const weight = elements_of<T>(tensors[next], shape.size(), name);
    maps.push_back({weight, elements_of<T>(tensors[next + 1], shape.rows, name)});
  }
  return {{maps.begin(), maps.end() - 2}, maps.end()[-2], maps.end()[-1]};
}

// Return the LSTM's weights. tensors: `below` and `own` of each layer, output, its bias, the start.
template <typename T>
LSTMWeightsOf<T*> lstm_weights_of(const LSTMSizes& s, const nb::list& tensors, const char* name) {
  require_count(tensors, 2 * s.layers + 4, name);
  std::size_t next = 0;
  const auto part = [&](std::initializer_list<Index> shape) {
    return elements_of<T>(tensors[next++], product(shape), name);
  };
  LSTMWeightsOf<T*> weights;
  for (Index l = 0; l < s.layers; ++l) {
    T* const below = part({4, s.units, s.below(l)});
    weights.layers.push_back({below, part({4, s.units, s.units})});
  }
  weights.output.weight = part({s.outputs, s.layers, s.units});
  weights.output.bias = part({s.outputs});
  weights.start_hidden = part({s.layers, s.units});
  weights.start_cell = part({s.layers, s.units});
  return weights;
}

// Return a state of `sequences` sequences. tensors: its parts, or None if `may_be_null`. The last
// two are empty for a feedforward controller and may then be left out.
template <typename T>
StateOf<T*> state_of(const Sizes& s, Index sequences, const nb::list& tensors, const char* name,
                     bool may_be_null = false) {
  if (s.recurrent() || tensors.size() != kHidden) require_count(tensors, kParts, name);
  const auto shapes = state_shapes(s);
  StateOf<T*> state = {};
  for (std::size_t part = 0; part < tensors.size(); ++part) {
    const Index count = product({sequences, shapes[part].rows, shapes[part].columns});
    state[part] =
        may_be_null ? elements_or_null<T>(tensors[part], count, name) : elements_of<T>(tensors[part], count, name);
  }
  return state;
}

// Return the weightings of all steps. tensors: read heads, write heads; None if not requested.
template <typename T>
WeightingsOf<T*> weightings_of(const Sizes& s, Index steps, Index sequences, const nb::list& tensors,
                               const char* name) {
  require_count(tensors, 2, name);
  const auto part = [&](std::size_t i, Index heads) {
    return elements_or_null<T>(tensors[i], product({steps, sequences, heads, s.locations}), name);
  };
  return {part(0, s.read_heads), part(1, s.write_heads)};
}

// Refuse lengths beyond the steps: the kernels would leave their arrays.
inline void require_lengths(const Batch& batch) {
  for (Index b = 0; batch.lengths && b < batch.sequences; ++b)
    if (batch.lengths[b] < 0 || batch.lengths[b] > batch.steps)
      throw std::invalid_argument("lengths must lie between 0 and " + std::to_string(batch.steps) +
                                  ", the steps of x; got " + std::to_string(batch.lengths[b]) + ".");
}

inline Batch batch_of(Index steps, Index sequences, nb::handle lengths, Index threads, bool shared_start) {
  if (steps < 1 || sequences < 1) throw std::invalid_argument("a batch has at least one step and one sequence");
  product({steps + 1, sequences});
  constexpr Index most_threads = 1024;
  const Batch batch = {steps,
                       sequences,
                       elements_or_null<const std::int64_t>(lengths, sequences, "lengths"),
                       std::min(std::max<Index>(threads, 1), most_threads),
                       false,
                       shared_start};
  require_lengths(batch);
  return batch;
}

// Return the sizes, or refuse sizes for which the index arithmetic of the kernels could overflow.
inline Sizes checked(Sizes s) {
  constexpr Index most = Index(1) << 31;
  for (const Index size : {s.inputs, s.outputs, s.units, s.layers, s.locations, s.width, s.read_heads, s.write_heads,
                           Index(s.shifts.size())})
    if (size < 1 || size > most) throw std::invalid_argument("sizes must be from 1 to 2^31");
  for (const Index shift : s.shifts)
    if (shift < -most || shift > most) throw std::invalid_argument("shifts must be within 2^31");
  if (std::size_t(s.controller) >= std::size(kControllerGates)) throw std::invalid_argument("no such controller");
  if (!s.recurrent() && s.layers != 1) throw std::invalid_argument("a feedforward controller has one layer");
  const Index heads = s.read_heads + s.write_heads, emitted = 3 * s.width + 10 + Index(s.shifts.size());
  product({64, heads, emitted, s.units});
  product({64, heads, s.locations, s.width});
  product({64, s.layers, s.units, s.inputs + s.units});
  product({64, s.layers, s.units, s.read_heads, s.width});
  product({64, s.outputs, s.units});
  product({64, s.outputs, s.read_heads, s.width});
  return s;
}

inline LSTMSizes checked(const LSTMSizes& s) {
  constexpr Index most = Index(1) << 31;
  for (const Index size : {s.inputs, s.outputs, s.units, s.layers})
    if (size < 1 || size > most) throw std::invalid_argument("sizes must be from 1 to 2^31");
  product({64, s.layers, s.units, s.inputs + s.units});
  product({64, s.layers, s.units, s.outputs});
  return s;
}

// Return the number of elements of the tape; without keep there is none.
inline Index checked_tape_size(Index steps, Index sequences, bool keep, const Sizes& sizes) {
  if (steps < 1 || sequences < 1) throw std::invalid_argument("a batch has at least one step and one sequence");
  if (!keep) return 0;
  product({steps + 1, sequences, tape_size(1, 1, sizes)});
  return tape_size(steps, sequences, sizes);
}

}  // namespace ntm::NTM_TARGET

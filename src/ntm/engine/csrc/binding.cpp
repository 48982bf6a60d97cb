// The Python side of contract.h. Arrays arrive as addresses: engine/native.py owns the tensors, checks them and passes
// `Tensor.data_ptr()`, which costs a tenth of a protocol-based conversion. Nothing here is public.

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <stdexcept>
#include <string>

#include "contract.h"

#define NTM_TEXT(name) #name
#define NTM_NAME(name) NTM_TEXT(name)
#define NTM_JOIN(a, b) a##b
#define NTM_MODULE(target) NTM_JOIN(_native_, target)

namespace nb = nanobind;

namespace ntm::NTM_TARGET {

using Address = std::uintptr_t;
using Addresses = std::vector<Address>;

template <typename Pointer>
Pointer at(Address address) {
  return reinterpret_cast<Pointer>(address);
}

// Addresses in the order of the layer's parameters: controller layers, heads, output; weight, then bias.
template <typename Pointer>
WeightsOf<Pointer> weights_at(const Sizes& sizes, const Addresses& a) {
  if (Index(a.size()) != 2 * (sizes.layers + 2)) throw std::invalid_argument("wrong number of weights");
  const auto map = [&](Index i) { return LinearOf<Pointer>{at<Pointer>(a[2 * i]), at<Pointer>(a[2 * i + 1])}; };
  WeightsOf<Pointer> weights;
  for (Index l = 0; l < sizes.layers; ++l) weights.controller.push_back(map(l));
  weights.heads = map(sizes.layers);
  weights.output = map(sizes.layers + 1);
  return weights;
}

template <typename Pointer>
StateOf<Pointer> state_at(const Addresses& a) {
  if (a.size() != 6) throw std::invalid_argument("a state has six parts");
  return {at<Pointer>(a[0]), at<Pointer>(a[1]), at<Pointer>(a[2]),
          at<Pointer>(a[3]), at<Pointer>(a[4]), at<Pointer>(a[5])};
}

template <typename T>
HeadRecord<T> head_record_at(const Address* a) {
  return {at<T*>(a[0]), at<T*>(a[1]), at<T*>(a[2]), at<T*>(a[3]), at<T*>(a[4]),
          at<T*>(a[5]), at<T*>(a[6]), at<T*>(a[7]), at<T*>(a[8])};
}

// A length beyond the steps would make the kernels leave their arrays.
Batch batch_at(Index steps, Index sequences, Address lengths, Index threads) {
  const Batch batch = {steps, sequences, at<const std::int64_t*>(lengths), threads};
  for (Index b = 0; batch.lengths && b < sequences; ++b)
    if (batch.lengths[b] < 0 || batch.lengths[b] > steps)
      throw std::invalid_argument("lengths must lie between 0 and " + std::to_string(steps) + ", the steps of x; got " +
                                  std::to_string(batch.lengths[b]) + ".");
  return batch;
}

// Graves' RMSProp over rows of (count, parameter, gradient, mean_square, mean, delta).
template <typename T>
class Optimiser {
 public:
  explicit Optimiser(const std::vector<Addresses>& rows) {
    for (const Addresses& a : rows)
      on_.push_back({Index(a.at(0)), at<T*>(a.at(1)), at<const T*>(a.at(2)), at<T*>(a.at(3)), at<T*>(a.at(4)),
                     at<T*>(a.at(5))});
  }

  // False, and nothing is changed, where a gradient is not finite.
  bool step(double rate, double decay, double momentum, double epsilon, double clip) const {
    const nb::gil_scoped_release release;
    for (const auto& one : on_)
      if (!all_finite<T>(one.count, one.gradient)) return false;
    for (const auto& one : on_) rmsprop<T>(one, {rate, decay, momentum, epsilon, clip});
    return true;
  }

 private:
  std::vector<Optimised<T>> on_;
};

// The instruction sets this processor runs, best first.
std::vector<std::string> supported() {
  std::vector<std::string> names;
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw"))
    names.push_back("avx512");
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) names.push_back("avx2");
#endif
  names.push_back("baseline");
  return names;
}

// Each function twice, under one name with the suffix of its precision.
template <typename T>
void define(nb::module_& m, const std::string& suffix) {
  const auto name = [&](const char* function) { return function + suffix; };
  m.def(
      name("forward_").c_str(),
      [](const Sizes& sizes, Index steps, Index sequences, Address lengths, Index threads, const Addresses& weights,
         Address x, Index time_stride, Index batch_stride, const Addresses& start, bool keep, Address tape,
         Address logits, const Addresses& final) {
        const nb::gil_scoped_release release;
        forward<T>(sizes, batch_at(steps, sequences, lengths, threads), weights_at<const T*>(sizes, weights),
                   {at<const T*>(x), time_stride, batch_stride}, state_at<const T*>(start), keep, at<T*>(tape),
                   at<T*>(logits), state_at<T*>(final));
      });
  m.def(
      name("backward_").c_str(),
      [](const Sizes& sizes, Index steps, Index sequences, Address lengths, Index threads, const Addresses& weights,
         Address tape, Address dlogits, const Addresses& dfinal, Address dx, const Addresses& dweights,
         const Addresses& dstart) {
        const nb::gil_scoped_release release;
        backward<T>(sizes, batch_at(steps, sequences, lengths, threads), weights_at<const T*>(sizes, weights),
                    at<const T*>(tape), at<const T*>(dlogits), state_at<const T*>(dfinal), at<T*>(dx),
                    weights_at<T*>(sizes, dweights), state_at<T*>(dstart));
      });
  // Addresses: hidden, reads, erases, adds, memory (or 0), then nine arrays of the read heads and nine of the write
  // heads, in the order of HeadRecord.
  m.def(
      name("record_").c_str(),
      [](const Sizes& sizes, Index steps, Index sequences, Address lengths, Address tape, const Addresses& a) {
        if (a.size() != 23) throw std::invalid_argument("a record has 23 arrays");
        const nb::gil_scoped_release release;
        record<T>(sizes, batch_at(steps, sequences, lengths, 1), at<const T*>(tape),
                  {at<T*>(a[0]), at<T*>(a[1]), at<T*>(a[2]), at<T*>(a[3]), at<T*>(a[4]), head_record_at<T>(&a[5]),
                   head_record_at<T>(&a[14])});
      });
  nb::class_<Gradients<T>>(m, name("Gradients_").c_str())
      .def("__init__",
           [](Gradients<T>* self, const Sizes& sizes, const Addresses& weights, const Addresses& dweights,
              const Addresses& start, const Addresses& dstart) {
             new (self) Gradients<T>(sizes, weights_at<const T*>(sizes, weights), weights_at<T*>(sizes, dweights),
                                     state_at<const T*>(start), state_at<T*>(dstart));
           })
      .def("compute", [](Gradients<T>& self, Index steps, Index sequences, Address lengths, Index threads, Address x,
                         Index x_time, Index x_batch, Address targets, Index targets_time, Index targets_batch,
                         Address mask, Index mask_time, Index mask_batch) {
        const nb::gil_scoped_release release;
        return self.compute(batch_at(steps, sequences, lengths, threads), {at<const T*>(x), x_time, x_batch},
                            {at<const T*>(targets), targets_time, targets_batch},
                            {at<const T*>(mask), mask_time, mask_batch});
      });
  nb::class_<Optimiser<T>>(m, name("Optimiser_").c_str())
      .def(nb::init<const std::vector<Addresses>&>())
      .def("step", &Optimiser<T>::step);
}

NB_MODULE(NTM_MODULE(NTM_TARGET), m) {
  nb::class_<Sizes>(m, "Sizes")
      .def(
          "__init__",
          [](Sizes* self, bool lstm, Index inputs, Index outputs, Index units, Index layers, Index locations,
             Index width, Index read_heads, Index write_heads, std::vector<Index> shifts, bool scalar_shift,
             double similarity_epsilon, double sharpening_epsilon, double backward_clip) {
            new (self) Sizes{lstm,        inputs,     outputs,      units,  layers,       locations,         width,
                             read_heads,  write_heads, std::move(shifts), scalar_shift, similarity_epsilon,
                             sharpening_epsilon, backward_clip};
          },
          nb::kw_only(), nb::arg("lstm"), nb::arg("inputs"), nb::arg("outputs"), nb::arg("units"), nb::arg("layers"),
          nb::arg("locations"), nb::arg("width"), nb::arg("read_heads"), nb::arg("write_heads"), nb::arg("shifts"),
          nb::arg("scalar_shift"), nb::arg("similarity_epsilon"), nb::arg("sharpening_epsilon"),
          nb::arg("backward_clip"))
      .def_ro("units", &Sizes::units)
      .def_ro("shifts", &Sizes::shifts);
  m.attr("target") = NTM_NAME(NTM_TARGET);
  m.def("supported", supported);
  m.def("tape_size", tape_size);
  define<float>(m, "float");
  define<double>(m, "double");
}

}  // namespace ntm::NTM_TARGET

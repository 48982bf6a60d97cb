// Check at every call whether a tree of Python modules is still as engine/recognition.py found it.
#pragma once

#include "tensors.h"

namespace ntm::NTM_TARGET {

// Whether two dicts have the same objects under the same keys, in the same order.
inline bool same_items(nb::handle a, nb::handle b) {
  if (!PyDict_Check(a.ptr()) || !PyDict_Check(b.ptr())) refuse("dicts and copies", "dicts");
  if (PyDict_Size(a.ptr()) != PyDict_Size(b.ptr())) return false;
  PyObject *key_a, *value_a, *key_b, *value_b;
  Py_ssize_t at_a = 0, at_b = 0;
  while (PyDict_Next(a.ptr(), &at_a, &key_a, &value_a) && PyDict_Next(b.ptr(), &at_b, &key_b, &value_b))
    if (key_a != key_b || value_a != value_b) return false;
  return true;
}

inline bool has_shape(nb::handle tensor, nb::handle shape, const Torch& torch) {
  TensorView view;
  if (!torch.exchange) return tensor.attr(torch.shape).equal(shape);
  if (torch.exchange->view(tensor.ptr(), &view) != 0) throw nb::python_error();
  const auto sizes = nb::cast<nb::tuple>(shape);
  if (view.dimensions != int(sizes.size())) return false;
  for (int i = 0; i < view.dimensions; ++i)
    if (view.shape[i] != nb::cast<Index>(sizes[i])) return false;
  return true;
}

// Whether a tree is unchanged. types and attributes: the former type and __dict__ of each module.
// copies: the former contents of each dict that matters. shapes: the former shape of each tensor.
inline bool unchanged(const nb::list& modules, const nb::list& types, const nb::list& attributes, const nb::list& dicts,
                      const nb::list& copies, const nb::list& tensors, const nb::list& shapes) {
  const Torch& torch = Torch::get();
  require_count(types, modules.size(), "types");
  require_count(attributes, modules.size(), "attributes");
  require_count(copies, dicts.size(), "copies");
  require_count(shapes, tensors.size(), "shapes");
  for (std::size_t i = 0; i < modules.size(); ++i)
    if (!modules[i].type().is(types[i]) || !modules[i].attr(torch.dict).is(attributes[i])) return false;
  for (std::size_t i = 0; i < dicts.size(); ++i)
    if (!same_items(dicts[i], copies[i])) return false;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const nb::handle type = nb::handle(tensors[i]).type();
    if (!type.is(torch.parameter) || !has_shape(tensors[i], shapes[i], torch)) return false;
  }
  return true;
}

}  // namespace ntm::NTM_TARGET

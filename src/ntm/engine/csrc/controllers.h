// Section 3.4: activations of both controllers for one sequence, without the linear maps.
#pragma once

#include "heads.h"

namespace ntm::NTM_TARGET {

// Feedforward: h = tanh(values), and dvalues from dh.
template <typename T>
void feedforward(T* h, const T* values, Index units) {
  map(h, units, [](Vec<T> x) { return tanh<T>(x); }, values);
}

template <typename T>
void feedforward_backward(T* dvalues, const T* dh, const T* h, Index units) {
  map(dvalues, units, [](Vec<T> d, Vec<T> y) { return d * (T(1) - y * y); }, dh, h);
}

// One LSTM layer. gates (i, f, g, o) holds the linear map's values, which are squashed in place.
template <typename T>
void lstm(T* h, T* cell, T* gates, const T* previous_cell, Index units) {
  map(gates, 2 * units, [](Vec<T> x) { return sigmoid<T>(x); }, gates);
  map(gates + 2 * units, units, [](Vec<T> x) { return tanh<T>(x); }, gates + 2 * units);
  map(gates + 3 * units, units, [](Vec<T> x) { return sigmoid<T>(x); }, gates + 3 * units);
  const T *i = gates, *f = i + units, *g = f + units, *o = g + units;
  for (Index u = 0; u < units; ++u) cell[u] = f[u] * previous_cell[u] + i[u] * g[u];
  map(h, units, [](Vec<T> gate, Vec<T> c) { return gate * tanh<T>(c); }, o, static_cast<const T*>(cell));
}

// Compute dvalues (i, f, g, o) from dh and dcell. dcell becomes the gradient of the previous cell.
// dvalues may be gates.
template <typename T>
void lstm_backward(T* dvalues, T* dcell, const T* dh, const T* gates, const T* cell, const T* previous_cell,
                   Index units) {
  constexpr Index lanes = kLanes<T>;
  for (Index u = 0; u < units; u += lanes) {
    const int left = int(std::min(lanes, units - u));
    const auto get = [&](const T* from) { return left == lanes ? load(from + u) : load_partial(from + u, left); };
    const auto put = [&](T* to, Vec<T> v) { left == lanes ? store<T>(to + u, v) : store_partial<T>(to + u, v, left); };
    const Vec<T> i = get(gates), f = get(gates + units), g = get(gates + 2 * units), o = get(gates + 3 * units);
    const Vec<T> y = tanh<T>(get(cell)), d = get(dh), dc = get(dcell) + d * o * (1 - y * y);
    put(dvalues, dc * g * i * (1 - i));
    put(dvalues + units, dc * get(previous_cell) * f * (1 - f));
    put(dvalues + 2 * units, dc * i * (1 - g * g));
    put(dvalues + 3 * units, d * y * o * (1 - o));
    put(dcell, dc * f);
  }
}

// One layer of the controller, by its kind. Without recurrent layers, the cells are null.
template <typename T>
void control_layer(T* h, T* cell, T* values, const T* previous_cell, const Plan& plan) {
  switch (plan.controller) {
    case Controller::feedforward:
      return feedforward(h, values, plan.units);
    case Controller::lstm:
      return lstm(h, cell, values, previous_cell, plan.units);
  }
}

// values: as `control_layer` left them.
template <typename T>
void control_layer_backward(T* dvalues, T* dcell, const T* dh, const T* values, const T* h, const T* cell,
                            const T* previous_cell, const Plan& plan) {
  switch (plan.controller) {
    case Controller::feedforward:
      return feedforward_backward(dvalues, dh, h, plan.units);
    case Controller::lstm:
      return lstm_backward(dvalues, dcell, dh, values, cell, previous_cell, plan.units);
  }
}

}  // namespace ntm::NTM_TARGET

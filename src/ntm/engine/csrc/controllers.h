// Section 3.4: the activations of both controllers for one sequence; the linear maps are the callers'.
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

// One LSTM layer. gates (i, f, g, o) hold the linear map's values and are squashed in place.
template <typename T>
void lstm(T* h, T* cell, T* gates, const T* previous_cell, Index units) {
  map(gates, 2 * units, [](Vec<T> x) { return sigmoid<T>(x); }, gates);
  map(gates + 2 * units, units, [](Vec<T> x) { return tanh<T>(x); }, gates + 2 * units);
  map(gates + 3 * units, units, [](Vec<T> x) { return sigmoid<T>(x); }, gates + 3 * units);
  const T *i = gates, *f = i + units, *g = f + units, *o = g + units;
  for (Index u = 0; u < units; ++u) cell[u] = f[u] * previous_cell[u] + i[u] * g[u];
  map(h, units, [](Vec<T> gate, Vec<T> c) { return gate * tanh<T>(c); }, o, static_cast<const T*>(cell));
}

// dvalues (i, f, g, o) from dh and dcell, which becomes the gradient of the previous cell.
template <typename T>
void lstm_backward(T* dvalues, T* dcell, const T* dh, const T* gates, const T* cell, const T* previous_cell,
                   Index units, Scratch<T>& tanh_cell) {
  map(tanh_cell.data(), units, [](Vec<T> c) { return tanh<T>(c); }, cell);
  const T *i = gates, *f = i + units, *g = f + units, *o = g + units;
  T *di = dvalues, *df = di + units, *dg = df + units, *d_o = dg + units;
  for (Index u = 0; u < units; ++u) {
    const T y = tanh_cell[u], dc = dcell[u] + dh[u] * o[u] * (1 - y * y);
    di[u] = dc * g[u] * i[u] * (1 - i[u]);
    df[u] = dc * previous_cell[u] * f[u] * (1 - f[u]);
    dg[u] = dc * i[u] * (1 - g[u] * g[u]);
    d_o[u] = dh[u] * y * o[u] * (1 - o[u]);
    dcell[u] = dc * f[u];
  }
}

}  // namespace ntm::NTM_TARGET

// Graves' RMSProp on one parameter, and a check that its gradient is finite.
#pragma once

#include "groups.h"

namespace ntm::NTM_TARGET {

template <typename T>
void rmsprop(const Optimised<T>& on, const RMSPropSettings& settings) {
  const FlushDenormals mode;
  constexpr Index lanes = kLanes<T>;
  const T rate = T(settings.rate), decay = T(settings.decay), momentum = T(settings.momentum);
  const T epsilon = T(settings.epsilon), clip = T(settings.clip), fresh = T(1 - settings.decay);
  for (Index i = 0; i < on.count; i += lanes) {
    const int left = int(std::min<Index>(lanes, on.count - i));
    const auto get = [&](const T* from) { return left == lanes ? load(from + i) : load_partial(from + i, left); };
    const auto put = [&](T* to, Vec<T> v) { left == lanes ? store<T>(to + i, v) : store_partial<T>(to + i, v, left); };
    const Vec<T> g = min<T>(max<T>(get(on.gradient), broadcast<T>(-clip)), broadcast<T>(clip));
    const Vec<T> n = decay * get(on.mean_square) + fresh * g * g;
    const Vec<T> m = decay * get(on.mean) + fresh * g;
    // A variance is never negative, but the rounded difference of two nearly equal numbers can be.
    const Vec<T> d = momentum * get(on.delta) - rate * g / sqrt<T>(max<T>(n - m * m, Vec<T>{}) + epsilon);
    put(on.mean_square, n);
    put(on.mean, m);
    put(on.delta, d);
    put(on.parameter, get(on.parameter) + d);
  }
}

// Any NaN or infinity makes the sum of x - x differ from zero.
template <typename T>
bool all_finite(const T* values, Index count) {
  constexpr Index lanes = kLanes<T>;
  Vec<T> sum = {};
  Index i = 0;
  for (; i + lanes <= count; i += lanes) {
    const Vec<T> v = load(values + i);
    sum += v - v;
  }
  T rest = sum_of<T>(sum);
  for (; i < count; ++i) rest += values[i] - values[i];
  return rest == 0;
}

}  // namespace ntm::NTM_TARGET

// From the raw values that the controller emits to the squashed ones that section 3 uses; forward and backward.
#pragma once

#include "addressing.h"

namespace ntm::NTM_TARGET {

// y[i] = function(x[i], ...) for `count` elements; function takes and returns vectors. y may be x. The last vector
// overlaps the one before it, and is computed before that is stored.
template <typename T, typename Function, typename... From>
void map(T* y, Index count, const Function& function, const From*... x) {
  constexpr Index lanes = kLanes<T>;
  if (count < lanes) {
    store_partial<T>(y, function(load_partial(x, int(count))...), int(count));
    return;
  }
  const Vec<T> last = function(load(x + count - lanes)...);
  for (Index i = 0; i + lanes < count; i += lanes) store<T>(y + i, function(load(x + i)...));
  store<T>(y + count - lanes, last);
}

// Bounds the gradients of a linear map's values at one step. A NaN stays one.
template <typename T>
void clip(T* gradients, Index count, const Plan& plan) {
  if (std::isinf(plan.backward_clip)) return;
  const Vec<T> limit = broadcast<T>(T(plan.backward_clip));
  map(gradients, count, [=](Vec<T> d) { return min<T>(limit, max<T>(-limit, d)); }, gradients);
}

template <typename T>
T softplus(T x) {
  return std::max(x, T(0)) + std::log1p(std::exp(-std::abs(x)));
}

// The derivative of softplus, from its value.
template <typename T>
T softplus_slope(T value) {
  return -std::expm1(-value);
}

template <typename T>
void squash_shift(T* head, const T* raw, const HeadLayout& at, const Plan& plan) {
  const Index count = Index(plan.shifts.size());
  if (!plan.scalar_shift) {
    const T top = *std::max_element(raw, raw + count);
    T sum = 0;
    for (Index k = 0; k < count; ++k) sum += head[at.shift + k] = std::exp(raw[k] - top);
    for (Index k = 0; k < count; ++k) head[at.shift + k] /= sum;
    return;
  }
  const T span = T(plan.shifts.back() - plan.shifts.front());
  head[at.level] = 1 / (1 + std::exp(-raw[0]));
  const T position = T(plan.shifts.front()) + span * head[at.level];
  for (Index k = 0; k < count; ++k)
    head[at.shift + k] = std::max(1 - std::abs(position - T(plan.shifts[k])), T(0));
}

template <typename T>
void squash_shift_backward(T* draw, const T* dshift, const T* head, const HeadLayout& at, const Plan& plan) {
  const Index count = Index(plan.shifts.size());
  const T* shift = head + at.shift;
  if (!plan.scalar_shift) {
    T mean = 0;
    for (Index k = 0; k < count; ++k) mean += shift[k] * dshift[k];
    for (Index k = 0; k < count; ++k) draw[k] = shift[k] * (dshift[k] - mean);
    return;
  }
  const T span = T(plan.shifts.back() - plan.shifts.front());
  const T level = head[at.level], position = T(plan.shifts.front()) + span * level;
  T dposition = 0;
  for (Index k = 0; k < count; ++k) {
    const T distance = position - T(plan.shifts[k]);
    if (std::abs(distance) <= 1) dposition -= dshift[k] * T((distance > 0) - (distance < 0));
  }
  draw[0] = dposition * span * level * (1 - level);
}

// All heads of a kind, at one step of one sequence.
template <typename T>
void squash(T* squashed, const T* raw, const HeadKind& kind, bool writes, const Plan& plan) {
  const HeadLayout& to = kind.squashed;
  const RawHeadLayout& from = kind.raw;
  for (Index h = 0; h < kind.count; ++h, squashed += to.size, raw += from.size) {
    map(squashed + to.key, plan.width, [](Vec<T> x) { return tanh<T>(x); }, raw + from.key);
    squashed[to.strength] = softplus(raw[from.strength]);
    squashed[to.gate] = 1 / (1 + std::exp(-raw[from.gate]));
    squashed[to.excess] = softplus(raw[from.sharpness]);
    squash_shift(squashed, raw + from.shift, to, plan);
    if (!writes) continue;
    map(squashed + to.erase, plan.width, [](Vec<T> x) { return sigmoid<T>(x); }, raw + from.erase);
    map(squashed + to.add, plan.width, [](Vec<T> x) { return tanh<T>(x); }, raw + from.add);
  }
}

// draw from dsquashed (same layouts), for all heads of a kind.
template <typename T>
void squash_backward(T* draw, const T* dsquashed, const T* squashed, const HeadKind& kind, bool writes,
                     const Plan& plan) {
  const HeadLayout& from = kind.squashed;
  const RawHeadLayout& to = kind.raw;
  const auto tanh_slope = [](Vec<T> d, Vec<T> y) { return d * (T(1) - y * y); };
  const auto sigmoid_slope = [](Vec<T> d, Vec<T> y) { return d * (y * (T(1) - y)); };
  for (Index h = 0; h < kind.count; ++h, draw += to.size, dsquashed += from.size, squashed += from.size) {
    map(draw + to.key, plan.width, tanh_slope, dsquashed + from.key, squashed + from.key);
    const T gate = squashed[from.gate];
    draw[to.strength] = dsquashed[from.strength] * softplus_slope(squashed[from.strength]);
    draw[to.gate] = dsquashed[from.gate] * gate * (1 - gate);
    draw[to.sharpness] = dsquashed[from.excess] * softplus_slope(squashed[from.excess]);
    squash_shift_backward(draw + to.shift, dsquashed + from.shift, squashed, from, plan);
    if (!writes) continue;
    map(draw + to.erase, plan.width, sigmoid_slope, dsquashed + from.erase, squashed + from.erase);
    map(draw + to.add, plan.width, tanh_slope, dsquashed + from.add, squashed + from.add);
  }
}

}  // namespace ntm::NTM_TARGET

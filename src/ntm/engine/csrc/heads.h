// Squashing: from the heads' raw values to the values that section 3 uses; forward and backward.
#pragma once

#include "addressing.h"

namespace ntm::NTM_TARGET {

// y[i] = function(x[i], ...) for `count` elements; function takes and returns vectors. y may be x.
// The last vector overlaps the vector before it, so it is computed first.
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

// Limit the gradients of a linear map's values at one step. NaN stays NaN.
template <typename T>
void clip(T* gradients, Index count, const Plan& plan) {
  if (std::isinf(plan.backward_clip)) return;
  const Vec<T> limit = broadcast<T>(T(plan.backward_clip));
  map(gradients, count, [=](Vec<T> d) { return min<T>(limit, max<T>(-limit, d)); }, gradients);
}

// Call use(i, kind, head, raw) for every head: its number and kind, the offsets of its squashed
// values and of its raw values.
template <typename Use>
void for_each_head(const Plan& plan, const Use& use) {
  Index i = 0;
  for (const HeadKind* kind : {&plan.read, &plan.write})
    for (Index h = 0; h < kind->count; ++h, ++i)
      use(i, *kind, kind->first_squashed + h * kind->squashed.size, kind->first_raw + h * kind->raw.size);
}

// Scalars of all heads side by side: a function of one vector costs no more than of one scalar.
// Order: strengths, sharpnesses, gates, levels. The shifts are in a separate array.
template <typename T>
class HeadNumbers {
 public:
  explicit HeadNumbers(const Plan& plan)
      : heads_(plan.read_heads + plan.write_heads),
        raw_(padded(4 * heads_)),
        sigmoids_(raw_.size()),
        softplus_(raw_.size()),
        shifts_(padded(heads_ * plan.shift_outputs)) {}

  void squash(T* squashed, const T* raw, const Plan& plan) {
    for_each_head(plan,
                  [&](Index i, const HeadKind& kind, Index, Index from) { gather(i, raw + from, kind.raw, plan); });
    for (std::size_t k = 0; k < raw_.size(); k += kLanes<T>) {
      const Vec<T> x = load(&raw_[k]), e = exp<T>(-abs<T>(x));
      store<T>(&sigmoids_[k], (x < 0 ? e : T(1) - Vec<T>{}) / (T(1) + e));
      store<T>(&softplus_[k], max<T>(x, Vec<T>{}) + log1p<T>(e));
    }
    for (std::size_t k = 0; k < shifts_.size(); k += kLanes<T>) store<T>(&shifts_[k], exp<T>(load(&shifts_[k])));
    for_each_head(plan,
                  [&](Index i, const HeadKind& kind, Index to, Index) { give(squashed + to, i, kind.squashed, plan); });
  }

 private:
  void gather(Index i, const T* raw, const RawHeadLayout& from, const Plan& plan) {
    const T* shift = raw + from.shift;
    raw_[i] = raw[from.strength];
    raw_[heads_ + i] = raw[from.sharpness];
    raw_[2 * heads_ + i] = raw[from.gate];
    raw_[3 * heads_ + i] = shift[0];
    const T top = *std::max_element(shift, shift + plan.shift_outputs);
    for (Index k = 0; k < plan.shift_outputs; ++k) shifts_[i * plan.shift_outputs + k] = shift[k] - top;
  }

  void give(T* head, Index i, const HeadLayout& to, const Plan& plan) const {
    head[to.strength] = softplus_[i];
    head[to.excess] = softplus_[heads_ + i];
    head[to.gate] = sigmoids_[2 * heads_ + i];
    head[to.level] = sigmoids_[3 * heads_ + i];
    head[to.strength_slope] = sigmoids_[i];
    head[to.excess_slope] = sigmoids_[heads_ + i];
    plan.scalar_shift ? give_level(head, to, plan) : give_softmax(head + to.shift, i, plan);
  }

  void give_softmax(T* shift, Index i, const Plan& plan) const {
    const T* powers = &shifts_[i * plan.shift_outputs];
    T sum = 0;
    for (Index k = 0; k < plan.shift_outputs; ++k) sum += powers[k];
    for (Index k = 0; k < plan.shift_outputs; ++k) shift[k] = powers[k] / sum;
  }

  void give_level(T* head, const HeadLayout& to, const Plan& plan) const {
    const T position = T(plan.shifts.front()) + T(plan.shifts.back() - plan.shifts.front()) * head[to.level];
    for (std::size_t k = 0; k < plan.shifts.size(); ++k)
      head[to.shift + k] = std::max(1 - std::abs(position - T(plan.shifts[k])), T(0));
  }

  Index heads_;
  Scratch<T> raw_, sigmoids_, softplus_, shifts_;
};

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

// Squash the values of all heads at one step of one sequence.
template <typename T>
void squash(T* squashed, const T* raw, HeadNumbers<T>& numbers, const Plan& plan) {
  numbers.squash(squashed, raw, plan);
  const auto tanh_of = [](Vec<T> x) { return tanh<T>(x); };
  for_each_head(plan, [&](Index i, const HeadKind& kind, Index to, Index from) {
    T* head = squashed + to;
    const T* values = raw + from;
    map(head + kind.squashed.key, plan.width, tanh_of, values + kind.raw.key);
    if (i < plan.read_heads) return;
    map(head + kind.squashed.erase, plan.width, [](Vec<T> x) { return sigmoid<T>(x); }, values + kind.raw.erase);
    map(head + kind.squashed.add, plan.width, tanh_of, values + kind.raw.add);
  });
}

// Compute draw (raw layout) from dsquashed (squashed layout) for all heads of a kind.
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
    draw[to.strength] = dsquashed[from.strength] * squashed[from.strength_slope];
    draw[to.gate] = dsquashed[from.gate] * gate * (1 - gate);
    draw[to.sharpness] = dsquashed[from.excess] * squashed[from.excess_slope];
    squash_shift_backward(draw + to.shift, dsquashed + from.shift, squashed, from, plan);
    if (!writes) continue;
    map(draw + to.erase, plan.width, sigmoid_slope, dsquashed + from.erase, squashed + from.erase);
    map(draw + to.add, plan.width, tanh_slope, dsquashed + from.add, squashed + from.add);
  }
}

}  // namespace ntm::NTM_TARGET

// What a training step needs besides the network: the loss, the optimiser, and a watch over both.
#pragma once

#include <array>

#include "sequence.h"

namespace ntm::NTM_TARGET {

template <typename T>
Gradients<T>::Gradients(Sizes sizes, Weights<T> weights, WeightGradients<T> dweights, State<T> start,
                        MutableState<T> dstart)
    : sizes_(std::move(sizes)), weights_(std::move(weights)), dweights_(std::move(dweights)), start_(start),
      dstart_(dstart) {}

// Elements of each part of a state, per sequence.
inline std::array<Index, 6> state_sizes(const Sizes& s) {
  const Index hidden = s.lstm ? s.layers * s.units : 0;
  return {s.locations * s.width, s.read_heads * s.locations, s.write_heads * s.locations, s.read_heads * s.width,
          hidden, hidden};
}

template <typename Pointer>
std::array<Pointer, 6> parts(const StateOf<Pointer>& s) {
  return {s.memory, s.read_weightings, s.write_weightings, s.reads, s.hidden, s.cell};
}

template <typename Pointer, typename T>
StateOf<Pointer> as_state(std::vector<T> (&arrays)[6]) {
  return {arrays[0].data(), arrays[1].data(), arrays[2].data(), arrays[3].data(), arrays[4].data(), arrays[5].data()};
}

constexpr bool is_weighting(int part) { return part == 1 || part == 2; }

// weightings = softmax of each row of logits, and its backward; the weightings may stand in place of the logits.
template <typename T>
void softmax_rows(T* weightings, const T* logits, Index rows, Index columns) {
  std::vector<T> values(padded(columns));
  for (Index r = 0; r < rows; ++r) {
    std::copy_n(logits + r * columns, columns, values.begin());
    softmax(values.data(), values.data(), T(1), columns, Index(values.size()));
    std::copy_n(values.begin(), columns, weightings + r * columns);
  }
}

template <typename T>
void softmax_rows_backward(T* dlogits, const T* dweightings, const T* weightings, Index rows, Index columns) {
  for (Index r = 0; r < rows; ++r) {
    const T *w = weightings + r * columns, *d = dweightings + r * columns;
    T mean = 0;
    for (Index i = 0; i < columns; ++i) mean += w[i] * d[i];
    for (Index i = 0; i < columns; ++i) dlogits[r * columns + i] = w[i] * (d[i] - mean);
  }
}

template <typename T>
void Gradients<T>::set_start(Index sequences) {
  const auto sizes = state_sizes(sizes_);
  const auto from = parts(start_);
  for (int part = 0; part < 6; ++part) {
    for (auto* arrays : {starts_, finals_, dstarts_}) arrays[part].resize(sequences * sizes[part]);
    T* to = starts_[part].data();
    if (is_weighting(part))
      softmax_rows(to, from[part], sizes[part] / sizes_.locations, sizes_.locations);
    else
      std::copy_n(from[part], sizes[part], to);
    for (Index b = 1; b < sequences; ++b) std::copy_n(to, sizes[part], to + b * sizes[part]);
  }
}

// The cost, and its gradient with respect to the logits.
template <typename T>
double Gradients<T>::set_dlogits(const Batch& batch, const SequencesOf<const T*>& targets,
                                 const SequencesOf<const T*>& mask) {
  const T share = T(1) / T(batch.sequences);
  double nats = 0;
  for (Index t = 0; t < batch.steps; ++t)
    for (Index b = 0; b < batch.sequences; ++b) {
      const Index at = (t * batch.sequences + b) * sizes_.outputs;
      const T weight = mask.data[t * mask.time_stride + b * mask.batch_stride];
      if (weight == 0) {
        std::fill_n(&dlogits_[at], sizes_.outputs, T(0));
        continue;
      }
      const T* target = targets.data + t * targets.time_stride + b * targets.batch_stride;
      for (Index o = 0; o < sizes_.outputs; ++o) {
        const T z = logits_[at + o], e = std::exp(-std::abs(z));
        nats += weight * (std::max(z, T(0)) - z * target[o] + std::log1p(e));
        dlogits_[at + o] = weight * share * ((z >= 0 ? T(1) : e) / (1 + e) - target[o]);
      }
    }
  return nats / double(batch.sequences);
}

template <typename T>
void Gradients<T>::sum_dstart(Index sequences) {
  const auto sizes = state_sizes(sizes_);
  const auto to = parts(dstart_);
  for (int part = 0; part < 6; ++part) {
    T* sum = dstarts_[part].data();
    for (Index b = 1; b < sequences; ++b)
      for (Index i = 0; i < sizes[part]; ++i) sum[i] += sum[b * sizes[part] + i];
    if (is_weighting(part))
      softmax_rows_backward(to[part], sum, starts_[part].data(), sizes[part] / sizes_.locations, sizes_.locations);
    else
      std::copy_n(sum, sizes[part], to[part]);
  }
}

template <typename T>
double Gradients<T>::compute(Batch batch, const SequencesOf<const T*>& x, const SequencesOf<const T*>& targets,
                             const SequencesOf<const T*>& mask) {
  const FlushDenormals mode;
  batch.steps = *std::max_element(batch.lengths, batch.lengths + batch.sequences);
  const std::size_t tape = tape_size(sizes_, batch.steps, batch.sequences, true);
  if (tape_.size() < tape) tape_.resize(tape);
  logits_.assign(batch.steps * batch.sequences * sizes_.outputs, T(0));
  dlogits_.resize(logits_.size());
  set_start(batch.sequences);
  forward<T>(sizes_, batch, weights_, x, as_state<const T*>(starts_), true, tape_.data(), logits_.data(),
             as_state<T*>(finals_));
  const double nats = set_dlogits(batch, targets, mask);
  backward<T>(sizes_, batch, weights_, tape_.data(), dlogits_.data(), State<T>{}, nullptr, dweights_,
              as_state<T*>(dstarts_));
  sum_dstart(batch.sequences);
  return nats;
}

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
    // A variance is never negative, but the rounding of two large, nearly equal numbers can be.
    const Vec<T> d = momentum * get(on.delta) - rate * g / sqrt<T>(max<T>(n - m * m, Vec<T>{}) + epsilon);
    put(on.mean_square, n);
    put(on.mean, m);
    put(on.delta, d);
    put(on.parameter, get(on.parameter) + d);
  }
}

// Any NaN or infinity makes the sum of x - x differ from zero.
template <typename T>
bool all_finite(Index count, const T* values) {
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

// The loss: cross-entropy of the outputs over the scored steps, as bits or as one symbol per step.
#pragma once

#include "simd.h"

namespace ntm::NTM_TARGET {

// Cross-entropy of logits, summed over the scored steps. Bits: independent sigmoids of the logits.
// Symbols: softmax of the logits, with a one-hot target per step.
// share: factor of the gradients, 1 / B for the mean over the batch.
template <typename T>
struct Loss {
  const SequencesOf<const T*>&targets, &mask;
  Index outputs;
  T share;
  bool symbols;

  T weight(Index t, Index b) const { return mask.data[t * mask.time_stride + b * mask.batch_stride]; }

  // Return the cost of one step in nats, and write the gradient of the logits.
  double step(T* dlogits, const T* logits, Index t, Index b) const {
    const T* target = targets.data + t * targets.time_stride + b * targets.batch_stride;
    const T scored = weight(t, b);
    return symbols ? symbol(dlogits, logits, target, scored) : bits(dlogits, logits, target, scored);
  }

  // Return the cost of the steps beyond a sequence's length, scored as if the logits were zero.
  double beyond(Index length, Index steps, Index b) const {
    const double each = symbols ? std::log(double(outputs)) : double(outputs) * std::log(2.0);
    double nats = 0;
    for (Index t = length; t < steps; ++t) nats += weight(t, b) * each;
    return nats;
  }

 private:
  static constexpr Index lanes = kLanes<T>;

  double bits(T* dlogits, const T* logits, const T* target, T scored) const {
    double nats = 0;
    for (Index o = 0; o < outputs; o += lanes) {
      const int left = int(std::min(lanes, outputs - o));
      const Vec<T> z = load_partial(logits + o, left), y = load_partial(target + o, left);
      const Vec<T> e = exp<T>(-abs<T>(z));
      const Vec<T> cost = max<T>(z, Vec<T>{}) - z * y + log1p<T>(e);
      for (int i = 0; i < left; ++i) nats += cost[i];
      store_partial<T>(dlogits + o, scored * share * ((z >= 0 ? T(1) - Vec<T>{} : e) / (T(1) + e) - y), left);
    }
    return scored * nats;
  }

  // The largest logit is subtracted first, so that no exponential overflows and their sum is at
  // least 1. Its logarithm is log1p of the sum without that 1, which is accurate near zero, too.
  double symbol(T* dlogits, const T* logits, const T* target, T scored) const {
    const T largest = *std::max_element(logits, logits + outputs);
    double sum = 0, chosen = 0;  // chosen: the logit of the target, relative to the largest
    for (Index o = 0; o < outputs; o += lanes) {
      const int left = int(std::min(lanes, outputs - o));
      const Vec<T> z = load_partial(logits + o, left) - largest, e = exp<T>(z);
      const Vec<T> said = z * load_partial(target + o, left);
      for (int i = 0; i < left; ++i) sum += e[i], chosen += said[i];
      store_partial<T>(dlogits + o, e, left);
    }
    const T each = scored * share / T(sum);
    for (Index o = 0; o < outputs; ++o) dlogits[o] = each * dlogits[o] - scored * share * target[o];
    return scored * (double(log1p<T>(broadcast<T>(T(sum - 1)))[0]) - chosen);
  }
};

}  // namespace ntm::NTM_TARGET

// The loss: binary cross-entropy over the scored steps.
#pragma once

#include "simd.h"

namespace ntm::NTM_TARGET {

// Binary cross-entropy of logits, summed over the scored steps and the outputs. share: factor of
// the gradients, 1 / B for the mean over the batch.
template <typename T>
struct Loss {
  const SequencesOf<const T*>&targets, &mask;
  Index outputs;
  T share;

  T weight(Index t, Index b) const { return mask.data[t * mask.time_stride + b * mask.batch_stride]; }

  // Return the cost of one step in nats, and write the gradient of the logits.
  double step(T* dlogits, const T* logits, Index t, Index b) const {
    constexpr Index lanes = kLanes<T>;
    const T* target = targets.data + t * targets.time_stride + b * targets.batch_stride;
    const T scored = weight(t, b);
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

  // Return the cost of the steps beyond a sequence's length, scored as if the logits were zero.
  double beyond(Index length, Index steps, Index b) const {
    double nats = 0;
    for (Index t = length; t < steps; ++t) nats += weight(t, b) * double(outputs) * std::log(2.0);
    return nats;
  }
};

}  // namespace ntm::NTM_TARGET

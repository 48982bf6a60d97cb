// Section 3.3 for one sequence: content, interpolation, rotation, sharpening; forward and backward.
//
// Arrays over the locations have `plan.row` elements. Weightings are zero from element N on.
#pragma once

#include <array>
#include <cmath>
#include <limits>

#include "memory.h"

namespace ntm::NTM_TARGET {

// Values over the locations, with each end repeated beyond the other end: a rotation is an offset.
template <typename T>
class Ring {
 public:
  explicit Ring(const Plan& plan)
      : locations_(plan.locations), reach_(plan.reach), data_(plan.row + 2 * padded(plan.reach) + kPanel) {}

  T* values() { return data_.data() + padded(reach_); }
  const T* values() const { return data_.data() + padded(reach_); }

  // Copy the ends. Call this when the values are complete.
  void close() {
    T* begin = values();
    for (Index i = 0; i < reach_; ++i) {
      begin[-1 - i] = begin[locations_ - 1 - i];
      begin[locations_ + i] = begin[i];
    }
  }

 private:
  Index locations_, reach_;
  Scratch<T> data_;
};

// Stages of addressing for all heads of one kind, (heads x row) each: equations 6 and 5, the
// logarithm of equation 8, and equation 9.
template <typename Pointer>
struct AddressingOf {
  Pointer similarity, content, logs, weightings;

  // size: elements of each array.
  AddressingOf(Pointer data, Index size)
      : similarity(data), content(data + size), logs(data + 2 * size), weightings(data + 3 * size) {}

  // Return the end of the arrays.
  Pointer end() const { return weightings + (weightings - logs); }

  // Return the arrays of one head.
  AddressingOf head(Index h, const Plan& plan) const {
    AddressingOf one = *this;
    for (Pointer* array : {&one.similarity, &one.content, &one.logs, &one.weightings}) *array += h * plan.row;
    return one;
  }
};

// Intermediate results of one head's addressing. The backward pass recomputes them.
template <typename T>
struct Chain {
  Ring<T> gated, dshifted;
  Scratch<T> dgated;
  Scratch<Vec<T>> dshift;

  explicit Chain(const Plan& plan) : gated(plan), dshifted(plan), dgated(plan.row), dshift(plan.offsets.size()) {}
};

// y = softmax(scale x), scale > 0, over the first `count` of `row` elements, zero in the rest. y may be x.
template <typename T>
void softmax(T* y, const T* x, T scale, Index count, Index row) {
  constexpr Index lanes = kLanes<T>;
  const Index whole = count / lanes * lanes;
  T top = x[0];
  for (Index i = whole; i < count; ++i) top = std::max(top, x[i]);
  Vec<T> highest = broadcast<T>(top);
  for (Index i = 0; i < whole; i += lanes) highest = max<T>(highest, load(x + i));
  const T offset = max_of<T>(highest) * scale;
  const auto power = [=](Vec<T> v) { return exp<T>(v * scale - offset); };
  Vec<T> sum = {};
  for (Index i = 0; i < whole; i += lanes) {
    const Vec<T> e = power(load(x + i));
    store<T>(y + i, e);
    sum += e;
  }
  if (whole < row) {
    const Vec<T> e = power(load(x + whole));
    std::fill(y + whole, y + row, T(0));
    store_partial<T>(y + whole, e, int(count - whole));
    sum += load(y + whole);
  }
  const T norm = T(1) / sum_of<T>(sum);
  for (Index i = 0; i < row; i += lanes) store<T>(y + i, load(y + i) * norm);
}

// 1 / |k| of one key, with the epsilon of equation 6.
template <typename T>
T inverse_key_norm(const T* key, const Plan& plan) {
  Vec<T> squares = {};
  Index m = 0;
  for (; m + kLanes<T> <= plan.width; m += kLanes<T>) squares += load(key + m) * load(key + m);
  T sum = sum_of<T>(squares);
  for (; m < plan.width; ++m) sum += key[m] * key[m];
  return T(1) / std::sqrt(sum + T(plan.similarity_epsilon));
}

// k . M(i) of equation 6 for all heads of a kind and the locations [from, to): products (heads x row). `heads`
// points to their squashed values.
template <typename T>
void key_products(T* products, const T* memory, const T* heads, const HeadKind& kind, const Plan& plan, Index from,
                  Index to) {
  multiply<T>(products + from, plan.row, {heads, kind.squashed.size, 1}, panels_of(memory + from * plan.width, plan),
              kind.count, to - from, plan.width);
}

// Equation 6 for all heads of a kind: products become similarities.
template <typename T>
void cosine_similarity(T* products, const T* inverse_norms, const T* heads, const HeadKind& kind, const Plan& plan) {
  for (Index h = 0; h < kind.count; ++h, products += plan.row) {
    const T inverse = inverse_key_norm(heads + h * kind.squashed.size, plan);
    for (Index n = 0; n < plan.row; n += kLanes<T>)
      store<T>(products + n, load(products + n) * (load(inverse_norms + n) * inverse));
  }
}

// Call body(count, shift). With three shifts, as in the paper, `count` is a compile-time constant
// and the weights are in registers.
template <typename T, typename Body>
void with_shifts(const T* shift, const Plan& plan, const Body& body) {
  if (plan.offsets.size() == 3)
    body(std::integral_constant<int, 3>{}, std::array<T, 3>{shift[0], shift[1], shift[2]});
  else
    body(int(plan.offsets.size()), shift);
}

// Equation 7.
template <typename T>
void interpolate(Ring<T>& gated, const T* content, const T* previous, T gate, const Plan& plan) {
  for (Index n = 0; n < plan.row; n += kLanes<T>)
    store<T>(gated.values() + n, gate * load(content + n) + (1 - gate) * load(previous + n));
  gated.close();
}

// Equation 8 for the locations of one vector: the weighted sum of the values rotated by each shift.
template <typename T, typename Count, typename Weights>
Vec<T> rotated(const T* values, Count count, const Weights& weights, const Plan& plan) {
  Vec<T> sum = {};
  for (int k = 0; k < count; ++k) sum += weights[k] * load(values - plan.offsets[k]);
  return sum;
}

// Equations 5 and 7 to 9 for one head: from its similarities to its weighting.
template <typename T>
void address(const AddressingOf<T*>& to, Chain<T>& chain, const T* previous, const T* head, const HeadLayout& at,
             const Plan& plan) {
  softmax<T>(to.content, to.similarity, head[at.strength], plan.locations, plan.row);
  interpolate<T>(chain.gated, to.content, previous, head[at.gate], plan);
  const T *gated = chain.gated.values(), epsilon = T(plan.sharpening_epsilon);
  with_shifts(head + at.shift, plan, [=, &plan, logs = to.logs](auto count, const auto& weights) {
    for (Index n = 0; n < plan.row; n += kLanes<T>)
      store<T>(logs + n, log<T>(rotated(gated + n, count, weights, plan) + epsilon));
  });
  softmax<T>(to.weightings, to.logs, 1 + head[at.excess], plan.locations, plan.row);
}

// Equation 9 backwards for one head. Writes chain.dshifted, returns the gradient of the sharpness.
template <typename T>
T sharpen_backward(Chain<T>& chain, const T* dweighting, const T* weighting, const T* logs, const T* head,
                   const HeadLayout& at, const Plan& plan) {
  Vec<T> sum = {};
  for (Index n = 0; n < plan.row; n += kLanes<T>) sum += load(weighting + n) * load(dweighting + n);
  const T mean = sum_of<T>(sum), sharpness = 1 + head[at.excess], epsilon = T(plan.sharpening_epsilon);
  const T* gated = chain.gated.values();
  T *dshifted = chain.dshifted.values(), dsharpness;
  with_shifts(head + at.shift, plan, [=, &plan, &dsharpness](auto count, const auto& weights) {
    Vec<T> total = {};
    for (Index n = 0; n < plan.row; n += kLanes<T>) {
      const Vec<T> base = rotated(gated + n, count, weights, plan) + epsilon;
      const Vec<T> d = load(weighting + n) * (load(dweighting + n) - mean);
      total += d * load(logs + n);
      store<T>(dshifted + n, sharpness * d / base);
    }
    dsharpness = sum_of<T>(total);
  });
  chain.dshifted.close();
  return dsharpness;
}

// Equations 8 and 7 backwards for one head. Writes chain.dgated and, in dhead, the gradients of
// shift and gate. The gradient of `previous` replaces dweighting. Returns content . chain.dgated.
template <typename T>
T rotate_backward(Chain<T>& chain, T* dweighting, T* dhead, const T* contents, const T* previous, const T* head,
                  const HeadLayout& at, const Plan& plan) {
  const T gate = head[at.gate], *dshifted = chain.dshifted.values();
  T *dgated = chain.dgated.data(), mean;
  with_shifts(head + at.shift, plan, [=, &plan, &chain, &mean](auto count, const auto& weights) {
    constexpr bool known = !std::is_integral_v<decltype(count)>;
    Vec<T> registers[3], dgate = {}, sum = {};
    Vec<T>* const dshift = known ? registers : chain.dshift.data();
    std::fill_n(dshift, int(count), Vec<T>{});
    for (Index n = 0; n < plan.row; n += kLanes<T>) {
      const Vec<T> content = load(contents + n), before = load(previous + n);
      const Vec<T> gated = gate * content + (1 - gate) * before;
      Vec<T> d = {};
      for (int k = 0; k < count; ++k) {
        const Vec<T> from = load(dshifted + n + plan.offsets[k]);
        d += weights[k] * from;
        dshift[k] += gated * from;
      }
      dgate += d * (content - before);
      sum += content * d;
      store<T>(dgated + n, d);
      store<T>(dweighting + n, (1 - gate) * d);
    }
    for (int k = 0; k < count; ++k) dhead[at.shift + k] = sum_of<T>(dshift[k]);
    dhead[at.gate] = sum_of<T>(dgate);
    mean = sum_of<T>(sum);
  });
  std::fill(dweighting + plan.locations, dweighting + plan.row, T(0));
  return mean;
}

// Gradients through the cosine similarities of one head. products: gradients of k . M(i). scale:
// multiple of M(i) to subtract from the memory's gradient, per location; each head adds its share.
// along: multiple of the key to subtract from the key's gradient.
template <typename T>
struct SimilarityGradient {
  T *products, *scale, *along;
};

// Equations 5 to 9 backwards for one head. The gradient of `previous` replaces dweighting. Writes
// the gradients of strength, gate, sharpness and shift to dhead (squashed layout).
template <typename T>
void address_backward(const SimilarityGradient<T>& to, T* dweighting, T* dhead, Chain<T>& chain,
                      const AddressingOf<const T*>& from, const T* previous, const T* norms, const T* head,
                      const HeadLayout& at, const Plan& plan) {
  interpolate(chain.gated, from.content, previous, head[at.gate], plan);
  dhead[at.excess] = sharpen_backward(chain, dweighting, from.weightings, from.logs, head, at, plan);
  const T mean = rotate_backward(chain, dweighting, dhead, from.content, previous, head, at, plan);
  const T gate = head[at.gate], strength = head[at.strength], inverse = inverse_key_norm(head, plan);
  Vec<T> sum = {};  // gradient of the strength
  for (Index n = 0; n < plan.row; n += kLanes<T>) {
    const Vec<T> d = gate * load(from.content + n) * (load(&chain.dgated[n]) - mean), norm = load(norms + n);
    const Vec<T> product = d * load(from.similarity + n);
    sum += product;
    store<T>(to.scale + n, load(to.scale + n) + strength * product * norm * norm);
    store<T>(to.products + n, d * norm * (strength * inverse));
  }
  dhead[at.strength] = sum_of<T>(sum);
  *to.along = dhead[at.strength] * strength * inverse * inverse;
}

}  // namespace ntm::NTM_TARGET

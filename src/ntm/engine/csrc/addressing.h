// Section 3.3 on one sequence: content, interpolation, rotation, sharpening; forward and backward.
//
// Arrays over the locations have `plan.row` elements; those from N on are zero in every weighting.
#pragma once

#include <cmath>
#include <limits>

#include "memory.h"

namespace ntm::NTM_TARGET {

// Values over the locations with copies of both ends beyond each other, so that a rotation is a plain offset.
template <typename T>
class Ring {
 public:
  explicit Ring(const Plan& plan)
      : locations_(plan.locations), reach_(plan.reach), data_(plan.row + 2 * padded(plan.reach) + kPanel) {}

  T* values() { return data_.data() + padded(reach_); }
  const T* values() const { return data_.data() + padded(reach_); }

  // To be called when the values are complete.
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

// What the links of the chain hand on, for one head; kept to be recomputed rather than stored per step.
template <typename T>
struct Chain {
  Scratch<T> shifted, dcontent;
  Ring<T> gated, dshifted;

  explicit Chain(const Plan& plan)
      : shifted(plan.row), dcontent(plan.row), gated(plan), dshifted(plan) {}
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
  T squares = 0;
  for (Index m = 0; m < plan.width; ++m) squares += key[m] * key[m];
  return T(1) / std::sqrt(squares + T(plan.similarity_epsilon));
}

// Equation 6 for all heads of a kind: similarity (heads x row). `heads` points to their squashed values.
template <typename T>
void cosine_similarity(T* similarity, const T* memory, const T* inverse_norms, const T* heads, const HeadKind& kind,
                       const Plan& plan) {
  multiply<T>(similarity, plan.row, {heads, kind.squashed.size, 1}, rows_of(memory, plan.row), kind.count, plan.row,
              plan.width);
  for (Index h = 0; h < kind.count; ++h, similarity += plan.row) {
    const T inverse = inverse_key_norm(heads + h * kind.squashed.size, plan);
    for (Index n = 0; n < plan.row; n += kLanes<T>)
      store<T>(similarity + n, load(similarity + n) * (load(inverse_norms + n) * inverse));
  }
}

// The gradients of the similarities (heads x row), overwritten by those of the plain products k . M(i). `scale` is
// raised by what the memory's gradient shrinks along M(i), per location; `along`, per head, is the same for the key.
template <typename T>
void cosine_similarity_backward(T* dsimilarity, T* scale, T* along, const T* similarity, const T* inverse_norms,
                                const T* heads, const HeadKind& kind, const Plan& plan) {
  constexpr Index lanes = kLanes<T>;
  for (Index h = 0; h < kind.count; ++h) {
    T* d = dsimilarity + h * plan.row;
    const T inverse = inverse_key_norm(heads + h * kind.squashed.size, plan);
    Vec<T> sum = {};
    for (Index n = 0; n < plan.row; n += lanes) {
      const Vec<T> norm = load(inverse_norms + n);
      const Vec<T> product = load(d + n) * load(similarity + h * plan.row + n);
      sum += product;
      store<T>(scale + n, load(scale + n) + product * norm * norm);
      store<T>(d + n, load(d + n) * norm * inverse);
    }
    along[h] = sum_of<T>(sum) * inverse * inverse;
  }
}

// Calls use(n, vector) with the values rotated by every shift, weighted and summed: equation 8, or backwards, its
// transpose. The number of shifts is known at compile time where it is the paper's three.
template <typename T, typename Use>
void rotate(const T* values, const T* shift, bool backwards, const Plan& plan, const Use& use) {
  const Index direction = backwards ? 1 : -1;
  const auto run = [&](auto count) {
    for (Index n = 0; n < plan.row; n += kLanes<T>) {
      Vec<T> sum = {};
      for (int k = 0; k < count; ++k) sum += shift[k] * load(values + n + direction * plan.offsets[k]);
      use(n, sum);
    }
  };
  if (plan.offsets.size() == 3)
    run(std::integral_constant<int, 3>{});
  else
    run(int(plan.offsets.size()));
}

// Equations 7 and 8: the chain from the content to the rotation.
template <typename T>
void follow_chain(Chain<T>& chain, const T* content, const T* previous, const T* head, const HeadLayout& at,
                  const Plan& plan) {
  const T gate = head[at.gate];
  T* gated = chain.gated.values();
  for (Index n = 0; n < plan.row; n += kLanes<T>)
    store<T>(gated + n, gate * load(content + n) + (1 - gate) * load(previous + n));
  chain.gated.close();
  T* shifted = chain.shifted.data();
  rotate(gated, head + at.shift, false, plan, [=](Index n, Vec<T> sum) { store<T>(shifted + n, sum); });
}

// Equations 5 and 7 to 9 for one head: content and weighting from its similarities and its previous weighting.
template <typename T>
void address(T* weighting, T* content, Chain<T>& chain, const T* similarity, const T* previous, const T* head,
             const HeadLayout& at, const Plan& plan) {
  softmax(content, similarity, head[at.strength], plan.locations, plan.row);
  follow_chain<T>(chain, content, previous, head, at, plan);
  for (Index n = 0; n < plan.row; n += kLanes<T>)
    store<T>(weighting + n, log<T>(load(&chain.shifted[n]) + T(plan.sharpening_epsilon)));
  softmax(weighting, weighting, 1 + head[at.excess], plan.locations, plan.row);
}

// dweighting (overwritten by the gradient of `previous`) to dsimilarity and to dhead: the gradients of strength,
// gate, sharpness and shift, in the places of the squashed layout.
template <typename T>
void address_backward(T* dweighting, T* dsimilarity, T* dhead, Chain<T>& chain, const T* weighting, const T* contents,
                      const T* similarity, const T* previous, const T* head, const HeadLayout& at, const Plan& plan) {
  constexpr Index lanes = kLanes<T>;
  follow_chain(chain, contents, previous, head, at, plan);
  T *dshifted = chain.dshifted.values(), *dcontent = chain.dcontent.data();

  Vec<T> sum = {};  // equation 9
  for (Index n = 0; n < plan.row; n += lanes) sum += load(weighting + n) * load(dweighting + n);
  const T mean = sum_of<T>(sum), sharpness = 1 + head[at.excess];
  Vec<T> dsharpness = {};
  for (Index n = 0; n < plan.row; n += lanes) {
    const Vec<T> base = load(&chain.shifted[n]) + T(plan.sharpening_epsilon);
    const Vec<T> d = load(weighting + n) * (load(dweighting + n) - mean);
    dsharpness += d * log<T>(base);
    store<T>(dshifted + n, sharpness * d / base);
  }
  dhead[at.excess] = sum_of<T>(dsharpness);
  chain.dshifted.close();

  const T* gated = chain.gated.values();  // equation 8
  for (std::size_t k = 0; k < plan.offsets.size(); ++k) {
    Vec<T> dshift = {};
    Index n = 0;
    for (; n + lanes <= plan.locations; n += lanes) dshift += load(dshifted + n) * load(gated + n - plan.offsets[k]);
    if (const int left = int(plan.locations - n))
      dshift += load_partial(dshifted + n, left) * load_partial(gated + n - plan.offsets[k], left);
    dhead[at.shift + k] = sum_of<T>(dshift);
  }

  const T gate = head[at.gate];  // equation 7, and the sums that equation 5 needs
  Vec<T> dgate = {}, content_sum = {};
  rotate(dshifted, head + at.shift, true, plan, [&](Index n, Vec<T> dgated) {
    const Vec<T> content = load(contents + n);
    dgate += dgated * (content - load(previous + n));
    content_sum += content * dgated;
    store<T>(dcontent + n, gate * dgated);
    store<T>(dweighting + n, (1 - gate) * dgated);
  });
  std::fill(dweighting + plan.locations, dweighting + plan.row, T(0));
  dhead[at.gate] = sum_of<T>(dgate);

  const T content_mean = gate * sum_of<T>(content_sum), strength = head[at.strength];  // equation 5
  Vec<T> dstrength = {};
  for (Index n = 0; n < plan.row; n += lanes) {
    const Vec<T> d = load(contents + n) * (load(dcontent + n) - content_mean);
    dstrength += d * load(similarity + n);
    store<T>(dsimilarity + n, d * strength);
  }
  dhead[at.strength] = sum_of<T>(dstrength);
}

}  // namespace ntm::NTM_TARGET

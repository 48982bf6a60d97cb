// The learned start: one state for all sequences. The parameters of its weightings are logits.
#pragma once

#include "addressing.h"

namespace ntm::NTM_TARGET {

template <typename Pointer>
std::array<Pointer, 6> parts(const StateOf<Pointer>& s) {
  return {s.memory, s.read_weightings, s.write_weightings, s.reads, s.hidden, s.cell};
}

constexpr bool is_weighting(int part) { return part == 1 || part == 2; }

// weightings = softmax of each row of logits, and its backward. weightings may be logits.
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

// Arrays for one or more states.
template <typename T>
struct States {
  std::vector<T> arrays[6];

  void resize(const Sizes& sizes, Index count) {
    const auto each = state_sizes(sizes);
    for (int part = 0; part < 6; ++part) arrays[part].resize(count * each[part]);
  }
  template <typename Pointer>
  StateOf<Pointer> view() {
    return {arrays[0].data(), arrays[1].data(), arrays[2].data(), arrays[3].data(), arrays[4].data(), arrays[5].data()};
  }
};

// Compute the start state from its parameters.
template <typename T>
State<T> learned_state(States<T>& to, const State<T>& parameters, const Sizes& sizes) {
  to.resize(sizes, 1);
  const auto from = parts(parameters);
  for (int part = 0; part < 6; ++part) {
    std::vector<T>& array = to.arrays[part];
    if (is_weighting(part))
      softmax_rows(array.data(), from[part], Index(array.size()) / sizes.locations, sizes.locations);
    else
      std::copy_n(from[part], array.size(), array.data());
  }
  return to.template view<const T*>();
}

// Compute the gradients of the parameters from the groups' gradients of the state, summed in order.
template <typename T>
void learned_gradients(const MutableState<T>& dparameters, States<T>& groups, const State<T>& state,
                       const Sizes& sizes) {
  const auto each = state_sizes(sizes);
  const auto to = parts(dparameters);
  const auto at = parts(state);
  for (int part = 0; part < 6; ++part) {
    std::vector<T>& sum = groups.arrays[part];
    for (Index first = each[part]; first < Index(sum.size()); first += each[part])
      for (Index i = 0; i < each[part]; ++i) sum[i] += sum[first + i];
    if (is_weighting(part))
      softmax_rows_backward(to[part], sum.data(), at[part], each[part] / sizes.locations, sizes.locations);
    else
      std::copy_n(sum.data(), each[part], to[part]);
  }
}

}  // namespace ntm::NTM_TARGET

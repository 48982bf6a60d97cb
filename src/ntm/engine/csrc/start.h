// The learned start: one state for all sequences. The parameters of its weightings are logits.
#pragma once

#include "addressing.h"

namespace ntm::NTM_TARGET {

constexpr bool is_weighting(int part) { return part == kReadWeightings || part == kWriteWeightings; }

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
  std::array<std::vector<T>, kParts> arrays;

  void resize(Index count, const Sizes& sizes) {
    const auto shapes = state_shapes(sizes);
    for (int part = 0; part < kParts; ++part) arrays[part].resize(count * shapes[part].size());
  }
  template <typename Pointer>
  StateOf<Pointer> view() {
    StateOf<Pointer> state;
    for (int part = 0; part < kParts; ++part) state[part] = arrays[part].data();
    return state;
  }
};

// Compute the start state from its parameters.
template <typename T>
State<T> learned_state(States<T>& to, const State<T>& parameters, const Sizes& sizes) {
  to.resize(1, sizes);
  for (int part = 0; part < kParts; ++part) {
    std::vector<T>& array = to.arrays[part];
    if (is_weighting(part))
      softmax_rows(array.data(), parameters[part], Index(array.size()) / sizes.locations, sizes.locations);
    else
      std::copy_n(parameters[part], array.size(), array.data());
  }
  return to.template view<const T*>();
}

// Sum the groups' gradients of a shared start in order. The sum replaces the first group's gradient.
template <typename T>
State<T> sum_groups(States<T>& groups, const Sizes& sizes) {
  const auto shapes = state_shapes(sizes);
  for (int part = 0; part < kParts; ++part) {
    const Index each = shapes[part].size();
    std::vector<T>& sum = groups.arrays[part];
    for (Index first = each; first < Index(sum.size()); first += each)
      for (Index i = 0; i < each; ++i) sum[i] += sum[first + i];
  }
  return groups.template view<const T*>();
}

// Compute the gradients of the parameters from the gradient of the start state.
template <typename T>
void learned_gradients(const MutableState<T>& dparameters, const State<T>& dstate, const State<T>& state,
                       const Sizes& sizes) {
  const auto shapes = state_shapes(sizes);
  for (int part = 0; part < kParts; ++part)
    if (is_weighting(part))
      softmax_rows_backward(dparameters[part], dstate[part], state[part], shapes[part].rows, sizes.locations);
    else
      std::copy_n(dstate[part], shapes[part].size(), dparameters[part]);
}

}  // namespace ntm::NTM_TARGET

// The functions of contract.h for one instruction set; compiled once per set (see CMakeLists.txt).

#include "optimiser.h"
#include "record.h"
#include "training.h"

namespace ntm::NTM_TARGET {

Index tape_size(Index steps, Index sequences, const Sizes& sizes) {
  const Plan plan(sizes);
  const Batch batch = {steps, sequences, nullptr, 1};
  return WholeTape<const float*>::size(plan, batch);  // the count is the same for double
}

#define NTM_INSTANTIATE(T)                                                                                           \
  template void forward<T>(T*, const MutableState<T>&, const WeightingsOf<T*>&, T*, const SequencesOf<const T*>&,    \
                           const State<T>&, const Weights<T>&, bool, const Batch&, const Sizes&);                    \
  template void backward<T>(T*, const WeightGradients<T>&, const MutableState<T>&, const T*, const State<T>&,        \
                            const WeightingsOf<const T*>&, const T*, const Weights<T>&, const Batch&, const Sizes&); \
  template void record<T>(const Record<T>&, const T*, const Batch&, const Sizes&);                                   \
  template class Gradients<T>;                                                                                       \
  template void rmsprop<T>(const Optimised<T>&, const RMSPropSettings&);                                             \
  template bool all_finite<T>(const T*, Index);

NTM_INSTANTIATE(float)
#if !defined(__wasm__)  // in a browser, everything is float32
NTM_INSTANTIATE(double)
#endif

}  // namespace ntm::NTM_TARGET

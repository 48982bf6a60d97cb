// The functions of contract.h for one instruction set; compiled once per set (see CMakeLists.txt).

#include "training.h"

namespace ntm::NTM_TARGET {

Index tape_size(const Sizes& sizes, Index steps, Index sequences, bool keep) {
  const Plan plan(sizes);
  Shelf<float*> shelf = {tape_rows(steps, sequences, keep), nullptr};  // elements do not depend on their type
  MemoryTapeOf<float*>(plan, shelf, shelf.rows);
  ControlTapeOf<float*>(plan, shelf);
  return shelf.size;
}

#define NTM_INSTANTIATE(T)                                                                                       \
  template void forward<T>(const Sizes&, const Batch&, const Weights<T>&, const SequencesOf<const T*>&,          \
                           const State<T>&, bool, T*, T*, const MutableState<T>&);                               \
  template void backward<T>(const Sizes&, const Batch&, const Weights<T>&, const T*, const T*, const State<T>&,  \
                            T*, const WeightGradients<T>&, const MutableState<T>&);                              \
  template void record<T>(const Sizes&, const Batch&, const T*, const Record<T>&);                               \
  template class Gradients<T>;                                                                                   \
  template void rmsprop<T>(const Optimised<T>&, const RMSPropSettings&);                                         \
  template bool all_finite<T>(Index, const T*);

NTM_INSTANTIATE(float)
NTM_INSTANTIATE(double)

}  // namespace ntm::NTM_TARGET

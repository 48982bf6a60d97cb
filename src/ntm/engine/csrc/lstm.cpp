// The gradients of the LSTM baseline for one instruction set; compiled once per set (see CMakeLists.txt).

#include "lstm.h"

namespace ntm::NTM_TARGET {

template class LSTMGradients<float>;
template class LSTMGradients<double>;

}  // namespace ntm::NTM_TARGET

// Replacement of parallel.h for WebAssembly, which has no threads and no floating-point modes.
#pragma once

#include "contract.h"

namespace ntm::NTM_TARGET {

class FlushDenormals {
 public:
  FlushDenormals() {}
};

template <typename Work>
class Phase {
 public:
  Phase(Index pieces, const Work& work) : count_(pieces), work_(work) {}

  void run() const {
    for (Index i = 0; i < count_; ++i) work_(0, i);
  }

 private:
  const Index count_;
  const Work& work_;
};

template <typename... Phases>
void run_parallel(Index, Phases&... phases) {
  (phases.run(), ...);
}

}  // namespace ntm::NTM_TARGET

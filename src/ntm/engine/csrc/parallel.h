// Threads over independent pieces of work, and the floating-point mode the kernels run in.
#pragma once

#include <algorithm>
#include <atomic>
#include <exception>
#include <system_error>
#include <thread>
#include <vector>

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

#include "contract.h"

namespace ntm::NTM_TARGET {

// Treats denormal numbers as zero while it lives, on this thread only: a weighting decays through them, and
// they are a hundred times slower than others. The caller's mode comes back at the end.
class FlushDenormals {
 public:
#if defined(__SSE__)
  FlushDenormals() : before_(_mm_getcsr()) { _mm_setcsr(before_ | 0x8040); }
  ~FlushDenormals() { _mm_setcsr(before_); }

 private:
  unsigned before_;
#elif defined(__aarch64__)
  FlushDenormals() {
    asm volatile("mrs %0, fpcr" : "=r"(before_));
    asm volatile("msr fpcr, %0" ::"r"(before_ | (1ull << 24)));
  }
  ~FlushDenormals() { asm volatile("msr fpcr, %0" ::"r"(before_)); }

 private:
  unsigned long long before_;
#else
  FlushDenormals() {}
#endif
  FlushDenormals(const FlushDenormals&) = delete;
};

// Calls work(i) for i in [0, count), in order of i, on up to `threads` threads. Threads live for one call: that
// costs tens of microseconds, and leaves nothing behind that a fork or a second caller could trip over.
template <typename Work>
void parallel_for(Index count, Index threads, const Work& work) {
  std::atomic<Index> next{0};
  std::exception_ptr failure;
  std::atomic<bool> failed{false};
  const auto run = [&] {
    const FlushDenormals mode;
    try {
      for (Index i = next++; i < count && !failed; i = next++) work(i);
    } catch (...) {
      if (!failed.exchange(true)) failure = std::current_exception();
    }
  };
  std::vector<std::thread> helpers;
  try {
    for (Index i = 1; i < std::min(threads, count); ++i) helpers.emplace_back(run);
  } catch (const std::system_error&) {
    // The system has no more threads to give; those there are do all the work.
  }
  run();
  for (auto& helper : helpers) helper.join();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace ntm::NTM_TARGET

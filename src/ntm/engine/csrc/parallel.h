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

// Pieces of work that threads share: work(worker, i) for i in [0, count), in order of i. `worker` numbers the threads;
// no more take part than there are pieces.
template <typename Work>
class Phase {
 public:
  const Index count;

  Phase(Index pieces, const Work& work) : count(pieces), work_(work) {}

  // Takes pieces until there are none left, and returns when all are done, whoever does them.
  void run(Index worker, const std::atomic<bool>& failed) {
    for (Index i = worker < count ? next_++ : count; i < count && !failed; i = next_++) {
      work_(worker, i);
      ++done_;
    }
    while (done_ < count && !failed) std::this_thread::yield();
  }

 private:
  const Work& work_;
  std::atomic<Index> next_{0}, done_{0};
};

// Runs phases one after the other, each on up to `threads` threads. Threads live for one call: that costs tens of
// microseconds, and leaves nothing behind that a fork or a second caller could trip over.
template <typename... Phases>
void run_parallel(Index threads, Phases&... phases) {
  std::exception_ptr failure;
  std::atomic<bool> failed{false};
  const auto run = [&](Index worker) {
    const FlushDenormals mode;
    try {
      (phases.run(worker, failed), ...);
    } catch (...) {
      if (!failed.exchange(true)) failure = std::current_exception();
    }
  };
  std::vector<std::thread> helpers;
  try {
    for (Index i = 1; i < std::min(threads, std::max({phases.count...})); ++i) helpers.emplace_back(run, i);
  } catch (const std::system_error&) {
    // The system has no more threads to give; those there are do all the work.
  }
  run(0);
  for (auto& helper : helpers) helper.join();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace ntm::NTM_TARGET

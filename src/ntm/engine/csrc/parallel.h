// Threads for independent pieces of work, and the floating-point mode of the kernels.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

#include "contract.h"

namespace ntm::NTM_TARGET {

// Treats denormal numbers as zero on this thread while it lives, then restores the caller's mode.
// Weightings decay through denormal numbers, which are a hundred times slower than others.
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

// Pieces of work that threads share: work(worker, i) for i in [0, count), in order of i. `worker`
// is the number of the thread. At most `count` threads take part.
template <typename Work>
class Phase {
 public:
  const Index count;

  Phase(Index pieces, const Work& work) : count(pieces), work_(work) {}

  // Take pieces until none are left. Returns when all threads have done their pieces.
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

// Function that every thread of a call runs. Argument: number of the thread, 0 for the caller.
using Job = std::function<void(Index)>;

// A thread that helps one caller and waits between calls: starting one takes a tenth of a step.
class Worker {
 public:
  explicit Worker(Index number) : thread_([this, number] { live(number); }) {}
  ~Worker() {
    give(&kLeave);
    thread_.join();
  }

  // The job must live until `finish` has returned.
  void give(const Job* job) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      job_ = job;
    }
    given_.notify_one();
  }
  // Wait until the job is done. A job that this thread has not begun is taken back: the other
  // threads have done all of it, and on a busy machine this thread may start late.
  void finish(const Job* job) {
    if (job_.compare_exchange_strong(job, nullptr)) return;
    while (job_) std::this_thread::yield();
  }

 private:
  // Time to stay awake between two training steps: waking a thread takes as long as starting one.
  static constexpr std::chrono::microseconds kPatience{200};
  inline static const Job kLeave, kBegun;

  void live(Index number) {
    for (const Job* job = next(); job != &kLeave; job = next()) {
      (*job)(number);
      job_ = nullptr;
    }
  }
  // Wait for the next job that is not taken back.
  const Job* next() {
    while (true) {
      const auto enough = std::chrono::steady_clock::now() + kPatience;
      while (!job_ && std::chrono::steady_clock::now() < enough) std::this_thread::yield();
      std::unique_lock<std::mutex> lock(mutex_);
      given_.wait(lock, [this] { return job_ != nullptr; });
      const Job* job = job_;
      if (job && job_.compare_exchange_strong(job, &kBegun)) return job;
    }
  }

  std::atomic<const Job*> job_{nullptr};
  std::mutex mutex_;
  std::condition_variable given_;
  std::thread thread_;  // last: it uses the others
};

// Threads of one caller: callers need not wait for one another. They end with the caller's thread.
class ThreadPool {
 public:
  ThreadPool() = default;
  ~ThreadPool() {
    if (forked()) forget();
  }
  static ThreadPool& mine() {
    thread_local ThreadPool pool;
    return pool;
  }

  // Run job(worker) on up to `threads` threads, including the caller's. The job must not throw.
  void run(Index threads, const Job& job) {
    if (forked()) forget();
    const Index wanted = std::max<Index>(threads, 1) - 1;
    try {
      while (Index(workers_.size()) < wanted) workers_.push_back(std::make_unique<Worker>(workers_.size() + 1));
    } catch (const std::system_error&) {
      // The system has no more threads: the existing ones do all the work.
    }
    const Index there = std::min<Index>(wanted, workers_.size());
    for (Index i = 0; i < there; ++i) workers_[i]->give(&job);
    job(0);
    for (Index i = 0; i < there; ++i) workers_[i]->finish(&job);
  }

 private:
  // A fork copies this list without the threads, so the child cannot join them.
  bool forked() const { return process_ != getpid(); }
  void forget() {
    for (auto& worker : workers_) static_cast<void>(worker.release());
    workers_.clear();
    process_ = getpid();
  }

  pid_t process_ = getpid();
  std::vector<std::unique_ptr<Worker>> workers_;
};

// Run the phases in order, each on min(threads, pieces of the first phase) threads. More threads
// would idle in the first phase and save little in the others. On a busy computer, each extra thread
// makes all of them wait longer.
template <typename First, typename... Others>
void run_parallel(Index threads, First& first, Others&... others) {
  std::exception_ptr failure;
  std::atomic<bool> failed{false};
  const Job run = [&](Index worker) {
    const FlushDenormals mode;
    try {
      first.run(worker, failed);
      (others.run(worker, failed), ...);
    } catch (...) {
      if (!failed.exchange(true)) failure = std::current_exception();
    }
  };
  ThreadPool::mine().run(std::min(threads, first.count), run);
  if (failure) std::rethrow_exception(failure);
}

}  // namespace ntm::NTM_TARGET

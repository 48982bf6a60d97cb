// Threads over independent pieces of work, and the floating-point mode the kernels run in.
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

// What the threads of a call run: the argument numbers them; the caller is 0.
using Job = std::function<void(Index)>;

// A thread that takes part in one caller's calls and waits in between: to start one takes as long as a tenth of a step.
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
  // A job that it has not begun is taken back: others have done all of it, and on a busy machine it may take long to
  // come to its turn.
  void finish(const Job* job) {
    if (job_.compare_exchange_strong(job, nullptr)) return;
    while (job_) std::this_thread::yield();
  }

 private:
  // Between two steps of a training loop it stays awake: to wake one up takes as long as to start one.
  static constexpr std::chrono::microseconds kPatience{200};
  inline static const Job kLeave, kBegun;

  void live(Index number) {
    for (const Job* job = next(); job != &kLeave; job = next()) {
      (*job)(number);
      job_ = nullptr;
    }
  }
  // The job that was given, unless it was taken back.
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

// The threads of one caller, so that callers need not wait for one another. They end with the caller's thread.
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

  // job(worker) on up to `threads` threads, the caller's among them. It must not throw.
  void run(Index threads, const Job& job) {
    if (forked()) forget();
    const Index wanted = std::max<Index>(threads, 1) - 1;
    try {
      while (Index(workers_.size()) < wanted) workers_.push_back(std::make_unique<Worker>(workers_.size() + 1));
    } catch (const std::system_error&) {
      // The system has no more threads to give; those there are do all the work.
    }
    const Index there = std::min<Index>(wanted, workers_.size());
    for (Index i = 0; i < there; ++i) workers_[i]->give(&job);
    job(0);
    for (Index i = 0; i < there; ++i) workers_[i]->finish(&job);
  }

 private:
  // A fork copies this list, but not the threads: nobody could join them.
  bool forked() const { return process_ != getpid(); }
  void forget() {
    for (auto& worker : workers_) static_cast<void>(worker.release());
    workers_.clear();
    process_ = getpid();
  }

  pid_t process_ = getpid();
  std::vector<std::unique_ptr<Worker>> workers_;
};

// Runs phases one after the other, each on up to `threads` threads, but on no more than the first has pieces: others
// would only wait for it, and what they could save of the rest is less than a busy machine makes everybody wait.
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

// Large blocks of memory, which all threads of a process share.
#pragma once

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <mutex>

namespace ntm::NTM_TARGET {

// Free large blocks. A block is one mapping, at a multiple of the size of a huge page. The
// free blocks take at most an eighth of the machine's memory. If none is large enough for a call,
// all go back to the system before the call gets a new one: the process never holds more memory
// than blocks in use at one time took.
class LargeBlocks {
 public:
  static LargeBlocks& shared() {
    static LargeBlocks* const blocks = new LargeBlocks;  // never destroyed: torch frees tensors until the very end
    return *blocks;
  }

  MemoryBlock* take(std::size_t size) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (MemoryBlock* const block = smallest(size)) return block;
    release_all();
    return map((size + kHuge - 1) / kHuge * kHuge);
  }

  void give(MemoryBlock* block) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (kept_ + block->size > most()) return unmap(block);
    block->next = first_;
    first_ = block;
    kept_ += block->size;
  }

  void release() {
    const std::lock_guard<std::mutex> lock(mutex_);
    release_all();
  }

 private:
  static constexpr std::size_t kHuge = std::size_t(2) << 20;

  // A process may fork while another thread holds the lock. The child has no thread to release it.
  LargeBlocks() {
    pthread_atfork([] { shared().mutex_.lock(); }, [] { shared().mutex_.unlock(); }, [] { shared().mutex_.unlock(); });
  }

  static std::size_t most() {
    static const std::size_t bytes = std::size_t(sysconf(_SC_PHYS_PAGES)) * std::size_t(sysconf(_SC_PAGESIZE)) / 8;
    return bytes;
  }

  // Take the smallest free block with `size` bytes out of the list.
  MemoryBlock* smallest(std::size_t size) {
    MemoryBlock** best = nullptr;
    for (MemoryBlock** at = &first_; *at; at = &(*at)->next)
      if ((*at)->size >= size && (!best || (*at)->size < (*best)->size)) best = at;
    if (!best) return nullptr;
    kept_ -= (*best)->size;
    return std::exchange(*best, (*best)->next);
  }

  void release_all() {
    while (first_) unmap(std::exchange(first_, first_->next));
    kept_ = 0;
  }

  // Map one huge page more than needed, and unmap what lies outside the aligned block.
  static MemoryBlock* map(std::size_t size) {
    void* const found = mmap(nullptr, size + kHuge, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (found == MAP_FAILED) throw std::bad_alloc();
    char* const begin = static_cast<char*>(found);
    char* const aligned = begin + (kHuge - reinterpret_cast<std::uintptr_t>(begin) % kHuge) % kHuge;
    if (aligned > begin) munmap(begin, std::size_t(aligned - begin));
    if (aligned < begin + kHuge) munmap(aligned + size, std::size_t(begin + kHuge - aligned));
#if defined(MADV_HUGEPAGE)
    if (size >= 2 * kHuge) madvise(aligned, size, MADV_HUGEPAGE);  // smaller blocks may be mostly unused
#endif
    return new (aligned) MemoryBlock{nullptr, size};
  }
  static void unmap(MemoryBlock* block) { munmap(block, block->size); }

  std::mutex mutex_;
  MemoryBlock* first_ = nullptr;
  std::size_t kept_ = 0;
};

}  // namespace ntm::NTM_TARGET

// Memory for the kernels: aligned, and kept for the next call.
//
// A call takes about forty small blocks. For one short sequence, the system's allocator would take a
// tenth of the call's time, so each thread keeps its free small blocks. A tape is large: the system
// would take it back after every call and hand it out again page by page, which costs more than the
// kernels. So the process keeps its free large blocks.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "contract.h"

namespace ntm::NTM_TARGET {

// Blocks start at a cache line, so that no vector of a padded row spans two lines.
constexpr std::align_val_t kCacheLine{64};

#if defined(__wasm__) || defined(__SANITIZE_ADDRESS__)  // slower in wasm; the sanitizer must see where blocks end

inline void* take_block(std::size_t bytes) { return ::operator new(bytes, kCacheLine); }
inline void give_block(void* memory) { ::operator delete(memory, kCacheLine); }
inline void release_blocks() {}

#else

// Header in front of a block's memory.
struct alignas(64) MemoryBlock {
  MemoryBlock* next;
  std::size_t size;  // with the header
};

}  // namespace ntm::NTM_TARGET

#include "large_blocks.h"

namespace ntm::NTM_TARGET {

// Whether this thread is ending and its free blocks are gone. A bool has no destructor, so it can be read to the end.
inline thread_local bool blocks_are_gone = false;

// Free small blocks of one thread, by size: sizes are powers of two.
class FreeBlocks {
 public:
  static FreeBlocks& own() {
    static thread_local FreeBlocks blocks;
    return blocks;
  }
  // The size of the largest small block.
  static constexpr std::size_t kLargest = std::size_t(1) << 17;

  FreeBlocks() = default;
  FreeBlocks(const FreeBlocks&) = delete;
  FreeBlocks& operator=(const FreeBlocks&) = delete;
  ~FreeBlocks() {
    blocks_are_gone = true;
    for (MemoryBlock*& first : first_)
      while (first) release(std::exchange(first, first->next));
  }

  static MemoryBlock* make(int exponent) {
    const std::size_t size = std::size_t(1) << exponent;
    return new (::operator new(size, kCacheLine)) MemoryBlock{nullptr, size};
  }
  static void release(MemoryBlock* block) { ::operator delete(block, kCacheLine); }

  MemoryBlock* take(int exponent) {
    MemoryBlock*& first = first_[exponent];
    if (!first) return make(exponent);
    kept_ -= first->size;
    return std::exchange(first, first->next);
  }
  void give(MemoryBlock* block) {
    if (kept_ + block->size > kMost) return release(block);
    MemoryBlock*& first = first_[exponent_of(block->size)];
    block->next = first;
    first = block;
    kept_ += block->size;
  }

  static int exponent_of(std::size_t size) {
    int exponent = 8;
    while ((std::size_t(1) << exponent) < size) ++exponent;
    return exponent;
  }

 private:
  static constexpr std::size_t kMost = std::size_t(4) << 20;

  MemoryBlock* first_[18] = {};
  std::size_t kept_ = 0;
};

inline void* take_block(std::size_t bytes) {
  const std::size_t size = bytes + sizeof(MemoryBlock);
  if (size > FreeBlocks::kLargest) return LargeBlocks::shared().take(size) + 1;
  const int exponent = FreeBlocks::exponent_of(size);
  return (blocks_are_gone ? FreeBlocks::make(exponent) : FreeBlocks::own().take(exponent)) + 1;
}

inline void give_block(void* memory) {
  if (!memory) return;
  MemoryBlock* const block = static_cast<MemoryBlock*>(memory) - 1;
  if (block->size > FreeBlocks::kLargest)
    LargeBlocks::shared().give(block);
  else
    blocks_are_gone ? FreeBlocks::release(block) : FreeBlocks::own().give(block);
}

// Return all free large blocks to the system.
inline void release_blocks() { LargeBlocks::shared().release(); }

#endif

template <typename T>
struct Aligned {
  using value_type = T;

  Aligned() = default;
  template <typename Other>
  Aligned(const Aligned<Other>&) {}

  T* allocate(std::size_t count) { return static_cast<T*>(take_block(count * sizeof(T))); }
  void deallocate(T* memory, std::size_t) { give_block(memory); }
  void operator()(T* memory) const { give_block(memory); }
  friend bool operator==(const Aligned&, const Aligned&) { return true; }
  friend bool operator!=(const Aligned&, const Aligned&) { return false; }
};

// Memory that is zero at the start.
template <typename T>
using Scratch = std::vector<T, Aligned<T>>;

// Uninitialised memory: every element is written before it is read.
template <typename T>
using Buffer = std::unique_ptr<T[], Aligned<T>>;

template <typename T>
Buffer<T> buffer(Index count) {
  return Buffer<T>(Aligned<T>().allocate(count));
}

// Memory that grows on demand. Growing loses the contents.
template <typename T>
class Growing {
 public:
  T* at_least(Index count) {
    if (count > count_) data_ = buffer<T>(count_ = count);
    return data_.get();
  }

 private:
  Index count_ = 0;
  Buffer<T> data_;
};

}  // namespace ntm::NTM_TARGET

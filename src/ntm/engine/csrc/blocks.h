// Memory for the kernels: aligned, and kept for the next call of the same thread.
//
// A call takes about forty blocks. For one short sequence, the system's allocator would take a
// tenth of the call's time.
#pragma once

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

#else

// Whether this thread is ending and its free blocks are gone. A bool has no destructor, so it can be read to the end.
inline thread_local bool blocks_are_gone = false;

// Free blocks of one thread. Sizes are powers of two. Large blocks go back to the system.
class FreeBlocks {
 public:
  static FreeBlocks& own() {
    static thread_local FreeBlocks blocks;
    return blocks;
  }

  // Blocks straight from the system, for a thread that is ending.
  static void* make(std::size_t bytes) { return make(exponent_of(bytes)) + 1; }
  static void release(void* memory) { ::operator delete(static_cast<Block*>(memory) - 1, kCacheLine); }

  FreeBlocks() = default;
  FreeBlocks(const FreeBlocks&) = delete;
  FreeBlocks& operator=(const FreeBlocks&) = delete;
  ~FreeBlocks() {
    blocks_are_gone = true;
    for (Block* block : first_)
      while (block) ::operator delete(std::exchange(block, block->next), kCacheLine);
  }

  void* take(std::size_t bytes) {
    const int exponent = exponent_of(bytes);
    Block* block = exponent < kExponents ? first_[exponent] : nullptr;
    if (!block) return make(exponent) + 1;
    first_[exponent] = block->next;
    kept_ -= std::size_t(1) << exponent;
    return block + 1;
  }

  void give(void* memory) {
    Block* const block = static_cast<Block*>(memory) - 1;
    const int exponent = block->exponent;
    const std::size_t size = std::size_t(1) << exponent;
    if (exponent >= kExponents || kept_ + size > kMost) return release(memory);
    block->next = first_[exponent];
    first_[exponent] = block;
    kept_ += size;
  }

 private:
  struct alignas(64) Block {  // header in front of the memory
    Block* next;
    int exponent;
  };
  static constexpr int kSmallest = 8, kExponents = 21;
  static constexpr std::size_t kMost = std::size_t(4) << 20;

  static int exponent_of(std::size_t bytes) {
    int exponent = kSmallest;
    while ((std::size_t(1) << exponent) < bytes + sizeof(Block)) ++exponent;
    return exponent;
  }
  static Block* make(int exponent) {
    return new (::operator new(std::size_t(1) << exponent, kCacheLine)) Block{nullptr, exponent};
  }

  Block* first_[kExponents] = {};
  std::size_t kept_ = 0;
};

inline void* take_block(std::size_t bytes) {
  return blocks_are_gone ? FreeBlocks::make(bytes) : FreeBlocks::own().take(bytes);
}
inline void give_block(void* memory) { blocks_are_gone ? FreeBlocks::release(memory) : FreeBlocks::own().give(memory); }

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

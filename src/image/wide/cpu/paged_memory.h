// Large memory that is walked across.
#pragma once
#if defined(__linux__)
#include <sys/mman.h>
#endif

#include <cstdlib>
#include <memory>
#include <new>

namespace corella {

/** Uninitialised, on large pages where the system has them: planes are accessed across all their rows. */
inline std::unique_ptr<void, void (*)(void *)> pagedMemory(size_t sizeBytes) {
  constexpr size_t PAGE = size_t{1} << 21;
  const size_t rounded = (sizeBytes + PAGE - 1) / PAGE * PAGE;
  std::unique_ptr<void, void (*)(void *)> memory(std::aligned_alloc(PAGE, rounded), std::free);
  if (!memory) throw std::bad_alloc();
#if defined(__linux__)
  madvise(memory.get(), rounded, MADV_HUGEPAGE);
#endif
  return memory;
}

}  // namespace corella

// Opens and closes a backend's native half, and its memory.
#include "context.h"

#include <cstdlib>
#if defined(__linux__)
#include <sys/mman.h>
#endif

#include "processor.h"

namespace corella {

std::unique_ptr<void, void (*)(void *)> alignedMemory(size_t sizeBytes) {
  // Whole huge pages where they fit: tiles are far apart, and a TLB miss costs more than an L2 miss.
  constexpr size_t HUGE_PAGE = 1 << 21;
  const size_t alignment = sizeBytes >= HUGE_PAGE ? HUGE_PAGE : ALIGNMENT;
  const size_t rounded = (sizeBytes / alignment + 1) * alignment;
  void *memory = std::aligned_alloc(alignment, rounded);
  if (memory == nullptr) throw std::bad_alloc();
#if defined(MADV_HUGEPAGE)
  if (alignment == HUGE_PAGE) madvise(memory, rounded, MADV_HUGEPAGE);
#endif
  return {memory, std::free};
}

void *Context::allocate(size_t sizeBytes) {
  std::shared_ptr<void> memory = alignedMemory(sizeBytes);
  std::memset(memory.get(), 0, sizeBytes);
  std::lock_guard<std::mutex> lock(guard);
  lent.emplace(memory.get(), memory);
  return memory.get();
}

void Context::release(void *address) {
  std::shared_ptr<void> last;  // destroyed after the lock
  std::lock_guard<std::mutex> lock(guard);
  const auto found = lent.find(address);
  require(found != lent.end(), "this memory is not the backend's, or was freed before");
  last = std::move(found->second);
  lent.erase(found);
}

}  // namespace corella

using namespace corella;

// The best level available, and the cores this process may use.
CORELLA_EXPORT int32_t corella_machine(char *error, int32_t *level, int32_t *cores) {
  return guarded(error, [&] {
    *level = static_cast<int32_t>(bestLevel());
    *cores = usableCores();
  });
}

CORELLA_EXPORT int32_t corella_open(char *error, int32_t level, int32_t threads, void **context) {
  return guarded(error, [&] {
    require(level >= 0 && level <= static_cast<int32_t>(bestLevel()), "this processor lacks that instruction set");
    require(threads >= 1 && threads <= 4096, "threads must be from 1 to 4096");
    *context = new Context(static_cast<Level>(level), threads);
  });
}

// No call may be running on it, or follow.
CORELLA_EXPORT int32_t corella_close(char *error, void *context) {
  return withContext(error, context, [](Context &open) { delete &open; });
}

CORELLA_EXPORT int32_t corella_allocate(char *error, void *context, int64_t sizeBytes, void **memory) {
  return withContext(error, context, [&](Context &open) {
    require(sizeBytes >= 0, "a size is negative");
    *memory = open.allocate(static_cast<size_t>(sizeBytes));
  });
}

CORELLA_EXPORT int32_t corella_release(char *error, void *context, void *memory) {
  return withContext(error, context, [&](Context &open) { open.release(memory); });
}

// The native half of a backend: its level, its threads and the memory it allocated. For sources compiled once.
#pragma once
#include <cstring>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <stdexcept>
#include <string>
#include <unordered_map>

#include "known_stack.h"
#include "native.h"
#include "pool.h"

namespace corella {

struct Context {
  Context(Level chosen, int threads) : level(chosen), pool(threads) {}
  Context(const Context &) = delete;
  Context &operator=(const Context &) = delete;

  /** Zeroed, aligned to 64 bytes; freed by release or with the context. Throws std::bad_alloc. */
  void *allocate(size_t sizeBytes);
  /** Keeps an object for TypeScript, which uses the returned address; freed like memory. */
  template <class Kept>
  Kept *keep(std::unique_ptr<Kept> object) {
    Kept *address = object.get();
    std::lock_guard<std::mutex> lock(guard);
    lent.emplace(address, std::shared_ptr<void>(std::move(object)));
    return address;
  }
  void release(void *address);

  const Level level;
  Pool pool;

 private:
  std::mutex guard;
  std::unordered_map<void *, std::shared_ptr<void>> lent;
};

/** Aligned to 64 bytes and uninitialised; throws std::bad_alloc. */
std::unique_ptr<void, void (*)(void *)> alignedMemory(size_t sizeBytes);

/** An array whose pages are first touched, and zeroed, by all threads of a pool. */
template <class Element>
class ZeroedArray {
 public:
  ZeroedArray(Pool &pool, size_t length) : memory(alignedMemory(length * sizeof(Element))), size(length) { zero(pool); }
  Element *data() { return static_cast<Element *>(memory.get()); }
  size_t length() const { return size; }
  void zero(Pool &pool) {
    constexpr size_t STEP = 1 << 18;
    pool.run(static_cast<int64_t>((size + STEP - 1) / STEP), [&](int64_t index, int) {
      const size_t first = static_cast<size_t>(index) * STEP;
      std::memset(data() + first, 0, (size - first < STEP ? size - first : STEP) * sizeof(Element));
    });
  }

 private:
  std::unique_ptr<void, void (*)(void *)> memory;
  size_t size;
};

/** Our own errors; anything else thrown is a bug and reported as one. */
struct Refusal : std::runtime_error {
  using std::runtime_error::runtime_error;
};

inline void require(bool holds, const char *otherwise) {
  if (!holds) throw Refusal(otherwise);
}

/** Codes of the ABI (library.ts). */
enum : int32_t { OK = 0, REFUSED = 1, OUT_OF_MEMORY = 2, BUG = 3 };

inline int32_t fail(char *error, int32_t code, const char *text) noexcept {
  std::strncpy(error, text, CORELLA_ERROR_BYTES - 1);
  error[CORELLA_ERROR_BYTES - 1] = 0;
  return code;
}

/** Runs a body that may throw inside a C function that may not. */
template <class Body>
int32_t guarded(char *error, Body &&body) noexcept {
  [[maybe_unused]] const KnownStack stack;
  try {
    body();
    return OK;
  } catch (const Refusal &refusal) {
    return fail(error, REFUSED, refusal.what());
  } catch (const std::bad_alloc &) {
    return fail(error, OUT_OF_MEMORY, "not enough memory");
  } catch (const std::exception &bug) {
    return fail(error, BUG, bug.what());
  } catch (...) {
    return fail(error, BUG, "something that is not a C++ exception was thrown");
  }
}

/** The common form of an exported function: refuses a null context, passes a good one to the body. */
template <class Body>
int32_t withContext(char *error, void *context, Body &&body) noexcept {
  return guarded(error, [&] {
    require(context != nullptr, "the backend is closed");
    body(*static_cast<Context *>(context));
  });
}

}  // namespace corella

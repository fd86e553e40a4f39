// The native half of a backend: its level, its threads and the memory it lent. For sources compiled once.
#pragma once
#include <cstring>
#include <exception>
#include <mutex>
#include <new>
#include <stdexcept>
#include <string>
#include <unordered_map>

#include "native.h"
#include "pool.h"

namespace corella {

struct Context {
  Context(Level chosen, int threads) : level(chosen), pool(threads) {}
  ~Context();
  Context(const Context &) = delete;
  Context &operator=(const Context &) = delete;

  /** Zeroed, aligned to 64 bytes; freed by release or with the context. Throws std::bad_alloc. */
  void *allocate(size_t sizeBytes);
  void release(void *memory);

  const Level level;
  Pool pool;

 private:
  std::mutex guard;
  std::unordered_map<void *, size_t> lent;
};

/** Refusals of ours; anything else thrown is a bug and says so. */
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

/** Runs a body that may throw behind a C function that may not. */
template <class Body>
int32_t guarded(char *error, Body &&body) noexcept {
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

/** The usual shape of an exported function: refuses a null context, hands the body a good one. */
template <class Body>
int32_t withContext(char *error, void *context, Body &&body) noexcept {
  return guarded(error, [&] {
    require(context != nullptr, "the backend is closed");
    body(*static_cast<Context *>(context));
  });
}

}  // namespace corella

// Common to every source of the native library: instruction-set levels, a backend's context, and how errors are
// returned to TypeScript.
//
// Every exported function reads
//   int32_t corella_something(char *error, void *context, …)
// and returns 0, or a code with the reason as text in `error` (CORELLA_ERROR_BYTES long, ends with a zero).
//
// Sources that start with a line "// levels: …" are compiled once for each level named there, each time with
// CORELLA_LEVEL defined as that level's word. Their code is in namespace corella::CORELLA_LEVEL, includes no C++
// library header with templates and leaves no other symbols, so that no code of a high level can be picked by the
// linker for a low one (scripts/build-native.js checks it).
#pragma once
#include <cstddef>
#include <cstdint>

#if defined(__x86_64__)
#define CORELLA_X86 1
#else
#define CORELLA_X86 0
#endif
#if defined(__aarch64__)
#define CORELLA_ARM 1
#else
#define CORELLA_ARM 0
#endif

#define CORELLA_EXPORT extern "C" __attribute__((visibility("default")))
constexpr size_t CORELLA_ERROR_BYTES = 512;

namespace corella {

/**
 * Each level includes those below it; every architecture has its own list. The numbers are part of the ABI (levels.ts).
 */
#if CORELLA_ARM
enum class Level : int32_t { portable = 0, dotprod = 1, i8mm = 2 };
#else
enum class Level : int32_t { portable = 0, avx2 = 1, avx512 = 2, amx = 3 };
#endif

/** Cache lines, AVX-512 vectors and AMX rows are 64 bytes. */
constexpr size_t ALIGNMENT = 64;

}  // namespace corella

// Declares `type name` as in the levels' namespaces, and selects the best for a context's level.
//   plain    vectors as the compiler makes them: one version for each width of register
//   BYTES    with versions for instructions on bytes: dot products on ARM
//   MATRIX   with versions for matrix instructions too: AMX, i8mm
// A library for one processor (scripts/build-native.js, --levels own) leaves out what that processor does not use. On x86-64
// CORELLA_ONLY then names the one level of plain vectors in it. CORELLA_NO_AMX, CORELLA_NO_DOTPROD and CORELLA_NO_I8MM leave
// out the others.
#if CORELLA_X86
#define CORELLA_DECLARE(type, name) \
  namespace portable {              \
  extern type name;                 \
  }                                 \
  namespace avx2 {                  \
  extern type name;                 \
  }                                 \
  namespace avx512 {                \
  extern type name;                 \
  }
#ifdef CORELLA_ONLY
#define CORELLA_PICK(level, name) (static_cast<void>(level), ::corella::CORELLA_ONLY::name)
#else
#define CORELLA_PICK(level, name)                                \
  ((level) >= ::corella::Level::avx512 ? ::corella::avx512::name \
   : (level) == ::corella::Level::avx2 ? ::corella::avx2::name   \
                                       : ::corella::portable::name)
#endif
#define CORELLA_DECLARE_BYTES(type, name) CORELLA_DECLARE(type, name)
#define CORELLA_PICK_BYTES(level, name) CORELLA_PICK(level, name)
#define CORELLA_DECLARE_MATRIX(type, name) \
  CORELLA_DECLARE(type, name)              \
  namespace amx {                          \
  extern type name;                        \
  }
#ifdef CORELLA_NO_AMX
#define CORELLA_PICK_MATRIX(level, name) CORELLA_PICK(level, name)
#else
#define CORELLA_PICK_MATRIX(level, name) \
  ((level) == ::corella::Level::amx ? ::corella::amx::name : CORELLA_PICK(level, name))
#endif
#else
#define CORELLA_DECLARE(type, name) \
  namespace portable {              \
  extern type name;                 \
  }
#define CORELLA_PICK(level, name) (static_cast<void>(level), ::corella::portable::name)
#if CORELLA_ARM
#define CORELLA_DECLARE_BYTES(type, name) \
  CORELLA_DECLARE(type, name)             \
  namespace dotprod {                     \
  extern type name;                       \
  }
#ifdef CORELLA_NO_DOTPROD
#define CORELLA_PICK_BYTES(level, name) CORELLA_PICK(level, name)
#else
#define CORELLA_PICK_BYTES(level, name) \
  ((level) >= ::corella::Level::dotprod ? ::corella::dotprod::name : ::corella::portable::name)
#endif
#define CORELLA_DECLARE_MATRIX(type, name) \
  CORELLA_DECLARE_BYTES(type, name)        \
  namespace i8mm {                         \
  extern type name;                        \
  }
#ifdef CORELLA_NO_I8MM
#define CORELLA_PICK_MATRIX(level, name) CORELLA_PICK_BYTES(level, name)
#else
#define CORELLA_PICK_MATRIX(level, name) \
  ((level) == ::corella::Level::i8mm ? ::corella::i8mm::name : CORELLA_PICK_BYTES(level, name))
#endif
#else
#define CORELLA_DECLARE_BYTES(type, name) CORELLA_DECLARE(type, name)
#define CORELLA_PICK_BYTES(level, name) CORELLA_PICK(level, name)
#define CORELLA_DECLARE_MATRIX(type, name) CORELLA_DECLARE(type, name)
#define CORELLA_PICK_MATRIX(level, name) CORELLA_PICK(level, name)
#endif
#endif

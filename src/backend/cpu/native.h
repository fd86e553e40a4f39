// What every source of the native library shares: instruction-set levels, the context that a backend holds,
// and how an error finds its way back to TypeScript.
//
// Every exported function reads
//   int32_t corella_something(char *error, void *context, …)
// and returns 0, or a code with the reason as text in `error` (CORELLA_ERROR_BYTES long, ends with a zero).
//
// Sources that start with a line "// levels: …" are compiled once for each level named there, each time with
// CORELLA_LEVEL defined as that level's word. Their code lives in namespace corella::CORELLA_LEVEL, includes no
// C++ library header with templates and leaves no other symbols, so that no code of a high level can be picked
// by the linker for a low one (scripts/build-native.js checks it).
#pragma once
#include <cstddef>
#include <cstdint>

#if defined(__x86_64__)
#define CORELLA_X86 1
#else
#define CORELLA_X86 0
#endif

#define CORELLA_EXPORT extern "C" __attribute__((visibility("default")))
constexpr size_t CORELLA_ERROR_BYTES = 512;

namespace corella {

/** Each level holds all below it. The numbers are part of the ABI (levels.ts). */
enum class Level : int32_t { portable = 0, avx2 = 1, avx512 = 2, amx = 3 };

/** Cache lines, AVX-512 vectors and AMX rows are 64 bytes. */
constexpr size_t ALIGNMENT = 64;

}  // namespace corella

// Declares `type name` as it stands in every level's namespace, and picks the one for a context's level.
// The second pair is for kernels with an AMX version of their own; the others run their AVX-512 code there.
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
#define CORELLA_PICK(level, name)                                \
  ((level) >= ::corella::Level::avx512 ? ::corella::avx512::name \
   : (level) == ::corella::Level::avx2 ? ::corella::avx2::name   \
                                       : ::corella::portable::name)
#define CORELLA_DECLARE_AMX(type, name) \
  CORELLA_DECLARE(type, name)           \
  namespace amx {                       \
  extern type name;                     \
  }
#define CORELLA_PICK_AMX(level, name) \
  ((level) == ::corella::Level::amx ? ::corella::amx::name : CORELLA_PICK(level, name))
#else
#define CORELLA_DECLARE(type, name) \
  namespace portable {              \
  extern type name;                 \
  }
#define CORELLA_PICK(level, name) (static_cast<void>(level), ::corella::portable::name)
#define CORELLA_DECLARE_AMX(type, name) CORELLA_DECLARE(type, name)
#define CORELLA_PICK_AMX(level, name) CORELLA_PICK(level, name)
#endif

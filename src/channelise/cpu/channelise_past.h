// Stores of whole cache lines past the caches, where that is better.
#pragma once
#include "channelise/cpu/channelise_lanes.h"

namespace corella {
namespace CORELLA_LEVEL {
namespace {

/** Blocks larger than a second cache are written past the caches, since they would not stay there to be read. */
constexpr int64_t PAST_CACHES_BYTES = 1 << 20;

template <bool Past>
CORELLA_INLINE void storeLine(float *to, Vec value) {
#if defined(__AVX512F__)
  // A whole cache line, which then need not be fetched first.
  if constexpr (Past) return _mm512_stream_ps(to, value);
#endif
  store(to, value);
}

/** Stores past the caches may arrive late; whoever reads the block next must find them. */
CORELLA_INLINE void finishStores() {
#if defined(__AVX512F__)
  _mm_sfence();
#endif
}

}  // namespace
}  // namespace CORELLA_LEVEL
}  // namespace corella

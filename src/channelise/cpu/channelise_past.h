// Non-temporal stores of whole cache lines, where they are faster.
#pragma once
#include "channelise/cpu/channelise_lanes.h"

namespace corella {
namespace CORELLA_LEVEL {
namespace {

/** Blocks larger than an L2 cache are written with non-temporal stores, since they would not stay in the cache. */
constexpr int64_t PAST_CACHES_BYTES = 1 << 20;

template <bool Past>
CORELLA_INLINE void storeLine(float *to, Vec value) {
#if defined(__AVX512F__)
  // A whole cache line, which then need not be fetched first.
  if constexpr (Past) return _mm512_stream_ps(to, value);
#endif
  store(to, value);
}

/** Non-temporal stores may complete late; the block's next reader must see them. */
CORELLA_INLINE void finishStores() {
#if defined(__AVX512F__)
  _mm_sfence();
#endif
}

}  // namespace
}  // namespace CORELLA_LEVEL
}  // namespace corella

// How a transform over lanes (lane_fft.h) splits its length.
#pragma once
#include "backend/cpu/native.h"

namespace corella {

constexpr int MOST_PASSES = 16;

/** For a length M = radices[0] · radices[1] · …; the last pass hands over its results. */
template <class Real>
struct LaneFft {
  int64_t length;
  int passes;
  int radices[MOST_PASSES];
  /** turns : [k] = (cos, −sin)(2πk/M). */
  const Real *turns;
};

}  // namespace corella

// What threads do with a block of spectra as soon as it is filled, before anyone was told of it: else they would wait until
// TypeScript has heard of the block and given them more to do.
#pragma once
#include <cstdint>

namespace corella {

struct Follower {
  virtual ~Follower() = default;
  /** Until nothing of the block is read any more. */
  virtual void wait() = 0;
  /** Sets threads to work on so many spectra, and the powers beside them (spectra_powers.h), or null. False: these are not meant. */
  virtual bool begin(const void *powers, int64_t spectra) = 0;
};

}  // namespace corella

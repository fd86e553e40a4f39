// Spectra of sixteen inputs of one channel (spectra.h), each rotated by a phase of its own that is linear in time.
#pragma once
#include "backend/cpu/spectra.h"

namespace corella {

/**
 * Spectra [first, end) of the block into those of `vectors`, within 1e-6. turns : [sixteen inputs], of spectrum
 * `first`, whole turns counterclockwise, below 2^50; steps : [sixteen inputs], the increment per spectrum.
 */
struct TurnKernel {
  void (*turnIntegers)(const int8_t *tiles, int64_t first, int64_t end, const double *turns, const double *steps,
                       float *vectors);
  void (*turnFloats)(const float *from, int64_t first, int64_t end, const double *turns, const double *steps,
                     float *vectors);
};

CORELLA_DECLARE(const TurnKernel, turnKernel)

}  // namespace corella

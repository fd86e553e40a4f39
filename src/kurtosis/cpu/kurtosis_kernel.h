// Powers of one channel's block of sixteen inputs (spectra.h), summed over a window of spectra.
#pragma once
#include "backend/cpu/spectra.h"

namespace corella {

/** A window [first, end) begins at a multiple of four; integers are zero from the last sample to the end of its tile. */
struct KurtosisKernel {
  /** sums : [sixteen inputs][S1, S2] of |x|² and |x|⁴; exact integers, for windows up to 65,536 spectra. */
  void (*sumIntegers)(const int8_t *tiles, int64_t first, int64_t end, double *sums);
  void (*sumFloats)(const float *vectors, int64_t first, int64_t end, double *sums);
  /** The same from so many sums over sixteen spectra of one channel (spectra_powers.h). */
  void (*sumIntegerGroups)(const uint32_t *cells, int64_t groups, double *sums);
  void (*sumFloatGroups)(const float *cells, int64_t groups, double *sums);
};

CORELLA_DECLARE_BYTES(const KurtosisKernel, kurtosisKernel)

}  // namespace corella

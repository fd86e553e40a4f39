// Powers of one channel's block of sixteen inputs (spectra.h), summed over a window of spectra.
#pragma once
#include "backend/cpu/spectra.h"

namespace corella {

/** A window [first, end) begins at a multiple of four; integers are zero from the last sample to the end of its tile. */
struct KurtosisKernel {
  /** sums : [sixteen inputs][S1, S2] of |x|² and |x|⁴; whole numbers, exact, for windows up to 65,536 spectra. */
  void (*sumIntegers)(const int8_t *tiles, int64_t first, int64_t end, double *sums);
  /** To a millionth; powers below 1e-38, whose float32 is 0, count as silence. */
  void (*sumFloats)(const float *vectors, int64_t first, int64_t end, double *sums);
  /** The same from sums over sixteen spectra (spectra_powers.h) of up to four channels : [channel][sixteen inputs][S1, S2] */
  void (*sumIntegerGroups)(const uint32_t *cells, int64_t groups, int64_t channels, double *sums);
  void (*sumFloatGroups)(const float *cells, int64_t groups, int64_t channels, double *sums);
  /** Whether float32 held all powers of floats that have these sums; if not, they have to be summed one by one. */
  bool (*isWithin)(const double *sums, int64_t spectra);
};

CORELLA_DECLARE_BYTES(const KurtosisKernel, kurtosisKernel)

}  // namespace corella

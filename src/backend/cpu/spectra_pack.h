// Between canonical rows [a][t] of up to sixteen inputs of one channel and one input block (spectra.h).
#pragma once
#include "spectra.h"

namespace corella {

/** All rows are `samples` long and follow each other; `inputs` is 1…16. */
struct SpectraPacking {
  /** Return whether a value is outside the range: −128, −8, or not finite. Pad with zeros as in spectra.h. */
  bool (*packCi8)(const int8_t *rows, int64_t inputs, int64_t samples, int8_t *tiles);
  bool (*packCi4)(const uint8_t *rows, int64_t inputs, int64_t samples, int8_t *tiles);
  bool (*packCf32)(const float *rows, int64_t inputs, int64_t samples, float *vectors);
  void (*unpackCi8)(const int8_t *tiles, int64_t inputs, int64_t samples, int8_t *rows);
  void (*unpackCi4)(const int8_t *tiles, int64_t inputs, int64_t samples, uint8_t *rows);
  void (*unpackCf32)(const float *vectors, int64_t inputs, int64_t samples, float *rows);
};

CORELLA_DECLARE(const SpectraPacking, spectraPacking)

}  // namespace corella

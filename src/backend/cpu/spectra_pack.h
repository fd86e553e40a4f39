// Between canonical rows [a][t] of up to sixteen inputs of one channel and one input block (spectra.h).
#pragma once
#include "spectra.h"

namespace corella {

/** All rows are `samples` long and follow each other; `inputs` is 1…16. */
struct SpectraPacking {
  /** By type. Returns whether a value is outside the range: −128, −8, or not finite. Pads with zeros as in spectra.h. */
  bool (*pack[3])(const void *rows, int64_t inputs, int64_t samples, void *block);
  void (*unpack[3])(const void *block, int64_t inputs, int64_t samples, void *rows);
};

CORELLA_DECLARE(const SpectraPacking, spectraPacking)

}  // namespace corella

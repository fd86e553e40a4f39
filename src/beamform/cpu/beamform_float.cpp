// levels: portable avx2 avx512
// Float weights or spectra: sixty-four spectra side by side, stations in their order.
#include "beamform/cpu/beamform_kernels.h"

namespace corella {
namespace CORELLA_LEVEL {
namespace {

void sum(const float *panel, int64_t stations, const float *weights, float *sums) {
  float re[TILE_SAMPLES] = {}, im[TILE_SAMPLES] = {};
  for (int64_t s = 0; s < stations; s++, panel += 2 * TILE_SAMPLES) {
    const float wRe = weights[2 * s], wIm = weights[2 * s + 1];
    for (int64_t t = 0; t < TILE_SAMPLES; t++) {
      re[t] += wRe * panel[t];
      re[t] -= wIm * panel[TILE_SAMPLES + t];
      im[t] += wRe * panel[TILE_SAMPLES + t];
      im[t] += wIm * panel[t];
    }
  }
  __builtin_memcpy(sums, re, sizeof re);
  __builtin_memcpy(sums + TILE_SAMPLES, im, sizeof im);
}

}  // namespace

extern const SumFloatBeam sumFloatBeam = sum;

}  // namespace CORELLA_LEVEL
}  // namespace corella

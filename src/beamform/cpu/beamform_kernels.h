// The inner loops of the beamformer, one set for each instruction-set level.
//
// A tile is 64 spectra of one channel and one polarisation. Stations go by fours, a quad: what a dot product of bytes adds.
// Beams go by fours too, a group. sums : [4 beams][re, im][64 spectra], Σ_s w·x:
//   Re = Σ wᵣxᵣ − wᵢxᵢ      Im = Σ wᵣxᵢ + wᵢxᵣ
#pragma once
#include "backend/cpu/spectra.h"

namespace corella {

constexpr int64_t QUAD = 4;
constexpr int64_t GROUP = 4;
/** Of one group and quad: wᵣ, wᵢ, −wᵢ, each [4 beams][4 stations]. */
constexpr int64_t WEIGHT_BYTES = 3 * GROUP * QUAD;
constexpr int64_t GROUP_SUMS = GROUP * 2 * TILE_SAMPLES;

struct BeamKernel {
  /** Bytes of a panel for each quad: what a tile's spectra are turned into, once for all beams. */
  int64_t panelBytes;
  /** Whether sums are too large by 128·Σw: this level multiplies x + 128. */
  bool isOffset;
  /**
   * tiles of the first sixteen inputs of a channel; others are `stride` bytes apart. Turns the stations' polarisation p of P.
   * panel : [quad]…, as the level likes.
   */
  void (*turn)(const int8_t *tiles, int64_t stride, int64_t quads, int64_t polarisations, int64_t p, int8_t *panel);
  /** weights : [quad][WEIGHT_BYTES]; excess : [4 beams][re, im], subtracted. */
  void (*sum)(const int8_t *panel, int64_t quads, const int8_t *weights, const int32_t *excess, int32_t *sums);
};

CORELLA_DECLARE_BYTES(const BeamKernel, beamKernel)

/** panel : [station][re, im][64 spectra]; weights : [station][re, im], of one beam; sums : [re, im][64 spectra]. */
using SumFloatBeam = void (*)(const float *panel, int64_t stations, const float *weights, float *sums);
CORELLA_DECLARE(const SumFloatBeam, sumFloatBeam)

}  // namespace corella

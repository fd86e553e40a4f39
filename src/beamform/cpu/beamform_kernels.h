// The inner loops of the beamformer, one set for each instruction-set level.
//
// A tile is 64 spectra of one channel and one polarisation. Stations are in fours, a quad, as in a dot product of
// bytes. A level processes some quads at once, a step, and some beams, a group. sums : [beam of the group][re, im][64
// spectra], Σ_s w·x:
//   Re = Σ wᵣxᵣ − wᵢxᵢ      Im = Σ wᵣxᵢ + wᵢxᵣ
#pragma once
#include "backend/cpu/spectra.h"

namespace corella {

constexpr int64_t QUAD = 4;
/** Beams of a group, where steps are single quads, and the most of any level. */
constexpr int64_t GROUP = 4, LARGEST_GROUP = 16;
/** Of one group and step: wᵣ, wᵢ, −wᵢ, each [beam][station]. */
constexpr int64_t weightBytes(int64_t group, int64_t stepQuads) { return 3 * group * stepQuads * QUAD; }
constexpr int64_t WEIGHT_BYTES = weightBytes(GROUP, 1);
constexpr int64_t GROUP_SUMS = GROUP * 2 * TILE_SAMPLES;

struct BeamKernel {
  int64_t group, stepQuads;
  /** Bytes of a panel for each quad: a tile's spectra rearranged, once for all beams. */
  int64_t panelBytes;
  /** Whether sums are too large by 128·Σw: this level multiplies x + 128. */
  bool isOffset;
  /**
   * tiles of the first sixteen inputs of a channel; others are `stride` bytes apart. Rearranges the stations'
   * polarisation p of P. panel : [quad]…, in the level's layout.
   */
  void (*turn)(const int8_t *tiles, int64_t stride, int64_t quads, int64_t polarisations, int64_t p, int8_t *panel);
  /** weights : [step][weightBytes], 0 for stations past the last; excess : [beam][re, im], subtracted. */
  void (*sum)(const int8_t *panel, int64_t steps, const int8_t *weights, const int32_t *excess, int32_t *sums);
  /** Around every run on a thread, where registers of a level have to be configured. */
  void (*enter)();
  void (*leave)();
};
[[maybe_unused]] static void nothing() {}

CORELLA_DECLARE_MATRIX(const BeamKernel, beamKernel)

/** panel : [station][re, im][64 spectra]; weights : [station][re, im], of one beam; sums : [re, im][64 spectra]. */
using SumFloatBeam = void (*)(const float *panel, int64_t stations, const float *weights, float *sums);
CORELLA_DECLARE(const SumFloatBeam, sumFloatBeam)

/** The detections of a spectrum's power; the numbers are part of the ABI (prepare.ts). */
enum class Detection : int64_t { intensity = 1, two = 2, stokes = 4 };

/**
 * Adds the powers of spectra [first, end) to one sum for each detection: those of each in float32, sums in float64. x, y : sums of X
 * and of Y, [re, im][64]; without Y the intensity of X.
 */
struct AddPowers {
  void (*ofIntegers)(Detection detection, const int32_t *x, const int32_t *y, int64_t first, int64_t end, double *sums);
  void (*ofFloats)(Detection detection, const float *x, const float *y, int64_t first, int64_t end, double *sums);
};
CORELLA_DECLARE(const AddPowers, addPowers)

}  // namespace corella

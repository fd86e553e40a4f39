// The inner loops of the X-engine, one set for each instruction-set level.
//
// A pair is two blocks of 16 inputs, I ≥ J. Its sums are matrices of 16 i × 16 j, all real parts, then all
// imaginary ones: sums : [re, im][i][j], V_ij = Σ_t x_i · conj(x_j):
//   Re = Σ aᵣbᵣ + aᵢbᵢ      Im = Σ aᵢbᵣ − aᵣbᵢ      with a = x_i, b = x_j.
#pragma once
#include "backend/cpu/spectra.h"

namespace corella {

constexpr int64_t PAIR_VALUES = TILE_INPUTS * TILE_INPUTS;
constexpr int64_t PAIR_SUMS = 2 * PAIR_VALUES;

struct CorrelateKernels {
  /** Around every run of the integer kernels on a thread: AMX registers have to be configured. */
  void (*enter)();
  void (*leave)();
  /** Bytes of a panel for one time block, a multiple of 64: the I side rearranged, once for all J. */
  int64_t panelBytes;
  /** The same for notes about the J side, once for a group of I: numbers, or another order. */
  int64_t notesBytes;
  void (*prepareI)(const int8_t *tilesI, int64_t timeBlocks, void *panel);
  void (*prepareJ)(const int8_t *tilesJ, int64_t timeBlocks, void *notes);
  /** Adds a pair; sums wrap, so they need to fit only after the last addition. */
  void (*addPair)(const int8_t *tilesI, const void *panel, const int8_t *tilesJ, const void *notes, int64_t timeBlocks,
                  int32_t *sums);
};

// For levels that need none of them.
[[maybe_unused]] static void nothing() {}
[[maybe_unused]] static void prepareNothing(const int8_t *, int64_t, void *) {}

/** Adds at most a few hundred samples of a pair of float blocks: in float32, then to the sums. */
using AddFloatPair = void (*)(const float *vectorsI, const float *vectorsJ, int64_t samples, double *sums);

CORELLA_DECLARE_MATRIX(const CorrelateKernels, correlateKernels)
CORELLA_DECLARE(const AddFloatPair, addFloatPair)

}  // namespace corella

// The inner loops of gridding visibilities, one set for each instruction-set level, in float64.
//
// A pair of stations is gridded with the cross-correlation of their kernels, Q = 2K − 1 cells square:
//
//   product[k − k'] = Σ K_i[k] conj(K_j[k'])
//
// Grids have a margin after their last row and column, so that no product needs to wrap; `transform` folds it back.
#pragma once
#include "image/cpu/fft_plan.h"

namespace corella {

/** Doubles in a row of a product: Q ≤ 13 pairs, and zeros up to whole vectors. */
constexpr int64_t PRODUCT_STRIDE = 32;
constexpr int64_t MOST_KERNEL = 7;

/** The product, pairs (re, im), and the product times i, (−im, re): a complex factor then takes two steps. */
struct PairProduct {
  alignas(64) double straight[(2 * MOST_KERNEL - 1) * PRODUCT_STRIDE];
  alignas(64) double turned[(2 * MOST_KERNEL - 1) * PRODUCT_STRIDE];
};

/**
 * One sum of x_i conj(x_j), and the same of a source at the centre for the beam, both times their weight, and their
 * grids; no beam grid where no beam is wanted.
 */
struct PairValue {
  double re, im, beamRe, beamIm;
  double *image, *beam;
};

struct GridKernels {
  /** Doubles in a vector: the side of a grid is a multiple of it. */
  int64_t lanes;
  /** taps : [row][column] complex, K square, K odd up to MOST_KERNEL. */
  void (*multiply)(int64_t kernelSize, const double *tapsI, const double *tapsJ, PairProduct &product);
  /** Adds `count` values at a cell, each into its own grids : [row][column] complex, `side` columns wide. */
  void (*add)(int64_t kernelSize, const PairProduct &product, int64_t side, int64_t row, int64_t column,
              const PairValue *values, int64_t count);
  /**
   * field[l][m] = Σ grid[row][column] e^(−2πi (column·l + row·m)/n), the margin folded in. The field replaces the grid,
   * as two planes of side × side, real parts first. `other` is as large as the grid, and `buffers` holds 2n pairs of
   * vectors.
   */
  void (*transform)(const LaneFft<double> &fft, double *grid, int64_t side, double *other, void *buffers);
};

CORELLA_DECLARE(const GridKernels, gridKernels)

}  // namespace corella

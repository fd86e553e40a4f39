// The inner loops of gridding visibilities, one set for each instruction-set level, in float64.
//
// A pair of stations lands on the grid through the cross-correlation of their kernels, Q = 2K − 1 cells square:
//
//   product[k − k'] = Σ K_i[k] conj(K_j[k'])
//
// Planes of real and imaginary parts lie apart. Grids have a margin after their last row and column, so that no
// product needs to wrap; `transform` folds it back.
#pragma once
#include "image/fft_plan.h"

namespace corella {

/** Columns of a product, Q ≤ 13 and zeros. */
constexpr int64_t PRODUCT_STRIDE = 16;
constexpr int64_t MOST_KERNEL = 7;

struct PairProduct {
  alignas(64) double re[(2 * MOST_KERNEL - 1) * PRODUCT_STRIDE];
  alignas(64) double im[(2 * MOST_KERNEL - 1) * PRODUCT_STRIDE];
};

/** Two planes of [row][column], `stride` from row to row, `stride` rows. */
struct GridPlanes {
  double *re, *im;
  int64_t stride;
};

/** One sum of x_i conj(x_j), and its weight for the beam, both times what they count for. */
struct PairValue {
  double re, im, weight;
  GridPlanes image, beam;
};

struct GridKernels {
  /** Doubles in a vector; the transform's planes have multiples of it as sides. */
  int64_t lanes;
  /** taps : [row][column] complex, K square, K odd up to MOST_KERNEL. */
  void (*multiply)(int64_t kernelSize, const double *tapsI, const double *tapsJ, PairProduct &product);
  /** Adds `count` values at a cell of the grid, each into its own. */
  void (*add)(int64_t kernelSize, const PairProduct &product, int64_t row, int64_t column, const PairValue *values,
              int64_t count);
  /**
   * field[l][m] = Σ grid[row][column] e^(−2πi (column·l + row·m)/n), the margin folded in. Destroys the grid; both
   * have the same stride, a multiple of lanes. `buffers` holds 2n vectors' pairs.
   */
  void (*transform)(const LaneFft<double> &fft, GridPlanes grid, GridPlanes field, void *buffers);
};

CORELLA_DECLARE(const GridKernels, gridKernels)

}  // namespace corella

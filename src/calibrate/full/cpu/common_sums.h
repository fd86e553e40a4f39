// Sums over a panel's pairs for what all stations share (common_modes.h). For sources compiled for each level.
//
// Float32 only within a part: rounding differs from part to part, and is below the limit in common_modes.cpp.
#pragma once
#include "calibrate/full/cpu/full_parts.h"

namespace corella {
namespace CORELLA_LEVEL {
namespace {

/** [row][ab][ec] of (M H_j)_ab conj(M_ec) over all columns, re and im. */
inline void sumGeneral(const PanelRange &range, int64_t at, StationPlanes<const float> hs,
                       double (*out)[PANEL_ROWS][32]) {
  const int64_t vectors = vectorsOf<GENERAL>(range, at);
  for (int64_t row = 0; row < PANEL_ROWS; row++)
    for (int64_t n = 0; n < 32; n++) (*out)[row][n] = 0;
  for (int64_t first = 0; first < vectors; first += VECTORS_AT_ONCE) {
    const int64_t end = first + VECTORS_AT_ONCE < vectors ? first + VECTORS_AT_ONCE : vectors;
    const PairPlace<GENERAL> place = {end - first, 1};
    const float *part = range.panels + range.offsets[at] + first * PANEL_ROWS * PAIR_FLOATS[GENERAL] * COLUMNS;
    for (int64_t row = 0; row < PANEL_ROWS; row++)
      for (int64_t ab = 0; ab < 4; ab++) {
        Floats sums[8] = {};
        for (int64_t v = first; v < end; v++) {
          const float *m = part + (place.product(row, 0, v - first) + 8) * COLUMNS, *h = hs.first + v * COLUMNS;
          const float *left = m + 4 * (ab / 2) * COLUMNS;
          const Floats a = loadVector<Floats>(left), b = loadVector<Floats>(left + COLUMNS),
                       c = loadVector<Floats>(left + 2 * COLUMNS), d = loadVector<Floats>(left + 3 * COLUMNS);
          const Floats re = loadVector<Floats>(h + 2 * hs.stride), im = loadVector<Floats>(h + 3 * hs.stride);
          Floats x, y;
          if (ab % 2 == 0) {  // M_a0 H_00 + M_a1 conj(H_01)
            const Floats power = loadVector<Floats>(h);
            x = a * power + c * re + d * im, y = b * power + d * re - c * im;
          } else {  // M_a0 H_01 + M_a1 H_11
            const Floats power = loadVector<Floats>(h + hs.stride);
            x = a * re - b * im + c * power, y = a * im + b * re + d * power;
          }
#pragma GCC unroll 4
          for (int ec = 0; ec < 4; ec++) {
            const Floats p = loadVector<Floats>(m + 2 * ec * COLUMNS),
                         q = loadVector<Floats>(m + (2 * ec + 1) * COLUMNS);
            sums[2 * ec] += x * p + y * q;
            sums[2 * ec + 1] += y * p - x * q;
          }
        }
        for (int64_t n = 0; n < 8; n++) (*out)[row][8 * ab + n] += static_cast<double>(total<float>(sums[n]));
      }
  }
}

/** The same for M = diag(m, n): (M H_j)_ab conj(M_cc), all other elements are 0. */
inline void sumDiagonal(const PanelRange &range, int64_t at, StationPlanes<const float> hs,
                        double (*out)[PANEL_ROWS][32]) {
  const int64_t vectors = vectorsOf<DIAGONAL>(range, at);
  for (int64_t row = 0; row < PANEL_ROWS; row++)
    for (int64_t n = 0; n < 32; n++) (*out)[row][n] = 0;
  for (int64_t first = 0; first < vectors; first += VECTORS_AT_ONCE) {
    const int64_t end = first + VECTORS_AT_ONCE < vectors ? first + VECTORS_AT_ONCE : vectors;
    const PairPlace<DIAGONAL> place = {end - first, PRODUCT_ROWS};
    const float *part = range.panels + range.offsets[at] + first * PANEL_ROWS * PAIR_FLOATS[DIAGONAL] * COLUMNS;
    for (int64_t row = 0; row < PANEL_ROWS; row++) {
      Floats sums[12] = {};
      for (int64_t v = first; v < end; v++) {
        const float *power = part + place.power(row, v - first) * COLUMNS, *h = hs.first + v * COLUMNS;
        const Floats mm = loadVector<Floats>(power), nn = loadVector<Floats>(power + COLUMNS),
                     p = loadVector<Floats>(power + 2 * COLUMNS), q = loadVector<Floats>(power + 3 * COLUMNS);
        const Floats h00 = loadVector<Floats>(h), h11 = loadVector<Floats>(h + hs.stride),
                     re = loadVector<Floats>(h + 2 * hs.stride), im = loadVector<Floats>(h + 3 * hs.stride);
        sums[0] += mm * h00;
        sums[1] += p * h00, sums[2] += q * h00;                  // m n* H_00
        sums[3] += mm * re, sums[4] += mm * im;                  // |m|² H_01
        sums[5] += p * re - q * im, sums[6] += p * im + q * re;  // m n* H_01
        sums[7] += nn * re, sums[8] -= nn * im;                  // |n|² H_10
        sums[9] += p * h11, sums[10] -= q * h11;                 // n m* H_11
        sums[11] += nn * h11;
      }
      double totals[12];
      for (int n = 0; n < 12; n++) totals[n] = static_cast<double>(total<float>(sums[n]));
      // [ab][c] of re, im; n m* H_10 is the conjugate of m n* H_01
      const double found[4][4] = {{totals[0], 0, totals[1], totals[2]},
                                  {totals[3], totals[4], totals[5], totals[6]},
                                  {totals[5], -totals[6], totals[7], totals[8]},
                                  {totals[9], totals[10], totals[11], 0}};
      for (int ab = 0; ab < 4; ab++)
        for (int n = 0; n < 2; n++) {
          (*out)[row][8 * ab + n] += found[ab][n];
          (*out)[row][8 * ab + 6 + n] += found[ab][2 + n];
        }
    }
  }
}

}  // namespace
}  // namespace CORELLA_LEVEL
}  // namespace corella

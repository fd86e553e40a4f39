// The inner loops of full-polarisation StEFCal, one for each instruction-set level. A pair i > j below the diagonal
// contributes to its row and its column, and its sums are linear in the stations' G and H = Gᴴ G:
//
//   N_i += V G_j Mᴴ    D_i += M H_j Mᴴ        N_j += Vᴴ G_i M    D_j += Mᴴ H_i M
//
// Constant numbers are computed beforehand, by the form of the model:
//
//   unpolarised   M = m·1            A = V m*                           |m|²                     72 products a pair
//   diagonal      M = diag(m, n)     A = V m*, V n* for either column   |m|², |n|², m n*         76
//   general                          V, M                               L with D = L·H          160
//
// Planes of a station: G's first column as G_00 re, im, G_10 re, im, its second likewise, then H (or D) as 00, 11, √2
// re 01, √2 im 01: in these numbers Mᴴ H M is made by the transpose of L. The half is stored in panels of four rows as
// in stefcal_kernels.h, with zeros on and above the diagonal, and a panel in parts of VECTORS_AT_ONCE vectors of
// columns, each in the order it is read (PairPlace). The caller handles the diagonal.
#pragma once
#include "calibrate/cpu/stefcal_kernels.h"

namespace corella {

/** Numbers of a gain, and of all sums of a station. */
constexpr int64_t GAIN_PLANES = 8, ALL_PLANES = 12;

enum ModelForm : int { UNPOLARISED, DIAGONAL, GENERAL };
constexpr int FORMS = 3;
/** A as its rows, then |m|²; A of either column, |m|², |n|², m n* as re, im; V and M as their rows, L as its rows. */
constexpr int64_t PAIR_FLOATS[FORMS] = {9, 20, 32};

/** Columns are processed in parts that stay in the L1 cache while each loop passes over them. */
constexpr int64_t VECTORS_AT_ONCE = 32;

/** The place of a form's numbers in a part of `vectors` vectors of columns, in vectors from its beginning. */
template <ModelForm FORM>
struct PairPlace {
  /** Numbers for N, in blocks of so many to a pair; those for D. */
  static constexpr int64_t PRODUCTS = FORM == UNPOLARISED ? 8 : 16, BLOCK = FORM == GENERAL ? 16 : 8,
                           BLOCKS = PRODUCTS / BLOCK, POWERS = PAIR_FLOATS[FORM] - PRODUCTS;
  /** Rows whose products are made together: [rows / together][block][vector][row][number]. */
  int64_t vectors, together;

  int64_t product(int64_t row, int64_t block, int64_t vector) const {
    return (((row / together * BLOCKS + block) * vectors + vector) * together + row % together) * BLOCK;
  }
  /** [vector][row][number]; of a general model [row][vector][number]. */
  int64_t power(int64_t row, int64_t vector) const {
    const int64_t before = PANEL_ROWS * vectors * PRODUCTS;
    return before + (FORM == GENERAL ? row * vectors + vector : vector * PANEL_ROWS + row) * POWERS;
  }
};

/** The station data for a step, in planes `stride` apart; zeros past the last. */
struct FullStations {
  int64_t stride;
  const double *gains, *anchorSums;
  /** partial : [part][plane][s], to be added to anchorSums; own : [plane][s] likewise, or null. */
  const float *partial;
  int64_t parts;
  const double *own;
  /** The factor from N D⁻¹ of scaled sums to a gain. */
  double ratio;
  /** Out: N D⁻¹, or the unchanged gains where D has no inverse. */
  double *next;
  /**
   * Out, or null: N − G D in 8 planes; D and its inverse as 00, 11, 01 re, 01 im, 4 planes each; zeros where it has
   * none.
   */
  double *rest, *powers, *inverses;
};

/** Squares, summed over stations: of the step, of the gains after it. */
struct FullMovement {
  double change, size;
};
/** Of a step also Σ Gᴴ (N − G D), and the N and D of it, as 00, 10, 01, 11. */
struct FullStep {
  FullMovement movement;
  double right[8];
};

/** The data for stations one after the other: as FullStations, all at once. */
struct FullTurn {
  int64_t stride;
  const double *gains, *anchor, *anchorSums, *own;
  double ratio;
  /** Out: N D⁻¹; in and out: gains less anchor, as they were before, and as they are after; zero before, sums of these. */
  double *next;
  float *distance, *sums;
};

struct NewtonKernels;
struct LoadKernels;

struct FullKernels {
  /** Floats in a vector; rows whose products are made together, of a general model one. */
  int64_t lanes, together;
  /** By the form; adds the contributions of the range's pairs to `sums`. */
  void (*sweep[FORMS])(const PanelRange &range, StationPlanes<const float> in, StationPlanes<float> sums);
  /** The same with factors and sums in float64. */
  void (*sweepExactly[FORMS])(const PanelRange &range, StationPlanes<const double> in, StationPlanes<double> sums);
  /** Only the range's rows from `columns` on, a multiple of 16, from the columns before that. */
  void (*extend[FORMS])(const PanelRange &range, int64_t columns, StationPlanes<const float> in,
                        StationPlanes<float> sums);
  /** Panel after panel, last first, each from the updated gains of those before it; unpolarised and diagonal. */
  FullMovement (*sweepInTurn[GENERAL])(const PanelRange &range, const FullTurn &turn);
  /**
   * For panel `at`, for what stations share: hs : planes 00, 11, 01 re, 01 im of H. Nothing for an unpolarised model.
   */
  void (*sumCommon[FORMS])(const PanelRange &range, int64_t at, StationPlanes<const float> hs,
                           double (*out)[PANEL_ROWS][32]);
  /** Of stations first … end − 1, both multiples of 16. */
  FullStep (*step)(const FullStations &stations, int64_t first, int64_t end);
  /** next + G u, u as 00, 10, 01, 11. */
  FullMovement (*amend)(int64_t stride, const double *gains, const double *u, double *next, int64_t first, int64_t end);
  /** Gains, and H of them, less the anchor; the sum of squares of the former. */
  double (*keepDistance)(int64_t stride, const double *gains, const double *anchor, float *distance, int64_t first,
                         int64_t end);
  const NewtonKernels *newton;
  const LoadKernels *load;
};

CORELLA_DECLARE(const FullKernels, fullKernels)

}  // namespace corella

// Inner loops of steps of all stations at once, one for each instruction-set level. Least squares of all δG_i, to first order:
//
//   δG_i D_i + G_i Σ_j M_ij X_j M_ijᴴ = N_i − G_i D_i      X_j = δG_jᴴ G_j
//
// in which StEFCal's own step is δG_i without the sum. V is not in it: only the numbers for D are read of a pair, two
// to four times as fast as an iteration. X = A + i B of two Hermitian matrices, each in the four numbers of H
// (stefcal_full_kernels.h). By conjugate gradients, preconditioned by D⁻¹ and what stations share (full/common.ts):
// with many stations the matrix is then close to 1.
#pragma once
#include "calibrate/full/cpu/stefcal_full_kernels.h"

namespace corella {

/** Planes `stride` apart, 8 numbers of a matrix by columns as G's; D and its inverse as 00, 11, 01 re, 01 im. */
struct NewtonStations {
  int64_t stride;
  const double *gains, *powers, *inverses;
  /** The rest of the right side, and it times D⁻¹; the step so far; the next direction, and the left side for it. */
  double *rest, *ready, *step, *along, *made;
  /**
   * X of `along`, A then B; partial : [part][8][s] of the sums over pairs, own : [8][s] likewise in float64, or null.
   */
  float *turned;
  const float *partial;
  int64_t parts;
  const double *own;
};

struct NewtonKernels {
  /** By the form; adds the range's pairs to `sums`, A and B of each station in 8 planes. */
  void (*sweep[FORMS])(const PanelRange &range, StationPlanes<const float> in, StationPlanes<float> sums);
  /** ready = rest D⁻¹ + G u; Σ rest·ready. */
  double (*ready)(const NewtonStations &stations, const double *u, int64_t first, int64_t end);
  /** along = ready + part · along, and X of it. */
  void (*turn)(const NewtonStations &stations, double part, int64_t first, int64_t end);
  /** made = along D + G C; Σ along·made. */
  double (*make)(const NewtonStations &stations, int64_t first, int64_t end);
  /** step += length · along, rest −= length · made; right: Σ Gᴴ rest as 00, 10, 01, 11. */
  void (*advance)(const NewtonStations &stations, double length, double *right, int64_t first, int64_t end);
  /** next = gains + step + ready. */
  FullMovement (*arrive)(const NewtonStations &stations, double *next, int64_t first, int64_t end);
};

CORELLA_DECLARE(const NewtonKernels, newtonKernels)

}  // namespace corella

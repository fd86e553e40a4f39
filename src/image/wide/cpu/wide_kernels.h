// The inner loops of wide images, one set for each instruction-set level and precision.
//
// A plane of w is kept in groups of 16 rows, each cut into parts of LANES rows, LANES being the numbers in a register:
//
//   plane : [group of rows][part][u][re of each row | im of each row]
//
// so that a transform along u takes a part's rows as the lanes of its registers. The result is transposed, LANES
// columns by LANES rows at a time, so that a transform along v takes LANES columns as lanes:
//
//   half transformed : [group of rows][block of columns][row][re of each column | im of each column]
//
// 16 rows, so that a pass down a block of columns reads that many from one place before the next page.
#pragma once
#include "image/cpu/fft_plan.h"

namespace corella {

/** Cells on a side of a tile; tiles of one colour (parity of row and column) never touch the same cells. */
constexpr int WIDE_TILE = 16;
constexpr int MOST_W_SUPPORT = 12;

/** Visibilities of one row in consecutive channels whose kernels start at the same cell and plane. */
struct WideRun {
  uint32_t row;
  uint16_t channel, count;
  /** The first plane. */
  uint16_t plane;
  /** Of the first cell in its tile: u in the low half, v in the high. */
  uint8_t cell;
  /** 1 where w is negative: the pair is reversed. */
  uint8_t turned;
};

/** Constants for all blocks. */
template <class Real>
struct WideShape {
  /** Cells on a side of the grid, pixels on a side of the image. */
  int64_t side, pixels;
  int support, wSupport, degree, wDegree, planes;
  double pixelCosine, leastW, spacing, middle;
  /** [power][tap], each tap twice, filled up to whole vectors; [power][tap], filled up. */
  const Real *uTaps, *vTaps, *wTaps;
  LaneFft<Real> fft;
};

/** A block of visibilities. */
template <class Real>
struct WideRows {
  int64_t rows, channels;
  /** uvw : [row][u, v, w], metres. */
  const double *uvw;
  /** Per channel: wavelengths in a metre, with WIDE_CHUNK zeros after the last. */
  const double *scales;
  /** values : [row][c] complex, or null for ones. */
  const Real *values;
  /** weights : [row][c]; weights not above 0 are left out. */
  const float *weights;
};

/** Visibilities handled together: so many scales are read beyond the last channel. */
constexpr int WIDE_CHUNK = 8;

/** A tile's runs, sorted by first plane, on the consecutive planes first … end − 1. */
template <class Real>
struct WideTile {
  const WideRun *begin, *end;
  int64_t uCell, vCell;
  int firstPlane, endPlane;
  /** Of firstPlane. */
  Real *planes;
  /** Aligned; scratchReals long. */
  Real *scratch;
};

/** First cells and planes of one row's visibilities, channel by channel. */
struct WidePlaces {
  int32_t *u, *v, *w;
};

template <class Real>
struct WideKernels {
  int64_t lanes;
  void (*place)(const WideShape<Real> &, const double *uvw, const double *scales, int64_t channels, WidePlaces);
  int64_t (*scratchReals)(const WideShape<Real> &);
  /** Adds values times weights to the planes. By support: 0 where there is none. */
  void (*grid[16])(const WideShape<Real> &, const WideRows<Real> &, const WideTile<Real> &);
  /** Adds to out : [row][c] complex the values from the planes. */
  void (*degrid[16])(const WideShape<Real> &, const WideRows<Real> &, const WideTile<Real> &, Real *out);
  /** One group's rows from u to l, in place: half transformed afterwards. Buffers: bufferReals. */
  void (*rowsToImage)(const WideShape<Real> &, Real *group, Real *buffers);
  /** And back. */
  void (*rowsToGrid)(const WideShape<Real> &, Real *group, Real *buffers);
  /**
   * One block of columns of one plane from v to m, added to the sums: sums ← sums · turns + plane.groups : [group],
   * where its rows are, or null where the group is empty; next: the same of the plane that comes after it, or null.
   * sums : [m][re | im of each column], mfrom 0 up, then from −n/2 up; turns : [|m|][re | im of each column].
   */
  void (*columnsToImage)(const WideShape<Real> &, Real *const *groups, Real *const *next, int64_t block, double *sums,
                         const double *turns, Real *buffers);
  /** The reverse: sums become a plane, where `groups` has one; then sums ← sums · conj(turns). */
  void (*columnsToGrid)(const WideShape<Real> &, Real *const *groups, int64_t block, double *sums, const double *turns,
                        Real *buffers);
  /** sums ← sums · turns, or · conj(turns), for an empty plane. */
  void (*skipPlane)(const WideShape<Real> &, double *sums, const double *turns, int conjugate);
};

/** From one group of rows to the next: a block more than it holds, so that their columns do not share cache sets. */
constexpr int64_t groupReals(int64_t side, int64_t lanes) { return 2 * WIDE_TILE * (side + lanes); }

/** The size of a worker's transform buffers: a vector pair for each element, of every part of a group and once more. */
constexpr int64_t bufferReals(int64_t side, int64_t lanes) {
  const int64_t parts = lanes < WIDE_TILE ? WIDE_TILE / lanes : 1;
  return 2 * lanes * side * (parts + 1);
}

CORELLA_DECLARE(const WideKernels<float>, wideKernelsFloat)
CORELLA_DECLARE(const WideKernels<double>, wideKernelsDouble)

}  // namespace corella

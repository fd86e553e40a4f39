// The place of a visibility: first cell and plane of its kernels, and its offset from them. Set by the plan: as
// wide.cuh.
#pragma once
#include "wide.cuh"

// A block of rows. values : [row][c] complex, or null for ones; weights : [row][c], weights not above 0 are left out;
// scales : [c], wavelengths in a metre.
struct Rows {
  const double *uvw;
  const double *scales;
  const Real2 *values;
  const float *weights;
  int64_t count;  // rows times channels
  int channels;
  int groups;       // bins of a tile
  int firstPlanes;  // possible first planes of a visibility
};

// A visibility ready for gridding: t in [-1, 1] along u, v and w, its value weighted and phase-rotated, and its first
// cell: u and v within the tile in four bits each, then the plane.
struct Record {
  Real u, v, w, re, im;
  uint32_t at;
};

// No multiplication may be fused with an addition here: both kernels must get the same cell.
struct Axis {
  int cell;
  double t;
};
__device__ __forceinline__ Axis along(double turns) {
  const double place = __dmul_rn(__dadd_rn(turns, -floor(turns)), SIDE);
  const double first = __dadd_rn(place, -0.5 * W), cell = ceil(first);
  Axis axis;
  axis.cell = (int)cell;
  if (axis.cell < 0) axis.cell += SIDE;
  if (axis.cell >= SIDE) axis.cell -= SIDE;
  axis.t = 2 * (cell - first) - 1;
  return axis;
}
struct Place {
  Axis u, v, w;
  bool isTurned;
  double wLambda;
};
__device__ __forceinline__ Place placeOf(const Shape &shape, const Rows &rows, int64_t at) {
  const double *uvw = rows.uvw + 3 * (at / rows.channels), scale = rows.scales[at % rows.channels];
  Place place;
  place.isTurned = uvw[2] < 0;
  const double sign = place.isTurned ? -scale : scale;
  place.u = along(__dmul_rn(__dmul_rn(sign, uvw[0]), shape.pixelCosine));
  place.v = along(__dmul_rn(__dmul_rn(sign, uvw[1]), shape.pixelCosine));
  place.wLambda = __dmul_rn(sign, uvw[2]);
  const double plane = (place.wLambda - shape.leastW) / shape.spacing;
  int first = WW == 1 ? 0 : (int)ceil(plane);
  first = first < 0 ? 0 : first > rows.firstPlanes - 1 ? rows.firstPlanes - 1 : first;  // tolerance for rounding
  place.w.cell = first;
  place.w.t = WW == 1 ? 0 : 2 * (first - plane) - 1;
  return place;
}

// Part of a tile's records, at most as many as in the plan.
struct Piece {
  uint32_t first, count, tile, unused;
};

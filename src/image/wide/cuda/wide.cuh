// Common to the kernels of wide images. The sums are those of ../reference.ts, the method that of ../plan.ts.
//
// Set by the plan: DOUBLE (0 or 1), SIDE (cells), PIXELS, W and WW (supports along u, v and along w).
#pragma once
#include "integers.cuh"

#if DOUBLE
typedef double Real;
typedef double2 Real2;
#else
typedef float Real;
typedef float2 Real2;
#endif

__device__ __forceinline__ Real2 pairOf(Real x, Real y) {
  Real2 pair;
  pair.x = x;
  pair.y = y;
  return pair;
}
__device__ __forceinline__ Real2 operator+(Real2 a, Real2 b) { return pairOf(a.x + b.x, a.y + b.y); }
__device__ __forceinline__ Real2 operator-(Real2 a, Real2 b) { return pairOf(a.x - b.x, a.y - b.y); }
__device__ __forceinline__ Real2 times(Real2 a, Real2 b) {
  return pairOf(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

constexpr int TILE = 16;            // cells on a side, as ../grid-size.ts
constexpr int TILES = SIDE / TILE;  // along an axis
constexpr int QUARTER = PIXELS / 2 + 1;

// Numbers of the plan.
struct Shape {
  double pixelCosine, leastW, firstW, spacing, middle, halfRange;
};

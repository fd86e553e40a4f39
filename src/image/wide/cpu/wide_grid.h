// Visibilities to planes and back, a tile at a time. For sources compiled for each level.
//
// A tile has a patch of its own for each of the wSupport planes that a visibility touches, a ring that stays in the L1
// cache: [plane modulo wSupport][row][u] complex. The tile's runs are sorted by first plane, so a plane before it is
// complete; it is added to the grid once, and its place in the ring is reused.
//
// All visibilities of a run touch the same cells: up to four are added at once, so that a cell is read and written
// once for all of them.
#pragma once
#include "image/wide/cpu/wide_transpose.h"
#include "image/wide/cpu/wide_phase.h"

namespace corella {
namespace CORELLA_LEVEL {
namespace {

/** t in [−1, 1] along u, v and w of the visibilities of part of a run, and each one's phase at the middle of n − 1. */
template <class Real>
struct Offsets {
  alignas(ALIGNMENT) Real u[WIDE_CHUNK], v[WIDE_CHUNK], w[WIDE_CHUNK], cosine[WIDE_CHUNK], sine[WIDE_CHUNK];
};

template <class Real>
CORELLA_INLINE void offsetsOf(const WideShape<Real> &shape, const double *uvw, const double *scales, const WideRun &run,
                              int64_t uCell, int64_t vCell, Offsets<Real> &to) {
  const double sign = run.turned ? -1 : 1, side = static_cast<double>(shape.side);
  const double us = sign * uvw[0] * shape.pixelCosine, vs = sign * uvw[1] * shape.pixelCosine, ws = sign * uvw[2];
  const double halfWidth = 0.5 * shape.support;
  const double uFirst = (static_cast<double>(uCell + (run.cell & 15)) + halfWidth) / side;
  const double vFirst = (static_cast<double>(vCell + (run.cell >> 4)) + halfWidth) / side;
  const double perPlane = 1 / shape.spacing, plane = run.plane + shape.leastW * perPlane;
  double wPerPlane = ws * perPlane, wMiddle = ws * shape.middle;
  if (shape.wSupport == 1) wPerPlane = 0;
  alignas(ALIGNMENT) double turns[WIDE_CHUNK];
  for (int k = 0; k < WIDE_CHUNK; k++) {
    const double u = uFirst - us * scales[k], v = vFirst - vs * scales[k], turn = wMiddle * scales[k];
    to.u[k] = static_cast<Real>(2 * side * (u - nearest(u)) - 1);
    to.v[k] = static_cast<Real>(2 * side * (v - nearest(v)) - 1);
    to.w[k] = static_cast<Real>(2 * (plane - wPerPlane * scales[k]) - 1);
    turns[k] = turn - nearest(turn);
  }
  for (int k = 0; k < WIDE_CHUNK; k++) turnBy(static_cast<Real>(turns[k]), to.cosine[k], to.sine[k]);
}

template <class Real, int COUNT>
CORELLA_INLINE void horner(const Real *taps, int degree, Real t, typename VectorOf<Real>::type *out) {
  typedef typename VectorOf<Real>::type Vector;
  const Real *from = taps + static_cast<int64_t>(degree) * COUNT * LANES<Real>;
#pragma GCC unroll 8
  for (int q = 0; q < COUNT; q++) out[q] = loadVector<Vector>(from + q * LANES<Real>);
  for (int power = degree; power-- > 0;) {
    from -= COUNT * LANES<Real>;
#pragma GCC unroll 8
    for (int q = 0; q < COUNT; q++) out[q] = out[q] * t + loadVector<Vector>(from + q * LANES<Real>);
  }
}

template <class Real>
CORELLA_INLINE void hornerAny(const Real *taps, int degree, int vectors, Real t, Real *out) {
  typedef typename VectorOf<Real>::type Vector;
  constexpr int L = LANES<Real>;
  for (int q = 0; q < vectors; q++) {
    Vector sum = loadVector<Vector>(taps + (static_cast<int64_t>(degree) * vectors + q) * L);
    for (int power = degree; power-- > 0;) {
      sum = sum * t + loadVector<Vector>(taps + (static_cast<int64_t>(power) * vectors + q) * L);
    }
    storeVector(out + q * L, sum);
  }
}

/** A complex number in every pair of lanes. */
template <class Real>
CORELLA_INLINE typename VectorOf<Real>::type pairs(Real re, Real im) {
  typename VectorOf<Real>::type vector;
  for (int k = 0; k < LANES<Real>; k += 2) {
    vector[k] = re;
    vector[k + 1] = im;
  }
  return vector;
}

template <class Real, int W>
struct Gridder {
  typedef typename VectorOf<Real>::type Vector;
  static constexpr int L = LANES<Real>;
  /** Vectors of the taps along u, each twice, and along v. */
  static constexpr int NU = (2 * W + L - 1) / L, NV = (W + L - 1) / L;
  /** Rows of a patch and reals of a row, both whole vectors. */
  static constexpr int REACH = WIDE_TILE + W - 1;
  static constexpr int ROWS = (REACH + L - 1) / L * L;
  static constexpr int PITCH = (2 * (WIDE_TILE - 1) + NU * L + L - 1) / L * L;
  static constexpr int PATCH = ROWS * PITCH;
  static constexpr int BLOCKS = (2 * REACH + L - 1) / L;
  /** As many at once as fit in 32 registers beside the rest. */
  static constexpr int AT_ONCE = NU <= 2 ? 4 : NU <= 4 ? 4 : 2;

  /** Calls act(patch row vectors, their place on the plane) for LANES rows and LANES/2 columns at a time. */
  template <class Act>
  static CORELLA_INLINE void eachBlock(const WideShape<Real> &shape, const WideTile<Real> &tile, int plane, Real *patch,
                                       const Act &act) {
    const int64_t stride = groupReals(shape.side, L), groups = shape.side / WIDE_TILE;
    Real *base = tile.planes + (plane - tile.firstPlane) * groups * stride;
    for (int row = 0; row < ROWS; row += L) {
      int64_t group = tile.vCell / WIDE_TILE + row / WIDE_TILE;
      if (group >= groups) group -= groups;
      Real *part = base + group * stride + row % WIDE_TILE * 2 * shape.side;
      for (int block = 0; block < BLOCKS; block++) {
        int64_t u = tile.uCell + block * (L / 2);
        if (u >= shape.side) u -= shape.side;
        act(patch + row * PITCH + block * L, part + u * 2 * L);
      }
    }
  }

  static void flush(const WideShape<Real> &shape, const WideTile<Real> &tile, int plane, Real *patch) {
    if (plane >= tile.firstPlane && plane < tile.endPlane) {
      eachBlock(
          shape, tile, plane, patch, [](const Real *from, Real *to) __attribute__((always_inline)) {
            Vector rows[L];
#pragma GCC unroll 16
            for (int k = 0; k < L; k++) rows[k] = loadVector<Vector>(from + k * PITCH);
            transpose<L>(rows);
#pragma GCC unroll 16
            for (int k = 0; k < L; k++) storeVector(to + k * L, loadVector<Vector>(to + k * L) + rows[k]);
          });
    }
    __builtin_memset(patch, 0, sizeof(Real) * PATCH);
  }

  static void fetch(const WideShape<Real> &shape, const WideTile<Real> &tile, int plane, Real *patch) {
    if (plane < tile.firstPlane || plane >= tile.endPlane) return;
    eachBlock(
        shape, tile, plane, patch, [](Real * to, const Real *from) __attribute__((always_inline)) {
          Vector rows[L];
#pragma GCC unroll 16
          for (int k = 0; k < L; k++) rows[k] = loadVector<Vector>(from + k * L);
          transpose<L>(rows);
#pragma GCC unroll 16
          for (int k = 0; k < L; k++) storeVector(to + k * PITCH, rows[k]);
        });
  }

  /** Taps of visibilities that are added together. */
  template <int N>
  struct TapSet {
    Vector u[N][NU];
    alignas(ALIGNMENT) Real v[N][NV * L];
    alignas(ALIGNMENT) Real w[N][16];
  };

  template <int N>
  static CORELLA_INLINE void tapsOf(const WideShape<Real> &shape, const Offsets<Real> &at, int first, TapSet<N> &taps) {
    const int wVectors = (shape.wSupport + L - 1) / L;
#pragma GCC unroll 4
    for (int n = 0; n < N; n++) {
      Vector v[NV];
      horner<Real, NU>(shape.uTaps, shape.degree, at.u[first + n], taps.u[n]);
      horner<Real, NV>(shape.vTaps, shape.degree, at.v[first + n], v);
#pragma GCC unroll 4
      for (int q = 0; q < NV; q++) storeVector(taps.v[n] + q * L, v[q]);
      hornerAny(shape.wTaps, shape.wDegree, wVectors, at.w[first + n], taps.w[n]);
    }
  }

  /** N visibilities, values : [n] (re, im), into the ring from slot `slot` on, planes `from` … `end` − 1 of theirs. */
  template <int N>
  static CORELLA_INLINE void add(const WideShape<Real> &shape, const Offsets<Real> &at, int first, const Real *re,
                                 const Real *im, Real *corner, int slot, int from, int end) {
    TapSet<N> taps;
    tapsOf<N>(shape, at, first, taps);
#pragma GCC unroll 4
    for (int n = 0; n < N; n++) {
      const Vector value = pairs<Real>(re[first + n], im[first + n]);
#pragma GCC unroll 8
      for (int q = 0; q < NU; q++) taps.u[n][q] *= value;
    }
    for (int p = from; p < end; p++) {
      int place = slot + p;
      if (place >= shape.wSupport) place -= shape.wSupport;
      Real *row = corner + static_cast<int64_t>(place) * PATCH;
      Vector vw[N][NV];
#pragma GCC unroll 4
      for (int n = 0; n < N; n++) {
#pragma GCC unroll 4
        for (int q = 0; q < NV; q++) vw[n][q] = loadVector<Vector>(taps.v[n] + q * L) * taps.w[n][p];
      }
#pragma GCC unroll 12
      for (int j = 0; j < W; j++, row += PITCH) {
#pragma GCC unroll 8
        for (int q = 0; q < NU; q++) {
          Vector sum = loadVector<Vector>(row + q * L);
#pragma GCC unroll 4
          for (int n = 0; n < N; n++) sum += taps.u[n][q] * vw[n][j / L][j % L];
          storeVector(row + q * L, sum);
        }
      }
    }
  }

  static void grid(const WideShape<Real> &shape, const WideRows<Real> &rows, const WideTile<Real> &tile) {
    const int wSupport = shape.wSupport;
    Real *ring = tile.scratch;
    __builtin_memset(ring, 0, sizeof(Real) * PATCH * static_cast<size_t>(wSupport));
    int current = tile.begin->plane;
    for (const WideRun *run = tile.begin; run != tile.end; run++) {
      prefetch(rows, run + AHEAD < tile.end ? run + AHEAD : run);
      const int plane = run->plane;
      if (plane != current) {
        const int end = plane < current + wSupport ? plane : current + wSupport;
        for (int p = current; p < end; p++) flush(shape, tile, p, ring + static_cast<int64_t>(p % wSupport) * PATCH);
        current = plane;
      }
      const int from = tile.firstPlane > plane ? tile.firstPlane - plane : 0;
      const int end = tile.endPlane - plane < wSupport ? tile.endPlane - plane : wSupport;
      const int slot = plane % wSupport;
      Real *corner = ring + (run->cell >> 4) * PITCH + 2 * (run->cell & 15);
      for (int done = 0; done < run->count; done += WIDE_CHUNK) {
        const int count = run->count - done < WIDE_CHUNK ? run->count - done : WIDE_CHUNK;
        Offsets<Real> at;
        offsetsOf(shape, rows.uvw + 3 * static_cast<int64_t>(run->row), rows.scales + run->channel + done, *run,
                  tile.uCell, tile.vCell, at);
        Real re[WIDE_CHUNK], im[WIDE_CHUNK];
        valuesOf(rows, *run, done, count, at, re, im);
        int n = 0;
        for (; n + AT_ONCE <= count; n += AT_ONCE) add<AT_ONCE>(shape, at, n, re, im, corner, slot, from, end);
        if (AT_ONCE > 2 && count - n == 3)
          add<3>(shape, at, n, re, im, corner, slot, from, end);
        else if (AT_ONCE > 2 && count - n == 2)
          add<2>(shape, at, n, re, im, corner, slot, from, end);
        else if (count - n == 1)
          add<1>(shape, at, n, re, im, corner, slot, from, end);
      }
    }
    for (int p = current; p < current + wSupport; p++) {
      flush(shape, tile, p, ring + static_cast<int64_t>(p % wSupport) * PATCH);
    }
  }

  /** How many runs ahead data are prefetched. */
  static constexpr int AHEAD = 6;
  static CORELLA_INLINE void prefetch(const WideRows<Real> &rows, const WideRun *run) {
    const int64_t at = run->row * rows.channels + run->channel;
    __builtin_prefetch(rows.uvw + 3 * static_cast<int64_t>(run->row));
    if (rows.values) __builtin_prefetch(rows.values + 2 * at);
    if (rows.weights) __builtin_prefetch(rows.weights + at);
  }

  /** conj(V), or V with the pair reversed, weighted and phase-rotated. */
  static CORELLA_INLINE void valuesOf(const WideRows<Real> &rows, const WideRun &run, int done, int count,
                                      const Offsets<Real> &at, Real *re, Real *im) {
    const int64_t first = run.row * rows.channels + run.channel + done;
    const Real sign = run.turned ? 1 : -1;
    for (int k = 0; k < count; k++) {
      const Real weight = static_cast<Real>(rows.weights[first + k]);
      const Real x = rows.values ? rows.values[2 * (first + k)] * weight : weight;
      const Real y = rows.values ? sign * rows.values[2 * (first + k) + 1] * weight : 0;
      re[k] = x * at.cosine[k] - y * at.sine[k];
      im[k] = x * at.sine[k] + y * at.cosine[k];
    }
  }

  template <int N>
  static CORELLA_INLINE void take(const WideShape<Real> &shape, const Offsets<Real> &at, int first, const Real *corner,
                                  int slot, int from, int end, Real *re, Real *im) {
    TapSet<N> taps;
    tapsOf<N>(shape, at, first, taps);
    Vector sums[N][NU];
    for (int n = 0; n < N; n++) {
      for (int q = 0; q < NU; q++) sums[n][q] = Vector{};
    }
    for (int p = from; p < end; p++) {
      int place = slot + p;
      if (place >= shape.wSupport) place -= shape.wSupport;
      const Real *row = corner + static_cast<int64_t>(place) * PATCH;
      Vector vw[N][NV];
#pragma GCC unroll 4
      for (int n = 0; n < N; n++) {
#pragma GCC unroll 4
        for (int q = 0; q < NV; q++) vw[n][q] = loadVector<Vector>(taps.v[n] + q * L) * taps.w[n][p];
      }
#pragma GCC unroll 12
      for (int j = 0; j < W; j++, row += PITCH) {
#pragma GCC unroll 8
        for (int q = 0; q < NU; q++) {
          const Vector cells = loadVector<Vector>(row + q * L);
#pragma GCC unroll 4
          for (int n = 0; n < N; n++) sums[n][q] += cells * vw[n][j / L][j % L];
        }
      }
    }
    for (int n = 0; n < N; n++) {
      Vector sum = sums[n][0] * taps.u[n][0];
      for (int q = 1; q < NU; q++) sum += sums[n][q] * taps.u[n][q];
      Real x = 0, y = 0;
      for (int k = 0; k < L; k += 2) {
        x += sum[k];
        y += sum[k + 1];
      }
      re[first + n] = x;
      im[first + n] = y;
    }
  }

  /** Two at a time: their sums and taps fill the registers. */
  static constexpr int TAKEN_AT_ONCE = NU <= 4 ? 2 : 1;

  static void degrid(const WideShape<Real> &shape, const WideRows<Real> &rows, const WideTile<Real> &tile, Real *out) {
    const int wSupport = shape.wSupport;
    Real *ring = tile.scratch;
    int current = tile.begin->plane;
    for (int p = current; p < current + wSupport; p++) {
      fetch(shape, tile, p, ring + static_cast<int64_t>(p % wSupport) * PATCH);
    }
    for (const WideRun *run = tile.begin; run != tile.end; run++) {
      prefetch(rows, run + AHEAD < tile.end ? run + AHEAD : run);
      const int plane = run->plane;
      if (plane != current) {
        const int begin = plane > current + wSupport ? plane : current + wSupport;
        for (int p = begin; p < plane + wSupport; p++) {
          fetch(shape, tile, p, ring + static_cast<int64_t>(p % wSupport) * PATCH);
        }
        current = plane;
      }
      const int from = tile.firstPlane > plane ? tile.firstPlane - plane : 0;
      const int end = tile.endPlane - plane < wSupport ? tile.endPlane - plane : wSupport;
      const int slot = plane % wSupport;
      const Real *corner = ring + (run->cell >> 4) * PITCH + 2 * (run->cell & 15);
      for (int done = 0; done < run->count; done += WIDE_CHUNK) {
        const int count = run->count - done < WIDE_CHUNK ? run->count - done : WIDE_CHUNK;
        Offsets<Real> at;
        offsetsOf(shape, rows.uvw + 3 * static_cast<int64_t>(run->row), rows.scales + run->channel + done, *run,
                  tile.uCell, tile.vCell, at);
        Real re[WIDE_CHUNK], im[WIDE_CHUNK];
        int n = 0;
        for (; n + TAKEN_AT_ONCE <= count; n += TAKEN_AT_ONCE) {
          take<TAKEN_AT_ONCE>(shape, at, n, corner, slot, from, end, re, im);
        }
        if (n < count) take<1>(shape, at, n, corner, slot, from, end, re, im);
        Real *to = out + 2 * (run->row * rows.channels + run->channel + done);
        const Real sign = run->turned ? 1 : -1;
        for (int k = 0; k < count; k++) {
          to[2 * k] += re[k] * at.cosine[k] + im[k] * at.sine[k];
          to[2 * k + 1] += sign * (im[k] * at.cosine[k] - re[k] * at.sine[k]);
        }
      }
    }
  }
};

/** The first cell of each channel's kernel along one axis, [0, side). */
CORELLA_INLINE int32_t firstCell(double turns, double side, double halfWidth) {
  const double cell = __builtin_ceil((turns - __builtin_floor(turns)) * side - halfWidth);
  return static_cast<int32_t>(cell < 0 ? cell + side : cell >= side ? cell - side : cell);
}

template <class Real>
void place(const WideShape<Real> &shape, const double *uvw, const double *scales, int64_t channels, WidePlaces to) {
  const double sign = uvw[2] < 0 ? -1 : 1, side = static_cast<double>(shape.side), halfWidth = 0.5 * shape.support;
  const double us = sign * uvw[0] * shape.pixelCosine, vs = sign * uvw[1] * shape.pixelCosine;
  const double perPlane = 1 / shape.spacing, least = shape.leastW * perPlane, ws = sign * uvw[2] * perPlane;
  for (int64_t c = 0; c < channels; c++) to.u[c] = firstCell(us * scales[c], side, halfWidth);
  for (int64_t c = 0; c < channels; c++) to.v[c] = firstCell(vs * scales[c], side, halfWidth);
  if (shape.wSupport == 1) {
    for (int64_t c = 0; c < channels; c++) to.w[c] = 0;
  } else {
    for (int64_t c = 0; c < channels; c++) to.w[c] = static_cast<int32_t>(__builtin_ceil(ws * scales[c] - least));
  }
}

}  // namespace
}  // namespace CORELLA_LEVEL
}  // namespace corella

// Planes of w to images and back. For sources compiled for each level.
#pragma once
#if defined(__aarch64__)
#include <arm_neon.h>
#endif

#include "image/cpu/lane_fft.h"
#include "image/wide/cpu/wide_transpose.h"

namespace corella {
namespace CORELLA_LEVEL {
namespace {

/** As many numbers as there are doubles in a register. GCC splits up the generic conversion on ARM. */
CORELLA_INLINE Doubles widened(const float *from) {
#if defined(__aarch64__)
  return (Doubles)vcvt_f64_f32(vld1_f32(from));
#else
  typedef float Half __attribute__((vector_size(VECTOR_BYTES / 2)));
  return __builtin_convertvector(loadVector<Half>(from), Doubles);
#endif
}
CORELLA_INLINE Doubles widened(const double *from) { return loadVector<Doubles>(from); }
CORELLA_INLINE void storeNarrow(float *to, const Doubles &value) {
#if defined(__aarch64__)
  vst1_f32(to, vcvt_f32_f64((float64x2_t)value));
#else
  typedef float Half __attribute__((vector_size(VECTOR_BYTES / 2)));
  storeVector(to, __builtin_convertvector(value, Half));
#endif
}
CORELLA_INLINE void storeNarrow(double *to, const Doubles &value) { storeVector(to, value); }

constexpr int64_t wrapped(int64_t k, int64_t side) { return k < 0 ? k + side : k; }

template <class Real>
struct Transforms {
  typedef typename VectorOf<Real>::type Vector;
  static constexpr int L = LANES<Real>;

  /** Parts of a group, and reals of a block of columns in one. */
  static constexpr int PARTS = WIDE_TILE / L;
  static constexpr int BLOCK = 2 * WIDE_TILE * L;

  /** Buffer n of bufferReals. */
  static Complex<Vector> *bufferOf(const WideShape<Real> &shape, Real *buffers, int n) {
    return reinterpret_cast<Complex<Vector> *>(buffers) + n * shape.side;
  }

  static void rowsToImage(const WideShape<Real> &shape, Real *group, Real *buffers) {
    const Complex<Vector> *done[PARTS];
    Complex<Vector> *spare = bufferOf(shape, buffers, PARTS);
    for (int part = 0; part < PARTS; part++) {
      const Real *from = group + part * 2 * L * shape.side;
      const auto load = [&](int64_t k) __attribute__((always_inline)) {
        return Complex<Vector>{loadVector<Vector>(from + (2 * k + 1) * L), loadVector<Vector>(from + 2 * k * L)};
      };
      Complex<Vector> *own = bufferOf(shape, buffers, part);
      done[part] = transformLanes<Vector>(shape.fft, load, own, spare);
      if (done[part] == spare) spare = own;
    }
    const int64_t blocks = (shape.pixels + L - 1) / L;
    for (int64_t block = 0; block < blocks; block++) {
      for (int part = 0; part < PARTS; part++) {
        Vector re[L], im[L];
#pragma GCC unroll 16
        for (int k = 0; k < L; k++) {
          // outside the image there are columns to read, whose result is not used
          const Complex<Vector> &one = done[part][wrapped(block * L + k - shape.pixels / 2, shape.side)];
          re[k] = one.im;
          im[k] = one.re;
        }
        transpose<L>(re);
        transpose<L>(im);
        Real *to = group + block * BLOCK + part * 2 * L * L;
#pragma GCC unroll 16
        for (int k = 0; k < L; k++) {
          storeVector(to + 2 * k * L, re[k]);
          storeVector(to + (2 * k + 1) * L, im[k]);
        }
      }
    }
  }

  static void rowsToGrid(const WideShape<Real> &shape, Real *group, Real *buffers) {
    const Vector zero = {};
    const int64_t blocks = (shape.pixels + L - 1) / L;
    for (int part = 0; part < PARTS; part++) {
      Complex<Vector> *own = bufferOf(shape, buffers, part);
      for (int64_t k = shape.pixels / 2; k < shape.side - shape.pixels / 2; k++) own[k] = {zero, zero};
    }
    for (int64_t block = 0; block < blocks; block++) {
      for (int part = 0; part < PARTS; part++) {
        Complex<Vector> *own = bufferOf(shape, buffers, part);
        Vector re[L], im[L];
        const Real *from = group + block * BLOCK + part * 2 * L * L;
#pragma GCC unroll 16
        for (int k = 0; k < L; k++) {
          re[k] = loadVector<Vector>(from + 2 * k * L);
          im[k] = loadVector<Vector>(from + (2 * k + 1) * L);
        }
        transpose<L>(re);
        transpose<L>(im);
        for (int k = 0; k < L && block * L + k < shape.pixels; k++) {
          own[wrapped(block * L + k - shape.pixels / 2, shape.side)] = {re[k], im[k]};
        }
      }
    }
    for (int part = 0; part < PARTS; part++) {
      Complex<Vector> *own = bufferOf(shape, buffers, part), *spare = bufferOf(shape, buffers, PARTS);
      // the first pass has read all of `own` before the next one writes there
      const auto load = [&](int64_t k) __attribute__((always_inline)) { return own[k]; };
      const Complex<Vector> *done = transformLanes<Vector>(shape.fft, load, spare, own);
      Real *to = group + part * 2 * L * shape.side;
      for (int64_t k = 0; k < shape.side; k++) {
        storeVector(to + 2 * k * L, done[k].re);
        storeVector(to + (2 * k + 1) * L, done[k].im);
      }
    }
  }

  /** Prefetches, a cache line at a time between other work, the columns of the next plane. */
  struct Ahead {
    static constexpr int LINE = static_cast<int>(64 / sizeof(Real)), LINES = BLOCK / LINE;
    const Real *const *groups;
    int64_t at, end;
    CORELLA_INLINE void operator()() {
      if (at >= end) return;
      __builtin_prefetch(groups[at / LINES] + at % LINES * LINE);
      at++;
    }
  };

  /** sums ← sums · turns + value over a range; `step` 1 or −1 is the direction in `turns`. */
  static CORELLA_INLINE void addTurned(int64_t count, double *sums, const double *turns, int64_t step,
                                       const Complex<Vector> *values, Ahead &ahead) {
    for (int64_t k = 0; k < count; k++, sums += 2 * L, turns += step * 2 * L) {
      const Real *value = reinterpret_cast<const Real *>(values + k);
#pragma GCC unroll 2
      for (int at = 0; at < L; at += LANES<double>) {
        const Doubles re = loadVector<Doubles>(sums + at), im = loadVector<Doubles>(sums + L + at);
        const Doubles zre = loadVector<Doubles>(turns + at), zim = loadVector<Doubles>(turns + L + at);
        // im first in the value: the transform was of swapped numbers
        storeVector(sums + at, re * zre - im * zim + widened(value + L + at));
        storeVector(sums + L + at, re * zim + im * zre + widened(value + at));
      }
      ahead();
    }
  }

  static CORELLA_INLINE void turnBack(int64_t count, double *sums, const double *turns, int64_t step) {
    for (int64_t k = 0; k < count; k++, sums += 2 * L, turns += step * 2 * L) {
#pragma GCC unroll 2
      for (int at = 0; at < L; at += LANES<double>) {
        const Doubles re = loadVector<Doubles>(sums + at), im = loadVector<Doubles>(sums + L + at);
        const Doubles zre = loadVector<Doubles>(turns + at), zim = loadVector<Doubles>(turns + L + at);
        storeVector(sums + at, re * zre + im * zim);
        storeVector(sums + L + at, im * zre - re * zim);
      }
    }
  }

  /** The position of each group's part of a block, zeros where there is none; returns to : [group]. */
  static const Real *const *partsOf(const WideShape<Real> &shape, Real *const *groups, int64_t block, const Real **to) {
    alignas(ALIGNMENT) static const Real empty[BLOCK] = {};
    for (int64_t g = 0; g < shape.side / WIDE_TILE; g++) to[g] = groups[g] ? groups[g] + block * BLOCK : empty;
    return to;
  }

  static void columnsToImage(const WideShape<Real> &shape, Real *const *groups, Real *const *next, int64_t block,
                             double *sums, const double *turns, Real *buffers) {
    Complex<Vector> *first = bufferOf(shape, buffers, 0), *second = bufferOf(shape, buffers, 1);
    const int64_t count = shape.side / WIDE_TILE, part = shape.pixels / 2;
    // the first pass reads these before the next one overwrites them
    const Real *const *parts = partsOf(shape, groups, block, reinterpret_cast<const Real **>(second));
    const auto load = [&](int64_t k) __attribute__((always_inline)) {
      const Real *from = parts[static_cast<uint64_t>(k) / WIDE_TILE] + k % WIDE_TILE * 2 * L;
      return Complex<Vector>{loadVector<Vector>(from + L), loadVector<Vector>(from)};
    };
    const Complex<Vector> *done = transformLanes<Vector>(shape.fft, load, first, second);
    auto *room = reinterpret_cast<const Real **>(done == first ? second : first);
    Ahead ahead{next ? partsOf(shape, next, block, room) : nullptr, 0, next ? count * Ahead::LINES : 0};
    addTurned(part, sums, turns, 1, done, ahead);
    addTurned(part, sums + part * 2 * L, turns + part * 2 * L, -1, done + shape.side - part, ahead);
  }

  static void columnsToGrid(const WideShape<Real> &shape, Real *const *groups, int64_t block, double *sums,
                            const double *turns, Real *buffers) {
    Complex<Vector> *first = bufferOf(shape, buffers, 0), *second = bufferOf(shape, buffers, 1);
    const int64_t part = shape.pixels / 2;
    const Vector zero = {};
    for (int64_t k = part; k < shape.side - part; k++) second[k] = {zero, zero};
    const auto narrow = [&](const double *from, Complex<Vector> *to) {
      Real *reals = reinterpret_cast<Real *>(to);
      for (int64_t k = 0; k < part; k++) {
        for (int at = 0; at < 2 * L; at += LANES<double>) {
          storeNarrow(reals + 2 * L * k + at, loadVector<Doubles>(from + 2 * L * k + at));
        }
      }
    };
    narrow(sums, second);
    narrow(sums + part * 2 * L, second + shape.side - part);
    turnBack(part, sums, turns, 1);
    turnBack(part, sums + part * 2 * L, turns + part * 2 * L, -1);
    const auto load = [&](int64_t k) __attribute__((always_inline)) { return second[k]; };
    const Complex<Vector> *done = transformLanes<Vector>(shape.fft, load, first, second);
    for (int64_t g = 0; g < shape.side / WIDE_TILE; g++) {
      if (!groups[g]) continue;
      Real *to = groups[g] + block * BLOCK;
      for (int k = 0; k < WIDE_TILE; k++) {
        storeVector(to + 2 * k * L, done[g * WIDE_TILE + k].re);
        storeVector(to + (2 * k + 1) * L, done[g * WIDE_TILE + k].im);
      }
    }
  }

  static void skipPlane(const WideShape<Real> &shape, double *sums, const double *turns, int conjugate) {
    const int64_t part = shape.pixels / 2;
    for (int64_t side = 0; side < 2; side++) {
      double *at = sums + side * part * 2 * L;
      const double *by = turns + side * part * 2 * L;
      const int64_t step = side == 0 ? 1 : -1;
      if (conjugate) {
        turnBack(part, at, by, step);
        continue;
      }
      for (int64_t k = 0; k < part; k++, at += 2 * L, by += step * 2 * L) {
        for (int lane = 0; lane < L; lane++) {
          const double re = at[lane], im = at[L + lane];
          at[lane] = re * by[lane] - im * by[L + lane];
          at[L + lane] = re * by[L + lane] + im * by[lane];
        }
      }
    }
  }
};

}  // namespace
}  // namespace CORELLA_LEVEL
}  // namespace corella

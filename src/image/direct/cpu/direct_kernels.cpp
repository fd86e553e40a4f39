// levels: portable avx2 avx512
#include "image/direct/cpu/direct_kernels.h"

#include "image/cpu/lane_fft.h"

namespace corella {
namespace CORELLA_LEVEL {
namespace {

/** One time step in each lane. */
template <class Real>
using Steps = Complex<typename VectorOf<Real>::type>;

template <class Real>
CORELLA_INLINE Steps<Real> nothing() {
  typedef typename VectorOf<Real>::type Vector;
  return {Vector{}, Vector{}};
}

/** How many vectors are folded into one. */
template <class Real>
constexpr int FOLD = LANES<Real>;
template <>
constexpr int FOLD<float> = FLOATS_FOLDED;

/** FOLD vectors to one: LANES / FOLD neighbouring lanes hold the rest of each. */
CORELLA_INLINE Floats folded(const Floats *x) {
#if defined(__AVX2__)
  return halveThrice(halveTwice(halveOnce(x[0], x[1]), halveOnce(x[2], x[3])),
                     halveTwice(halveOnce(x[4], x[5]), halveOnce(x[6], x[7])));
#else
  return halveTwice(halveOnce(x[0], x[1]), halveOnce(x[2], x[3]));
#endif
}

CORELLA_INLINE Doubles folded(const Doubles *x) {
  Doubles sums = {};
  for (int k = 0; k < FOLD<double>; k++) {
    for (int lane = 0; lane < LANES<double>; lane++) sums[k] += x[k][lane];
  }
  return sums;
}

/** LANES samples of one input, from sample `first`, a multiple of LANES. */
template <class Real>
CORELLA_INLINE Steps<Real> readIntegers(const DirectChannel<Real> &channel, int64_t input, int64_t first) {
  typedef int8_t Bytes __attribute__((vector_size(LANES<Real>)));
  /** A tile keeps four samples of an input side by side. */
  constexpr int TOGETHER = LANES<Real> < 4 ? LANES<Real> : 4;
  const char *tile = channel.spectra + input / TILE_INPUTS * channel.layout.inputBlockBytes() +
                     first / TILE_SAMPLES * TILE_BYTES + withinPlane(input % TILE_INPUTS, first % TILE_SAMPLES);
  Bytes re, im;
  for (int at = 0; at < LANES<Real>; at += TOGETHER) {
    const char *line = tile + at * TILE_INPUTS;
    __builtin_memcpy(reinterpret_cast<char *>(&re) + at, line, TOGETHER);
    __builtin_memcpy(reinterpret_cast<char *>(&im) + at, line + PLANE_BYTES, TOGETHER);
  }
  typedef typename VectorOf<Real>::type Vector;
  return {__builtin_convertvector(re, Vector), __builtin_convertvector(im, Vector)};
}

template <class Real>
CORELLA_INLINE Steps<Real> readFloats(const DirectChannel<Real> &channel, int64_t input, int64_t first) {
  const float *vectors =
      reinterpret_cast<const float *>(channel.spectra + input / TILE_INPUTS * channel.layout.inputBlockBytes());
  Steps<Real> x = nothing<Real>();
  for (int64_t lane = 0; lane < LANES<Real> && first + lane < channel.samples; lane++) {
    const float *at = vectors + (first + lane) * FLOATS_PER_SAMPLE + input % TILE_INPUTS;
    x.re[lane] = at[0];
    x.im[lane] = at[TILE_INPUTS];
  }
  return x;
}

template <class Real>
CORELLA_INLINE Steps<Real> readInput(const DirectChannel<Real> &channel, int64_t input, int64_t first) {
  const Real *factor = channel.factors + 2 * input;
  if (factor[0] == 0 && factor[1] == 0) return nothing<Real>();
  const Steps<Real> x = channel.layout.type == SpectraType::cf32 ? readFloats(channel, input, first)
                                                                 : readIntegers(channel, input, first);
  return turned(x, factor);
}

template <int POLARISATIONS, class Real>
void spread(const DirectShape<Real> &shape, const DirectChannel<Real> &channel, Steps<Real> *grid, int64_t first) {
  const int64_t size = shape.kernelSize, apart = channel.rows * channel.columns;
  for (int64_t at = 0; at < POLARISATIONS * apart; at++) grid[at] = nothing<Real>();
  for (int64_t s = 0; s < shape.stations; s++) {
    Steps<Real> x[POLARISATIONS];
    const int64_t input = channel.order[s] * POLARISATIONS;
    for (int64_t p = 0; p < POLARISATIONS; p++) x[p] = readInput(channel, input + p, first);
    const Real *tap = channel.taps + 2 * s * size * size;
    Steps<Real> *row = grid + channel.corners[2 * s] * channel.columns + channel.corners[2 * s + 1];
    for (int64_t r = 0; r < size; r++, row += channel.columns) {
      for (int64_t c = 0; c < size; c++, tap += 2) {
        for (int64_t p = 0; p < POLARISATIONS; p++) {
          Steps<Real> &cell = row[p * apart + c];
          cell = cell + turned(x[p], tap);
        }
      }
    }
  }
}

/** (−i)^QUARTERS x */
template <int QUARTERS, class Vector>
CORELLA_INLINE Complex<Vector> rotated(const Complex<Vector> &x) {
  if constexpr (QUARTERS % 4 == 0)
    return x;
  else if constexpr (QUARTERS % 4 == 1)
    return {x.im, -x.re};
  else if constexpr (QUARTERS % 4 == 2)
    return {-x.re, -x.im};
  else
    return {-x.im, x.re};
}

/**
 * y_r of the heading, from `count` inputs. Inputs M apart differ by a quarter turn (half a turn with two classes) times
 * r, QUARTERS in all, and share the phase of their place; class 0 needs no rotation.
 */
template <int QUARTERS, class Real>
struct ClassInputs {
  const Steps<Real> *inputs;
  int64_t count, length;
  /** Those of class r. */
  const Real *turns;

  CORELLA_INLINE Steps<Real> operator()(int64_t p) const {
    if (p >= count) return nothing<Real>();
    Steps<Real> y = inputs[p];
    if (p + length < count) {
      y = y + rotated<QUARTERS>(inputs[p + length]);
      if (p + 2 * length < count) y = y + rotated<2 * QUARTERS>(inputs[p + 2 * length]);
      if (p + 3 * length < count) y = y + rotated<3 * QUARTERS>(inputs[p + 3 * length]);
    }
    if constexpr (QUARTERS == 0)
      return y;
    else
      return turned(y, turns + 2 * p);
  }
};

template <int QUARTERS, class Real>
void transformQuarters(const DirectShape<Real> &shape, int64_t r, const Steps<Real> *inputs, int64_t count,
                       Steps<Real> *buffers, const ToMemory<typename VectorOf<Real>::type> &store) {
  const int64_t length = shape.fft.length;
  const ClassInputs<QUARTERS, Real> load{inputs, count, length, shape.classTurns + 2 * r * length};
  transformLanes<typename VectorOf<Real>::type>(shape.fft, load, buffers, buffers + length, store);
}

template <class Real>
CORELLA_INLINE void transformClass(const DirectShape<Real> &shape, int64_t r, const Steps<Real> *inputs, int64_t count,
                                   Steps<Real> *buffers, const ToMemory<typename VectorOf<Real>::type> &store) {
  switch (4 / shape.classes * r) {
    case 0: return transformQuarters<0>(shape, r, inputs, count, buffers, store);
    case 1: return transformQuarters<1>(shape, r, inputs, count, buffers, store);
    case 2: return transformQuarters<2>(shape, r, inputs, count, buffers, store);
    default: return transformQuarters<3>(shape, r, inputs, count, buffers, store);
  }
}

/** sums[0…] += XX, or XX, YY, Re XY, Im XY with XY = X·conj(Y), of FOLD outputs. */
template <int POLARISATIONS, class Real>
CORELLA_INLINE void addProducts(const Steps<Real> *x, const Steps<Real> *y, Real *sums, int64_t apart) {
  typedef typename VectorOf<Real>::type Vector;
  constexpr int COUNT = FOLD<Real>;
  Vector product[COUNT];
  const auto add = [&](int64_t at) __attribute__((always_inline)) {
    storeVector(sums + at * apart, loadVector<Vector>(sums + at * apart) + folded(product));
  };
  for (int k = 0; k < COUNT; k++) product[k] = x[k].re * x[k].re + x[k].im * x[k].im;
  add(0);
  if constexpr (POLARISATIONS == 2) {
    for (int k = 0; k < COUNT; k++) product[k] = y[k].re * y[k].re + y[k].im * y[k].im;
    add(1);
    for (int k = 0; k < COUNT; k++) product[k] = x[k].re * y[k].re + x[k].im * y[k].im;
    add(2);
    for (int k = 0; k < COUNT; k++) product[k] = x[k].im * y[k].re - x[k].re * y[k].im;
    add(3);
  }
}

/** One column of the field, from its rows' transforms, into the sums. */
template <int POLARISATIONS, class Real>
void addColumn(const DirectShape<Real> &shape, const DirectChannel<Real> &channel, const DirectScratch<Real> &scratch,
               const Steps<Real> *column, int64_t polarisationsApart, int64_t slot) {
  const int64_t padded = shape.groups * FOLD<Real>;
  auto *buffers = static_cast<Steps<Real> *>(scratch.buffers);
  auto *fields = static_cast<Steps<Real> *>(scratch.fields);
  const int64_t apart = shape.sumVectors() * LANES<Real>;
  for (int64_t r = 0; r < shape.classes; r++) {
    for (int64_t p = 0; p < POLARISATIONS; p++) {
      transformClass(shape, r, column + p * polarisationsApart, channel.rows, buffers, {fields + p * padded, 1});
    }
    const int64_t first = (slot * shape.classes + r) * shape.groups;
    for (int64_t group = 0; group < shape.groups; group++) {
      if (shape.shownGroups[first + group] == 0) continue;
      const Steps<Real> *x = fields + group * FOLD<Real>;
      addProducts<POLARISATIONS>(x, x + padded, scratch.sums + (first + group) * LANES<Real>, apart);
    }
  }
}

template <int POLARISATIONS, class Real>
void addStep(const DirectShape<Real> &shape, const DirectChannel<Real> &channel, const DirectScratch<Real> &scratch,
             int64_t first) {
  auto *grid = static_cast<Steps<Real> *>(scratch.grid);
  auto *between = static_cast<Steps<Real> *>(scratch.between);
  auto *buffers = static_cast<Steps<Real> *>(scratch.buffers);
  const int64_t length = shape.fft.length, apart = length * scratch.betweenRows;
  spread<POLARISATIONS>(shape, channel, grid, first);
  for (int64_t r = 0; r < shape.classes; r++) {
    for (int64_t p = 0; p < POLARISATIONS; p++) {
      for (int64_t row = 0; row < channel.rows; row++) {
        transformClass(shape, r, grid + (p * channel.rows + row) * channel.columns, channel.columns, buffers,
                       {between + p * apart + row, scratch.betweenRows});
      }
    }
    for (int64_t k = 0; k < length; k++) {
      const int64_t slot = shape.slots[shape.classes * k + r];
      if (slot < 0) continue;
      addColumn<POLARISATIONS>(shape, channel, scratch, between + k * scratch.betweenRows, apart, slot);
    }
  }
}

template <class Real>
void addSteps(const DirectShape<Real> &shape, const DirectChannel<Real> &channel, const DirectScratch<Real> &scratch,
              int64_t first, int64_t end) {
  for (int64_t step = first; step < end; step++) {
    if (shape.polarisations == 1)
      addStep<1>(shape, channel, scratch, step * LANES<Real>);
    else
      addStep<2>(shape, channel, scratch, step * LANES<Real>);
  }
}

template <class Real>
void flush(const DirectShape<Real> &shape, Real *sums, double *totals) {
  constexpr int EACH = LANES<Real> / FOLD<Real>;
  const int64_t outputs = shape.products() * shape.sumVectors() * FOLD<Real>;
  for (int64_t at = 0; at < outputs; at++) {
    double total = 0;
    for (int lane = 0; lane < EACH; lane++) {
      total += static_cast<double>(sums[at * EACH + lane]);
      sums[at * EACH + lane] = 0;
    }
    totals[at] += total;
  }
}

}  // namespace

extern const DirectKernels<float> directKernels = {LANES<float>, FOLD<float>, addSteps<float>, flush<float>};
extern const DirectKernels<double> directKernelsExact = {LANES<double>, FOLD<double>, addSteps<double>, flush<double>};

}  // namespace CORELLA_LEVEL
}  // namespace corella

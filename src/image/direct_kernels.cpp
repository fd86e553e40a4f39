// levels: portable avx2 avx512
#include "image/direct_kernels.h"

#include "image/lane_fft.h"

namespace corella {
namespace CORELLA_LEVEL {
namespace {

using Lanes = Complex<Floats>;

inline Lanes nothing() { return {Floats{}, Floats{}}; }

#if defined(__clang__)
#define SHUFFLE(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
typedef int32_t Picks __attribute__((vector_size(VECTOR_BYTES)));
#define SHUFFLE(a, b, ...) __builtin_shuffle(a, b, (Picks){__VA_ARGS__})
#endif

// Halves two vectors of sums into one: what belongs together is added, a's results come before b's.
#if defined(__AVX512F__)
constexpr int FOLD = 8;
inline Floats halve1(Floats a, Floats b) {
  return SHUFFLE(a, b, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23) +
         SHUFFLE(a, b, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31);
}
inline Floats halve2(Floats a, Floats b) {
  return SHUFFLE(a, b, 0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27) +
         SHUFFLE(a, b, 4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30, 31);
}
inline Floats halve3(Floats a, Floats b) {
  return SHUFFLE(a, b, 0, 1, 4, 5, 8, 9, 12, 13, 16, 17, 20, 21, 24, 25, 28, 29) +
         SHUFFLE(a, b, 2, 3, 6, 7, 10, 11, 14, 15, 18, 19, 22, 23, 26, 27, 30, 31);
}
#elif defined(__AVX2__)
constexpr int FOLD = 8;
inline Floats halve1(Floats a, Floats b) {
  return SHUFFLE(a, b, 0, 1, 2, 3, 8, 9, 10, 11) + SHUFFLE(a, b, 4, 5, 6, 7, 12, 13, 14, 15);
}
inline Floats halve2(Floats a, Floats b) {
  return SHUFFLE(a, b, 0, 1, 4, 5, 8, 9, 12, 13) + SHUFFLE(a, b, 2, 3, 6, 7, 10, 11, 14, 15);
}
inline Floats halve3(Floats a, Floats b) {
  return SHUFFLE(a, b, 0, 2, 4, 6, 8, 10, 12, 14) + SHUFFLE(a, b, 1, 3, 5, 7, 9, 11, 13, 15);
}
#else
constexpr int FOLD = 4;
inline Floats halve1(Floats a, Floats b) { return SHUFFLE(a, b, 0, 1, 4, 5) + SHUFFLE(a, b, 2, 3, 6, 7); }
inline Floats halve2(Floats a, Floats b) { return SHUFFLE(a, b, 0, 2, 4, 6) + SHUFFLE(a, b, 1, 3, 5, 7); }
#endif

/** FOLD vectors to one: LANES / FOLD neighbouring lanes hold what is left of each. */
inline Floats folded(const Floats *x) {
#if defined(__AVX2__)
  return halve3(halve2(halve1(x[0], x[1]), halve1(x[2], x[3])), halve2(halve1(x[4], x[5]), halve1(x[6], x[7])));
#else
  return halve2(halve1(x[0], x[1]), halve1(x[2], x[3]));
#endif
}

/** LANES samples of one input, from sample `first`, a multiple of LANES. */
inline Lanes readIntegers(const DirectChannel &channel, int64_t input, int64_t first) {
  typedef int8_t Bytes __attribute__((vector_size(LANES)));
  const char *tile = channel.spectra + input / TILE_INPUTS * channel.layout.inputBlockBytes() +
                     first / TILE_SAMPLES * TILE_BYTES + withinPlane(input % TILE_INPUTS, first % TILE_SAMPLES);
  Bytes re, im;
  for (int quad = 0; quad < LANES / 4; quad++) {
    __builtin_memcpy(reinterpret_cast<char *>(&re) + 4 * quad, tile + quad * 4 * TILE_INPUTS, 4);
    __builtin_memcpy(reinterpret_cast<char *>(&im) + 4 * quad, tile + PLANE_BYTES + quad * 4 * TILE_INPUTS, 4);
  }
  return {__builtin_convertvector(re, Floats), __builtin_convertvector(im, Floats)};
}

inline Lanes readFloats(const DirectChannel &channel, int64_t input, int64_t first) {
  const float *vectors =
      reinterpret_cast<const float *>(channel.spectra + input / TILE_INPUTS * channel.layout.inputBlockBytes());
  Lanes x = nothing();
  for (int64_t lane = 0; lane < LANES && first + lane < channel.samples; lane++) {
    const float *at = vectors + (first + lane) * FLOATS_PER_SAMPLE + input % TILE_INPUTS;
    x.re[lane] = at[0];
    x.im[lane] = at[TILE_INPUTS];
  }
  return x;
}

inline Lanes readInput(const DirectChannel &channel, int64_t input, int64_t first) {
  const float *factor = channel.factors + 2 * input;
  if (factor[0] == 0 && factor[1] == 0) return nothing();
  const Lanes x = channel.layout.type == SpectraType::cf32 ? readFloats(channel, input, first)
                                                           : readIntegers(channel, input, first);
  return turned(x, factor);
}

template <int POLARISATIONS>
void spread(const DirectShape &shape, const DirectChannel &channel, Lanes *grid, int64_t first) {
  const int64_t size = shape.kernelSize, apart = channel.rows * channel.columns;
  for (int64_t at = 0; at < POLARISATIONS * apart; at++) grid[at] = nothing();
  for (int64_t s = 0; s < shape.stations; s++) {
    Lanes x[POLARISATIONS];
    for (int64_t p = 0; p < POLARISATIONS; p++) x[p] = readInput(channel, s * POLARISATIONS + p, first);
    const float *tap = channel.taps + 2 * s * size * size;
    Lanes *row = grid + channel.corners[2 * s] * channel.columns + channel.corners[2 * s + 1];
    for (int64_t r = 0; r < size; r++, row += channel.columns) {
      for (int64_t c = 0; c < size; c++, tap += 2) {
        for (int64_t p = 0; p < POLARISATIONS; p++) {
          Lanes &cell = row[p * apart + c];
          cell = cell + turned(x[p], tap);
        }
      }
    }
  }
}

/** y_r of the heading, from `count` inputs. */
inline void foldInputs(const DirectShape &shape, int64_t r, const Lanes *inputs, int64_t count, Lanes *y) {
  const int64_t length = shape.fft.length;
  const int64_t once = count < length ? count : length;
  // the turn advances by r for each input
  const float *turn = shape.turns;
  if (r == 0) {
    for (int64_t i = 0; i < once; i++) y[i] = inputs[i];
    for (int64_t i = once; i < length; i++) y[i] = nothing();
    for (int64_t i = once; i < count; i++) y[i % length] = y[i % length] + inputs[i];
    return;
  }
  for (int64_t i = 0; i < once; i++) y[i] = turned(inputs[i], turn + 2 * r * i);
  for (int64_t i = once; i < length; i++) y[i] = nothing();
  for (int64_t i = once; i < count; i++) {
    y[i % length] = y[i % length] + turned(inputs[i], turn + 2 * (r * i % shape.pixels));
  }
}

/** sums[0…] += XX, or XX, YY, Re XY, Im XY with XY = X·conj(Y), of FOLD outputs. */
template <int POLARISATIONS>
inline void addProducts(const Lanes *x, const Lanes *y, float *sums, int64_t apart) {
  Floats product[FOLD];
  const auto add = [&](int64_t at) { storeVector(sums + at * apart, loadVector<Floats>(sums + at * apart) + folded(product)); };
  for (int k = 0; k < FOLD; k++) product[k] = x[k].re * x[k].re + x[k].im * x[k].im;
  add(0);
  if constexpr (POLARISATIONS == 2) {
    for (int k = 0; k < FOLD; k++) product[k] = y[k].re * y[k].re + y[k].im * y[k].im;
    add(1);
    for (int k = 0; k < FOLD; k++) product[k] = x[k].re * y[k].re + x[k].im * y[k].im;
    add(2);
    for (int k = 0; k < FOLD; k++) product[k] = x[k].im * y[k].re - x[k].re * y[k].im;
    add(3);
  }
}

/** The columns of one class, from their rows' transforms in scratch.between. */
template <int POLARISATIONS>
void addColumn(const DirectShape &shape, const DirectChannel &channel, const DirectScratch &scratch,
               const Lanes *column, int64_t columnsApart, int64_t slot) {
  const int64_t length = shape.fft.length, padded = shape.groups * FOLD;
  auto *buffers = static_cast<Lanes *>(scratch.buffers);
  auto *fields = static_cast<Lanes *>(scratch.fields);
  const int64_t apart = shape.sumVectors() * LANES;
  for (int64_t r = 0; r < shape.classes; r++) {
    for (int64_t p = 0; p < POLARISATIONS; p++) {
      foldInputs(shape, r, column + p * columnsApart, channel.rows, buffers);
      Lanes *field = fields + p * padded;
      transformLanes(shape.fft, buffers, buffers + length, [field](int64_t k, const Lanes &value) { field[k] = value; });
    }
    const int64_t first = (slot * shape.classes + r) * shape.groups;
    for (int64_t group = 0; group < shape.groups; group++) {
      if (shape.shownGroups[first + group] == 0) continue;
      const Lanes *x = fields + group * FOLD;
      addProducts<POLARISATIONS>(x, x + padded, scratch.sums + (first + group) * LANES, apart);
    }
  }
}

template <int POLARISATIONS>
void addStep(const DirectShape &shape, const DirectChannel &channel, const DirectScratch &scratch, int64_t first) {
  auto *grid = static_cast<Lanes *>(scratch.grid);
  auto *between = static_cast<Lanes *>(scratch.between);
  auto *buffers = static_cast<Lanes *>(scratch.buffers);
  const int64_t length = shape.fft.length, apart = length * scratch.betweenRows;
  spread<POLARISATIONS>(shape, channel, grid, first);
  for (int64_t r = 0; r < shape.classes; r++) {
    const auto slotOf = [&](int64_t k) { return shape.slots[shape.classes * k + r]; };
    for (int64_t p = 0; p < POLARISATIONS; p++) {
      for (int64_t row = 0; row < channel.rows; row++) {
        foldInputs(shape, r, grid + (p * channel.rows + row) * channel.columns, channel.columns, buffers);
        Lanes *to = between + p * apart + row;
        transformLanes(shape.fft, buffers, buffers + length, [&, to](int64_t k, const Lanes &value) {
          if (slotOf(k) >= 0) to[k * scratch.betweenRows] = value;
        });
      }
    }
    for (int64_t k = 0; k < length; k++) {
      if (slotOf(k) < 0) continue;
      addColumn<POLARISATIONS>(shape, channel, scratch, between + k * scratch.betweenRows, apart, slotOf(k));
    }
  }
}

void addSteps(const DirectShape &shape, const DirectChannel &channel, const DirectScratch &scratch, int64_t first,
              int64_t end) {
  for (int64_t step = first; step < end; step++) {
    if (shape.polarisations == 1) addStep<1>(shape, channel, scratch, step * LANES);
    else addStep<2>(shape, channel, scratch, step * LANES);
  }
}

void flush(const DirectShape &shape, float *sums, double *totals) {
  constexpr int EACH = LANES / FOLD;
  const int64_t outputs = shape.products() * shape.sumVectors() * FOLD;
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

extern const DirectKernels directKernels = {{LANES, FOLD}, addSteps, flush};

}  // namespace CORELLA_LEVEL
}  // namespace corella

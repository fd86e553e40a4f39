// The polyphase filter of one tile: y[n] = sum over tau of h[tau P + n] x[(k + tau) P + n], for COLUMNS columns of a spectrum.
//
// voltages : [a][pitch], one input's row: its sample 0 opens the window of spectrum 0, or is `rotation` samples before
// it (delays.cuh). taps : [tau][n], float32; for 8-bit samples [tau / 2][n], two 16-bit taps a word, so that dp2a sums
// exactly.
#pragma once
#include "delays.cuh"
#include "shape.cuh"

constexpr int ELEMENTS = FOLDED ? 2 : 1;
constexpr int TAPS_PER_COLUMN = FOLDED && REAL ? 2 : 1;
constexpr int CHUNK_ROWS = SAMPLE_BYTES == 1 ? CHUNK / 2 : CHUNK;  // of the table of taps

__device__ __forceinline__ void multiplyAdd(float &sum, float tap, float sample) { sum = fmaf(tap, sample, sum); }

// Two elements side by side, in one load.
#if SAMPLE_BYTES == 1
using SamplePair = char2;
#elif SAMPLE_BYTES == 2
using SamplePair = short2;
#else
using SamplePair = float2;
#endif

// One column of SPECTRA spectra, the first of which opens at row `first`. INSIDE: every row exists; else the last one
// is repeated for rows past it, which are not used.
template <int SPECTRA, int COLUMNS, bool INSIDE>
__device__ __forceinline__ void filterColumn(const Sample *input, int column, int first, int lastRow, const Tap *taps,
                                             Sum (&re)[SPECTRA], Sum (&im)[SPECTRA]) {
  const Sample *at = input + (int64_t)column * ELEMENTS;
  for (int chunk = 0; chunk < TAPS; chunk += CHUNK) {
    Tap h[CHUNK_ROWS][TAPS_PER_COLUMN];
#pragma unroll
    for (int tau = 0; tau < CHUNK_ROWS; ++tau)
#pragma unroll
      for (int e = 0; e < TAPS_PER_COLUMN; ++e) {
        const int64_t row = chunk / CHUNK * CHUNK_ROWS + tau;
        h[tau][e] = __ldg(taps + (row * COLUMNS + column) * TAPS_PER_COLUMN + e);
      }
    const Sample *from = at + (int64_t)(first + chunk) * (COLUMNS * ELEMENTS);
#pragma unroll
    for (int r = 0; r < CHUNK + SPECTRA - 1; ++r) {
      const Sample *x = INSIDE ? from + (int64_t)r * (COLUMNS * ELEMENTS)
                               : at + (int64_t)min(first + chunk + r, lastRow) * (COLUMNS * ELEMENTS);
      Sum a, b = 0;
      if constexpr (FOLDED && REAL && DELAYED) {  // rows open at odd samples too
        a = __ldg(x), b = __ldg(x + 1);
      } else if constexpr (FOLDED) {
        const SamplePair both = __ldg((const SamplePair *)x);
        a = both.x, b = both.y;
      } else {
        a = __ldg(x);
      }
#pragma unroll
      for (int m = 0; m < SPECTRA; ++m) {
        const int tau = r - m;
        if (tau < 0 || tau >= CHUNK) continue;
#if SAMPLE_BYTES == 1
        const int forRe = tau % 2 ? h[tau / 2][0] >> 16 : (int)(short)h[tau / 2][0];
        const int forIm = tau % 2 ? h[tau / 2][TAPS_PER_COLUMN - 1] >> 16 : (int)(short)h[tau / 2][TAPS_PER_COLUMN - 1];
        re[m] += forRe * a;
        if (FOLDED) im[m] += forIm * b;
#else
        multiplyAdd(re[m], h[tau][0], a);
        if (FOLDED) multiplyAdd(im[m], h[tau][TAPS_PER_COLUMN - 1], b);
#endif
      }
    }
  }
}

#if SAMPLE_BYTES == 1
// For the first word of a row, its bytes and those of the next row that replace the ones before its opening.
__device__ __forceinline__ unsigned int selectorOf(int column, int rotationBytes) {
  return column > 0 || rotationBytes == 0 ? 0x3210 : rotationBytes == 1 ? 0x3214 : rotationBytes == 2 ? 0x3254 : 0x3654;
}

// Two neighbouring columns of 8-bit samples: a word of each row holds (re, im, re, im). Rows r and r + 1 side by side
// are multiplied by two taps with one dp2a. `selector`, where DELAYED: selects bytes of a row and the next.
template <int SPECTRA, int COLUMNS, bool INSIDE>
__device__ __forceinline__ void filterColumnPair(const Sample *input, int column, int first, int lastRow,
                                                 const Tap *taps, [[maybe_unused]] unsigned int selector,
                                                 int (&re)[2][SPECTRA], int (&im)[2][SPECTRA]) {
  const Sample *at = input + (int64_t)column * 2;
  for (int chunk = 0; chunk < TAPS; chunk += CHUNK) {
    const Sample *from = at + (int64_t)(first + chunk) * (COLUMNS * 2);
    auto row = [&](int r) {
      return __ldg((const unsigned int *)(INSIDE ? from + (int64_t)r * (COLUMNS * 2)
                                                 : at + (int64_t)min(first + chunk + r, lastRow) * (COLUMNS * 2)));
    };
    int h[CHUNK_ROWS][2][TAPS_PER_COLUMN];
#pragma unroll
    for (int tau = 0; tau < CHUNK_ROWS; ++tau) {
      const Tap *tap = taps + ((int64_t)(chunk / CHUNK * CHUNK_ROWS + tau) * COLUMNS + column) * TAPS_PER_COLUMN;
#if FOLDED && REAL
      const int4 four = __ldg((const int4 *)tap);
      h[tau][0][0] = four.x, h[tau][0][TAPS_PER_COLUMN - 1] = four.y;
      h[tau][1][0] = four.z, h[tau][1][TAPS_PER_COLUMN - 1] = four.w;
#else
      const int2 two = __ldg((const int2 *)tap);
      h[tau][0][0] = two.x, h[tau][1][0] = two.y;
#endif
    }
    unsigned int word = row(0);
#if DELAYED
    unsigned int after = row(1);
    word = __byte_perm(word, after, selector);
#endif
#pragma unroll
    for (int r = 0; r < CHUNK + SPECTRA - 2; ++r) {
#if DELAYED
      const unsigned int last = row(r + 2), next = __byte_perm(after, last, selector);
      after = last;
#else
      const unsigned int next = row(r + 1);
#endif
      const int reals = __byte_perm(word, next, 0x6240), imaginaries = __byte_perm(word, next, 0x7351);
      word = next;
#pragma unroll
      for (int m = 0; m < SPECTRA; ++m) {
        const int tau = r - m;
        if (tau < 0 || tau >= CHUNK || tau % 2) continue;
        re[0][m] = __dp2a_lo(h[tau / 2][0][0], reals, re[0][m]);
        re[1][m] = __dp2a_hi(h[tau / 2][1][0], reals, re[1][m]);
        im[0][m] = __dp2a_lo(h[tau / 2][0][TAPS_PER_COLUMN - 1], imaginaries, im[0][m]);
        im[1][m] = __dp2a_hi(h[tau / 2][1][TAPS_PER_COLUMN - 1], imaginaries, im[1][m]);
      }
    }
  }
}
#endif

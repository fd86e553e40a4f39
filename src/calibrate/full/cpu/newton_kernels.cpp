// levels: portable avx2 avx512
#include "calibrate/full/cpu/newton_kernels.h"

#include "calibrate/full/cpu/full_parts.h"

namespace corella {
namespace CORELLA_LEVEL {
namespace {

template <ModelForm FORM>
void addPanels(const PanelRange &range, StationPlanes<const float> in, StationPlanes<float> sums) {
  for (int64_t at = range.first; at < range.end; at++) {
    const int64_t vectors = vectorsOf<FORM>(range, at);
    Floats rows[GAIN_PLANES][PANEL_ROWS] = {};
    for (int64_t first = 0; first < vectors; first += VECTORS_AT_ONCE)
      addTwoPowers<FORM>(partAt<FORM>(range, at, first, vectors, in, sums, rows));
    for (int64_t plane = 0; plane < GAIN_PLANES; plane++)
      addTotals(rows[plane], sums.first + plane * sums.stride + at * PANEL_ROWS);
  }
}

constexpr double HALF_ROOT = 0.70710678118654752;

/** 8 numbers of some stations, by columns. */
struct Eight {
  Doubles x[GAIN_PLANES];
};
CORELLA_INLINE Eight loadEight(const double *planes, int64_t stride, int64_t s) {
  Eight out;
#pragma GCC unroll 8
  for (int64_t n = 0; n < GAIN_PLANES; n++) out.x[n] = loadVector<Doubles>(planes + n * stride + s);
  return out;
}
CORELLA_INLINE void storeEight(double *planes, int64_t stride, int64_t s, const Eight &values) {
#pragma GCC unroll 8
  for (int64_t n = 0; n < GAIN_PLANES; n++) storeVector(planes + n * stride + s, values.x[n]);
}
CORELLA_INLINE Doubles dotOf(const Eight &a, const Eight &b) {
  Doubles sum = a.x[0] * b.x[0];
#pragma GCC unroll 7
  for (int n = 1; n < GAIN_PLANES; n++) sum += a.x[n] * b.x[n];
  return sum;
}

/** a times a Hermitian matrix of 00, 11, 01 re, 01 im. */
CORELLA_INLINE Eight timesHermitian(const Eight &a, const double *planes, int64_t stride, int64_t s) {
  Doubles h[4];
#pragma GCC unroll 4
  for (int64_t n = 0; n < 4; n++) h[n] = loadVector<Doubles>(planes + n * stride + s);
  Eight out;
#pragma GCC unroll 2
  for (int q = 0; q < 4; q += 2) {
    const Doubles gRe = a.x[q], gIm = a.x[q + 1], fRe = a.x[4 + q], fIm = a.x[5 + q];
    out.x[q] = gRe * h[0] + fRe * h[2] + fIm * h[3];
    out.x[q + 1] = gIm * h[0] + fIm * h[2] - fRe * h[3];
    out.x[4 + q] = fRe * h[1] + gRe * h[2] - gIm * h[3];
    out.x[5 + q] = fIm * h[1] + gIm * h[2] + gRe * h[3];
  }
  return out;
}

/** to += g c, c's elements [column][row] as re, im. */
template <class Number>
CORELLA_INLINE void addTimes(Eight &to, const Eight &g, const Number (&c)[GAIN_PLANES]) {
#pragma GCC unroll 2
  for (int column = 0; column < 8; column += 4)
#pragma GCC unroll 2
    for (int q = 0; q < 4; q += 2) {
      to.x[column + q] +=
          g.x[q] * c[column] - g.x[q + 1] * c[column + 1] + g.x[4 + q] * c[column + 2] - g.x[5 + q] * c[column + 3];
      to.x[column + q + 1] +=
          g.x[q] * c[column + 1] + g.x[q + 1] * c[column] + g.x[4 + q] * c[column + 3] + g.x[5 + q] * c[column + 2];
    }
}

double ready(const NewtonStations &of, const double *u, int64_t first, int64_t end) {
  Doubles sum = {};
  double common[GAIN_PLANES];
  for (int64_t n = 0; n < GAIN_PLANES; n++) common[n] = u[n];
  for (int64_t s = first; s < end; s += LANES<double>) {
    const Eight rest = loadEight(of.rest, of.stride, s);
    Eight out = timesHermitian(rest, of.inverses, of.stride, s);
    addTimes(out, loadEight(of.gains, of.stride, s), common);
    sum += dotOf(rest, out);
    storeEight(of.ready, of.stride, s, out);
  }
  return total<double>(sum);
}

void turn(const NewtonStations &of, double part, int64_t first, int64_t end) {
  for (int64_t s = first; s < end; s += LANES<double>) {
    const Eight g = loadEight(of.gains, of.stride, s);
    Eight p = loadEight(of.ready, of.stride, s);
    if (part != 0) {
      const Eight before = loadEight(of.along, of.stride, s);
#pragma GCC unroll 8
      for (int n = 0; n < GAIN_PLANES; n++) p.x[n] += part * before.x[n];
    }
    storeEight(of.along, of.stride, s, p);
    // X_ab = Σ_k conj(p_ka) g_kb
    Doubles re[2][2], im[2][2];
#pragma GCC unroll 2
    for (int a = 0; a < 2; a++)
#pragma GCC unroll 2
      for (int b = 0; b < 2; b++) {
        const Doubles *x = p.x + 4 * a, *y = g.x + 4 * b;
        re[a][b] = x[0] * y[0] + x[1] * y[1] + x[2] * y[2] + x[3] * y[3];
        im[a][b] = x[0] * y[1] - x[1] * y[0] + x[2] * y[3] - x[3] * y[2];
      }
    // √2 of half of X_01 ± conj(X_10)
    const Doubles numbers[GAIN_PLANES] = {
        re[0][0], re[1][1], (re[0][1] + re[1][0]) * HALF_ROOT, (im[0][1] - im[1][0]) * HALF_ROOT,
        im[0][0], im[1][1], (im[0][1] + im[1][0]) * HALF_ROOT, (re[1][0] - re[0][1]) * HALF_ROOT};
#pragma GCC unroll 8
    for (int64_t n = 0; n < GAIN_PLANES; n++) storeNarrowed(of.turned + n * of.stride + s, numbers[n]);
  }
}

double make(const NewtonStations &of, int64_t first, int64_t end) {
  Doubles sum = {};
  for (int64_t s = first; s < end; s += LANES<double>) {
    Doubles c[GAIN_PLANES];
#pragma GCC unroll 8
    for (int64_t n = 0; n < GAIN_PLANES; n++) {
      c[n] = of.own ? loadVector<Doubles>(of.own + n * of.stride + s) : Doubles{};
      for (int64_t part = 0; part < of.parts; part++)
        c[n] += loadWidened(of.partial + (part * GAIN_PLANES + n) * of.stride + s);
    }
    // C = A + i B : 00, 10, 01, 11
    const Doubles aRe = c[2] * HALF_ROOT, aIm = c[3] * HALF_ROOT, bRe = c[6] * HALF_ROOT, bIm = c[7] * HALF_ROOT;
    const Doubles sums[GAIN_PLANES] = {c[0], c[4], aRe + bIm, bRe - aIm, aRe - bIm, aIm + bRe, c[1], c[5]};
    const Eight p = loadEight(of.along, of.stride, s);
    Eight out = timesHermitian(p, of.powers, of.stride, s);
    addTimes(out, loadEight(of.gains, of.stride, s), sums);
    sum += dotOf(p, out);
    storeEight(of.made, of.stride, s, out);
  }
  return total<double>(sum);
}

void advance(const NewtonStations &of, double length, double *right, int64_t first, int64_t end) {
  Doubles sums[GAIN_PLANES] = {};
  for (int64_t s = first; s < end; s += LANES<double>) {
    const Eight p = loadEight(of.along, of.stride, s), q = loadEight(of.made, of.stride, s),
                g = loadEight(of.gains, of.stride, s);
    Eight x = loadEight(of.step, of.stride, s), r = loadEight(of.rest, of.stride, s);
#pragma GCC unroll 8
    for (int n = 0; n < GAIN_PLANES; n++) {
      x.x[n] += length * p.x[n];
      r.x[n] -= length * q.x[n];
    }
    storeEight(of.step, of.stride, s, x);
    storeEight(of.rest, of.stride, s, r);
    // (Gᴴ r)_ac : row a, column c
#pragma GCC unroll 2
    for (int c = 0; c < 2; c++)
#pragma GCC unroll 2
      for (int a = 0; a < 2; a++) {
        const Doubles *y = g.x + 4 * a, *z = r.x + 4 * c;
        sums[4 * c + 2 * a] += y[0] * z[0] + y[1] * z[1] + y[2] * z[2] + y[3] * z[3];
        sums[4 * c + 2 * a + 1] += y[0] * z[1] - y[1] * z[0] + y[2] * z[3] - y[3] * z[2];
      }
  }
  for (int64_t n = 0; n < GAIN_PLANES; n++) right[n] = total<double>(sums[n]);
}

FullMovement arrive(const NewtonStations &of, double *next, int64_t first, int64_t end) {
  Doubles change = {}, size = {};
  for (int64_t s = first; s < end; s += LANES<double>) {
    const Eight g = loadEight(of.gains, of.stride, s), x = loadEight(of.step, of.stride, s),
                z = loadEight(of.ready, of.stride, s);
    Eight now;
#pragma GCC unroll 8
    for (int n = 0; n < GAIN_PLANES; n++) {
      const Doubles move = x.x[n] + z.x[n];
      now.x[n] = g.x[n] + move;
      change += move * move;
      size += now.x[n] * now.x[n];
    }
    storeEight(next, of.stride, s, now);
  }
  return {total<double>(change), total<double>(size)};
}

}  // namespace

extern const NewtonKernels newtonKernels = {
    {addPanels<UNPOLARISED>, addPanels<DIAGONAL>, addPanels<GENERAL>}, ready, turn, make, advance, arrive};

}  // namespace CORELLA_LEVEL
}  // namespace corella

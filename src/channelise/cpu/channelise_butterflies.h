// Small transforms of points with independent lanes: X[k] = Σ_n x[n] e^(−2πi nk/R), in place.
#pragma once
#include "channelise/cpu/channelise_lanes.h"

namespace corella {
namespace CORELLA_LEVEL {
namespace {

constexpr float SQRT_HALF = 0.70710678118654752f;

template <int R>
CORELLA_INLINE void butterfly(Complex (&x)[R]);

template <>
CORELLA_INLINE void butterfly<2>(Complex (&x)[2]) {
  const Complex a = x[0], b = x[1];
  x[0] = a + b;
  x[1] = a - b;
}

template <>
CORELLA_INLINE void butterfly<3>(Complex (&x)[3]) {
  constexpr float SINE = 0.86602540378443865f;  // of 2π/3
  const Complex sum = x[1] + x[2], difference = x[1] - x[2];
  const Complex middle = {x[0].re - 0.5f * sum.re, x[0].im - 0.5f * sum.im};
  x[0] = x[0] + sum;
  x[1] = {middle.re + SINE * difference.im, middle.im - SINE * difference.re};
  x[2] = {middle.re - SINE * difference.im, middle.im + SINE * difference.re};
}

CORELLA_INLINE void four(Complex &a, Complex &b, Complex &c, Complex &d) {
  const Complex ac = a + c, acd = a - c, bd = b + d, turn = turned(b - d);
  a = ac + bd;
  b = acd + turn;
  c = ac - bd;
  d = acd - turn;
}

template <>
CORELLA_INLINE void butterfly<4>(Complex (&x)[4]) {
  four(x[0], x[1], x[2], x[3]);
}

template <>
CORELLA_INLINE void butterfly<5>(Complex (&x)[5]) {
  constexpr float C1 = 0.30901699437494742f, C2 = -0.80901699437494742f;
  constexpr float S1 = 0.95105651629515357f, S2 = 0.58778525229247313f;
  const Complex s1 = x[1] + x[4], d1 = x[1] - x[4], s2 = x[2] + x[3], d2 = x[2] - x[3];
  const Complex p1 = {x[0].re + C1 * s1.re + C2 * s2.re, x[0].im + C1 * s1.im + C2 * s2.im};
  const Complex p2 = {x[0].re + C2 * s1.re + C1 * s2.re, x[0].im + C2 * s1.im + C1 * s2.im};
  const Complex q1 = {S1 * d1.re + S2 * d2.re, S1 * d1.im + S2 * d2.im};
  const Complex q2 = {S2 * d1.re - S1 * d2.re, S2 * d1.im - S1 * d2.im};
  x[0] = x[0] + s1 + s2;
  x[1] = p1 + turned(q1);
  x[2] = p2 + turned(q2);
  x[3] = p2 - turned(q2);
  x[4] = p1 - turned(q1);
}

template <>
CORELLA_INLINE void butterfly<7>(Complex (&x)[7]) {
  constexpr float C1 = 0.62348980185873353f, C2 = -0.22252093395631440f, C3 = -0.90096886790241913f;
  constexpr float S1 = 0.78183148246802981f, S2 = 0.97492791218182361f, S3 = 0.43388373911755812f;
  const Complex s1 = x[1] + x[6], d1 = x[1] - x[6], s2 = x[2] + x[5], d2 = x[2] - x[5], s3 = x[3] + x[4],
                d3 = x[3] - x[4];
  const auto even = [&](float a, float b, float c) {
    return Complex{x[0].re + a * s1.re + b * s2.re + c * s3.re, x[0].im + a * s1.im + b * s2.im + c * s3.im};
  };
  const auto odd = [&](float a, float b, float c) {
    return turned({a * d1.re + b * d2.re + c * d3.re, a * d1.im + b * d2.im + c * d3.im});
  };
  const Complex p1 = even(C1, C2, C3), p2 = even(C2, C3, C1), p3 = even(C3, C1, C2);
  const Complex q1 = odd(S1, S2, S3), q2 = odd(S2, -S3, -S1), q3 = odd(S3, -S1, S2);
  x[0] = x[0] + s1 + s2 + s3;
  x[1] = p1 + q1;
  x[2] = p2 + q2;
  x[3] = p3 + q3;
  x[4] = p3 - q3;
  x[5] = p2 - q2;
  x[6] = p1 - q1;
}

template <>
CORELLA_INLINE void butterfly<8>(Complex (&x)[8]) {
  four(x[0], x[2], x[4], x[6]);
  four(x[1], x[3], x[5], x[7]);
  // x[2k] and x[2k+1] are bin k of the even and the odd points; the odd ones are multiplied by e^(−2πik/8).
  const Complex o1 = {SQRT_HALF * (x[3].re + x[3].im), SQRT_HALF * (x[3].im - x[3].re)};
  const Complex o2 = turned(x[5]);
  const Complex o3 = {SQRT_HALF * (x[7].im - x[7].re), SQRT_HALF * (-x[7].im - x[7].re)};
  const Complex e0 = x[0], e1 = x[2], e2 = x[4], e3 = x[6], o0 = x[1];
  x[0] = e0 + o0;
  x[1] = e1 + o1;
  x[2] = e2 + o2;
  x[3] = e3 + o3;
  x[4] = e0 - o0;
  x[5] = e1 - o1;
  x[6] = e2 - o2;
  x[7] = e3 - o3;
}

/** Its first half: four transforms of 4, with twiddles. */
CORELLA_INLINE void turnedFours(Complex (&x)[16]) {
  constexpr float C1 = 0.92387953251128674f, S1 = 0.38268343236508977f;  // of 2π/16
  each<4>(CORELLA_EACH { four(x[i], x[i + 4], x[i + 8], x[i + 12]); });
  // x[n + 4k] is bin k of the points n, n+4, …: multiply by e^(−2πink/16).
  const auto eighth = [](Complex a) { return Complex{SQRT_HALF * (a.re + a.im), SQRT_HALF * (a.im - a.re)}; };
  x[5] = times(x[5], C1, -S1);
  x[9] = eighth(x[9]);
  x[13] = times(x[13], S1, -C1);
  x[6] = eighth(x[6]);
  x[10] = turned(x[10]);
  x[14] = turned(eighth(x[14]));
  x[7] = times(x[7], S1, -C1);
  x[11] = turned(eighth(x[11]));
  x[15] = times(x[15], -C1, S1);
}

template <>
CORELLA_INLINE void butterfly<16>(Complex (&x)[16]) {
  turnedFours(x);
  each<4>(CORELLA_EACH { four(x[4 * i], x[4 * i + 1], x[4 * i + 2], x[4 * i + 3]); });
  // Bin k + 4j is now at 4k + j, and stays there (placeOfBin in channelise_transform.cpp).
}

}  // namespace
}  // namespace CORELLA_LEVEL
}  // namespace corella

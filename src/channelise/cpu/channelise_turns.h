// What whole samples leave of a delay: a phase for each channel and spectrum, straight in both. A channel's turn is the
// product of two table entries, one for the channel's upper bits and one for its lower ones, a vector of spectra each.
#pragma once
#include "channelise/cpu/channelise_lanes.h"
#include "channelise/cpu/channelise_round.h"

namespace corella {
namespace CORELLA_LEVEL {
namespace {

CORELLA_INLINE Vec fused(Vec a, Vec b, float c) { return a * b + broadcast(c); }

/** e^(2πi·turns) for |turns| up to 2²²; Taylor's series over a quarter turn either way, right to 6·10⁻⁸. */
CORELLA_INLINE Complex unitAt(Vec turns) {
  const Vec x = turns - __builtin_convertvector(rounded(turns), Vec);
  const Vec half = broadcast(0.5f);
  const Vec mirrored = (x > 0.25f) ? half - x : (x < -0.25f) ? -half - x : x;
  const IntVec beyond = (x > 0.25f) | (x < -0.25f);
  const Vec a = mirrored * 6.283185307179586f, s = a * a;
  Vec sine = fused(s, broadcast(-2.5052108385441719e-8f), 2.7557319223985891e-6f);
  sine = fused(s, sine, -1.9841269841269841e-4f);
  sine = fused(s, sine, 8.3333333333333333e-3f);
  sine = fused(s, sine, -1.6666666666666667e-1f);
  sine = a + a * s * sine;
  Vec cosine = fused(s, broadcast(2.0876756987868099e-9f), -2.7557319223985891e-7f);
  cosine = fused(s, cosine, 2.4801587301587302e-5f);
  cosine = fused(s, cosine, -1.3888888888888889e-3f);
  cosine = fused(s, cosine, 4.1666666666666667e-2f);
  cosine = fused(s, cosine, -0.5f);
  cosine = fused(s, cosine, 1.0f);
  return {beyond ? -cosine : cosine, sine};
}

void makeTurns(const ChanneliseJob &job, const ChanneliseRows &rows) {
  // Whole turns are dropped in float64, where counting spectra has cost no digits yet.
  Vec phase, slope;
  for (int lane = 0; lane < LANES; lane++) {
    const double k = static_cast<double>(rows.first + lane), turns = rows.turns[0] + k * rows.turns[1];
    phase[lane] = static_cast<float>(turns - __builtin_rint(turns));
    slope[lane] = static_cast<float>(rows.turns[2] + k * rows.turns[3]);
  }
  const int32_t fine = 1 << job.fineTurnBits, coarse = (job.points - 1) / fine + 1;
  for (int32_t c = 0; c < fine; c++) {
    storePoint(rows.turnTable + c * POINT, unitAt(slope * static_cast<float>(c)));
  }
  for (int32_t c = 0; c < coarse; c++) {
    const auto channel = static_cast<float>(c * fine - job.zeroChannel);
    storePoint(rows.turnTable + (fine + c) * POINT, unitAt(phase + slope * channel));
  }
}

CORELLA_INLINE Complex times(Complex a, Complex b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

/** Four points of neighbouring places; those without a channel take any turn. */
CORELLA_INLINE void delayQuad(const ChanneliseJob &job, const ChanneliseRows &rows, int64_t place, Complex *x) {
  const int32_t fine = 1 << job.fineTurnBits;
  each<4>(CORELLA_EACH {
    const int32_t own = job.channel[place + i], channel = own < 0 ? 0 : own;
    const Complex low = loadPoint(rows.turnTable + (channel & (fine - 1)) * POINT);
    const Complex high = loadPoint(rows.turnTable + (fine + (channel >> job.fineTurnBits)) * POINT);
    x[i] = times(x[i], times(low, high));
  });
}

/** All points where they lie. */
void delayPlaces(const ChanneliseJob &job, const ChanneliseRows &rows) {
  for (int64_t place = 0; place < job.places; place += 4) {
    Complex quad[4];
    each<4>(CORELLA_EACH { quad[i] = loadPoint(rows.work + (place + i) * POINT); });
    delayQuad(job, rows, place, quad);
    each<4>(CORELLA_EACH { storePoint(rows.work + (place + i) * POINT, quad[i]); });
  }
}

}  // namespace
}  // namespace CORELLA_LEVEL
}  // namespace corella

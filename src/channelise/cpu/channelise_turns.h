// What whole samples leave of a delay: a phase for each channel and spectrum, straight in both. A channel's turn is the
// product of two table entries, one for the channel's upper bits and one for its lower ones, a vector of spectra each;
// points that a last pass makes together lie so many channels apart, and share all but a third.
#pragma once
#include "channelise/cpu/channelise_lanes.h"

namespace corella {
namespace CORELLA_LEVEL {
namespace {

CORELLA_INLINE Complex times(Complex a, Complex b) { return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}; }
CORELLA_INLINE Vec multiplied(Vec a, Vec b, float added) { return a * b + broadcast(added); }

/** e^(2πi·turns) for |turns| up to 2²¹; Taylor's series over a quarter turn either way, right to 6·10⁻⁸. */
CORELLA_INLINE Complex unitAt(Vec turns) {
  // Added to 3·2²², a number loses its fraction.
  Vec whole = turns + 12582912.0f;
  __asm__("" : "+m"(whole));
  const Vec x = turns - (whole - 12582912.0f), half = broadcast(0.5f);
  const Vec mirrored = (x > 0.25f) ? half - x : (x < -0.25f) ? -half - x : x;
  const IntVec beyond = (x > 0.25f) | (x < -0.25f);
  const Vec a = mirrored * 6.283185307179586f, s = a * a;
  Vec sine = multiplied(s, broadcast(-2.5052108385441719e-8f), 2.7557319223985891e-6f);
  sine = multiplied(s, sine, -1.9841269841269841e-4f);
  sine = multiplied(s, sine, 8.3333333333333333e-3f);
  sine = multiplied(s, sine, -1.6666666666666667e-1f);
  sine = a + a * s * sine;
  Vec cosine = multiplied(s, broadcast(2.0876756987868099e-9f), -2.7557319223985891e-7f);
  cosine = multiplied(s, cosine, 2.4801587301587302e-5f);
  cosine = multiplied(s, cosine, -1.3888888888888889e-3f);
  cosine = multiplied(s, cosine, 4.1666666666666667e-2f);
  cosine = multiplied(s, cosine, -0.5f);
  cosine = multiplied(s, cosine, 1.0f);
  return {beyond ? -cosine : cosine, sine};
}

/** table[n] = first·stepⁿ by doubling; every third step is a sine anew, since squaring doubles what it is off by. */
CORELLA_INLINE void fillPowers(float *table, int32_t count, Complex first, Complex step, Vec stepTurns) {
  storePoint(table, first);
  for (int32_t have = 1, since = 0; have < count; have *= 2, since = (since + 1) % 3) {
    if (have > 1) step = since == 0 ? unitAt(stepTurns * static_cast<float>(have)) : times(step, step);
    for (int32_t n = have; n < count && n < 2 * have; n++) {
      storePoint(table + n * POINT, times(loadPoint(table + (n - have) * POINT), step));
    }
  }
}

CORELLA_INLINE int32_t fineTurns(const ChanneliseJob &job) { return 1 << job.fineTurnBits; }
/** Of the points that a last pass makes together, against its first. */
CORELLA_INLINE float *legTurns(const ChanneliseJob &job, const ChanneliseRows &rows) {
  return rows.turnTable + (fineTurns(job) + ((job.points - 1) >> job.fineTurnBits) + 1) * POINT;
}

/**
 * Where a last pass turns its legs, tables reach over the channels of its first legs alone, from the zero frequency up;
 * else over all of them, from channel 0.
 */
void makeTurns(const ChanneliseJob &job, const ChanneliseRows &rows) {
  // Whole turns are dropped in float64, where counting spectra has cost no digits yet.
  alignas(64) float phases[LANES], slopes[LANES];
  for (int lane = 0; lane < LANES; lane++) {
    const double k = static_cast<double>(rows.first + lane), turns = rows.turns[0] + k * rows.turns[1];
    phases[lane] = static_cast<float>(turns - __builtin_rint(turns));
    slopes[lane] = static_cast<float>(rows.turns[2] + k * rows.turns[3]);
  }
  const Vec phase = load(phases), slope = load(slopes);
  const int32_t fine = fineTurns(job), legs = roundsInLastPass(job) ? job.legs : 0;
  const int32_t apart = job.points / (legs > 0 ? legs : 1), firstChannel = legs > 0 ? 0 : -job.zeroChannel;
  // Side by side: each by itself would mostly wait for itself.
  const Vec asked[4] = {slope, phase + slope * static_cast<float>(firstChannel), slope * static_cast<float>(fine),
                        slope * static_cast<float>(apart)};
  Complex units[4];
  each<4>(CORELLA_EACH { units[i] = unitAt(asked[i]); });
  const Complex one = {broadcast(1.0f), Vec{}};
  fillPowers(rows.turnTable, fine < apart ? fine : apart, one, units[0], asked[0]);
  fillPowers(rows.turnTable + fine * POINT, ((apart - 1) >> job.fineTurnBits) + 1, units[1], units[2], asked[2]);
  if (legs == 0) return;
  // Bins lie C / legs apart, in the butterfly's own order; from the middle on they are negative frequencies.
  alignas(64) float natural[MOST_LEGS / 2 * POINT];
  fillPowers(natural, legs / 2, one, units[3], asked[3]);
  const Complex half = loadPoint(natural + legs / 4 * POINT), back = conjugate(times(half, half));
  float *table = legTurns(job, rows);
  for (int leg = 0; leg < legs; leg++) {
    const int steps = job.legSteps[leg];
    const Complex turn = loadPoint(natural + (steps & (legs / 2 - 1)) * POINT);
    storePoint(table + leg * POINT, steps < legs / 2 ? turn : times(turn, back));
  }
}

CORELLA_INLINE Complex tableTurn(const ChanneliseJob &job, const ChanneliseRows &rows, int32_t channel) {
  const int32_t fine = fineTurns(job);
  const Complex low = loadPoint(rows.turnTable + (channel & (fine - 1)) * POINT);
  const Complex high = loadPoint(rows.turnTable + (fine + (channel >> job.fineTurnBits)) * POINT);
  return times(low, high);
}

/** Of the first leg that a last pass leaves at this place. */
CORELLA_INLINE Complex columnTurn(const ChanneliseJob &job, const ChanneliseRows &rows, int64_t place) {
  return tableTurn(job, rows, job.channel[place] - job.zeroChannel);
}

/** A place without a channel takes any turn. */
CORELLA_INLINE Complex turnAt(const ChanneliseJob &job, const ChanneliseRows &rows, int64_t place) {
  return tableTurn(job, rows, job.channel[place] < 0 ? 0 : job.channel[place]);
}

/** Four points of neighbouring places. */
CORELLA_INLINE void delayQuad(const ChanneliseJob &job, const ChanneliseRows &rows, int64_t place, Complex *x) {
  each<4>(CORELLA_EACH { x[i] = times(x[i], turnAt(job, rows, place + i)); });
}

/** Four of a last pass's legs, from `leg` on; `first` is the turn of leg 0. */
CORELLA_INLINE void delayLegs(const float *legs, int leg, Complex first, Complex *x) {
  each<4>(CORELLA_EACH { x[i] = times(x[i], times(first, loadPoint(legs + (leg + i) * POINT))); });
}

}  // namespace
}  // namespace CORELLA_LEVEL
}  // namespace corella

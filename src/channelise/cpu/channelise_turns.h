// What whole samples leave of a delay: a phase for each channel and spectrum, straight in both. A channel's turn is the
// product of two table entries, one for the channel's upper bits and one for its lower ones, a vector of spectra each.
//
// Points that a last pass makes together lie so many channels apart, and share all but a third: k = k₀ + step·k₁ + apart·k₂
// is column k₀, leg k₁ of the pass before and leg k₂ of the last one. Spectra that are worked on together hardly differ
// in what k₁ turns by, since delays drift slowly: that turn goes into the twiddles of the pass before, which are multiplied
// anyway. What is left is one product a value, with a turn that all columns of equal k₀ share, and the gain with it.
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

/** [MOST_LEGS] what the points of a column are multiplied by: its first leg's turn by each leg's, and the one gain. */
CORELLA_INLINE float *columnTurns(const ChanneliseRows &rows) { return rows.turnTable; }
/** [MOST_LEGS] of the points that a last pass makes together, against its first. */
CORELLA_INLINE float *legTurns(const ChanneliseRows &rows) { return rows.turnTable + MOST_LEGS * POINT; }
/** Of the last pass but one, as Pass has them. */
CORELLA_INLINE float *turnedTwiddles(const ChanneliseRows &rows) { return rows.turnTable + 2 * MOST_LEGS * POINT; }
CORELLA_INLINE float *fineTable(const ChanneliseRows &rows) {
  return turnedTwiddles(rows) + (MOST_TURNED_TWIDDLES + 15) / 16 * 16;
}
CORELLA_INLINE float *coarseTable(const ChanneliseJob &job, const ChanneliseRows &rows) {
  return fineTable(rows) + fineTurns(job) * POINT;
}

/** How far from its own turn one for all spectra of a vector may be: floats are not to feel it beside their rounding. */
constexpr double mostOffTurns(SpectraType output) { return output == SpectraType::cf32 ? 0x1p-25 : 0x1p-20; }

/** Leg i of the pass is turned by i·legTurns; rows are written a few floats past their ends, so in order. */
void turnTwiddles(const Pass &pass, float legTurns, float *turned) {
  constexpr int MOST_CHUNKS = (MOST_RADIX - 2) / LANES + 1;
  const int legs = pass.radix - 1, chunks = (legs - 1) / LANES + 1;
  alignas(64) float numbers[LANES];
  for (int lane = 0; lane < LANES; lane++) numbers[lane] = static_cast<float>(lane + 1);
  Complex turns[MOST_CHUNKS];
  for (int c = 0; c < chunks; c++) turns[c] = unitAt((load(numbers) + static_cast<float>(c * LANES)) * legTurns);
  const auto read = [](const float *from) __attribute__((always_inline)) {
    Vec value;
    __builtin_memcpy(&value, from, sizeof value);
    return value;
  };
  const auto write = [](float *to, Vec value)
      __attribute__((always_inline)) { __builtin_memcpy(to, &value, sizeof value); };
  for (int j = 0; j < pass.columns; j++) {
    const float *from = pass.twiddles + 2 * legs * j;
    float *to = turned + 2 * legs * j;
    for (int c = 0; c < chunks; c++) {
      const Complex plain = {read(from + c * LANES), read(from + legs + c * LANES)};
      write(to + c * LANES, times(plain, turns[c]).re);
    }
    for (int c = 0; c < chunks; c++) {
      const Complex plain = {read(from + c * LANES), read(from + legs + c * LANES)};
      write(to + legs + c * LANES, times(plain, turns[c]).im);
    }
  }
}

/** Legs lie `unit` apart, in the butterfly's own order; from the middle on they are negative frequencies. */
CORELLA_INLINE void fillLegs(const ChanneliseJob &job, Complex unit, float *table) {
  Complex powers[MOST_LEGS / 2 + 1] = {{broadcast(1.0f), Vec{}}, unit};
  for (int n = 2; n <= job.legs / 2; n++) powers[n] = times(powers[n / 2], powers[n - n / 2]);
  for (int leg = 0; leg < job.legs; leg++) {
    const int steps = job.legSteps[leg];
    storePoint(table + leg * POINT, steps < job.legs / 2 ? powers[steps] : conjugate(powers[job.legs - steps]));
  }
}

/**
 * Where a last pass turns its legs, tables reach over the columns alone, from the zero frequency up; else over all
 * channels, from channel 0. Returns whether the twiddles of the pass before the last took their share.
 */
bool makeTurns(const ChanneliseJob &job, const ChanneliseRows &rows) {
  const bool byLegs = finishesInLastPass(job);
  const Pass *inner = byLegs ? job.transform.passes + job.transform.passCount - 2 : nullptr;
  const int32_t apart = byLegs ? job.points / job.legs : job.points, step = byLegs ? apart / inner->radix : 0;
  // One slope for all lanes, right for the middle one and exact in the middle of the inner pass's legs.
  const double middleLane = 0.5 * (LANES - 1), middleChannel = byLegs ? 0.5 * step * (inner->radix - 1) : 0;
  const double middleSlope = rows.turns[2] + (static_cast<double>(rows.first) + middleLane) * rows.turns[3];
  const double off = rows.turns[3] * middleLane * middleChannel;
  const bool folded = byLegs && __builtin_fabs(off) <= mostOffTurns(job.output);
  alignas(64) float phases[LANES], slopes[LANES];
  for (int lane = 0; lane < LANES; lane++) {
    const double k = static_cast<double>(rows.first + lane), slope = rows.turns[2] + k * rows.turns[3];
    // Whole turns are dropped in float64, where counting spectra has cost no digits yet.
    double turns = rows.turns[0] + k * rows.turns[1];
    if (folded) turns += (slope - middleSlope) * middleChannel;
    phases[lane] = static_cast<float>(turns - __builtin_rint(turns));
    slopes[lane] = static_cast<float>(slope);
  }
  const Vec phase = load(phases), slope = load(slopes);
  const int32_t fine = fineTurns(job), columns = folded ? step : apart;
  const float firstChannel = byLegs ? 0.0f : static_cast<float>(-job.zeroChannel);
  // Side by side: each by itself would mostly wait for itself.
  const Vec ends[2] = {phase + slope * firstChannel, slope * static_cast<float>(byLegs ? apart : fine)};
  Complex units[2];
  each<2>(CORELLA_EACH { units[i] = unitAt(ends[i]); });
  if (byLegs) fillLegs(job, units[1], legTurns(rows));
  if (folded) turnTwiddles(*inner, static_cast<float>(middleSlope * step), turnedTwiddles(rows));
  Complex first = units[0];
  if (byLegs && job.gain != 0) first = {first.re * job.gain, first.im * job.gain};
  const Complex one = {broadcast(1.0f), Vec{}};
  storePoint(fineTable(rows), one);
  storePoint(coarseTable(job, rows), first);
  if (columns == 1) return folded;
  const Vec steps[2] = {slope, slope * static_cast<float>(fine)};
  each<2>(CORELLA_EACH { units[i] = unitAt(steps[i]); });
  fillPowers(fineTable(rows), fine < columns ? fine : columns, one, units[0], steps[0]);
  fillPowers(coarseTable(job, rows), ((columns - 1) >> job.fineTurnBits) + 1, first, units[1], steps[1]);
  return folded;
}

CORELLA_INLINE Complex tableTurn(const ChanneliseJob &job, const ChanneliseRows &rows, int32_t channel) {
  const int32_t fine = fineTurns(job);
  const Complex low = loadPoint(fineTable(rows) + (channel & (fine - 1)) * POINT);
  const Complex high = loadPoint(coarseTable(job, rows) + (channel >> job.fineTurnBits) * POINT);
  return times(low, high);
}

/** For the column whose first leg comes out at this place, and all that share its turns. */
CORELLA_INLINE void fillColumnTurns(const ChanneliseJob &job, const ChanneliseRows &rows, int64_t place) {
  const Complex first = tableTurn(job, rows, job.channel[place] - job.zeroChannel);
  const float *legs = legTurns(rows);
  for (int leg = 0; leg < job.legs; leg += 4) {
    each<4>(CORELLA_EACH {
      storePoint(columnTurns(rows) + (leg + i) * POINT, times(first, loadPoint(legs + (leg + i) * POINT)));
    });
  }
}

/** Four points of neighbouring places; one without a channel takes any turn. */
CORELLA_INLINE void delayQuad(const ChanneliseJob &job, const ChanneliseRows &rows, int64_t place, Complex *x) {
  each<4>(CORELLA_EACH {
    const int32_t channel = job.channel[place + i];
    x[i] = times(x[i], tableTurn(job, rows, channel < 0 ? 0 : channel));
  });
}

}  // namespace
}  // namespace CORELLA_LEVEL
}  // namespace corella

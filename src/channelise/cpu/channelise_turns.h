// The part of a delay beyond whole samples: a phase for each channel and spectrum, linear in both. A channel's phase
// factor is the product of two table entries, one for the channel's upper bits and one for its lower ones, a vector of
// spectra each.
//
// Points that a last pass makes together are a fixed number of channels apart, and share all but a third of the phase:
// k = k₀ + step·k₁ + apart·k₂ is column k₀, leg k₁ of the pass before and leg k₂ of the last one. Spectra processed
// together have nearly equal phases for k₁, since delays drift slowly: that factor is included in the twiddles of the
// pass before, which are multiplied anyway. What remains is one product per value, with a factor, including the gain,
// that all columns of equal k₀ share.
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
  const Vec whole = (turns + 12582912.0f) - 12582912.0f, x = turns - whole, half = broadcast(0.5f);
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

/** table[n] = first·stepⁿ by doubling; every third step uses a new sine, since squaring doubles the error. */
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

/** [MOST_LEGS] the factors of the points of a column: its first leg's phase times each leg's, and the one gain. */
CORELLA_INLINE float *columnTurns(const ChanneliseRows &rows) { return rows.turnTable; }
/** [MOST_LEGS] for the points that a last pass makes together, relative to its first. */
CORELLA_INLINE float *legTurns(const ChanneliseRows &rows) { return rows.turnTable + MOST_LEGS * POINT; }
/** For the last pass but one, in the layout of Pass. */
CORELLA_INLINE float *turnedTwiddles(const ChanneliseRows &rows) { return rows.turnTable + 2 * MOST_LEGS * POINT; }
CORELLA_INLINE float *fineTable(const ChanneliseRows &rows) {
  return turnedTwiddles(rows) + (MOST_TURNED_TWIDDLES + 15) / 16 * 16;
}
CORELLA_INLINE float *coarseTable(const ChanneliseJob &job, const ChanneliseRows &rows) {
  return fineTable(rows) + fineTurns(job) * POINT;
}

/** The largest phase error of one factor for all spectra of a vector: below the rounding of floats. */
constexpr double mostOffTurns(SpectraType output) { return output == SpectraType::cf32 ? 0x1p-25 : 0x1p-20; }

/** By how many times C / R a leg of the last pass is above its first (placeOfBin in channelise_transform.cpp). */
template <int R>
constexpr int stepsOf(int leg) {
  return R == 16 ? leg % 4 * 4 + leg / 4 : leg;
}

/** Legs are `unit` apart; from the middle on they are negative frequencies. */
template <int R>
CORELLA_INLINE void fillLegs(Complex unit, float *table) {
  Complex powers[R / 2 + 1];
  powers[0] = {broadcast(1.0f), Vec{}};
  powers[1] = unit;
  each<R / 2 - 1>(CORELLA_EACH {
    constexpr int N = i + 2;
    powers[N] = times(powers[N / 2], powers[N - N / 2]);
  });
  each<R>(CORELLA_EACH {
    constexpr int STEPS = stepsOf<R>(i);
    if constexpr (STEPS < R / 2) {
      storePoint(table + i * POINT, powers[STEPS]);
    } else {
      storePoint(table + i * POINT, conjugate(powers[R - STEPS]));
    }
  });
}

CORELLA_INLINE Vec loadAnywhere(const float *from) {
  Vec value;
  __builtin_memcpy(&value, from, sizeof value);
  return value;
}
CORELLA_INLINE void storeAnywhere(float *to, Vec value) { __builtin_memcpy(to, &value, sizeof value); }

/** turns : for the pass's legs from 1 on, one per lane. Rows are written a few floats past their ends, so in order. */
template <int CHUNKS>
CORELLA_INLINE void turnTwiddles(const Pass &pass, const Complex *turns, float *to) {
  const int legs = pass.radix - 1;
  const float *from = pass.twiddles;
  Complex turn[CHUNKS];
  each<CHUNKS>(CORELLA_EACH { turn[i] = turns[i]; });
  for (int j = 0; j < pass.columns; j++, from += 2 * legs, to += 2 * legs) {
    Complex turned[CHUNKS];
    each<CHUNKS>(CORELLA_EACH {
      turned[i] = times({loadAnywhere(from + i * LANES), loadAnywhere(from + legs + i * LANES)}, turn[i]);
    });
    each<CHUNKS>(CORELLA_EACH { storeAnywhere(to + i * LANES, turned[i].re); });
    each<CHUNKS>(CORELLA_EACH { storeAnywhere(to + legs + i * LANES, turned[i].im); });
  }
}

typedef double Doubles __attribute__((vector_size(8 * LANES)));
CORELLA_INLINE Doubles spread(double value) { return value - Doubles{}; }
/** 0, 1, 2, … */
CORELLA_INLINE Doubles laneNumbers() {
  alignas(8 * LANES) static const double numbers[MOST_LANES] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  return *reinterpret_cast<const Doubles *>(numbers);
}
CORELLA_INLINE Vec narrowed(Doubles value) { return __builtin_convertvector(value, Vec); }

/** The phases of lanes: at the zero frequency, and per channel. */
struct Slopes {
  Doubles phase, slope;
};
CORELLA_INLINE Slopes slopesOf(const ChanneliseRows &rows) {
  const double first = static_cast<double>(rows.first), phase = rows.turns[0] + first * rows.turns[1];
  return {spread(phase - __builtin_rint(phase)) + laneNumbers() * rows.turns[1],
          spread(rows.turns[2] + first * rows.turns[3]) + laneNumbers() * rows.turns[3]};
}
/** Whole turns are dropped in float64, before counting spectra costs precision. */
CORELLA_INLINE Vec fraction(Doubles turns) {
  constexpr double WHOLE = 6755399441055744.0;  // 3·2⁵¹
  return narrowed(turns - ((turns + WHOLE) - WHOLE));
}

/** Both tables, for so many channels from the one with the phase `first` on. */
CORELLA_INLINE void fillTables(const ChanneliseJob &job, const ChanneliseRows &rows, int32_t channels, Complex first,
                               Vec slope) {
  const int32_t fine = fineTurns(job);
  const Complex one = {broadcast(1.0f), Vec{}};
  storePoint(fineTable(rows), one);
  storePoint(coarseTable(job, rows), first);
  if (channels == 1) return;
  // Interleaved: each by itself would mostly wait for its own results.
  const Vec steps[2] = {slope, slope * static_cast<float>(fine)};
  Complex units[2];
  each<2>(CORELLA_EACH { units[i] = unitAt(steps[i]); });
  fillPowers(fineTable(rows), fine < channels ? fine : channels, one, units[0], steps[0]);
  fillPowers(coarseTable(job, rows), ((channels - 1) >> job.fineTurnBits) + 1, first, units[1], steps[1]);
}

/** Where places are rotated one by one: tables over all channels, from channel 0. */
void makeTurns(const ChanneliseJob &job, const ChanneliseRows &rows) {
  const Slopes turns = slopesOf(rows);
  fillTables(job, rows, job.points, unitAt(fraction(turns.phase - turns.slope * static_cast<double>(job.zeroChannel))),
             narrowed(turns.slope));
}

/**
 * Where a last pass rotates its legs: tables over its columns, from the zero frequency up. Returns whether the twiddles
 * of the pass before include their part.
 */
bool makeLegTurns(const ChanneliseJob &job, const ChanneliseRows &rows) {
  const Pass &inner = job.transform.passes[job.transform.passCount - 2];
  const int32_t apart = job.points / job.legs, step = apart / inner.radix;
  Slopes turns = slopesOf(rows);
  // One slope for all lanes, right for the middle one and exact in the middle of the inner pass's legs.
  constexpr double MIDDLE_LANE = 0.5 * (LANES - 1);
  const double middleChannel = 0.5 * step * (inner.radix - 1);
  const double middleSlope = rows.turns[2] + (static_cast<double>(rows.first) + MIDDLE_LANE) * rows.turns[3];
  const double off = rows.turns[3] * MIDDLE_LANE * middleChannel;
  const bool folded = __builtin_fabs(off) <= mostOffTurns(job.output);
  if (folded) turns.phase += (turns.slope - middleSlope) * middleChannel;
  const Vec slope = narrowed(turns.slope);
  // Legs of the inner pass, from 1 on. Interleaved: each by itself would mostly wait for its own results.
  constexpr int MOST_CHUNKS = (MOST_RADIX - 2) / LANES + 1, CHUNKS = LANES < 8 ? 2 : 1;  // for a typical radix of 8
  const float stepTurns = static_cast<float>(middleSlope * step);
  const auto legsFrom = [&](int chunk) {
    return (narrowed(laneNumbers()) + static_cast<float>(chunk * LANES + 1)) * stepTurns;
  };
  Complex units[2 + MOST_CHUNKS];
  const Vec asked[4] = {fraction(turns.phase), slope * static_cast<float>(apart), legsFrom(0), legsFrom(1)};
  each<2 + CHUNKS>(CORELLA_EACH { units[i] = unitAt(asked[i]); });
  if (job.legs == 8)
    fillLegs<8>(units[1], legTurns(rows));
  else if (job.legs == 16)
    fillLegs<16>(units[1], legTurns(rows));
  else
    fillLegs<4>(units[1], legTurns(rows));
  if (folded) {
    if (inner.radix - 1 <= CHUNKS * LANES) {
      turnTwiddles<CHUNKS>(inner, units + 2, turnedTwiddles(rows));
    } else {
      for (int chunk = CHUNKS; chunk < MOST_CHUNKS; chunk++) units[2 + chunk] = unitAt(legsFrom(chunk));
      turnTwiddles<MOST_CHUNKS>(inner, units + 2, turnedTwiddles(rows));
    }
  }
  Complex first = units[0];
  if (job.gain != 0) first = {first.re * job.gain, first.im * job.gain};
  fillTables(job, rows, folded ? step : apart, first, slope);
  return folded;
}

CORELLA_INLINE Complex tableTurn(const ChanneliseJob &job, const ChanneliseRows &rows, int32_t channel) {
  const int32_t fine = fineTurns(job);
  const Complex low = loadPoint(fineTable(rows) + (channel & (fine - 1)) * POINT);
  const Complex high = loadPoint(coarseTable(job, rows) + (channel >> job.fineTurnBits) * POINT);
  return times(low, high);
}

/** For the column whose first leg is at this place, and all that share its phase factors. */
CORELLA_INLINE void fillColumnTurns(const ChanneliseJob &job, const ChanneliseRows &rows, int64_t place) {
  const Complex first = tableTurn(job, rows, job.channel[place] - job.zeroChannel);
  const float *legs = legTurns(rows);
  for (int leg = 0; leg < job.legs; leg += 4) {
    each<4>(CORELLA_EACH {
      storePoint(columnTurns(rows) + (leg + i) * POINT, times(first, loadPoint(legs + (leg + i) * POINT)));
    });
  }
}

/** Four points of neighbouring places; one without a channel may have any factor. */
CORELLA_INLINE void delayQuad(const ChanneliseJob &job, const ChanneliseRows &rows, int64_t place, Complex *x) {
  each<4>(CORELLA_EACH {
    const int32_t channel = job.channel[place + i];
    x[i] = times(x[i], tableTurn(job, rows, channel < 0 ? 0 : channel));
  });
}

}  // namespace
}  // namespace CORELLA_LEVEL
}  // namespace corella

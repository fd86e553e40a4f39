// The last pass of a transform whose bins are written to the stage from registers: rotated, scaled, and rounded or not.
#pragma once
#include "channelise/cpu/channelise_passes.h"
#include "channelise/cpu/channelise_round.h"

namespace corella {
namespace CORELLA_LEVEL {
namespace {

/** Whether a column's points are rotated; one gain for all is part of the factor. */
enum class Turned { no, yes, withGain };

/** From `R` points at `place` to four legs at a time: finish(Index of the four, points). */
template <int R, class Finish>
CORELLA_INLINE void lastButterfly(const ChanneliseRows &rows, int64_t place, const Finish &finish) {
  Complex x[R];
  each<R>(CORELLA_EACH { x[i] = loadPoint(rows.work + (place + i) * POINT); });
  if constexpr (R == 16) {
    // Each second half is finished before the next: 32 vectors do not fit in registers.
    turnedFours(x);
    each<4>(CORELLA_EACH {
      four(x[4 * i], x[4 * i + 1], x[4 * i + 2], x[4 * i + 3]);
      finish(i, x + 4 * i);
    });
  } else {
    butterfly<R>(x);
    each<R / 4>(CORELLA_EACH { finish(i, x + 4 * i); });
  }
}

template <Turned T>
CORELLA_INLINE void turnLegs(const ChanneliseRows &rows, int leg, Complex *x) {
  if constexpr (T != Turned::no) {
    each<4>(CORELLA_EACH { x[i] = times(x[i], loadPoint(columnTurns(rows) + (leg + i) * POINT)); });
  }
}

template <int R, Turned T>
int64_t storeLastColumn(const ChanneliseJob &, const ChanneliseRows &rows, int64_t place) {
  float *to = reinterpret_cast<float *>(rows.stage) + place * POINT;
  lastButterfly<R>(
      rows, place, [&](auto quad, Complex *x) __attribute__((always_inline)) {
        turnLegs<T>(rows, 4 * quad, x);
        each<4>(CORELLA_EACH {
          const int leg = 4 * quad + i;
          storePoint(to + leg * POINT, T == Turned::withGain ? x[i] : gained(x[i], rows, place + leg));
        });
      });
  return 0;
}

#if CORELLA_ROUNDS_FROM_REGISTERS
/** Some value saturated: repeated from the start, since the points are unchanged. */
template <int R, Turned T>
__attribute__((noinline)) int64_t roundLastWithRails(const ChanneliseJob &job, const ChanneliseRows &rows,
                                                     int64_t place) {
  lastButterfly<R>(
      rows, place, [&](auto quad, Complex *x) __attribute__((always_inline)) {
        turnLegs<T>(rows, 4 * quad, x);
        each<4>(CORELLA_EACH { storePoint(rows.work + (place + 4 * quad + i) * POINT, x[i]); });
      });
  static const float ones[MOST_LEGS] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
  const float *gains = T == Turned::withGain ? ones : rows.gains + place;
  return roundWithRails(rows.work, gains, static_cast<float>(railOf(job.output)), place, place + R, rows.stage);
}

template <int R, Turned T>
int64_t roundLastColumn(const ChanneliseJob &job, const ChanneliseRows &rows, int64_t place) {
  const int rail = railOf(job.output);
  IntVec largest = {};
  lastButterfly<R>(
      rows, place, [&](auto quad, Complex *x) __attribute__((always_inline)) {
        turnLegs<T>(rows, 4 * quad, x);
        roundQuad<T == Turned::withGain>(x, rows, place + 4 * quad, rail, largest);
      });
  if (__builtin_expect(allWithin(largest, rail), 1)) return 0;
  return roundLastWithRails<R, T>(job, rows, place);
}
#else
/** Never called: here rounding reads from memory. */
template <int R, Turned T>
constexpr auto roundLastColumn = storeLastColumn<R, T>;
#endif

using LastColumn = int64_t (*)(const ChanneliseJob &job, const ChanneliseRows &rows, int64_t place);

template <Turned T>
LastColumn lastColumnOf(const ChanneliseJob &job) {
  if (job.output == SpectraType::cf32)
    return job.legs == 16 ? storeLastColumn<16, T> : job.legs == 8 ? storeLastColumn<8, T> : storeLastColumn<4, T>;
  return job.legs == 16 ? roundLastColumn<16, T> : job.legs == 8 ? roundLastColumn<8, T> : roundLastColumn<4, T>;
}

/** How the last passes are made. */
struct LastPasses {
  LastColumn column;
  Pass inner;    // the last but one
  bool delayed;  // columns are rotated,
  bool folded;   // all those of an inner pass by the same factor
};

/** All passes from `level` on (the first pass is done), over one transform of that level. */
int64_t finishColumns(const ChanneliseJob &job, const ChanneliseRows &rows, const LastPasses &last, int level,
                      int64_t place) {
  const int left = job.transform.passCount - level;
  if (left == 1) {
    if (last.delayed && !last.folded) fillColumnTurns(job, rows, place);
    return last.column(job, rows, place);
  }
  const Pass &pass = left == 2 ? last.inner : job.transform.passes[level];
  if (level > 0) runPass(pass, rows.work + place * POINT, 0, pass.columns);
  if (left == 2 && last.folded) fillColumnTurns(job, rows, place);
  int64_t passed = 0;
  for (int i = 0; i < pass.radix; i++) passed += finishColumns(job, rows, last, level + 1, place + i * pass.pitch);
  return passed;
}

}  // namespace
}  // namespace CORELLA_LEVEL
}  // namespace corella

// levels: portable avx2 avx512 dotprod
// The channeliser's inner half: LANES spectra of one input from samples to rounded values, in cache all the way.
#if defined(__ARM_FEATURE_DOTPROD)
#include "channelise/cpu/channelise_dots.h"
#endif
#include "channelise/cpu/channelise_filter.h"
#include "channelise/cpu/channelise_passes.h"
#include "channelise/cpu/channelise_round.h"

namespace corella {
namespace CORELLA_LEVEL {
namespace {

/** Filters everything; the first pass follows each group while its points are still in the first cache. */
template <class Filter>
void filterAll(const ChanneliseJob &job, const ChanneliseRows &rows) {
  Filtering<Filter> filtering{job, rows, {}, {}, {}};
  for (int g = 0; g < job.groupCount; g++) {
    const Group &group = job.groups[g];
    filtering.run(group.firstLine, group.endLine);
    if (job.chirp == nullptr) runPass(job.transform.passes[0], rows.work, group.firstColumn, group.endColumn);
  }
}

/** Something passed the rails: once more from the start, since the points are still as they were. */
template <int R, bool Delayed>
__attribute__((noinline)) int64_t roundLastWithRails(const ChanneliseJob &job, const ChanneliseRows &rows,
                                                     int64_t place) {
  float *at = rows.work + place * POINT;
  Complex x[R];
  each<R>(CORELLA_EACH { x[i] = loadPoint(at + i * POINT); });
  butterfly<R>(x);
  if constexpr (Delayed) {
    const Complex turn = columnTurn(job, rows, place);
    each<R / 4>(CORELLA_EACH { delayLegs(legTurns(job, rows), 4 * i, turn, x + 4 * i); });
  }
  each<R>(CORELLA_EACH { storePoint(at + i * POINT, x[i]); });
  return roundWithRails(rows.work, rows.gains, static_cast<float>(railOf(job.output)), place, place + R, rows.stage);
}

template <int R, bool Delayed>
CORELLA_INLINE int64_t roundLastColumn(const ChanneliseJob &job, const ChanneliseRows &rows, int64_t place) {
#if CORELLA_ROUNDS_FROM_REGISTERS
  Complex x[R];
  each<R>(CORELLA_EACH { x[i] = loadPoint(rows.work + (place + i) * POINT); });
  const int rail = railOf(job.output);
  IntVec largest = {};
  [[maybe_unused]] const float *legs = Delayed ? legTurns(job, rows) : nullptr;
  [[maybe_unused]] Complex turn;
  if constexpr (Delayed) turn = columnTurn(job, rows, place);
  if constexpr (R == 16) {
    // Each second half is rounded before the next: 32 vectors are more than registers hold.
    turnedFours(x);
    each<4>(CORELLA_EACH {
      four(x[4 * i], x[4 * i + 1], x[4 * i + 2], x[4 * i + 3]);
      if constexpr (Delayed) delayLegs(legs, 4 * i, turn, x + 4 * i);
      roundQuad(x + 4 * i, rows, place + 4 * i, rail, largest);
    });
  } else {
    butterfly<R>(x);
    each<R / 4>(CORELLA_EACH {
      if constexpr (Delayed) delayLegs(legs, 4 * i, turn, x + 4 * i);
      roundQuad(x + 4 * i, rows, place + 4 * i, rail, largest);
    });
  }
  if (__builtin_expect(allWithin(largest, rail), 1)) return 0;
#endif
  return roundLastWithRails<R, Delayed>(job, rows, place);
}

/** finishTransform, and rounding straight from the last pass's registers. */
template <bool Delayed>
int64_t finishAndRound(const ChanneliseJob &job, const ChanneliseRows &rows, int level, int64_t place) {
  const Pass &pass = job.transform.passes[level];
  if (level + 1 == job.transform.passCount) {
    return pass.radix == 16  ? roundLastColumn<16, Delayed>(job, rows, place)
           : pass.radix == 8 ? roundLastColumn<8, Delayed>(job, rows, place)
                             : roundLastColumn<4, Delayed>(job, rows, place);
  }
  runPass(pass, rows.work + place * POINT, 0, pass.columns);
  int64_t passed = 0;
  for (int i = 0; i < pass.radix; i++) passed += finishAndRound<Delayed>(job, rows, level + 1, place + i * pass.pitch);
  return passed;
}

int64_t transformRows(const ChanneliseJob &job, const ChanneliseRows &rows) {
  switch (job.scalar) {
#if defined(__ARM_FEATURE_DOTPROD)
    case Scalar::i8:
      if (job.bytesApart)
        filterAll<DotFilter>(job, rows);
      else
        filterAll<ByteFilter>(job, rows);
      break;
#else
    case Scalar::i8: filterAll<ByteFilter>(job, rows); break;
#endif
    case Scalar::i16: filterAll<FloatFilter<int16_t>>(job, rows); break;
    case Scalar::f32: filterAll<FloatFilter<float>>(job, rows); break;
  }
  const Pass &first = job.transform.passes[0];
  const bool delayed = rows.turns != nullptr;
  if (delayed) makeTurns(job, rows);
  if (roundsInLastPass(job)) {
    const auto finish = delayed ? finishAndRound<true> : finishAndRound<false>;
    int64_t passed = 0;
    for (int i = 0; i < first.radix; i++) passed += finish(job, rows, 1, i * first.pitch);
    return passed;
  }
  if (job.chirp != nullptr) {
    convolve(job, rows.work, rows.more);
  } else {
    for (int i = 0; i < first.radix; i++) finishTransform(job.transform, 1, rows.work + i * first.pitch * POINT);
  }
  if (job.real) untangle(job, rows.work);
  return delayed ? roundPlaces<true>(job, rows, 0, job.places) : roundPlaces<false>(job, rows, 0, job.places);
}

int32_t scalarOf(bool bytes, int32_t vector, int32_t lane) {
  return bytes ? ByteFilter::scalarOf(vector, lane) : FloatFilter<float>::scalarOf(vector, lane);
}

void turnStages(const ChanneliseJob &job, const char *stages, int32_t inputs, const SpectraLayout &layout, char *block,
                int64_t first, int64_t samples) {
  const auto turn = layout.sizeBytes() > PAST_CACHES_BYTES ? turnPlaces<true> : turnPlaces<false>;
  turn(job, stages, inputs, layout, block, first, samples);
}

}  // namespace

#if defined(__ARM_FEATURE_DOTPROD)
extern const ChanneliseKernel channeliseKernel = {LANES,    DotFilter::tableBytes, DotFilter::layOut,
                                                  scalarOf, transformRows,         turnStages};
#else
extern const ChanneliseKernel channeliseKernel = {LANES, nullptr, nullptr, scalarOf, transformRows, turnStages};
#endif

}  // namespace CORELLA_LEVEL
}  // namespace corella

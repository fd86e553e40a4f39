// levels: portable avx2 avx512 dotprod
// The channeliser's inner half: LANES spectra of one input from samples to rounded values, in cache all the way.
#if defined(__ARM_FEATURE_DOTPROD)
#include "channelise/cpu/channelise_dots.h"
#endif
#include "channelise/cpu/channelise_corner.h"
#include "channelise/cpu/channelise_filter.h"
#include "channelise/cpu/channelise_last.h"

namespace corella {
namespace CORELLA_LEVEL {
namespace {

/** Filters everything; the first pass follows each group while its points are still in the L1 cache. */
template <class Filter>
void filterAll(const ChanneliseJob &job, const ChanneliseRows &rows, const Pass &first) {
  Filtering<Filter> filtering{job, rows, {}, {}, {}};
  for (int g = 0; g < job.groupCount; g++) {
    const Group &group = job.groups[g];
    filtering.run(group.firstLine, group.endLine);
    if (job.chirp == nullptr) runPass(first, rows.work, group.firstColumn, group.endColumn);
  }
}

void filterSamples(const ChanneliseJob &job, const ChanneliseRows &rows, const Pass &first) {
  switch (job.scalar) {
    case Scalar::i8:
#if defined(__ARM_FEATURE_DOTPROD)
      if (job.bytesApart) return filterAll<DotFilter>(job, rows, first);
#endif
      return filterAll<ByteFilter>(job, rows, first);
    case Scalar::i16: return filterAll<FloatFilter<int16_t>>(job, rows, first);
    case Scalar::f32: return filterAll<FloatFilter<float>>(job, rows, first);
  }
}

int64_t transformRows(const ChanneliseJob &job, const ChanneliseRows &rows) {
  const bool delayed = rows.turns != nullptr;
  const Pass &first = job.transform.passes[0];
  if (finishesInLastPass(job)) {
    const bool folded = delayed && makeLegTurns(job, rows);
    LastPasses last{nullptr, job.transform.passes[job.transform.passCount - 2], delayed, folded};
    last.column = !delayed        ? lastColumnOf<Turned::no>(job)
                  : job.gain == 0 ? lastColumnOf<Turned::yes>(job)
                                  : lastColumnOf<Turned::withGain>(job);
    if (folded) last.inner.twiddles = turnedTwiddles(rows);
    filterSamples(job, rows, job.transform.passCount == 2 ? last.inner : first);
    return finishColumns(job, rows, last, 0, 0);
  }
  filterSamples(job, rows, first);
  if (job.chirp != nullptr) {
    convolve(job, rows.work, rows.more);
  } else {
    for (int i = 0; i < first.radix; i++) finishTransform(job.transform, 1, rows.work + i * first.pitch * POINT);
  }
  if (job.real) untangle(job, rows.work);
  if (delayed) makeTurns(job, rows);
  return delayed ? roundPlaces<true>(job, rows, 0, job.places) : roundPlaces<false>(job, rows, 0, job.places);
}

int32_t scalarOf(bool bytes, int32_t vector, int32_t lane) {
  return bytes ? ByteFilter::scalarOf(vector, lane) : FloatFilter<float>::scalarOf(vector, lane);
}

void turnStages(const ChanneliseJob &job, const char *stages, int32_t inputs, const SpectraLayout &layout, char *block,
                int64_t first, int64_t samples, uint32_t *powers) {
  const bool past = layout.sizeBytes() > PAST_CACHES_BYTES;
  const auto turn = powers ? past ? turnPlaces<true, true> : turnPlaces<false, true>
                    : past ? turnPlaces<true, false>
                           : turnPlaces<false, false>;
  turn(job, stages, inputs, layout, block, first, samples, powerCells(powers, layout, first));
}

}  // namespace

#if defined(__ARM_FEATURE_DOTPROD)
extern const ChanneliseKernel channeliseKernel = {
    LANES, SUMS_INTEGERS, DotFilter::tableBytes, DotFilter::layOut, scalarOf, transformRows, turnStages};
#else
extern const ChanneliseKernel channeliseKernel = {LANES,    SUMS_INTEGERS, nullptr,   nullptr,
                                                  scalarOf, transformRows, turnStages};
#endif

}  // namespace CORELLA_LEVEL
}  // namespace corella

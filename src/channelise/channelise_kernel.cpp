// levels: portable avx2 avx512
// The channeliser's inner half: LANES spectra of one input from samples to rounded values, in cache all the way.
#include "channelise/channelise_filter.h"
#include "channelise/channelise_passes.h"
#include "channelise/channelise_round.h"

namespace corella {
namespace CORELLA_LEVEL {
namespace {

/** Filters everything; the first pass follows each group while its points are still in the first cache. */
template <class Filter>
void filterAll(const ChanneliseJob &job, const ChanneliseRows &rows) {
  Filtering<Filter> filtering{job, rows, {}, {}, {}};
  filtering.stage(0, 0, Filter::steps(job.taps));
  for (int g = 0; g < job.groupCount; g++) {
    const Group &group = job.groups[g];
    filtering.run(group.firstLine, group.endLine, g + 1 < job.groupCount ? group.endLine : -1);
    if (job.chirp == nullptr) runPass(job.transform.passes[0], rows.work, group.firstColumn, group.endColumn);
  }
}

int64_t transformRows(const ChanneliseJob &job, const ChanneliseRows &rows) {
  switch (job.scalar) {
    case Scalar::i8: filterAll<ByteFilter>(job, rows); break;
    case Scalar::i16: filterAll<FloatFilter<int16_t>>(job, rows); break;
    case Scalar::f32: filterAll<FloatFilter<float>>(job, rows); break;
  }
  const Transform &transform = job.transform;
  const Pass &first = transform.passes[0];
  // Where whole quads of places belong to one leg, each is rounded while it is still in the first cache.
  const bool byLeg = job.chirp == nullptr && !job.real && first.pitch % 4 == 0;
  int64_t passed = 0;
  if (job.chirp != nullptr) {
    convolve(job, rows.work, rows.more);
  } else {
    for (int i = 0; i < first.radix; i++) {
      const int64_t from = i * first.pitch, end = i + 1 < first.radix ? from + first.pitch : job.places;
      finishTransform(transform, 1, rows.work + from * POINT);
      if (byLeg) passed += roundPlaces(job, rows, from, end);
    }
  }
  if (job.real) untangle(job, rows.work);
  return byLeg ? passed : roundPlaces(job, rows, 0, job.places);
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

extern const ChanneliseKernel channeliseKernel = {LANES, scalarOf, transformRows, turnStages};

}  // namespace CORELLA_LEVEL
}  // namespace corella

// The beamformer on threads: a channel and some of the beams at a time, 64 spectra after the other.
#include <algorithm>
#include <cstring>
#include <memory>
#include <type_traits>
#include <vector>

#include "backend/cpu/context.h"
#include "beamform/cpu/beamform_kernels.h"

namespace corella {
namespace {

struct Beamformer {
  Beamformer(Context &context, SpectraType spectra, int64_t channelCount, int64_t stationCount, int64_t pols,
             int64_t beamCount, bool hasFloatWeights)
      : type(spectra),
        channels(channelCount),
        stations(stationCount),
        polarisations(pols),
        beams(beamCount),
        isFloat(spectra == SpectraType::cf32 || hasFloatWeights),
        floatWeights(hasFloatWeights),
        powers(CORELLA_PICK(context.level, addPowers)),
        kernel(CORELLA_PICK_MATRIX(context.level, beamKernel)),
        sumFloatBeam(CORELLA_PICK(context.level, sumFloatBeam)),
        quads((stationCount + QUAD - 1) / QUAD),
        steps((quads + kernel.stepQuads - 1) / kernel.stepQuads),
        groups((beamCount + kernel.group - 1) / kernel.group),
        stepBytes(weightBytes(kernel.group, kernel.stepQuads)) {
    if (isFloat)
      floats.resize(static_cast<size_t>(channels * polarisations * groups * kernel.group * stations * 2));
    else {
      bytes.resize(static_cast<size_t>(channels * polarisations * groups * steps * stepBytes));
      excess.resize(static_cast<size_t>(channels * polarisations * groups * kernel.group * 2));
    }
    const int64_t panelBytes = isFloat ? stations * 2 * TILE_SAMPLES * 4 : steps * kernel.stepQuads * kernel.panelBytes;
    panelStride = polarisations * ((panelBytes + 63) / 64 * 64);
    panels = alignedMemory(static_cast<size_t>(context.pool.threads() * panelStride));
  }

  void setWeights(const void *given);
  template <class Take>
  void run(Context &context, const SpectraLayout &layout, const char *block, int64_t samples, Take &&take);

  const SpectraType type;
  const int64_t channels, stations, polarisations, beams;
  const bool isFloat, floatWeights;
  const AddPowers &powers;

 private:
  void turnFloats(const SpectraLayout &layout, const char *spectra, int64_t tile, int64_t samples, int64_t p,
                  float *panel) const;

  const BeamKernel &kernel;
  const SumFloatBeam sumFloatBeam;
  const int64_t quads, steps, groups, stepBytes;
  /** [c][p][group][step][stepBytes], and the contribution of an offset: [c][p][group][beam][re, im]. */
  std::vector<int8_t> bytes;
  std::vector<int32_t> excess;
  /** [c][p][beam, of whole groups][station][re, im]. */
  std::vector<float> floats;
  std::unique_ptr<void, void (*)(void *)> panels{nullptr, std::free};
  int64_t panelStride = 0;
};

void Beamformer::setWeights(const void *given) {
  const int64_t inputs = stations * polarisations;
  std::fill(bytes.begin(), bytes.end(), int8_t{0});
  std::fill(excess.begin(), excess.end(), 0);
  std::fill(floats.begin(), floats.end(), 0.0F);
  for (int64_t c = 0; c < channels; c++)
    for (int64_t b = 0; b < beams; b++)
      for (int64_t s = 0; s < stations; s++)
        for (int64_t p = 0; p < polarisations; p++) {
          const int64_t from = 2 * ((c * beams + b) * inputs + s * polarisations + p);
          const int64_t row = (c * polarisations + p) * groups + b / kernel.group, beam = b % kernel.group;
          if (isFloat) {
            float *to = floats.data() + 2 * ((row * kernel.group + beam) * stations + s);
            for (int64_t part = 0; part < 2; part++)
              to[part] = floatWeights ? static_cast<const float *>(given)[from + part]
                                      : static_cast<float>(static_cast<const int8_t *>(given)[from + part]);
            continue;
          }
          const int8_t re = static_cast<const int8_t *>(given)[from], im = static_cast<const int8_t *>(given)[from + 1];
          const int64_t atOnce = kernel.stepQuads * QUAD;
          int8_t *to = bytes.data() + (row * steps + s / atOnce) * stepBytes + beam * atOnce + s % atOnce;
          to[0] = re;
          to[stepBytes / 3] = im;
          to[2 * stepBytes / 3] = static_cast<int8_t>(-im);
          if (!kernel.isOffset) continue;
          int32_t *over = excess.data() + 2 * (row * kernel.group + beam);
          over[0] += 128 * (re - im);
          over[1] += 128 * (im + re);
        }
}

void Beamformer::turnFloats(const SpectraLayout &layout, const char *spectra, int64_t tile, int64_t samples, int64_t p,
                            float *panel) const {
  for (int64_t s = 0; s < stations; s++)
    for (int64_t part = 0; part < 2; part++, panel += TILE_SAMPLES) {
      const int64_t input = s * polarisations + p, within = input % TILE_INPUTS;
      const char *inputs = spectra + input / TILE_INPUTS * layout.inputBlockBytes();
      for (int64_t t = 0; t < TILE_SAMPLES; t++) {
        const int64_t at = tile * TILE_SAMPLES + t;
        if (type == SpectraType::cf32)
          panel[t] = at < samples
                         ? reinterpret_cast<const float *>(inputs)[at * FLOATS_PER_SAMPLE + part * TILE_INPUTS + within]
                         : 0.0F;
        else
          panel[t] =
              reinterpret_cast<const int8_t *>(inputs)[tile * TILE_BYTES + part * PLANE_BYTES + withinPlane(within, t)];
      }
    }
}

/** Calls take(channel, beam, first spectrum, how many, sums of X, sums of Y) for 64 spectra of a beam, [re, im][64]. */
template <class Take>
void Beamformer::run(Context &context, const SpectraLayout &layout, const char *block, int64_t samples, Take &&take) {
  const int64_t tiles = SpectraLayout::timeBlocksOf(samples);
  int64_t parts = 1;
  while (parts < groups && channels * parts < 4 * context.pool.threads()) parts *= 2;
  context.pool.run(channels * parts, [&](int64_t item, int worker) {
    const int64_t channel = item / parts, part = item % parts;
    const char *spectra = block + channel * layout.channelBytes();
    char *panel = static_cast<char *>(panels.get()) + worker * panelStride;
    const int64_t step = panelStride / polarisations;
    alignas(64) int32_t whole[2][LARGEST_GROUP * 2 * TILE_SAMPLES];
    alignas(64) float made[2][2 * TILE_SAMPLES];
    if (!isFloat) kernel.enter();
    for (int64_t tile = 0; tile < tiles; tile++) {
      const int64_t first = tile * TILE_SAMPLES, many = std::min(TILE_SAMPLES, samples - first);
      for (int64_t p = 0; p < polarisations; p++)
        if (isFloat)
          turnFloats(layout, spectra, tile, samples, p, reinterpret_cast<float *>(panel + p * step));
        else
          kernel.turn(reinterpret_cast<const int8_t *>(spectra) + tile * TILE_BYTES, layout.inputBlockBytes(), quads,
                      polarisations, p, reinterpret_cast<int8_t *>(panel + p * step));
      for (int64_t group = part * groups / parts; group < (part + 1) * groups / parts; group++) {
        for (int64_t p = 0; p < polarisations && !isFloat; p++) {
          const int64_t row = (channel * polarisations + p) * groups + group;
          kernel.sum(reinterpret_cast<const int8_t *>(panel + p * step), steps, bytes.data() + row * steps * stepBytes,
                     excess.data() + row * kernel.group * 2, whole[p]);
        }
        for (int64_t beam = group * kernel.group; beam < std::min(beams, (group + 1) * kernel.group); beam++) {
          for (int64_t p = 0; p < polarisations && isFloat; p++) {
            const int64_t row = ((channel * polarisations + p) * groups + group) * kernel.group + beam % kernel.group;
            sumFloatBeam(reinterpret_cast<const float *>(panel + p * step), stations,
                         floats.data() + 2 * row * stations, made[p]);
          }
          const int64_t at = beam % kernel.group * 2 * TILE_SAMPLES;
          if (isFloat)
            take(channel, beam, first, many, made[0], made[1]);
          else
            take(channel, beam, first, many, whole[0] + at, whole[1] + at);
        }
      }
    }
    if (!isFloat) kernel.leave();
  });
}

}  // namespace
}  // namespace corella

using namespace corella;

CORELLA_EXPORT int32_t corella_beamformer_open(char *error, void *context, int32_t type, int64_t channels,
                                               int64_t stations, int64_t polarisations, int64_t beams,
                                               int32_t floatWeights, void **beamformer) {
  return withContext(error, context, [&](Context &open) {
    require(std::min({channels, stations, beams}) >= 1, "a beamformer has a size below 1");
    require(polarisations == 1 || polarisations == 2, "a station has one or two polarisations");
    *beamformer = open.keep(std::make_unique<Beamformer>(open, static_cast<SpectraType>(type), channels, stations,
                                                         polarisations, beams, floatWeights != 0));
  });
}

// weights : [c][b][a] complex, int8 or float32
CORELLA_EXPORT int32_t corella_beamformer_weights(char *error, void *context, void *beamformer, const void *weights) {
  return withContext(error, context, [&](Context &) { static_cast<Beamformer *>(beamformer)->setWeights(weights); });
}

// voltages : [c][b][p][t] complex, int32 or float32
CORELLA_EXPORT int32_t corella_beamformer_voltages(char *error, void *context, void *beamformer, const void *block,
                                                   int64_t capacity, int64_t samples, void *out) {
  return withContext(error, context, [&](Context &open) {
    Beamformer &beams = *static_cast<Beamformer *>(beamformer);
    require(samples <= capacity, "a block holds less than that");
    const SpectraLayout layout{beams.type, beams.channels, beams.stations * beams.polarisations, capacity};
    beams.run(open, layout, static_cast<const char *>(block), samples,
              [&](int64_t channel, int64_t beam, int64_t first, int64_t many, const auto *x, const auto *y) {
                using Value = std::remove_const_t<std::remove_pointer_t<decltype(x)>>;
                for (int64_t p = 0; p < beams.polarisations; p++) {
                  const Value *from = p == 0 ? x : y;
                  const int64_t row = (channel * beams.beams + beam) * beams.polarisations + p;
                  Value *to = static_cast<Value *>(out) + 2 * (row * samples + first);
                  for (int64_t t = 0; t < many; t++) {
                    to[2 * t] = from[t];
                    to[2 * t + 1] = from[TILE_SAMPLES + t];
                  }
                }
              });
  });
}

// powers : [b][detection][bin][c], added to
CORELLA_EXPORT int32_t corella_beamformer_powers(char *error, void *context, void *beamformer, const void *block,
                                                 int64_t capacity, int64_t samples, int64_t detection, int64_t perBin,
                                                 int64_t offset, int64_t bins, double *powers) {
  return withContext(error, context, [&](Context &open) {
    Beamformer &beams = *static_cast<Beamformer *>(beamformer);
    require(samples <= capacity, "a block holds less than that");
    const auto how = static_cast<Detection>(detection);
    require(samples == 0 || (offset + samples - 1) / perBin < bins, "a block has more bins than that");
    const SpectraLayout layout{beams.type, beams.channels, beams.stations * beams.polarisations, capacity};
    beams.run(open, layout, static_cast<const char *>(block), samples,
              [&](int64_t channel, int64_t beam, int64_t first, int64_t many, const auto *x, const auto *y) {
                for (int64_t t = 0; t < many;) {
                  const int64_t bin = (offset + first + t) / perBin;
                  const int64_t end = std::min(many, (bin + 1) * perBin - offset - first);
                  double sums[4] = {};
                  if constexpr (std::is_same_v<decltype(x), const float *>)
                    beams.powers.ofFloats(how, x, beams.polarisations == 2 ? y : nullptr, t, end, sums);
                  else
                    beams.powers.ofIntegers(how, x, beams.polarisations == 2 ? y : nullptr, t, end, sums);
                  for (int64_t d = 0; d < detection; d++)
                    powers[((beam * detection + d) * bins + bin) * beams.channels + channel] += sums[d];
                  t = end;
                }
              });
  });
}

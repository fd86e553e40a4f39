// Each station's own power, summed beside a direct image without autocorrelations.
#include "backend/cpu/context.h"
#include "backend/cpu/spectra.h"

namespace corella {
namespace {

/** Sums of sixteen inputs: |x|² of each, and x conj(y) of each and the next. */
struct Powers {
  double own[TILE_INPUTS] = {}, re[TILE_INPUTS] = {}, im[TILE_INPUTS] = {};
};

/** A tile's sums fit 32 bits: 64 samples of at most 2 · 127². */
void addTile(const int8_t *tile, Powers &powers) {
  int32_t own[TILE_INPUTS] = {}, re[TILE_INPUTS] = {}, im[TILE_INPUTS] = {};
  const int8_t *imaginary = tile + PLANE_BYTES;
  for (int64_t line = 0; line < PLANE_BYTES; line += 4 * TILE_INPUTS) {
    for (int64_t a = 0; a < TILE_INPUTS; a++) {
      const int64_t next = a | 1;
      for (int64_t k = 0; k < 4; k++) {
        const int32_t xRe = tile[line + 4 * a + k], xIm = imaginary[line + 4 * a + k];
        const int32_t yRe = tile[line + 4 * next + k], yIm = imaginary[line + 4 * next + k];
        own[a] += xRe * xRe + xIm * xIm;
        re[a] += xRe * yRe + xIm * yIm;
        im[a] += xIm * yRe - xRe * yIm;
      }
    }
  }
  for (int64_t a = 0; a < TILE_INPUTS; a++) {
    powers.own[a] += own[a];
    powers.re[a] += re[a];
    powers.im[a] += im[a];
  }
}

void addSample(const float *sample, Powers &powers) {
  for (int64_t a = 0; a < TILE_INPUTS; a++) {
    const int64_t next = a | 1;
    const double xRe = sample[a], xIm = sample[TILE_INPUTS + a], yRe = sample[next], yIm = sample[TILE_INPUTS + next];
    powers.own[a] += xRe * xRe + xIm * xIm;
    powers.re[a] += xRe * yRe + xIm * yIm;
    powers.im[a] += xIm * yRe - xRe * yIm;
  }
}

/** One block of sixteen inputs of one channel. */
Powers powersOf(const SpectraLayout &layout, const char *block, int64_t samples) {
  Powers powers;
  if (layout.type == SpectraType::cf32) {
    const float *from = reinterpret_cast<const float *>(block);
    for (int64_t t = 0; t < samples; t++) addSample(from + t * FLOATS_PER_SAMPLE, powers);
  } else {
    const int8_t *from = reinterpret_cast<const int8_t *>(block);
    for (int64_t tile = 0; tile < SpectraLayout::timeBlocksOf(samples); tile++)
      addTile(from + tile * TILE_BYTES, powers);
  }
  return powers;
}

}  // namespace
}  // namespace corella

using namespace corella;

// block : spectra (spectra.h); powers : [c][s][product], XX, YY, Re XY, Im XY, or XX alone: added to.
CORELLA_EXPORT int32_t corella_direct_powers(char *error, void *context, int32_t type, int64_t channels,
                                             int64_t stations, int64_t polarisations, const void *block,
                                             int64_t capacity, int64_t samples, double *powers) {
  return withContext(error, context, [&](Context &open) {
    require(type >= 0 && type <= 2, "no such type of spectra");
    require(samples >= 0 && samples <= capacity, "more samples than the block holds");
    require(polarisations == 1 || polarisations == 2, "polarisations must be 1 or 2");
    const SpectraLayout layout{static_cast<SpectraType>(type), channels, stations * polarisations, capacity};
    const int64_t blocks = layout.inputBlocks();
    open.pool.run(channels * blocks, [&](int64_t task, int) {
      const int64_t c = task / blocks, firstInput = task % blocks * TILE_INPUTS;
      const char *from =
          static_cast<const char *>(block) + c * layout.channelBytes() + task % blocks * layout.inputBlockBytes();
      const Powers made = powersOf(layout, from, samples);
      for (int64_t a = 0; a < TILE_INPUTS && firstInput + a < layout.inputs; a += polarisations) {
        const int64_t station = c * stations + (firstInput + a) / polarisations;
        if (polarisations == 1) {
          powers[station] += made.own[a];
          continue;
        }
        double *to = powers + 4 * station;
        to[0] += made.own[a];
        to[1] += made.own[a + 1];
        to[2] += made.re[a];
        to[3] += made.im[a];
      }
    });
  });
}

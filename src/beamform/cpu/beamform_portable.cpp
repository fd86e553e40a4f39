// levels: portable avx2
// Plain loops that any compiler vectorises. panel : [station][re, im][64 spectra] int16.
#include "beamform/cpu/beamform_kernels.h"

namespace corella {
namespace CORELLA_LEVEL {
namespace {

constexpr int64_t STATION_VALUES = 2 * TILE_SAMPLES;

void turn(const int8_t *tiles, int64_t stride, int64_t quads, int64_t polarisations, int64_t p, int8_t *panel) {
  auto *wide = reinterpret_cast<int16_t *>(panel);
  for (int64_t station = 0; station < quads * QUAD; station++) {
    const int64_t input = station * polarisations + p;
    const int8_t *tile = tiles + input / TILE_INPUTS * stride;
    for (int64_t part = 0; part < 2; part++)
      for (int64_t t = 0; t < TILE_SAMPLES; t++)
        wide[station * STATION_VALUES + part * TILE_SAMPLES + t] =
            tile[part * PLANE_BYTES + withinPlane(input % TILE_INPUTS, t)];
  }
}

void sum(const int8_t *panel, int64_t quads, const int8_t *weights, const int32_t *, int32_t *sums) {
  for (int64_t n = 0; n < GROUP_SUMS; n++) sums[n] = 0;
  const auto *wide = reinterpret_cast<const int16_t *>(panel);
  for (int64_t quad = 0; quad < quads; quad++, weights += WEIGHT_BYTES)
    for (int64_t station = 0; station < QUAD; station++, wide += STATION_VALUES)
      for (int64_t beam = 0; beam < GROUP; beam++) {
        const int16_t wRe = weights[beam * QUAD + station], wIm = weights[GROUP * QUAD + beam * QUAD + station];
        int32_t *re = sums + beam * 2 * TILE_SAMPLES, *im = re + TILE_SAMPLES;
        for (int64_t t = 0; t < TILE_SAMPLES; t++) {
          re[t] += wRe * wide[t] - wIm * wide[TILE_SAMPLES + t];
          im[t] += wRe * wide[TILE_SAMPLES + t] + wIm * wide[t];
        }
      }
}

}  // namespace

extern const BeamKernel beamKernel = {GROUP, 1, QUAD *STATION_VALUES * 2, false, turn, sum, nothing, nothing};

}  // namespace CORELLA_LEVEL
}  // namespace corella

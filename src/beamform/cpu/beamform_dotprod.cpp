// levels: dotprod i8mm
// SDOT adds four stations at once to each of four spectra; its by-element form takes the weights of one beam of four.
// panel : [quad][re, im][64 spectra][4 stations]
#include <arm_neon.h>

#include "beamform/cpu/beamform_kernels.h"

namespace corella {
namespace CORELLA_LEVEL {
namespace {

constexpr int64_t QUAD_BYTES = 2 * TILE_SAMPLES * QUAD;
constexpr int LINES = TILE_SAMPLES / 4;

/** [4 inputs][4 spectra] to [4 spectra][4 inputs]. */
inline int8x16_t transposed(int8x16_t line) {
  static constexpr uint8_t ORDER[16] = {0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15};
  return vqtbl1q_s8(line, vld1q_u8(ORDER));
}

/** Every second word of two, or all of one. */
inline int8x16_t chosen(const int8_t *from, int64_t polarisations, int64_t p) {
  if (polarisations == 1) return vld1q_s8(from);
  const int32x4_t first = vreinterpretq_s32_s8(vld1q_s8(from)), second = vreinterpretq_s32_s8(vld1q_s8(from + 16));
  return vreinterpretq_s8_s32(p == 0 ? vuzp1q_s32(first, second) : vuzp2q_s32(first, second));
}

void turn(const int8_t *tiles, int64_t stride, int64_t quads, int64_t polarisations, int64_t p, int8_t *panel) {
  for (int64_t quad = 0; quad < quads; quad++, panel += QUAD_BYTES) {
    const int64_t input = quad * QUAD * polarisations;
    const int8_t *tile = tiles + input / TILE_INPUTS * stride + input % TILE_INPUTS * 4;
    for (int part = 0; part < 2; part++)
      for (int line = 0; line < LINES; line++)
        vst1q_s8(panel + part * (QUAD_BYTES / 2) + 16 * line,
                 transposed(chosen(tile + part * PLANE_BYTES + 64 * line, polarisations, p)));
  }
}

/** Spectra of two vectors, eight of them. */
constexpr int AT_ONCE = 2;

inline __attribute__((always_inline)) void addFour(int32x4_t (&sums)[GROUP], int8x16_t x, int8x16_t w) {
  sums[0] = vdotq_laneq_s32(sums[0], x, w, 0);
  sums[1] = vdotq_laneq_s32(sums[1], x, w, 1);
  sums[2] = vdotq_laneq_s32(sums[2], x, w, 2);
  sums[3] = vdotq_laneq_s32(sums[3], x, w, 3);
}

void sum(const int8_t *panel, int64_t quads, const int8_t *weights, const int32_t *, int32_t *sums) {
  for (int64_t first = 0; first < TILE_SAMPLES; first += 4 * AT_ONCE) {
    int32x4_t re[AT_ONCE][GROUP] = {}, im[AT_ONCE][GROUP] = {};
    const int8_t *x = panel + first * QUAD, *w = weights;
    for (int64_t quad = 0; quad < quads; quad++, x += QUAD_BYTES, w += WEIGHT_BYTES) {
      const int8x16_t wRe = vld1q_s8(w), wIm = vld1q_s8(w + 16), minusIm = vld1q_s8(w + 32);
#pragma GCC unroll 2
      for (int n = 0; n < AT_ONCE; n++) {
        const int8x16_t xRe = vld1q_s8(x + 16 * n), xIm = vld1q_s8(x + QUAD_BYTES / 2 + 16 * n);
        addFour(re[n], xRe, wRe);
        addFour(im[n], xRe, wIm);
        addFour(re[n], xIm, minusIm);
        addFour(im[n], xIm, wRe);
      }
    }
    for (int n = 0; n < AT_ONCE; n++)
      for (int64_t beam = 0; beam < GROUP; beam++) {
        int32_t *to = sums + beam * 2 * TILE_SAMPLES + first + 4 * n;
        vst1q_s32(to, re[n][beam]);
        vst1q_s32(to + TILE_SAMPLES, im[n][beam]);
      }
  }
}

}  // namespace

extern const BeamKernel beamKernel = {GROUP, 1, QUAD_BYTES, false, turn, sum, nothing, nothing};

}  // namespace CORELLA_LEVEL
}  // namespace corella

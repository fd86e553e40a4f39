// levels: portable
// Plain loops that any compiler vectorises. In float32, which every processor multiplies fast: 64
// samples add up to at most 2 · 128² · 64 = 2²¹, and integers are exact up to 2²⁴.
#include "correlate/cpu/correlate_kernels.h"

namespace corella {
namespace portable {
namespace {

/** [t][16 inputs], so that the inner loop runs along inputs. */
void widen(const int8_t *plane, float *wide) {
  for (int64_t t = 0; t < TILE_SAMPLES; t++) {
    for (int64_t input = 0; input < TILE_INPUTS; input++) {
      wide[t * TILE_INPUTS + input] = plane[withinPlane(input, t)];
    }
  }
}

/** Four floats: SSE2 and NEON both have them. */
typedef float Vector __attribute__((vector_size(16), may_alias));
constexpr int PARTS = 4;

/** Wraps without undefined behaviour: flagged inputs may have −128 and exceed 2³¹, in sums that are not used. */
inline void addWrapping(int32_t *to, float exact) {
  *to = static_cast<int32_t>(static_cast<uint32_t>(*to) + static_cast<uint32_t>(static_cast<int32_t>(exact)));
}

/** wide : [time block][re, im][t][16 inputs] */
void prepare(const int8_t *tiles, int64_t timeBlocks, void *wide) {
  for (int64_t plane = 0; plane < 2 * timeBlocks; plane++) {
    widen(tiles + plane * PLANE_BYTES, static_cast<float *>(wide) + plane * PLANE_BYTES);
  }
}

/** Two rows: 16 sums, and the j side is read once for both. */
constexpr int ROWS = 2;

void addPair(const int8_t *, const void *panel, const int8_t *, const void *notes, int64_t timeBlocks, int32_t *sums) {
  for (int64_t block = 0; block < timeBlocks; block++) {
    const float *aRe = static_cast<const float *>(panel) + block * TILE_BYTES, *aIm = aRe + PLANE_BYTES;
    const float *bRe = static_cast<const float *>(notes) + block * TILE_BYTES, *bIm = bRe + PLANE_BYTES;
    for (int64_t i = 0; i < TILE_INPUTS; i += ROWS) {
      Vector re[ROWS][PARTS] = {}, im[ROWS][PARTS] = {};
      for (int64_t t = 0; t < PLANE_BYTES; t += TILE_INPUTS) {
#pragma GCC unroll 4
        for (int part = 0; part < PARTS; part++) {
          const Vector br = *reinterpret_cast<const Vector *>(bRe + t + 4 * part);
          const Vector bi = *reinterpret_cast<const Vector *>(bIm + t + 4 * part);
#pragma GCC unroll 2
          for (int row = 0; row < ROWS; row++) {
            const float ar = aRe[t + i + row], ai = aIm[t + i + row];
            re[row][part] += ar * br;
            im[row][part] += ai * br;
            re[row][part] += ai * bi;
            im[row][part] -= ar * bi;
          }
        }
      }
      for (int64_t row = 0; row < ROWS; row++) {
        for (int64_t j = 0; j < TILE_INPUTS; j++) {
          addWrapping(sums + (i + row) * TILE_INPUTS + j, re[row][j / 4][j % 4]);
          addWrapping(sums + PAIR_VALUES + (i + row) * TILE_INPUTS + j, im[row][j / 4][j % 4]);
        }
      }
    }
  }
}

}  // namespace

extern const CorrelateKernels correlateKernels = {nothing, nothing, TILE_BYTES * 4, TILE_BYTES * 4,
                                                  prepare, prepare, addPair};

}  // namespace portable
}  // namespace corella

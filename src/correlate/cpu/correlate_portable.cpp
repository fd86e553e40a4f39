// levels: portable
// Plain loops that any compiler turns into whatever vectors its processor has. In float32, which every processor
// multiplies fast: 64 samples add up to at most 2 · 128² · 64 = 2²¹, and whole numbers are exact up to 2²⁴.
#include "correlate/cpu/correlate_kernels.h"

namespace corella {
namespace portable {
namespace {

void nothing() {}
void prepareNoI(const int8_t *, int64_t, void *) {}
void prepareNoJ(const int8_t *, int64_t, int32_t *) {}

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

/** Wraps without offending: flagged inputs may hold −128 and pass 2³¹ where nobody looks. */
inline void addWrapping(int32_t *to, float exact) {
  *to = static_cast<int32_t>(static_cast<uint32_t>(*to) + static_cast<uint32_t>(static_cast<int32_t>(exact)));
}

void addPair(const int8_t *tilesI, const void *, const int8_t *tilesJ, const int32_t *, int64_t timeBlocks,
             int32_t *sums) {
  alignas(64) float aRe[PLANE_BYTES], aIm[PLANE_BYTES], bRe[PLANE_BYTES], bIm[PLANE_BYTES];
  for (int64_t block = 0; block < timeBlocks; block++) {
    widen(tilesI + block * TILE_BYTES, aRe);
    widen(tilesI + block * TILE_BYTES + PLANE_BYTES, aIm);
    widen(tilesJ + block * TILE_BYTES, bRe);
    widen(tilesJ + block * TILE_BYTES + PLANE_BYTES, bIm);
    for (int64_t i = 0; i < TILE_INPUTS; i++) {
      Vector re[PARTS] = {}, im[PARTS] = {};
      for (int64_t t = 0; t < PLANE_BYTES; t += TILE_INPUTS) {
        const float ar = aRe[t + i], ai = aIm[t + i];
#pragma GCC unroll 4
        for (int part = 0; part < PARTS; part++) {
          const Vector br = *reinterpret_cast<const Vector *>(bRe + t + 4 * part);
          const Vector bi = *reinterpret_cast<const Vector *>(bIm + t + 4 * part);
          re[part] += ar * br + ai * bi;
          im[part] += ai * br - ar * bi;
        }
      }
      for (int64_t j = 0; j < TILE_INPUTS; j++) {
        addWrapping(sums + i * TILE_INPUTS + j, re[j / 4][j % 4]);
        addWrapping(sums + PAIR_VALUES + i * TILE_INPUTS + j, im[j / 4][j % 4]);
      }
    }
  }
}

}  // namespace

extern const CorrelateKernels correlateKernels = {nothing, nothing, 64, prepareNoI, prepareNoJ, addPair};

}  // namespace portable
}  // namespace corella

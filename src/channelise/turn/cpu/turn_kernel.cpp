// levels: portable avx2 avx512
#include "channelise/turn/cpu/turn_kernel.h"

#include "backend/cpu/vector.h"

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "samples are picked out of words, lowest byte first");

namespace corella {
namespace CORELLA_LEVEL {
namespace {

typedef int32_t Ints __attribute__((vector_size(VECTOR_BYTES)));
typedef uint32_t Words __attribute__((vector_size(VECTOR_BYTES)));
constexpr int WIDTH = LANES<float>, VECTORS = TILE_INPUTS / WIDTH;

/** One for each of sixteen inputs. */
struct Units {
  float re[TILE_INPUTS], im[TILE_INPUTS];
};

/**
 * e^(2πi turns), within 2^-23. In float64 whole turns are dropped, then quarters; the rest, at most an eighth either
 * way, is small enough for float32 and the first terms of its series.
 */
CORELLA_INLINE void unitsOf(const double *turns, Units &units) {
  constexpr double ROUNDS = 6755399441055744.0;  // 1.5·2^52: adding it rounds to integers
  float left[TILE_INPUTS], quarters[TILE_INPUTS];
  for (int input = 0; input < TILE_INPUTS; input++) {
    const double part = turns[input] - ((turns[input] + ROUNDS) - ROUNDS);
    const double quarter = (4 * part + ROUNDS) - ROUNDS;
    left[input] = static_cast<float>(part - 0.25 * quarter);
    quarters[input] = static_cast<float>(quarter);
  }
  for (int input = 0; input < TILE_INPUTS; input++) {
    const float x = left[input], y = x * x;
    const float sine = x * (6.2831853f + y * (-41.3417022f + y * (81.6052493f + y * (-76.7058598f + y * 42.0586939f))));
    const float cosine =
        1 + y * (-19.7392088f + y * (64.9393940f + y * (-85.4568172f + y * (60.2446414f - y * 26.4262568f))));
    // For -2 … 2 quarters the cosine is 1 - |q|, the sine q·(2 - |q|): 0 or ±1, so that products are exact.
    const float q = quarters[input], size = q < 0 ? -q : q;
    const float wholeCosine = 1 - size, wholeSine = q * (2 - size);
    units.re[input] = cosine * wholeCosine - sine * wholeSine;
    units.im[input] = sine * wholeCosine + cosine * wholeSine;
  }
}

/** Steps between phase factors that are computed directly. */
constexpr int FINE = 16;

/**
 * For 0 … 15 steps: those of one, two, four and eight directly, the others as products, so that errors do not
 * accumulate.
 */
CORELLA_INLINE void fineUnits(const double *steps, Units (&fine)[FINE]) {
  for (int input = 0; input < TILE_INPUTS; input++) fine[0].re[input] = 1, fine[0].im[input] = 0;
  for (int k = 1; k < FINE; k *= 2) {
    double turns[TILE_INPUTS];
    for (int input = 0; input < TILE_INPUTS; input++) turns[input] = k * steps[input];
    unitsOf(turns, fine[k]);
    for (int j = 1; j < k; j++) {
      for (int input = 0; input < TILE_INPUTS; input++) {
        const float re = fine[k].re[input], im = fine[k].im[input];
        fine[k + j].re[input] = re * fine[j].re[input] - im * fine[j].im[input];
        fine[k + j].im[input] = re * fine[j].im[input] + im * fine[j].re[input];
      }
    }
  }
}

/** Sixteen inputs of one spectrum. */
struct Sample {
  Floats re[VECTORS], im[VECTORS];
};

template <class Load>
CORELLA_INLINE void turnFew(int64_t first, int count, const Units &coarse, const Units (&fine)[FINE], float *vectors,
                            Load load) {
  Sample start;
  for (int v = 0; v < VECTORS; v++) {
    start.re[v] = loadVector<Floats>(coarse.re + v * WIDTH);
    start.im[v] = loadVector<Floats>(coarse.im + v * WIDTH);
  }
  float *to = vectors + first * FLOATS_PER_SAMPLE;
  for (int k = 0; k < count; k++, to += FLOATS_PER_SAMPLE) {
    Sample sample;
    load(first + k, sample);
    for (int v = 0; v < VECTORS; v++) {
      const Floats fineRe = loadVector<Floats>(fine[k].re + v * WIDTH);
      const Floats fineIm = loadVector<Floats>(fine[k].im + v * WIDTH);
      const Floats unitRe = start.re[v] * fineRe - start.im[v] * fineIm;
      const Floats unitIm = start.re[v] * fineIm + start.im[v] * fineRe;
      storeVector(to + v * WIDTH, sample.re[v] * unitRe - sample.im[v] * unitIm);
      storeVector(to + TILE_INPUTS + v * WIDTH, sample.re[v] * unitIm + sample.im[v] * unitRe);
    }
  }
}

template <class Load>
CORELLA_INLINE void turnAll(int64_t first, int64_t end, const double *turns, const double *steps, float *vectors,
                            Load load) {
  Units coarse, fine[FINE];
  fineUnits(steps, fine);
  for (int64_t t = first; t < end; t += FINE) {
    double at[TILE_INPUTS];
    const double since = static_cast<double>(t - first);
    for (int input = 0; input < TILE_INPUTS; input++) at[input] = turns[input] + since * steps[input];
    unitsOf(at, coarse);
    if (end - t >= FINE)
      turnFew(t, FINE, coarse, fine, vectors, load);
    else
      turnFew(t, static_cast<int>(end - t), coarse, fine, vectors, load);
  }
}

void turnIntegers(const int8_t *tiles, int64_t first, int64_t end, const double *turns, const double *steps,
                  float *vectors) {
  turnAll(first, end, turns, steps, vectors, [tiles](int64_t t, Sample &sample) {
    // A word of a line holds four samples of an input.
    const int8_t *line = tiles + t / TILE_SAMPLES * TILE_BYTES + withinPlane(0, t % TILE_SAMPLES / 4 * 4);
    const int up = 24 - 8 * static_cast<int>(t % 4);
    for (int v = 0; v < VECTORS; v++) {
      const Words re = loadVector<Words>(line + v * VECTOR_BYTES);
      const Words im = loadVector<Words>(line + PLANE_BYTES + v * VECTOR_BYTES);
      sample.re[v] = __builtin_convertvector(reinterpret_cast<Ints>(re << up) >> 24, Floats);
      sample.im[v] = __builtin_convertvector(reinterpret_cast<Ints>(im << up) >> 24, Floats);
    }
  });
}

void turnFloats(const float *from, int64_t first, int64_t end, const double *turns, const double *steps,
                float *vectors) {
  turnAll(first, end, turns, steps, vectors, [from](int64_t t, Sample &sample) {
    const float *at = from + t * FLOATS_PER_SAMPLE;
    for (int v = 0; v < VECTORS; v++) {
      sample.re[v] = loadVector<Floats>(at + v * WIDTH);
      sample.im[v] = loadVector<Floats>(at + TILE_INPUTS + v * WIDTH);
    }
  });
}

}  // namespace

extern const TurnKernel turnKernel = {turnIntegers, turnFloats};

}  // namespace CORELLA_LEVEL
}  // namespace corella

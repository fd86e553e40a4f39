// The corner turn: from the stages of up to sixteen inputs (channelise_round.h) to the block, in whole cache lines.
#pragma once
#include "channelise/cpu/channelise_past.h"
#include "channelise/cpu/channelise_powers.h"
#include "channelise/cpu/channelise_round.h"

namespace corella {
namespace CORELLA_LEVEL {
namespace {

/** LANES rows, one of each input from `first` on; zeros past the last input. */
CORELLA_INLINE void gather(const char *stages, int64_t stride, int first, int inputs, Vec (&rows)[LANES]) {
  each<LANES>(CORELLA_EACH {
    rows[i] = first + i < inputs ? load(reinterpret_cast<const float *>(stages + (first + i) * stride)) : Vec{};
  });
  turnRows(rows);
}

#if defined(__ARM_FEATURE_DOTPROD)
/** A whole cache line at once; with non-temporal stores on request. */
template <bool Past>
CORELLA_INLINE void storeWholeLine(char *to, Vec a, Vec b, Vec c, Vec d) {
  if constexpr (Past) {
    __asm__ volatile("stnp %q1, %q2, [%0]\n\tstnp %q3, %q4, [%0, #32]"
                     :
                     : "r"(to), "w"(a), "w"(b), "w"(c), "w"(d)
                     : "memory");
    return;
  }
  auto *line = reinterpret_cast<float *>(to);
  store(line, a);
  store(line + 4, b);
  store(line + 8, c);
  store(line + 12, d);
}

/** block : the input block of channel 0. */
template <bool Past, bool>
void turnIntegers(const ChanneliseJob &job, const char *stages, int inputs, const SpectraLayout &layout, char *block,
                  int64_t first, const PowerCells &) {
  char *tile = block + first / TILE_SAMPLES * TILE_BYTES + withinPlane(0, first % TILE_SAMPLES);
  const int64_t stride = job.stageBytes;
  for (int64_t quad = 0; quad < job.places / 4; quad++) {
    const int32_t *channel = job.channel + 4 * quad;
    for (int part = 0; part < 2; part++) {
      Vec rows[4][4];
      const char *from = stages + (quad * 2 + part) * QUAD_BYTES;
      if (__builtin_expect(inputs == TILE_INPUTS, 1)) {
        each<4>(CORELLA_EACH {
          constexpr int G = i;
          each<4>(CORELLA_EACH { rows[G][i] = load(reinterpret_cast<const float *>(from + (4 * G + i) * stride)); });
        });
      } else {
        each<4>(CORELLA_EACH {
          constexpr int G = i;
          each<4>(CORELLA_EACH {
            rows[G][i] =
                4 * G + i < inputs ? load(reinterpret_cast<const float *>(from + (4 * G + i) * stride)) : Vec{};
          });
        });
      }
      each<4>(CORELLA_EACH { turnSquares(rows[i]); });
      each<4>(CORELLA_EACH {
        if (channel[i] < 0) return;
        storeWholeLine<Past>(tile + part * PLANE_BYTES + channel[i] * layout.channelBytes(), rows[0][i], rows[1][i],
                             rows[2][i], rows[3][i]);
      });
    }
  }
}
#else
/** block : the input block of channel 0. */
template <bool Past, bool Powers>
void turnIntegers(const ChanneliseJob &job, const char *stages, int inputs, const SpectraLayout &layout, char *block,
                  int64_t first, const PowerCells &powers) {
  char *tile = block + first / TILE_SAMPLES * TILE_BYTES + withinPlane(0, first % TILE_SAMPLES);
  for (int64_t quad = 0; quad < job.places / 4; quad++) {
    const int32_t *channel = job.channel + 4 * quad;
    for (int sixteenth = 0; sixteenth < TILE_INPUTS; sixteenth += LANES) {
      const auto carry = [&](int part, Vec(&rows)[LANES]) __attribute__((always_inline)) {
        gather(stages + (quad * 2 + part) * QUAD_BYTES, job.stageBytes, sixteenth, inputs, rows);
        char *to = tile + part * PLANE_BYTES + sixteenth * 4;
        each<4>(CORELLA_EACH {
          constexpr int PLACE = i;
          if (channel[PLACE] < 0) return;
          char *line = to + channel[PLACE] * layout.channelBytes();
          each<PIECES>(
              CORELLA_EACH { storeLine<Past>(reinterpret_cast<float *>(line + i * 64), rows[4 * i + PLACE]); });
        });
      };
      Vec re[LANES];
      carry(0, re);
#if defined(__AVX2__)
      if constexpr (Powers) {
        Vec im[LANES];
        carry(1, im);
        each<4>(CORELLA_EACH {
          if (channel[i] >= 0) addLinePowers<Past>(re, im, i, powers.of(channel[i]) + sixteenth, powers.isFresh);
        });
        continue;
      }
#endif
      carry(1, re);
    }
  }
  (void)powers;
  if constexpr (Past) finishStores();
}
#endif

template <bool Past, bool Powers>
void turnFloats(const ChanneliseJob &job, const char *stages, int inputs, const SpectraLayout &layout, char *block,
                int64_t first, int64_t samples, const PowerCells &powers) {
  const int64_t here = samples - first < LANES ? samples - first : LANES;
  for (int64_t place = 0; place < job.places; place++) {
    if (job.channel[place] < 0) continue;
    float *channel = reinterpret_cast<float *>(block + job.channel[place] * layout.channelBytes());
    for (int sixteenth = 0; sixteenth < TILE_INPUTS; sixteenth += LANES) {
      const auto carry = [&](int part, Vec(&rows)[LANES]) __attribute__((always_inline)) {
        gather(stages + (place * POINT + part * LANES) * 4, job.stageBytes, sixteenth, inputs, rows);
        float *to = channel + first * FLOATS_PER_SAMPLE + part * TILE_INPUTS + sixteenth;
        // A loop over rows would keep them in memory.
        each<LANES>(CORELLA_EACH {
          if (i < here) storeLine<Past>(to + i * FLOATS_PER_SAMPLE, rows[i]);
        });
      };
      Vec re[LANES];
      carry(0, re);
      if constexpr (Powers) {
        Vec im[LANES];
        carry(1, im);
        addFloatPowers<Past>(re, im, powers.of(job.channel[place]) + sixteenth, powers.isFresh);
      } else {
        carry(1, re);
      }
    }
  }
  if constexpr (Past) finishStores();
}

template <bool Past, bool Powers>
void turnPlaces(const ChanneliseJob &job, const char *stages, int inputs, const SpectraLayout &layout, char *block,
                int64_t first, int64_t samples, const PowerCells &powers) {
  if (job.output == SpectraType::cf32) {
    turnFloats<Past, Powers>(job, stages, inputs, layout, block, first, samples, powers);
  } else {
    turnIntegers<Past, Powers>(job, stages, inputs, layout, block, first, powers);
  }
}

}  // namespace
}  // namespace CORELLA_LEVEL
}  // namespace corella

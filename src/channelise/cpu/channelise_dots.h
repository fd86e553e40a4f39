// The filter of 8-bit samples by SDOT, which multiplies four bytes by four and adds them: four rows at a time, taps as
// 256·high + low, all in exact integers. Each spectrum s has its own windows of four rows, (s…s+3), (s+4…s+7), …, so
// that all spectra use the same taps. Converting integers to floats is slow on ARM; instead sums start at the bits of
// 3·2²² and 3·2³⁰, floats whose last places are worth 1 and 256, and the result is read as a float.
#pragma once
#include "channelise/cpu/channelise_lanes.h"

namespace corella {
namespace CORELLA_LEVEL {
namespace {

struct DotFilter {
  static constexpr int SIZE = 1;
  static constexpr bool BY_LINES = true;
  struct Staged {};

  static CORELLA_INLINE constexpr int groups(int taps) { return (taps + 3) / 4; }
  /**
   * The vectors of a group's taps, 16 bytes each: low and high, for real samples of their even and of their odd points.
   */
  static CORELLA_INLINE constexpr int vectors(bool real) { return real ? 4 : 2; }

  /** table : [half of a line][group of taps][part, for real samples][low, high][4 points][4 taps] */
  static int64_t tableBytes(int32_t taps, bool real) { return 2 * groups(taps) * vectors(real) * 16; }
  static void layOut(const int16_t *tap, int32_t taps, bool real, void *table) {
    auto *to = static_cast<int8_t *>(table);
    for (int half = 0; half < 2; half++) {
      for (int group = 0; group < groups(taps); group++) {
        for (int part = 0; part < (real ? 2 : 1); part++, to += 32) {
          for (int n = 0; n < 16; n++) {
            const int t = 4 * group + n % 4;
            const int value = t >= taps ? 0 : tap[t * LINE + 2 * (4 * half + n / 4) + part];
            const int high = (value + 128) >> 8;
            to[n] = static_cast<int8_t>(value - 256 * high);
            to[16 + n] = static_cast<int8_t>(high);
          }
        }
      }
    }
  }

  /** Of a group; complex samples have the same for both parts. */
  struct Taps {
    int8x16_t reLow, reHigh, imLow, imHigh;
  };
  template <bool REAL>
  static CORELLA_INLINE Taps loadTaps(const int8_t *at) {
    const int8x16_t low = vld1q_s8(at), high = vld1q_s8(at + 16);
    if constexpr (REAL) {
      return {low, high, vld1q_s8(at + 32), vld1q_s8(at + 48)};
    } else {
      return {low, high, low, high};
    }
  }

  struct Sums {
    int32x4_t reLow, reHigh, imLow, imHigh;
  };

  /** The initial value of a sum; from memory, since a copy between registers would replace a product. */
  static CORELLA_INLINE Sums fresh() {
    [[maybe_unused]] static const int32x4_t LOW = {0x4b400000, 0x4b400000, 0x4b400000, 0x4b400000},
                                            HIGH = {0x4f400000, 0x4f400000, 0x4f400000, 0x4f400000};
    const auto read = [](const int32x4_t &from) __attribute__((always_inline)) {
      int32x4_t value;
      __asm__ volatile("ldr %q0, %1" : "=w"(value) : "m"(from));  // volatile: equal reads must not be merged
      return value;
    };
    return {read(LOW), read(HIGH), read(LOW), read(HIGH)};
  }

  /** (3·2²² + low) + ((3·2³⁰ + 256·high) − 3·2³⁰ − 3·2²²): only the last sum rounds. */
  static CORELLA_INLINE Vec total(int32x4_t low, int32x4_t high) {
    return (Vec)low + ((Vec)high - broadcast(3221225472.0f + 12582912.0f));
  }

  /** first, second : rows r, r + 1 and r + 2, r + 3 of half a line, interleaved. */
  static CORELLA_INLINE void addWindow(Sums &sums, int16x8_t first, int16x8_t second, const Taps &taps) {
    const int8x16_t re = vreinterpretq_s8_s16(vtrn1q_s16(first, second)),
                    im = vreinterpretq_s8_s16(vtrn2q_s16(first, second));
    sums.reLow = vdotq_s32(sums.reLow, re, taps.reLow);
    sums.reHigh = vdotq_s32(sums.reHigh, re, taps.reHigh);
    sums.imLow = vdotq_s32(sums.imLow, im, taps.imLow);
    sums.imHigh = vdotq_s32(sums.imHigh, im, taps.imHigh);
  }

  /** Four points of four spectra each; re, im : [spectrum][point], transposed here. */
  static CORELLA_INLINE void storeHalf(Vec (&re)[LANES], Vec (&im)[LANES], float *to) {
    turnSquares(re);
    turnSquares(im);
    each<LANES>(CORELLA_EACH { storePoint(to + i * POINT, {re[i], im[i]}); });
  }

  /** With GROUPS known the windows of all groups are made once. row(r) loads a line of row r. */
  template <int GROUPS, class Row>
  static CORELLA_INLINE void filterGroups(const Row &row, const int8_t *tap, float *to) {
    constexpr int PAIRS = 4 * GROUPS + 2;
    int16x8_t pairs[2][PAIRS];
    int8x16_t before = row(0);
    each<PAIRS>(CORELLA_EACH {
      const int8x16_t next = row(i + 1);
      pairs[0][i] = vreinterpretq_s16_s8(vzip1q_s8(before, next));
      pairs[1][i] = vreinterpretq_s16_s8(vzip2q_s8(before, next));
      before = next;
    });
    each<2>(CORELLA_EACH {
      constexpr int HALF = i;
      Taps own[GROUPS];
      each<GROUPS>(CORELLA_EACH { own[i] = loadTaps<false>(tap + (HALF * GROUPS + i) * vectors(false) * 16); });
      Vec re[LANES], im[LANES];
      each<LANES>(CORELLA_EACH {
        constexpr int S = i;
        Sums sums = fresh();
        each<GROUPS>(CORELLA_EACH { addWindow(sums, pairs[HALF][S + 4 * i], pairs[HALF][S + 4 * i + 2], own[i]); });
        re[S] = total(sums.reLow, sums.reHigh);
        im[S] = total(sums.imLow, sums.imHigh);
      });
      storeHalf(re, im, to + 4 * HALF * POINT);
    });
  }

  /** Any number of taps: windows are made anew for each group. */
  template <bool REAL, class Row>
  static CORELLA_INLINE void filterAny(const Row &row, int taps, const int8_t *tap, float *to) {
    const int count = groups(taps);
    Sums sums[2][LANES];
    each<2>(CORELLA_EACH {
      constexpr int HALF = i;
      each<LANES>(CORELLA_EACH { sums[HALF][i] = fresh(); });
    });
    for (int group = 0; group < count; group++) {
      int16x8_t pairs[2][6];
      each<6>(CORELLA_EACH {
        const int8x16_t a = row(4 * group + i), b = row(4 * group + i + 1);
        pairs[0][i] = vreinterpretq_s16_s8(vzip1q_s8(a, b));
        pairs[1][i] = vreinterpretq_s16_s8(vzip2q_s8(a, b));
      });
      each<2>(CORELLA_EACH {
        constexpr int HALF = i;
        const Taps own = loadTaps<REAL>(tap + (HALF * count + group) * vectors(REAL) * 16);
        each<LANES>(CORELLA_EACH { addWindow(sums[HALF][i], pairs[HALF][i], pairs[HALF][i + 2], own); });
      });
    }
    each<2>(CORELLA_EACH {
      constexpr int HALF = i;
      Vec re[LANES], im[LANES];
      each<LANES>(CORELLA_EACH {
        re[i] = total(sums[HALF][i].reLow, sums[HALF][i].reHigh);
        im[i] = total(sums[HALF][i].imLow, sums[HALF][i].imHigh);
      });
      storeHalf(re, im, to + 4 * HALF * POINT);
    });
  }

  template <class Row>
  static CORELLA_INLINE void filterRows(const Row &row, int taps, bool real, const char *table, float *to) {
    const auto *tap = reinterpret_cast<const int8_t *>(table);
    if (real) return filterAny<true>(row, taps, tap, to);
    switch (groups(taps)) {
      case 1: return filterGroups<1>(row, tap, to);
      case 2: return filterGroups<2>(row, tap, to);
      case 4: return filterGroups<4>(row, tap, to);
      default: return filterAny<false>(row, taps, tap, to);
    }
  }

  static CORELLA_INLINE void filterLine(const ChanneliseJob &job, const ChanneliseRows &rows, const Line &line,
                                        const char *table, float *to) {
    const int64_t at = static_cast<int64_t>(line.first) * 2;
    const char *const *row = rows.row;
    if (line.points < LINE_POINTS) {
      // Memory past the end of a row must not be read: it may not exist.
      const size_t bytes = static_cast<size_t>(line.points) * 2;
      const auto some = [&](int r) __attribute__((always_inline)) {
        int8x16_t values = {};
        __builtin_memcpy(&values, row[r] + at, bytes);
        return values;
      };
      return filterRows(some, job.taps, job.real, table, to);
    }
    const auto whole = [&](int r) __attribute__((always_inline)) {
      return vld1q_s8(reinterpret_cast<const int8_t *>(row[r] + at));
    };
    filterRows(whole, job.taps, job.real, table, to);
    if (rows.next == nullptr || line.first % 32 != 0) return;
    // Prefetched, since the hardware does not predict accesses a row apart.
    const int count = LANES + 4 * groups(job.taps) - 1;
    for (int r = 0; r < count; r++) __builtin_prefetch(rows.next[r] + at, 0, 2);
  }
};

}  // namespace
}  // namespace CORELLA_LEVEL
}  // namespace corella

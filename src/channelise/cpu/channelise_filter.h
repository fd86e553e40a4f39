// The filter, a line of 4·LANES neighbouring scalars (with AVX-512 64 bytes of 8-bit samples) of LANES spectra at once.
// Lanes are scalars while taps are summed; then the sums are transposed so that lanes are spectra. The second half of a
// transpose, all shuffles, waits until the next vector's sums, all products, so that the two can overlap. A filter that
// is BY_LINES (channelise_dots.h) does all of this by itself.
#pragma once
#include "channelise/cpu/channelise_lanes.h"

namespace corella {
namespace CORELLA_LEVEL {
namespace {

/** 8-bit samples and 16-bit taps in exact integers. */
struct ByteFilter {
  /**
   * Rows in pairs (0,1), (2,3), …: 16-bit samples side by side, so that one instruction takes two taps. Even spectra
   * use the pairs unchanged; odd ones use the same pairs with the taps shifted by one: (·,h0), (h1,h2), …, (h_last,·).
   */
  struct Staged {
    IntVec pairs[4][LANES / 2 + MOST_TAPS / 2];
  };
  static constexpr int SIZE = 1;
  static constexpr bool BY_LINES = false;

  /** The order of scalars after widening and pairing. */
  static CORELLA_INLINE constexpr int scalarOf(int vector, int lane) {
    return 2 * LANES * (vector / 2) + 8 * (lane / 4) + 4 * (vector % 2) + lane % 4;
  }
  static CORELLA_INLINE int steps(int taps) { return LANES / 2 + (taps + 1) / 2; }

  static CORELLA_INLINE void stage(Staged &staged, int step, const char *even, const char *odd) {
#if defined(__AVX512F__)
    each<2>(CORELLA_EACH {
      const __m512i a = _mm512_cvtepi8_epi16(_mm256_loadu_si256(reinterpret_cast<const __m256i *>(even) + i));
      const __m512i b = _mm512_cvtepi8_epi16(_mm256_loadu_si256(reinterpret_cast<const __m256i *>(odd) + i));
      staged.pairs[2 * i][step] = (IntVec)_mm512_unpacklo_epi16(a, b);
      staged.pairs[2 * i + 1][step] = (IntVec)_mm512_unpackhi_epi16(a, b);
    });
#elif defined(__AVX2__)
    each<2>(CORELLA_EACH {
      const __m256i a = _mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i *>(even) + i));
      const __m256i b = _mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i *>(odd) + i));
      staged.pairs[2 * i][step] = (IntVec)_mm256_unpacklo_epi16(a, b);
      staged.pairs[2 * i + 1][step] = (IntVec)_mm256_unpackhi_epi16(a, b);
    });
#else
    for (int vector = 0; vector < 4; vector++) {
      for (int lane = 0; lane < LANES; lane++) {
        const int at = scalarOf(vector, lane);
        const uint32_t low = static_cast<uint16_t>(static_cast<int8_t>(even[at]));
        const uint32_t high = static_cast<uint16_t>(static_cast<int8_t>(odd[at]));
        staged.pairs[vector][step][lane] = static_cast<int32_t>(high << 16 | low);
      }
    }
#endif
  }

  static CORELLA_INLINE IntVec add(IntVec sum, IntVec samples, IntVec taps) {
#if defined(__AVX512VNNI__)
    return (IntVec)_mm512_dpwssd_epi32((__m512i)sum, (__m512i)samples, (__m512i)taps);
#elif defined(__AVX2__)
    return sum + (IntVec)_mm256_madd_epi16((__m256i)samples, (__m256i)taps);
#else
    // Sums never exceed 31 bits; the shifts extend the low half's sign.
    return sum + ((samples << 16) >> 16) * ((taps << 16) >> 16) + (samples >> 16) * (taps >> 16);
#endif
  }

  static CORELLA_INLINE Vec toFloat(IntVec value) {
#if defined(__AVX512F__)
    return _mm512_cvtepi32_ps((__m512i)value);
#elif defined(__AVX2__)
    return _mm256_cvtepi32_ps((__m256i)value);
#else
    return __builtin_convertvector(value, Vec);
#endif
  }

  /** table : [pair][lanes]. */
  template <int V>
  static CORELLA_INLINE void sum(const Staged &staged, int taps, const char *table, Vec (&spectra)[LANES]) {
    const int tapPairs = (taps + 1) / 2;
    const IntVec *tap = reinterpret_cast<const IntVec *>(table) + V * tapPairs;
    const IntVec *pairs = staged.pairs[V];
    IntVec sums[LANES];
    each<LANES>(CORELLA_EACH { sums[i] = IntVec{}; });
    IntVec before = IntVec{};
    for (int q = 0; q < tapPairs; q++) {
      const IntVec even = tap[q];
      const IntVec odd = movedOn(before, even);
      each<LANES / 2>(CORELLA_EACH {
        const IntVec samples = pairs[i + q];
        sums[2 * i] = add(sums[2 * i], samples, even);
        sums[2 * i + 1] = add(sums[2 * i + 1], samples, odd);
      });
      before = even;
    }
    const IntVec odd = movedOn(before, IntVec{});
    each<LANES / 2>(CORELLA_EACH { sums[2 * i + 1] = add(sums[2 * i + 1], pairs[i + tapPairs], odd); });
    each<LANES>(CORELLA_EACH { spectra[i] = toFloat(sums[i]); });
  }

  static CORELLA_INLINE IntVec movedOn(IntVec before, IntVec even) {
    typedef uint32_t Unsigned __attribute__((vector_size(4 * LANES)));
    return (IntVec)(((Unsigned)even << 16) | ((Unsigned)before >> 16));
  }
};

/** 16-bit and float samples in float32. */
template <class Sample>
struct FloatFilter {
  struct Staged {
    Vec rows[4][LANES + MOST_TAPS];
  };
  static constexpr int SIZE = sizeof(Sample);
  static constexpr bool BY_LINES = false;
  static CORELLA_INLINE constexpr int scalarOf(int vector, int lane) { return LANES * vector + lane; }
  /** Two rows a step. */
  static CORELLA_INLINE int steps(int taps) { return (LANES + taps) / 2; }

  static CORELLA_INLINE void stage(Staged &staged, int step, const char *even, const char *odd) {
    each<4>(CORELLA_EACH {
      staged.rows[i][2 * step] = widen(even + i * LANES * SIZE);
      staged.rows[i][2 * step + 1] = widen(odd + i * LANES * SIZE);
    });
  }
  static CORELLA_INLINE Vec widen(const char *at) {
    typedef Sample Samples __attribute__((vector_size(SIZE * LANES)));
    Samples samples;
    __builtin_memcpy(&samples, at, sizeof samples);
    return __builtin_convertvector(samples, Vec);
  }

  /** table : [tap][lanes]. */
  template <int V>
  static CORELLA_INLINE void sum(const Staged &staged, int taps, const char *table, Vec (&spectra)[LANES]) {
    const Vec *tap = reinterpret_cast<const Vec *>(table) + V * taps;
    const Vec *rows = staged.rows[V];
    Vec sums[LANES];
    each<LANES>(CORELLA_EACH { sums[i] = Vec{}; });
    for (int t = 0; t < taps; t++) {
      const Vec weight = tap[t];
      each<LANES>(CORELLA_EACH { sums[i] += weight * rows[i + t]; });
    }
    each<LANES>(CORELLA_EACH { spectra[i] = sums[i]; });
  }
};

/** A vector of sums for LANES spectra, half transposed, and the place of its columns. */
struct HalfTurned {
  Vec squares[PIECES][4];
  float *to;
};

template <class Filter, int V>
CORELLA_INLINE void finishTurn(const HalfTurned &half) {
  each<4>(CORELLA_EACH {
    constexpr int E = i;
    Vec pieces[PIECES];
    each<PIECES>(CORELLA_EACH { pieces[i] = half.squares[i][E]; });
    turnPieces(pieces);
    each<PIECES>(CORELLA_EACH { store(half.to + Filter::scalarOf(V, 4 * i + E) * LANES, pieces[i]); });
  });
}

template <class Filter>
struct Filtering {
  const ChanneliseJob &job;
  const ChanneliseRows &rows;
  typename Filter::Staged staged;
  HalfTurned halves[2];
  alignas(64) float spare[LINE_POINTS * POINT];
  static constexpr int SIZE_IN_LINES = (LINE * Filter::SIZE + 63) / 64;

  /** Widens a line's samples. */
  CORELLA_INLINE void stage(const Line &line) {
    const int64_t at = static_cast<int64_t>(line.first) * 2 * Filter::SIZE;
    const int steps = Filter::steps(job.taps);
    if (line.points == LINE_POINTS) {
      for (int s = 0; s < steps; s++) Filter::stage(staged, s, rows.row[2 * s] + at, rows.row[2 * s + 1] + at);
      if (rows.next == nullptr) return;
      // Prefetched, since the hardware does not predict accesses a row apart.
      for (int r = 0; r < 2 * steps; r++) {
        each<SIZE_IN_LINES>(CORELLA_EACH { __builtin_prefetch(rows.next[r] + at + 64 * i, 0, 2); });
      }
      return;
    }
    // Memory past the end of a row must not be read: it may not exist.
    const size_t bytes = static_cast<size_t>(line.points) * 2 * Filter::SIZE;
    char even[LINE * Filter::SIZE] = {}, odd[LINE * Filter::SIZE] = {};
    for (int s = 0; s < steps; s++) {
      __builtin_memcpy(even, rows.row[2 * s] + at, bytes);
      __builtin_memcpy(odd, rows.row[2 * s + 1] + at, bytes);
      Filter::stage(staged, s, even, odd);
    }
  }

  template <int V, bool After>
  CORELLA_INLINE void vector(const char *table, float *to) {
    if constexpr (After) finishTurn<Filter, (V + 3) % 4>(halves[(V + 1) % 2]);
    Vec spectra[LANES];
    Filter::template sum<V>(staged, job.taps, table, spectra);
    HalfTurned &half = halves[V % 2];
    half.to = to;
    each<PIECES>(CORELLA_EACH {
      Vec four[4] = {spectra[4 * i], spectra[4 * i + 1], spectra[4 * i + 2], spectra[4 * i + 3]};
      turnSquares(four);
      half.squares[i][0] = four[0];
      half.squares[i][1] = four[1];
      half.squares[i][2] = four[2];
      half.squares[i][3] = four[3];
    });
  }

  /** Filters the lines first…end−1. */
  void run(int first, int end) {
    for (int index = first; index < end; index++) {
      const Line &line = job.lines[index];
      const char *table = static_cast<const char *>(job.table) + index * job.tableLineBytes;
      float *place = rows.work + static_cast<int64_t>(line.place) * POINT;
      const bool whole = line.points == LINE_POINTS;
      float *to = whole ? place : spare;
      if constexpr (Filter::BY_LINES) {
        Filter::filterLine(job, rows, line, table, to);
      } else {
        stage(line);
        vector<0, false>(table, to);
        vector<1, true>(table, to);
        vector<2, true>(table, to);
        vector<3, true>(table, to);
        finishTurn<Filter, 3>(halves[1]);
      }
      if (!whole) {
        for (int n = 0; n < line.points; n++) storePoint(place + n * POINT, loadPoint(spare + n * POINT));
      }
      if (rows.missing != 0) dropMissing(place, line.points);
    }
  }

  void dropMissing(float *at, int points) const {
    IntVec keep;
    for (int lane = 0; lane < LANES; lane++) keep[lane] = rows.missing >> lane & 1 ? 0 : -1;
    for (int vector = 0; vector < 2 * points; vector++) {
      store(at + vector * LANES, (Vec)((IntVec)load(at + vector * LANES) & keep));
    }
  }
};

}  // namespace
}  // namespace CORELLA_LEVEL
}  // namespace corella

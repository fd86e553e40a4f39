// A vector of floats at each level, its lanes being spectra: LANES consecutive spectra of one input are transformed and
// rounded side by side, so that nothing moves between lanes, any radix is equally fast, and neighbouring lanes are
// consecutive samples in time, as needed by the corner turn.
#pragma once
#include "channelise/cpu/channelise_job.h"
#if CORELLA_X86
#include <immintrin.h>
#elif defined(__ARM_FEATURE_DOTPROD)
#include <arm_neon.h>
#endif

#define CORELLA_INLINE inline __attribute__((always_inline))

namespace corella {
namespace CORELLA_LEVEL {
namespace {

#if defined(__AVX512F__)
constexpr int LANES = 16;
#elif defined(__AVX2__)
constexpr int LANES = 8;
#else
constexpr int LANES = 4;
#endif

/** Scalars that are filtered together, and points: a complex sample each, or two real ones. */
constexpr int LINE = 4 * LANES;
constexpr int LINE_POINTS = LINE / 2;

typedef float Vec __attribute__((vector_size(4 * LANES)));
typedef int32_t IntVec __attribute__((vector_size(4 * LANES)));

/** Whether this level can round points in registers and find saturation afterwards. */
#if defined(__AVX2__) || defined(__ARM_FEATURE_DOTPROD)
#define CORELLA_ROUNDS_FROM_REGISTERS 1
#else
#define CORELLA_ROUNDS_FROM_REGISTERS 0
#endif

/** Whether the last pass makes whole quads of neighbouring places, which are written to the stage from registers. */
CORELLA_INLINE bool finishesInLastPass(const ChanneliseJob &job) {
  return job.legs > 0 && (CORELLA_ROUNDS_FROM_REGISTERS || job.output == SpectraType::cf32);
}

template <int I>
struct Index {
  CORELLA_INLINE constexpr operator int() const { return I; }
};

/** Calls body(Index<0>), body(Index<1>), …: unrolled before register allocation, unlike plain loops. */
template <int N, int I = 0, class Body>
CORELLA_INLINE void each(const Body &body) {
  if constexpr (I < N) {
    body(Index<I>{});
    each<N, I + 1>(body);
  }
}
#define CORELLA_EACH [&](auto i) __attribute__((always_inline))

CORELLA_INLINE Vec load(const float *from) { return *reinterpret_cast<const Vec *>(from); }
CORELLA_INLINE void store(float *to, Vec value) { *reinterpret_cast<Vec *>(to) = value; }
CORELLA_INLINE Vec broadcast(float value) { return value - Vec{}; }

struct Complex {
  Vec re, im;
};

/** A point in memory: LANES real parts, then LANES imaginary ones. */
constexpr int POINT = 2 * LANES;
CORELLA_INLINE Complex loadPoint(const float *at) { return {load(at), load(at + LANES)}; }
CORELLA_INLINE void storePoint(float *at, Complex value) {
  store(at, value.re);
  store(at + LANES, value.im);
}

CORELLA_INLINE Complex operator+(Complex a, Complex b) { return {a.re + b.re, a.im + b.im}; }
CORELLA_INLINE Complex operator-(Complex a, Complex b) { return {a.re - b.re, a.im - b.im}; }
CORELLA_INLINE Complex times(Complex a, float cosine, float sine) {
  const Vec c = broadcast(cosine), s = broadcast(sine);
  return {a.re * c - a.im * s, a.re * s + a.im * c};
}
/** −i·a: the forward transform's quarter-turn factor. */
CORELLA_INLINE Complex turned(Complex a) { return {a.im, -a.re}; }
CORELLA_INLINE Complex conjugate(Complex a) { return {a.re, -a.im}; }

// A square of LANES rows is transposed in two steps, because registers consist of pieces of four lanes: first every 4×4
// square within the pieces of four rows, then the pieces.
constexpr int PIECES = LANES / 4;

/** Lane 4p + l of row e becomes lane 4p + e of row l. */
CORELLA_INLINE void turnSquares(Vec (&r)[4]) {
#if defined(__AVX512F__)
  const __m512 a = _mm512_unpacklo_ps(r[0], r[1]), b = _mm512_unpackhi_ps(r[0], r[1]);
  const __m512 c = _mm512_unpacklo_ps(r[2], r[3]), d = _mm512_unpackhi_ps(r[2], r[3]);
  r[0] = _mm512_castpd_ps(_mm512_unpacklo_pd(_mm512_castps_pd(a), _mm512_castps_pd(c)));
  r[1] = _mm512_castpd_ps(_mm512_unpackhi_pd(_mm512_castps_pd(a), _mm512_castps_pd(c)));
  r[2] = _mm512_castpd_ps(_mm512_unpacklo_pd(_mm512_castps_pd(b), _mm512_castps_pd(d)));
  r[3] = _mm512_castpd_ps(_mm512_unpackhi_pd(_mm512_castps_pd(b), _mm512_castps_pd(d)));
#elif defined(__AVX2__)
  const __m256 a = _mm256_unpacklo_ps(r[0], r[1]), b = _mm256_unpackhi_ps(r[0], r[1]);
  const __m256 c = _mm256_unpacklo_ps(r[2], r[3]), d = _mm256_unpackhi_ps(r[2], r[3]);
  r[0] = _mm256_castpd_ps(_mm256_unpacklo_pd(_mm256_castps_pd(a), _mm256_castps_pd(c)));
  r[1] = _mm256_castpd_ps(_mm256_unpackhi_pd(_mm256_castps_pd(a), _mm256_castps_pd(c)));
  r[2] = _mm256_castpd_ps(_mm256_unpacklo_pd(_mm256_castps_pd(b), _mm256_castps_pd(d)));
  r[3] = _mm256_castpd_ps(_mm256_unpackhi_pd(_mm256_castps_pd(b), _mm256_castps_pd(d)));
#elif defined(__ARM_FEATURE_DOTPROD)
  const float64x2_t a = vreinterpretq_f64_f32(vtrn1q_f32(r[0], r[1])),
                    b = vreinterpretq_f64_f32(vtrn2q_f32(r[0], r[1]));
  const float64x2_t c = vreinterpretq_f64_f32(vtrn1q_f32(r[2], r[3])),
                    d = vreinterpretq_f64_f32(vtrn2q_f32(r[2], r[3]));
  r[0] = vreinterpretq_f32_f64(vtrn1q_f64(a, c));
  r[1] = vreinterpretq_f32_f64(vtrn1q_f64(b, d));
  r[2] = vreinterpretq_f32_f64(vtrn2q_f64(a, c));
  r[3] = vreinterpretq_f32_f64(vtrn2q_f64(b, d));
#else
  const Vec a = r[0], b = r[1], c = r[2], d = r[3];
  r[0] = Vec{a[0], b[0], c[0], d[0]};
  r[1] = Vec{a[1], b[1], c[1], d[1]};
  r[2] = Vec{a[2], b[2], c[2], d[2]};
  r[3] = Vec{a[3], b[3], c[3], d[3]};
#endif
}

/** Piece p of row g becomes piece g of row p. */
CORELLA_INLINE void turnPieces(Vec (&r)[PIECES]) {
#if defined(__AVX512F__)
  const __m512 a = _mm512_shuffle_f32x4(r[0], r[1], 0x88), b = _mm512_shuffle_f32x4(r[0], r[1], 0xdd);
  const __m512 c = _mm512_shuffle_f32x4(r[2], r[3], 0x88), d = _mm512_shuffle_f32x4(r[2], r[3], 0xdd);
  r[0] = _mm512_shuffle_f32x4(a, c, 0x88);
  r[1] = _mm512_shuffle_f32x4(b, d, 0x88);
  r[2] = _mm512_shuffle_f32x4(a, c, 0xdd);
  r[3] = _mm512_shuffle_f32x4(b, d, 0xdd);
#elif defined(__AVX2__)
  const __m256 a = _mm256_permute2f128_ps(r[0], r[1], 0x20), b = _mm256_permute2f128_ps(r[0], r[1], 0x31);
  r[0] = a;
  r[1] = b;
#else
  (void)r;
#endif
}

/** Lane l of row k becomes lane k of row l. */
CORELLA_INLINE void turnRows(Vec (&rows)[LANES]) {
  Vec squares[PIECES][4];
  each<PIECES>(CORELLA_EACH {
    constexpr int G = i;
    Vec four[4] = {rows[4 * G], rows[4 * G + 1], rows[4 * G + 2], rows[4 * G + 3]};
    turnSquares(four);
    each<4>(CORELLA_EACH { squares[G][i] = four[i]; });
  });
  each<4>(CORELLA_EACH {
    constexpr int E = i;
    Vec pieces[PIECES];
    each<PIECES>(CORELLA_EACH { pieces[i] = squares[i][E]; });
    turnPieces(pieces);
    each<PIECES>(CORELLA_EACH { rows[4 * i + E] = pieces[i]; });
  });
}

}  // namespace
}  // namespace CORELLA_LEVEL
}  // namespace corella

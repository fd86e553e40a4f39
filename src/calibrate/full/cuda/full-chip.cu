// Full-polarisation StEFCal with the pairs of a solve on the chip, in registers and shared memory, over as many blocks as it
// takes; all iterations in one launch. Formula and layout as in full/plan.ts and stefcal-full.cu.
//
// A block, one to a multiprocessor, is made of groups of GROUP_WARPS warps; a group owns ROWS rows of one solve, a thread of it
// every GROUP-th column of all of them: of REGISTER_ROWS rows in its registers, of the others in shared memory. Sums over lanes
// take CHUNK rows at a time.
//
//   not MIXES   exactly `most` iterations, every even one averaged with the one before, all in float32. Gains go through shared
//               memory where a block has a solve to itself, and as packets (calibrate/cuda/packets.cuh), four a station,
//               between the blocks of one solve otherwise: a cooperative launch
//   MIXES       steps are mixed until a tolerance (full-mix.cuh), with sums in float64 from where float32 tells no more;
//               a block has a solve to itself
//
// Set by the plan: STATIONS, FORM, THREADS, GROUP_WARPS, ROWS, REGISTER_ROWS, CHUNK (divides ROWS), BLOCKS_PER_SOLVE (times the
// rows of a block at least STATIONS), MIXES, LEAST_DETERMINANT, and what full-mix.cuh takes.
#include "full-mix.cuh"
#include "packets.cuh"
#include "row-sums.cuh"

constexpr int UNPOLARISED = 0, DIAGONAL = 1, GENERAL = 2;
constexpr int NUMBERS = FORM == UNPOLARISED ? 9 : FORM == DIAGONAL ? 12 : 16, FOURS = NUMBERS / 4;
constexpr int STORED = (STATIONS + 3) / 4 * 4;  // columns of a row in memory
constexpr int GROUPS = WARPS / GROUP_WARPS, GROUP = 32 * GROUP_WARPS, BLOCK_ROWS = GROUPS * ROWS;
constexpr int COLUMNS = (STATIONS + GROUP - 1) / GROUP, WIDTH = COLUMNS * GROUP;  // of a thread, of a group
constexpr int SHARED_ROWS = ROWS - REGISTER_ROWS;
constexpr bool ALONE = BLOCKS_PER_SOLVE == 1;
constexpr int SUMS = 12;
static_assert(BLOCK_ROWS * BLOCKS_PER_SOLVE >= STATIONS, "blocks cover a solve");
static_assert(ALONE || BLOCK_ROWS * (BLOCKS_PER_SOLVE - 1) < STATIONS, "every block has rows: packets.cuh");
static_assert(ROWS <= 32 && ROWS % CHUNK == 0, "a lane finishes a row, chunks are whole");
static_assert(ALONE || !MIXES, "only a block by itself mixes");

struct ChipWork {
  const float *pairs;    // [k][i][NUMBERS][STORED]
  const double *ratios;  // [k]
  double *sums;          // [k][i][12], out: of the gains before the last step
  uint2 *packets;        // [2][k][STATIONS][4], where a solve has many blocks
  int solves, solvesPerWave;
};

// Shared memory, in order, in float4s.
constexpr int MATRIX = 0;                                              // [GROUPS][SHARED_ROWS][FOURS][WIDTH]
constexpr int POWERS = MATRIX + GROUPS * SHARED_ROWS * FOURS * WIDTH;  // float [GROUPS][SHARED_ROWS][WIDTH]
constexpr int GAINS =
    POWERS + (FORM == UNPOLARISED ? GROUPS * SHARED_ROWS * WIDTH / 4 : 0);  // [2][row 0, row 1][WIDTH]
constexpr int PARTS = GAINS + 2 * 2 * WIDTH;                                // Real [WARPS][ROWS][SUMS]

// What a pair keeps from one iteration to the next.
struct Pair {
  float4 four[FOURS];
  float power;
};

// sum + a b, as (re, im)
template <class Real>
__device__ __forceinline__ void addTo(Real &re, Real &im, Real aRe, Real aIm, Real bRe, Real bIm) {
  re += aRe * bRe, im += aRe * bIm;
  re -= aIm * bIm, im += aIm * bRe;
}
template <class Real>
__device__ __forceinline__ void widen(Real *out, const float4 &from) {
  out[0] = from.x, out[1] = from.y, out[2] = from.z, out[3] = from.w;
}

// A station's G, rows first, and of an unpolarised model its H = G^H G as 00, 11, 01 re, im.
template <class Real>
struct Column {
  Real g[8], h[4];
  __device__ __forceinline__ void finish() {
    if constexpr (FORM == UNPOLARISED) {
      h[0] = g[0] * g[0] + g[1] * g[1] + g[4] * g[4] + g[5] * g[5];
      h[1] = g[2] * g[2] + g[3] * g[3] + g[6] * g[6] + g[7] * g[7];
      h[2] = h[3] = 0;
      addTo(h[2], h[3], g[0], -g[1], g[2], g[3]), addTo(h[2], h[3], g[4], -g[5], g[6], g[7]);
    }
  }
};

// What one pair gives to the twelve sums of its row: N as eight numbers, D as 00, 11, 01 re, im.
template <class Real>
__device__ __forceinline__ void addPair(Real (&sum)[SUMS], const Pair &pair, const Column<Real> &of) {
  Real v[8];
  widen(v, pair.four[0]), widen(v + 4, pair.four[1]);
  if constexpr (FORM == UNPOLARISED) {
#pragma unroll
    for (int a = 0; a < 8; a += 4)
#pragma unroll
      for (int b = 0; b < 4; b += 2) {
        addTo(sum[a + b], sum[a + b + 1], v[a], v[a + 1], of.g[b], of.g[b + 1]);
        addTo(sum[a + b], sum[a + b + 1], v[a + 2], v[a + 3], of.g[4 + b], of.g[5 + b]);
      }
#pragma unroll
    for (int n = 0; n < 4; ++n) sum[8 + n] += (Real)pair.power * of.h[n];
  } else {
    // Z = G M^H
    Real z[8] = {};
    if constexpr (FORM == DIAGONAL) {
      Real m[4];
      widen(m, pair.four[2]);
#pragma unroll
      for (int n = 0; n < 8; n += 2) addTo(z[n], z[n + 1], of.g[n], of.g[n + 1], m[n % 4], -m[n % 4 + 1]);
    } else {
      Real m[8];
      widen(m, pair.four[2]), widen(m + 4, pair.four[FOURS - 1]);
#pragma unroll
      for (int a = 0; a < 8; a += 4)
#pragma unroll
        for (int b = 0; b < 2; ++b) {
          addTo(z[a + 2 * b], z[a + 2 * b + 1], of.g[a], of.g[a + 1], m[4 * b], -m[4 * b + 1]);
          addTo(z[a + 2 * b], z[a + 2 * b + 1], of.g[a + 2], of.g[a + 3], m[4 * b + 2], -m[4 * b + 3]);
        }
    }
#pragma unroll
    for (int a = 0; a < 8; a += 4)
#pragma unroll
      for (int b = 0; b < 4; b += 2) {
        addTo(sum[a + b], sum[a + b + 1], v[a], v[a + 1], z[b], z[b + 1]);
        addTo(sum[a + b], sum[a + b + 1], v[a + 2], v[a + 3], z[4 + b], z[5 + b]);
      }
#pragma unroll
    for (int n = 0; n < 8; n += 4) {
      sum[8] += z[n] * z[n], sum[9] += z[n + 2] * z[n + 2];
      sum[8] += z[n + 1] * z[n + 1], sum[9] += z[n + 3] * z[n + 3];
      addTo(sum[10], sum[11], z[n], -z[n + 1], z[n + 2], z[n + 3]);
    }
  }
}

// N D^-1; false where D has no inverse.
template <class Real>
__device__ __forceinline__ bool stepOf(const Real (&sum)[SUMS], Real ratio, Real least, Real (&next)[8]) {
  const Real d00 = sum[8], d11 = sum[9], re = sum[10], im = sum[11];
  const Real determinant = d00 * d11 - re * re - im * im;
  if (!(determinant > least * d00 * d11)) return false;
  const Real scale = ratio / determinant;
#pragma unroll
  for (int a = 0; a < 8; a += 4) {
    const Real x = sum[a], y = sum[a + 1], z = sum[a + 2], w = sum[a + 3];
    next[a] = (x * d11 - z * re - w * im) * scale, next[a + 1] = (y * d11 + z * im - w * re) * scale;
    next[a + 2] = (z * d00 - x * re + y * im) * scale, next[a + 3] = (w * d00 - x * im - y * re) * scale;
  }
  return true;
}
// As above with the gain as it is where nothing determines it; float32 where D is far from having no inverse.
__device__ __forceinline__ void stepFrom(const float (&sum)[SUMS], double ratio, const float (&was)[8],
                                         float (&next)[8]) {
  if (stepOf<float>(sum, (float)ratio, 1e-3f, next)) return;
  double wide[SUMS], found[8];
#pragma unroll
  for (int n = 0; n < SUMS; ++n) wide[n] = sum[n];
  const bool known = stepOf<double>(wide, ratio, LEAST_DETERMINANT, found);
#pragma unroll
  for (int n = 0; n < 8; ++n) next[n] = known ? (float)found[n] : was[n];
}

// COUNT rows' sums over the lanes of a warp, to their places.
template <int COUNT, class Real>
__device__ __forceinline__ void keep(const Real (*sums)[SUMS], Real *parts, int lane) {
  static_assert(COUNT * SUMS <= 32, "a lane is left with one total: row-sums.cuh");
  Real v[COUNT * SUMS];
#pragma unroll
  for (int n = 0; n < COUNT * SUMS; ++n) v[n] = sums[n / SUMS][n % SUMS];
  int index;
  bool valid;
  const Real total = sumLanes<COUNT * SUMS>(v, lane, index, valid);
  if (valid && lane % sharing(COUNT * SUMS) == 0) parts[index] = total;
}

// A thread's pairs, and the sums over them.
struct Rows {
  Pair kept[REGISTER_ROWS > 0 ? REGISTER_ROWS : 1][COLUMNS];
  const float4 *matrix;  // of this thread's group, at its first column
  const float *powers;

  // Rows from `from` on, which lie one after the other in memory; zeros past the last row or column.
  __device__ __forceinline__ void load(const float *from, int rows, float4 *shared, int group, int inGroup) {
    float4 *toMatrix = shared + MATRIX + group * SHARED_ROWS * FOURS * WIDTH + inGroup;
    float *toPowers = (float *)(shared + POWERS) + group * SHARED_ROWS * WIDTH + inGroup;
    matrix = toMatrix, powers = toPowers;
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
      const float *row = from + (int64_t)r * NUMBERS * STORED;
#pragma unroll
      for (int c = 0; c < COLUMNS; ++c) {
        const int j = inGroup + c * GROUP;
        const bool there = r < rows && j < STATIONS;
        Pair pair;
#pragma unroll
        for (int f = 0; f < FOURS; ++f)
          pair.four[f] = there ? __ldcs((const float4 *)row + f * STORED + j) : make_float4(0, 0, 0, 0);
        pair.power = FORM == UNPOLARISED && there ? __ldcs(row + 8 * STORED + j) : 0;
        if (r < REGISTER_ROWS) {
          kept[r][c] = pair;
        } else {
#pragma unroll
          for (int f = 0; f < FOURS; ++f)
            toMatrix[((r - REGISTER_ROWS) * FOURS + f) * WIDTH + c * GROUP] = pair.four[f];
          if (FORM == UNPOLARISED) toPowers[(r - REGISTER_ROWS) * WIDTH + c * GROUP] = pair.power;
        }
      }
    }
  }
  __device__ __forceinline__ Pair pairOf(int r, int c) const {
    if (r < REGISTER_ROWS) return kept[r][c];
    Pair pair;
#pragma unroll
    for (int f = 0; f < FOURS; ++f) pair.four[f] = matrix[((r - REGISTER_ROWS) * FOURS + f) * WIDTH + c * GROUP];
    pair.power = FORM == UNPOLARISED ? powers[(r - REGISTER_ROWS) * WIDTH + c * GROUP] : 0;
    return pair;
  }
  // Sums over a warp's columns to parts : [ROWS][SUMS]; column(c) gives a station's gains.
  template <class Real, int TOGETHER, class Columns>
  __device__ __forceinline__ void sum(const Columns &column, Real *parts) const {
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int chunk = 0; chunk < ROWS; chunk += TOGETHER) {
      Real sums[TOGETHER][SUMS];
#pragma unroll
      for (int n = 0; n < TOGETHER * SUMS; ++n) sums[n / SUMS][n % SUMS] = 0;
#pragma unroll
      for (int c = 0; c < COLUMNS; ++c) {
        const Column<Real> of = column(c);
#pragma unroll
        for (int r = 0; r < TOGETHER; ++r) addPair(sums[r], pairOf(chunk + r, c), of);
      }
      // Two rows at a time: 24 numbers over 32 lanes.
#pragma unroll
      for (int r = 0; r + 1 < TOGETHER; r += 2) keep<2>(&sums[r], parts + (chunk + r) * SUMS, lane);
      if constexpr (TOGETHER % 2 == 1) keep<1>(&sums[TOGETHER - 1], parts + (chunk + TOGETHER - 1) * SUMS, lane);
    }
  }
};

// The totals of row r of a group, over its warps.
template <class Real>
__device__ __forceinline__ void totals(Real (&sum)[SUMS], const Real *parts, int group, int r) {
#pragma unroll
  for (int n = 0; n < SUMS; ++n) {
    sum[n] = 0;
#pragma unroll
    for (int w = 0; w < GROUP_WARPS; ++w) sum[n] += parts[((group * GROUP_WARPS + w) * ROWS + r) * SUMS + n];
  }
}

// Between the sums of warps and whoever finishes their rows.
__device__ __forceinline__ void groupsMeet() {
  if constexpr (GROUP_WARPS == 1)
    __syncwarp();
  else
    __syncthreads();
}

extern "C" __global__ void __launch_bounds__(THREADS, 1)
    fullChip(const __grid_constant__ ChipWork work, const __grid_constant__ MixWork mix) {
  extern __shared__ float4 shared[];
  float4 *gains = shared + GAINS;
  const int tid = threadIdx.x, lane = tid % 32, warp = tid / 32, group = warp / GROUP_WARPS, inGroup = tid % GROUP;

  for (int firstSolve = ALONE ? blockIdx.x : 0; firstSolve < work.solves;
       firstSolve += ALONE ? gridDim.x : work.solvesPerWave) {
    const int inWave = ALONE ? 1 : min(work.solvesPerWave, work.solves - firstSolve);
    if (!ALONE && (int)blockIdx.x >= inWave * BLOCKS_PER_SOLVE) break;
    const int64_t k = ALONE ? firstSolve : firstSolve + blockIdx.x / BLOCKS_PER_SOLVE;
    const int firstRow = (ALONE ? 0 : blockIdx.x % BLOCKS_PER_SOLVE * BLOCK_ROWS) + group * ROWS;
    const int rows = max(0, min(ROWS, STATIONS - firstRow));  // of this group
    if (MIXES && mix.done[k] != RUNNING) continue;
    Rows own;
    own.load(work.pairs + (k * STATIONS + firstRow) * NUMBERS * STORED, rows, shared, group, inGroup);
    double *first = mix.gains + k * 8 * STATIONS, *result = mix.next + k * 8 * STATIONS;
    const double ratio = work.ratios[k];
    const bool finishes = warp % GROUP_WARPS == 0 && lane < rows;
    const int mine = firstRow + lane;  // the row that this lane finishes
    // columns past the last must stay finite: they meet zeros
    for (int n = tid; n < 4 * WIDTH; n += THREADS) gains[n] = make_float4(0, 0, 0, 0);
    __syncthreads();
    const auto take = [&](float4 *to) {  // of memory
      for (int s = tid; s < STATIONS; s += THREADS) {
        const double *g = first + 8 * s;
        to[s] = make_float4((float)g[0], (float)g[1], (float)g[2], (float)g[3]);
        to[WIDTH + s] = make_float4((float)g[4], (float)g[5], (float)g[6], (float)g[7]);
      }
    };

    if constexpr (!MIXES) {
      float *parts = (float *)(shared + PARTS);
      take(gains + 2 * WIDTH);  // the first iteration is odd
      __syncthreads();
      for (int it = 1; it <= mix.most; ++it) {
        float4 *now = gains + (it & 1) * 2 * WIDTH, *after = gains + (1 - (it & 1)) * 2 * WIDTH;
        if (!ALONE && it > 1) {
          for (int s = tid; s - lane < STATIONS; s += THREADS) {
            const int at = min(s, STATIONS - 1);
            const uint2 *packets = work.packets + (((it - 1) & 1) * (int64_t)work.solves + k) * STATIONS * 4 + 4 * at;
            const Tag tag(it - 1);
            uint4 v, w;
            do v = loadPackets(packets), w = loadPackets(packets + 2);
            while (!__all_sync(0xFFFFFFFFu, arrived(v, tag, true) && arrived(w, tag, true)));
            now[at] =
                make_float4(__uint_as_float(v.x), __uint_as_float(v.y), __uint_as_float(v.z), __uint_as_float(v.w));
            now[WIDTH + at] =
                make_float4(__uint_as_float(w.x), __uint_as_float(w.y), __uint_as_float(w.z), __uint_as_float(w.w));
          }
          __syncthreads();
        }
        own.sum<float, CHUNK>(
            [&](int c) {
              Column<float> of;
              widen(of.g, now[inGroup + c * GROUP]), widen(of.g + 4, now[WIDTH + inGroup + c * GROUP]);
              of.finish();
              return of;
            },
            parts + warp * ROWS * SUMS);
        groupsMeet();
        if (finishes) {
          float sum[SUMS], was[8], next[8];
          totals(sum, parts, group, lane);
          widen(was, now[mine]), widen(was + 4, now[WIDTH + mine]);
          stepFrom(sum, ratio, was, next);
          if (it % 2 == 0) {
#pragma unroll
            for (int n = 0; n < 8; ++n) next[n] = 0.5f * (next[n] + was[n]);
          }
          if (it == mix.most) {
#pragma unroll
            for (int n = 0; n < 8; ++n) result[8 * mine + n] = next[n];
#pragma unroll
            for (int n = 0; n < SUMS; ++n) work.sums[(k * STATIONS + mine) * SUMS + n] = sum[n];
#pragma unroll
            for (int n = 0; n < 8; ++n) first[8 * mine + n] = was[n];
          } else if constexpr (ALONE) {
            after[mine] = make_float4(next[0], next[1], next[2], next[3]);
            after[WIDTH + mine] = make_float4(next[4], next[5], next[6], next[7]);
          } else {
            uint2 *packets = work.packets + ((it & 1) * (int64_t)work.solves + k) * STATIONS * 4 + 4 * mine;
#pragma unroll
            for (int n = 0; n < 8; n += 2) storePacket(packets + n / 2, next[n], next[n + 1], it);
          }
        }
        if (ALONE) __syncthreads();
      }
      __syncthreads();
      if (tid == 0 && firstRow == 0) mix.iterations[k] = mix.most, mix.done[k] = LAST;
    } else {
      double *parts = (double *)(shared + PARTS);
      for (int status = RUNNING; status == RUNNING;) {
        const bool exactly = mix.exact[k] != 0;
        if (exactly) {
          own.sum<double, 1>(
              [&](int c) {
                Column<double> of;
                const int j = inGroup + c * GROUP;
#pragma unroll
                for (int n = 0; n < 8; ++n) of.g[n] = j < STATIONS ? first[8 * j + n] : 0;
                of.finish();
                return of;
              },
              parts + warp * ROWS * SUMS);
        } else {
          take(gains);
          __syncthreads();
          own.sum<float, CHUNK>(
              [&](int c) {
                Column<float> of;
                widen(of.g, gains[inGroup + c * GROUP]), widen(of.g + 4, gains[WIDTH + inGroup + c * GROUP]);
                of.finish();
                return of;
              },
              (float *)parts + warp * ROWS * SUMS);
        }
        groupsMeet();
        if (finishes) {
          double sum[SUMS], next[8];
          if (exactly) {
            totals(sum, parts, group, lane);
          } else {
            float narrow[SUMS];
            totals(narrow, (const float *)parts, group, lane);
#pragma unroll
            for (int n = 0; n < SUMS; ++n) sum[n] = narrow[n];
          }
          const bool known = stepOf<double>(sum, ratio, LEAST_DETERMINANT, next);
#pragma unroll
          for (int n = 0; n < 8; ++n) result[8 * mine + n] = known ? next[n] : first[8 * mine + n];
#pragma unroll
          for (int n = 0; n < SUMS; ++n) work.sums[(k * STATIONS + mine) * SUMS + n] = sum[n];
        }
        __syncthreads();
        status = mixSolve(mix, k);
        __syncthreads();
      }
    }
  }
}

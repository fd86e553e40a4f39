// Full-polarisation StEFCal with all pairs of a solve in shared memory, over as many blocks as it takes; all iterations in one
// cooperative launch. Formula and layout as in full/plan.ts and stefcal-full.cu.
//
// A block, one to a multiprocessor, is made of groups of GROUP_WARPS warps; a group owns ROWS rows of the solve, its lanes take
// turns over the columns. Blocks of one solve exchange gains as packets (calibrate/cuda/packets.cuh), four of them a station, and
// run exactly `most` iterations. Where a block has a solve to itself gains go through memory instead, and steps can be mixed
// until a tolerance (full-mix.cuh); one below what float32 tells is left to stefcal-full.cu.
//
// Set by the plan: STATIONS, FORM, THREADS, GROUP_WARPS, ROWS, BLOCKS_PER_SOLVE (times ROWS and groups at least STATIONS),
// LEAST_DETERMINANT, and what full-mix.cuh takes.
#include "full-mix.cuh"
#include "packets.cuh"
#include "row-sums.cuh"

constexpr int UNPOLARISED = 0, DIAGONAL = 1, GENERAL = 2;
constexpr int NUMBERS = FORM == UNPOLARISED ? 9 : FORM == DIAGONAL ? 20 : 16;
constexpr int COLUMNS = (STATIONS + 3) / 4 * 4, FOURS = NUMBERS / 4;  // whole float4s of a pair
constexpr int GROUPS = WARPS / GROUP_WARPS, GROUP = 32 * GROUP_WARPS, BLOCK_ROWS = GROUPS * ROWS;
constexpr bool ALONE = BLOCKS_PER_SOLVE == 1;
constexpr int SUMS = 12;
static_assert(BLOCK_ROWS * BLOCKS_PER_SOLVE >= STATIONS, "blocks cover a solve");
static_assert(ALONE || BLOCK_ROWS * (BLOCKS_PER_SOLVE - 1) < STATIONS, "every block has rows: packets.cuh");
static_assert(BLOCK_ROWS <= THREADS, "a thread finishes a row");

struct ChipWork {
  const float *pairs;    // [k][i][NUMBERS][COLUMNS]
  const double *ratios;  // [k]
  double *sums;          // [k][i][12], out: of the gains before the last step
  uint2 *packets;        // [2][k][STATIONS][4]
  int solves, solvesPerWave;
};

// Shared memory, in order, in float4s.
constexpr int MATRIX = 0;                                           // float [BLOCK_ROWS][NUMBERS][COLUMNS]
constexpr int GAINS = MATRIX + BLOCK_ROWS * NUMBERS * COLUMNS / 4;  // float4 [row 0, row 1, H][COLUMNS]
constexpr int PARTS = GAINS + 3 * COLUMNS;                          // float [WARPS][ROWS][SUMS]

// sum + a b, as (re, im)
__device__ __forceinline__ void addTo(float &re, float &im, float aRe, float aIm, float bRe, float bIm) {
  re = fmaf(aRe, bRe, re), im = fmaf(aRe, bIm, im);
  re = fmaf(-aIm, bIm, re), im = fmaf(aIm, bRe, im);
}

// What one pair gives to the twelve sums of its row; x0, x1: rows of G_j; h: 00, 11, 01 of its H. `pair` is float4 [FOURS][COLUMNS].
__device__ __forceinline__ void addPair(float (&sum)[SUMS], const float4 *pair, const float *row, int j,
                                        const float4 &x0, const float4 &x1, const float4 &h) {
  const float4 v0 = pair[0], v1 = pair[COLUMNS];
  if constexpr (FORM == GENERAL) {
    const float4 m0 = pair[2 * COLUMNS], m1 = pair[3 * COLUMNS];
    // Z = G M^H as rows of two, (re, im)
    float4 z0 = make_float4(0, 0, 0, 0), z1 = z0;
    addTo(z0.x, z0.y, x0.x, x0.y, m0.x, -m0.y), addTo(z0.x, z0.y, x0.z, x0.w, m0.z, -m0.w);
    addTo(z0.z, z0.w, x0.x, x0.y, m1.x, -m1.y), addTo(z0.z, z0.w, x0.z, x0.w, m1.z, -m1.w);
    addTo(z1.x, z1.y, x1.x, x1.y, m0.x, -m0.y), addTo(z1.x, z1.y, x1.z, x1.w, m0.z, -m0.w);
    addTo(z1.z, z1.w, x1.x, x1.y, m1.x, -m1.y), addTo(z1.z, z1.w, x1.z, x1.w, m1.z, -m1.w);
    addTo(sum[0], sum[1], v0.x, v0.y, z0.x, z0.y), addTo(sum[0], sum[1], v0.z, v0.w, z1.x, z1.y);
    addTo(sum[2], sum[3], v0.x, v0.y, z0.z, z0.w), addTo(sum[2], sum[3], v0.z, v0.w, z1.z, z1.w);
    addTo(sum[4], sum[5], v1.x, v1.y, z0.x, z0.y), addTo(sum[4], sum[5], v1.z, v1.w, z1.x, z1.y);
    addTo(sum[6], sum[7], v1.x, v1.y, z0.z, z0.w), addTo(sum[6], sum[7], v1.z, v1.w, z1.z, z1.w);
    sum[8] += z0.x * z0.x + z0.y * z0.y + z1.x * z1.x + z1.y * z1.y;
    sum[9] += z0.z * z0.z + z0.w * z0.w + z1.z * z1.z + z1.w * z1.w;
    addTo(sum[10], sum[11], z0.x, -z0.y, z0.z, z0.w), addTo(sum[10], sum[11], z1.x, -z1.y, z1.z, z1.w);
  } else {
    const float4 w0 = FORM == DIAGONAL ? pair[2 * COLUMNS] : v0, w1 = FORM == DIAGONAL ? pair[3 * COLUMNS] : v1;
    addTo(sum[0], sum[1], v0.x, v0.y, x0.x, x0.y), addTo(sum[0], sum[1], v0.z, v0.w, x1.x, x1.y);
    addTo(sum[2], sum[3], w0.x, w0.y, x0.z, x0.w), addTo(sum[2], sum[3], w0.z, w0.w, x1.z, x1.w);
    addTo(sum[4], sum[5], v1.x, v1.y, x0.x, x0.y), addTo(sum[4], sum[5], v1.z, v1.w, x1.x, x1.y);
    addTo(sum[6], sum[7], w1.x, w1.y, x0.z, x0.w), addTo(sum[6], sum[7], w1.z, w1.w, x1.z, x1.w);
    if constexpr (FORM == DIAGONAL) {
      const float4 power = pair[4 * COLUMNS];
      sum[8] = fmaf(power.x, h.x, sum[8]), sum[9] = fmaf(power.y, h.y, sum[9]);
      addTo(sum[10], sum[11], power.z, power.w, h.z, h.w);
    } else {
      const float power = row[8 * COLUMNS + j];
      sum[8] = fmaf(power, h.x, sum[8]), sum[9] = fmaf(power, h.y, sum[9]);
      sum[10] = fmaf(power, h.z, sum[10]), sum[11] = fmaf(power, h.w, sum[11]);
    }
  }
}

// The sums of COUNT rows from FIRST on, over a warp's columns, to its places in `parts`.
template <int FIRST, int COUNT>
__device__ __forceinline__ void keepSums(float (&sums)[ROWS][SUMS], float *parts, int lane) {
  float v[COUNT * SUMS];
#pragma unroll
  for (int n = 0; n < COUNT * SUMS; ++n) v[n] = sums[FIRST + n / SUMS][n % SUMS];
  int index;
  bool valid;
  const float total = sumLanes<COUNT * SUMS>(v, lane, index, valid);
  if (valid && lane % sharing(COUNT * SUMS) == 0) parts[FIRST * SUMS + index] = total;
}
template <int FIRST>
__device__ __forceinline__ void keepAll(float (&sums)[ROWS][SUMS], float *parts, int lane) {
  if constexpr (FIRST + 1 < ROWS) {
    keepSums<FIRST, 2>(sums, parts, lane);
    keepAll<FIRST + 2>(sums, parts, lane);
  } else if constexpr (FIRST < ROWS) {
    keepSums<FIRST, 1>(sums, parts, lane);
  }
}

// N D^-1, or the gain as it is where D has no inverse; D close to none is taken in float64.
template <class Real>
__device__ __forceinline__ bool stepOf(const float (&sum)[SUMS], double ratio, Real least, float (&next)[8]) {
  const Real d00 = sum[8], d11 = sum[9], re = sum[10], im = sum[11];
  const Real determinant = d00 * d11 - re * re - im * im;
  if (!(determinant > least * d00 * d11)) return false;
  const Real scale = (Real)ratio / determinant;
#pragma unroll
  for (int a = 0; a < 8; a += 4) {
    const Real x = sum[a], y = sum[a + 1], z = sum[a + 2], w = sum[a + 3];
    next[a] = (float)((x * d11 - z * re - w * im) * scale), next[a + 1] = (float)((y * d11 + z * im - w * re) * scale);
    next[a + 2] = (float)((z * d00 - x * re + y * im) * scale),
             next[a + 3] = (float)((w * d00 - x * im - y * re) * scale);
  }
  return true;
}

extern "C" __global__ void __launch_bounds__(THREADS, 1)
    fullChip(const __grid_constant__ ChipWork work, const __grid_constant__ MixWork mix) {
  extern __shared__ float4 shared[];
  float *matrix = (float *)(shared + MATRIX);
  float4 *gains = shared + GAINS;
  float *parts = (float *)(shared + PARTS);
  const int tid = threadIdx.x, lane = tid % 32, warp = tid / 32, group = warp / GROUP_WARPS, inGroup = tid % GROUP;

  for (int firstSolve = 0; firstSolve < work.solves; firstSolve += work.solvesPerWave) {
    const int inWave = min(work.solvesPerWave, work.solves - firstSolve);
    if ((int)blockIdx.x >= inWave * BLOCKS_PER_SOLVE) break;
    const int64_t k = firstSolve + blockIdx.x / BLOCKS_PER_SOLVE;
    const int firstRow = blockIdx.x % BLOCKS_PER_SOLVE * BLOCK_ROWS;
    const int rows = min(BLOCK_ROWS, STATIONS - firstRow);
    __syncthreads();
    {  // its rows, which lie one after the other; zeros where there are none
      const float4 *from = (const float4 *)(work.pairs + (k * STATIONS + firstRow) * NUMBERS * COLUMNS);
      const int whole = rows * NUMBERS * COLUMNS / 4;
      for (int n = tid; n < BLOCK_ROWS * NUMBERS * COLUMNS / 4; n += THREADS)
        shared[MATRIX + n] = n < whole ? __ldcs(from + n) : make_float4(0, 0, 0, 0);
    }
    double *first = mix.gains + k * 8 * STATIONS, *result = mix.next + k * 8 * STATIONS;
    const double ratio = work.ratios[k];
    const int own = firstRow + min(tid, rows - 1);  // the row that this thread finishes
    for (int it = 1; it <= mix.most; ++it) {
      // ---- the gains of iteration it - 1
      for (int s = tid; s - lane < STATIONS; s += THREADS) {
        const int at = min(s, STATIONS - 1);
        float4 x0, x1;
        if (ALONE || it == 1) {
          const double *g = first + 8 * at;
          x0 = make_float4((float)g[0], (float)g[1], (float)g[2], (float)g[3]);
          x1 = make_float4((float)g[4], (float)g[5], (float)g[6], (float)g[7]);
        } else {
          const uint2 *packets = work.packets + (((it - 1) & 1) * (int64_t)work.solves + k) * STATIONS * 4 + 4 * at;
          const Tag tag(it - 1);
          uint4 v, w;
          do v = loadPackets(packets), w = loadPackets(packets + 2);
          while (!__all_sync(0xFFFFFFFFu, arrived(v, tag, true) && arrived(w, tag, true)));
          x0 = make_float4(__uint_as_float(v.x), __uint_as_float(v.y), __uint_as_float(v.z), __uint_as_float(v.w));
          x1 = make_float4(__uint_as_float(w.x), __uint_as_float(w.y), __uint_as_float(w.z), __uint_as_float(w.w));
        }
        float4 h = make_float4(x0.x * x0.x + x0.y * x0.y + x1.x * x1.x + x1.y * x1.y,
                               x0.z * x0.z + x0.w * x0.w + x1.z * x1.z + x1.w * x1.w, 0, 0);
        addTo(h.z, h.w, x0.x, -x0.y, x0.z, x0.w), addTo(h.z, h.w, x1.x, -x1.y, x1.z, x1.w);
        gains[at] = x0, gains[COLUMNS + at] = x1, gains[2 * COLUMNS + at] = h;
      }
      __syncthreads();
      // ---- row sums
      float sums[ROWS][SUMS];
#pragma unroll
      for (int r = 0; r < ROWS; ++r)
#pragma unroll
        for (int n = 0; n < SUMS; ++n) sums[r][n] = 0;
      const float *ofGroup = matrix + group * ROWS * NUMBERS * COLUMNS;
      for (int j = inGroup; j < STATIONS; j += GROUP) {
        const float4 x0 = gains[j], x1 = gains[COLUMNS + j], h = gains[2 * COLUMNS + j];
#pragma unroll
        for (int r = 0; r < ROWS; ++r) {
          const float *row = ofGroup + r * NUMBERS * COLUMNS;
          addPair(sums[r], (const float4 *)row + j, row, j, x0, x1, h);
        }
      }
      keepAll<0>(sums, parts + warp * ROWS * SUMS, lane);
      __syncthreads();
      // ---- new gains, a row to a thread
      const bool last = it == mix.most, even = it % 2 == 0;
      if (tid < rows) {
        float sum[SUMS], next[8];
#pragma unroll
        for (int n = 0; n < SUMS; ++n) {
          sum[n] = 0;
#pragma unroll
          for (int w = 0; w < GROUP_WARPS; ++w)
            sum[n] += parts[((tid / ROWS * GROUP_WARPS + w) * ROWS + tid % ROWS) * SUMS + n];
        }
        const float4 x0 = gains[own], x1 = gains[COLUMNS + own];
        const float was[8] = {x0.x, x0.y, x0.z, x0.w, x1.x, x1.y, x1.z, x1.w};
        if (!stepOf<float>(sum, ratio, 1e-3f, next) && !stepOf<double>(sum, ratio, LEAST_DETERMINANT, next)) {
#pragma unroll
          for (int n = 0; n < 8; ++n) next[n] = was[n];
        }
        if (!ALONE && even) {
#pragma unroll
          for (int n = 0; n < 8; ++n) next[n] = 0.5f * (next[n] + was[n]);
        }
        if (!ALONE && !last) {
          uint2 *packets = work.packets + ((it & 1) * (int64_t)work.solves + k) * STATIONS * 4 + 4 * own;
#pragma unroll
          for (int n = 0; n < 8; n += 2) storePacket(packets + n / 2, next[n], next[n + 1], it);
        }
        if (ALONE || last) {
#pragma unroll
          for (int n = 0; n < 8; ++n) result[8 * own + n] = next[n];
#pragma unroll
          for (int n = 0; n < SUMS; ++n) work.sums[(k * STATIONS + own) * SUMS + n] = sum[n];
          if (!ALONE) {
#pragma unroll
            for (int n = 0; n < 8; ++n) first[8 * own + n] = was[n];
          }
        }
      }
      if constexpr (ALONE) {
        __syncthreads();
        if (mixSolve(mix, k) != RUNNING) break;
      }
      __syncthreads();
    }
    if (!ALONE && blockIdx.x % BLOCKS_PER_SOLVE == 0 && tid == 0) mix.iterations[k] = mix.most, mix.done[k] = LAST;
  }
}

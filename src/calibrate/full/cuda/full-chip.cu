// Full-polarisation StEFCal with the pairs of a solve on the chip, in registers and shared memory, over as many blocks
// as needed; all iterations in one launch. Formula and layout as in full/plan.ts and stefcal-full.cu.
//
// A block, one to a multiprocessor, is made of groups of GROUP_WARPS warps; a group owns ROWS rows of one solve, a thread of it
// every GROUP-th column of all of them: of REGISTER_ROWS rows in its registers, of the others in shared memory. Sums over lanes
// take CHUNK rows at a time.
//
//   not MIXES   exactly `most` iterations, every even one averaged with the one before, all in float32. Gains go through shared
//               memory where a block has a solve to itself, and as packets (calibrate/cuda/packets.cuh), four a station,
//               between the blocks of one solve otherwise: a cooperative launch
//   MIXES       steps are mixed until a tolerance (full-mix.cuh), with sums in float64 below float32's precision;
//               a block has a solve to itself
//
// Set by the plan: STATIONS, FORM, THREADS, GROUP_WARPS, ROWS, REGISTER_ROWS, CHUNK (divides ROWS), BLOCKS_PER_SOLVE
// (times the rows of a block at least STATIONS), MIXES, LEAST_DETERMINANT, and the numbers for full-mix.cuh.
#include "full-rows.cuh"
#include "packets.cuh"

struct ChipWork {
  const float *pairs;    // [k][i][NUMBERS][STORED]
  const double *ratios;  // [k]
  double *sums;          // [k][i][12], out: of the gains before the last step
  uint2 *packets;        // [2][k][STATIONS][4], where a solve has many blocks
  int solves, solvesPerWave;
};

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
// As above with an undetermined gain unchanged; in float32 where D is far from singular.
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

// A barrier between the sums of warps and the threads that finish their rows.
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

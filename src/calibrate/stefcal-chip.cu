// StEFCal with A and B on the chip: loaded once into registers and shared memory across the card, all iterations in one
// cooperative launch.
//   g_i <- sum_j A_ij g_j / sum_j B_ij |g_j|^2, every even iteration averaged with the one before (plan.ts)
//
// A block of 512 threads, one to a multiprocessor, is made of groups of GROUP threads; a group owns ROWS rows of one solve,
// and a thread of it COLUMNS columns of all of them: REGISTER_ROWS rows in registers, the others in shared memory, in 16-byte
// slots of its own. Gains travel as packets (packets.cuh). As many solves as fit go at once, the others in further waves.
//
// When to stop, each block works out for itself, from the same gains in the same order, hence with the same result.
//
// Set by the plan: STATIONS, GROUP, COLUMNS, ROWS, REGISTER_ROWS, CHUNK (rows summed up at a time; divides ROWS).
#include "packets.cuh"

constexpr int THREADS = 512, GROUPS = THREADS / GROUP, WARPS = GROUP / 32, ALL_WARPS = THREADS / 32;
constexpr int SHARED_ROWS = ROWS - REGISTER_ROWS, VECTORS = COLUMNS * 3 / 4;
constexpr int GROUPS_PER_SOLVE = (STATIONS + ROWS - 1) / ROWS;
constexpr int BLOCK_SOLVES = GROUPS == 1 ? 1 : (GROUPS + GROUPS_PER_SOLVE - 2) / GROUPS_PER_SOLVE + 1;  // at most, in a block
constexpr int WIDTH = GROUP * COLUMNS;
constexpr int PACKETS = (STATIONS + 1) / 2 * 2;         // per solve: pairs of packets stay within one
constexpr bool DIRECT = GROUPS == 1;                    // every thread needs its own columns' gains alone: no shared copy
constexpr int ROWS_PER_WARP = WARPS <= 4 ? 1 : (ROWS + WARPS - 1) / WARPS;
static_assert(WIDTH >= STATIONS && COLUMNS % 2 == 0, "a group covers a row");
static_assert(SHARED_ROWS == 0 || COLUMNS * 3 % 4 == 0, "rows in shared memory are whole vectors");
static_assert(ROWS % CHUNK == 0 && ROWS <= 32, "chunks of rows");

struct ChipWork {
  const float2 *numerator;    // [k][i][j]
  const float *denominator;   // [k][i][j]
  const float2 *first;        // [k][i], the first guess
  float2 *gains, *before;     // [k][i], the last iteration's and those it started from
  int *iterations;            // [k]
  uint2 *packets;             // [2][k][PACKETS]
  int solves, solvesPerWave, most;
  float tolerance;            // 0: `most` iterations, whatever happens
};

// Sums VALUES numbers over the 32 lanes with about as many shuffles; a lane is left with the total of number `index`.
template <int VALUES>
__device__ __forceinline__ float sumLanes(float (&v)[VALUES], int lane, int &index, bool &valid) {
  index = 0;
  int n = VALUES, real = VALUES;  // real: those of this lane that are not padding
#pragma unroll
  for (int lanes = 16; lanes >= 1; lanes >>= 1) {
    if (n == 1) {
      v[0] += __shfl_xor_sync(0xFFFFFFFFu, v[0], lanes);
      continue;
    }
    const int half = (n + 1) / 2;
    const bool upper = lane & lanes;
#pragma unroll
    for (int i = 0; i < VALUES; ++i)
      if (i < half) {
        const float low = v[i], high = i + half < n ? v[i + half < VALUES ? i + half : 0] : 0.0f;
        v[i] = (upper ? high : low) + __shfl_xor_sync(0xFFFFFFFFu, upper ? low : high, lanes);
      }
    index += upper ? half : 0;
    real = upper ? real - half : min(real, half);
    n = half;
  }
  valid = real > 0;
  return v[0];
}
// How many lanes share one total.
__host__ __device__ constexpr int sharing(int values) {
  int n = values, lanes = 1;
  for (int step = 0; step < 5; ++step) {
    if (n == 1) lanes *= 2;
    else n = (n + 1) / 2;
  }
  return lanes;
}

// Where ROWS is a power of two and all are summed at once, slot r of a lane holds row r ^ (lane ROWS / 32): every halving
// keeps the lower slots and sends the upper ones in every lane, and needs no choosing. Depth first: few sums live at a time,
// shuffles between products. A lane is left with the totals of row lane ROWS / 32.
constexpr bool MIRRORED = (ROWS & (ROWS - 1)) == 0 && CHUNK == ROWS;
struct RowSum {
  float x, y, d;
};
template <int SLOT, int STEP, class Sum>
__device__ __forceinline__ RowSum sumTree(const Sum &sum) {
  if constexpr (STEP == ROWS) {
    return sum(SLOT);
  } else {
    RowSum a = sumTree<SLOT, 2 * STEP>(sum);
    const RowSum b = sumTree<SLOT + STEP, 2 * STEP>(sum);
    constexpr int LANES = 32 * STEP / ROWS;
    a.x += __shfl_xor_sync(0xFFFFFFFFu, b.x, LANES);
    a.y += __shfl_xor_sync(0xFFFFFFFFu, b.y, LANES);
    a.d += __shfl_xor_sync(0xFFFFFFFFu, b.d, LANES);
    return a;
  }
}

__device__ __forceinline__ float sumWarp(float value) {
#pragma unroll
  for (int lanes = 16; lanes >= 1; lanes >>= 1) value += __shfl_xor_sync(0xFFFFFFFFu, value, lanes);
  return value;
}

extern "C" __global__ void __launch_bounds__(THREADS, 1) stefcalChip(const __grid_constant__ ChipWork work) {
  extern __shared__ float4 shared[];
  float4 *matrix = shared;                                                 // [SHARED_ROWS][VECTORS][THREADS]
  float *sums = (float *)(matrix + SHARED_ROWS * VECTORS * THREADS);       // [2][warp][ROWS][3]
  float2 *known = (float2 *)(sums + 2 * ALL_WARPS * 3 * ROWS);             // [2][solve][WIDTH], not DIRECT
  float *judged = (float *)(known + (DIRECT ? 0 : 2 * BLOCK_SOLVES * WIDTH));  // [warp][2], DIRECT
  int *done = (int *)(judged + 2 * ALL_WARPS);                             // [solve]
  const int tid = threadIdx.x, lane = tid & 31, warp = tid >> 5;
  const int group = tid / GROUP, inGroup = tid % GROUP, groupWarp = warp % WARPS;
  const int mirror = MIRRORED ? lane * ROWS / 32 : 0;
  auto columnOf = [&](int j) { return j / 2 * 2 * GROUP + 2 * inGroup + j % 2; };

  for (int firstSolve = 0; firstSolve < work.solves; firstSolve += work.solvesPerWave) {
    const int groups = min(work.solvesPerWave, work.solves - firstSolve) * GROUPS_PER_SOLVE;
    const int firstGroup = blockIdx.x * GROUPS;
    if (firstGroup >= groups) break;
    const bool active = firstGroup + group < groups;
    const int least = firstSolve + firstGroup / GROUPS_PER_SOLVE;           // the block's solves
    const int past = firstSolve + min(firstGroup + GROUPS - 1, groups - 1) / GROUPS_PER_SOLVE + 1;
    const int solve = active ? firstSolve + (firstGroup + group) / GROUPS_PER_SOLVE : least;
    const int firstRow = (firstGroup + group) % GROUPS_PER_SOLVE * ROWS;
    const int64_t base = (int64_t)solve * STATIONS;

    float ar[REGISTER_ROWS > 0 ? REGISTER_ROWS : 1][COLUMNS], ai[REGISTER_ROWS > 0 ? REGISTER_ROWS : 1][COLUMNS],
        bb[REGISTER_ROWS > 0 ? REGISTER_ROWS : 1][COLUMNS];
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
      float row[COLUMNS * 3];
#pragma unroll
      for (int j = 0; j < COLUMNS; ++j) {
        const int i = firstRow + (r ^ mirror);
        const bool there = active && i < STATIONS && columnOf(j) < STATIONS;
        const int64_t at = (base + i) * STATIONS + columnOf(j);
        const float2 a = there ? __ldcs(work.numerator + at) : make_float2(0, 0);
        row[2 * j] = a.x, row[2 * j + 1] = a.y;
        row[2 * COLUMNS + j] = there ? __ldcs(work.denominator + at) : 0.0f;
      }
      if (r < REGISTER_ROWS) {
#pragma unroll
        for (int j = 0; j < COLUMNS; ++j) {
          const int to = r < REGISTER_ROWS ? r : 0;
          ar[to][j] = row[2 * j], ai[to][j] = row[2 * j + 1], bb[to][j] = row[2 * COLUMNS + j];
        }
      } else {
#pragma unroll
        for (int f = 0; f < VECTORS; ++f)
          matrix[((r - REGISTER_ROWS) * VECTORS + f) * THREADS + tid] =
              make_float4(row[4 * f], row[4 * f + 1], row[4 * f + 2], row[4 * f + 3]);
      }
    }
    if (!DIRECT)  // columns past the last must stay finite: they meet zeros
      for (int i = tid; i < 2 * BLOCK_SOLVES * WIDTH; i += THREADS) known[i] = make_float2(0, 0);
    for (int s = tid; s < BLOCK_SOLVES; s += THREADS) done[s] = 0;
    __syncthreads();

    // The gains of the rows that this warp finishes, and those before them.
    float2 mine[ROWS_PER_WARP], old[ROWS_PER_WARP];
#pragma unroll
    for (int n = 0; n < ROWS_PER_WARP; ++n) {
      const int r = WARPS <= 4 ? lane : groupWarp + n * WARPS;
      const bool there = active && r < ROWS && firstRow + r < STATIONS;
      mine[n] = old[n] = there ? work.first[base + firstRow + r] : make_float2(0, 0);
    }
    auto hand = [&](int iteration) {  // over to the host
#pragma unroll
      for (int n = 0; n < ROWS_PER_WARP; ++n) {
        const int r = WARPS <= 4 ? lane : groupWarp + n * WARPS;
        if (!active || r >= ROWS || firstRow + r >= STATIONS || (WARPS <= 4 ? groupWarp != 0 : lane != 0)) continue;
        work.gains[base + firstRow + r] = mine[n];
        work.before[base + firstRow + r] = old[n];
        if (firstRow + r == 0) work.iterations[solve] = iteration;
      }
    };

    float gr[COLUMNS], gi[COLUMNS];
    bool running = active;
    for (int it = 1; it <= work.most + 1; ++it) {
      const int parity = it & 1;
      const bool judging = work.tolerance > 0 && parity == 1 && it > 1;  // what the last, even iteration changed
      if (it > work.most && !judging) break;
      const uint2 *packets = work.packets + (int64_t)(1 - parity) * work.solves * PACKETS;
      // ---- the gains of iteration it - 1
      if constexpr (DIRECT) {
        float changed = 0, size = 0;
        if (it == 1) {
#pragma unroll
          for (int j = 0; j < COLUMNS; ++j) {
            const float2 g = columnOf(j) < STATIONS ? work.first[base + columnOf(j)] : make_float2(0, 0);
            gr[j] = g.x, gi[j] = g.y;
          }
        } else {
          uint4 v[COLUMNS / 2];
          bool all;
          do {
            all = true;
#pragma unroll
            for (int j = 0; j < COLUMNS / 2; ++j) {
              const int c = min(columnOf(2 * j), PACKETS - 2);
              v[j] = loadPackets(packets + (int64_t)solve * PACKETS + c);
              all &= arrived(v[j], it - 1, c + 1 < STATIONS);
            }
          } while (!__all_sync(0xFFFFFFFFu, all));  // together: a warp that leaves in pieces stays in pieces
#pragma unroll
          for (int j = 0; j < COLUMNS; ++j) {
            const float re = __uint_as_float(j % 2 ? v[j / 2].z : v[j / 2].x);
            const float im = __uint_as_float(j % 2 ? v[j / 2].w : v[j / 2].y);
            const bool there = columnOf(j) < STATIONS;
            if (judging && there) {
              changed += (re - gr[j]) * (re - gr[j]) + (im - gi[j]) * (im - gi[j]);
              size += re * re + im * im;
            }
            gr[j] = there ? re : 0.0f, gi[j] = there ? im : 0.0f;
          }
        }
        if (judging) {
          changed = sumWarp(changed), size = sumWarp(size);
          if (lane == 0) judged[2 * warp] = changed, judged[2 * warp + 1] = size;
          __syncthreads();
          changed = size = 0;
          for (int w = 0; w < ALL_WARPS; ++w) changed += judged[2 * w], size += judged[2 * w + 1];
          if (changed < work.tolerance * work.tolerance * size) {
            hand(it - 1);
            running = false;
            break;
          }
        }
      } else {
        float2 *now = known + parity * BLOCK_SOLVES * WIDTH;
        if (it == 1) {
          for (int i = tid; i < (past - least) * STATIONS; i += THREADS)
            now[i / STATIONS * WIDTH + i % STATIONS] = work.first[(int64_t)least * STATIONS + i];
        } else {
          // All of the block's solves at once: one journey to L2, not one for each.
          const int pairs = (past - least) * (PACKETS / 2);
          for (int i = tid; i - lane < pairs; i += THREADS) {
            const int pair = min(i, pairs - 1), s = pair / (PACKETS / 2), c = pair % (PACKETS / 2) * 2;
            const bool over = done[s];
            uint4 v;
            do v = loadPackets(packets + (int64_t)least * PACKETS + 2 * pair);
            while (!__all_sync(0xFFFFFFFFu, over || arrived(v, it - 1, c + 1 < STATIONS)));
            if (i < pairs && !over) {
              now[s * WIDTH + c] = make_float2(__uint_as_float(v.x), __uint_as_float(v.y));
              if (c + 1 < STATIONS) now[s * WIDTH + c + 1] = make_float2(__uint_as_float(v.z), __uint_as_float(v.w));
            }
          }
        }
        __syncthreads();
        if (judging) {
          const float2 *earlier = known + (1 - parity) * BLOCK_SOLVES * WIDTH;
          for (int s = warp; s < past - least; s += ALL_WARPS) {
            if (done[s]) continue;
            float changed = 0, size = 0;
            for (int c = lane; c < STATIONS; c += 32) {
              const float2 g = now[s * WIDTH + c], b = earlier[s * WIDTH + c];
              changed += (g.x - b.x) * (g.x - b.x) + (g.y - b.y) * (g.y - b.y);
              size += g.x * g.x + g.y * g.y;
            }
            changed = sumWarp(changed), size = sumWarp(size);
            __syncwarp();
            if (lane == 0 && changed < work.tolerance * work.tolerance * size) done[s] = 1;
          }
          __syncthreads();
          if (running && done[solve - least]) {
            hand(it - 1);
            running = false;
          }
          bool any = false;
          for (int s = 0; s < past - least; ++s) any |= !done[s];
          if (!any) break;
        }
        const float2 *mineNow = now + (solve - least) * WIDTH;
#pragma unroll
        for (int j = 0; j < COLUMNS / 2; ++j) {
          const float4 v = *(const float4 *)(mineNow + j * 2 * GROUP + 2 * inGroup);
          gr[2 * j] = v.x, gi[2 * j] = v.y, gr[2 * j + 1] = v.z, gi[2 * j + 1] = v.w;
        }
      }
      if (it > work.most) break;  // this turn only judged
      if (running) {
        float power[COLUMNS];
#pragma unroll
        for (int j = 0; j < COLUMNS; ++j) power[j] = gr[j] * gr[j] + gi[j] * gi[j];
        // ---- row sums
        float *warpSums = sums + (parity * ALL_WARPS + warp) * 3 * ROWS;
        auto rowSum = [&](int r) {
          float row[COLUMNS * 3];
          if (r < REGISTER_ROWS) {
#pragma unroll
            for (int j = 0; j < COLUMNS; ++j) {
              const int from = r < REGISTER_ROWS ? r : 0;
              row[2 * j] = ar[from][j], row[2 * j + 1] = ai[from][j], row[2 * COLUMNS + j] = bb[from][j];
            }
          } else {
#pragma unroll
            for (int f = 0; f < VECTORS; ++f) {
              const float4 four = matrix[((r - REGISTER_ROWS) * VECTORS + f) * THREADS + tid];
              row[4 * f] = four.x, row[4 * f + 1] = four.y, row[4 * f + 2] = four.z, row[4 * f + 3] = four.w;
            }
          }
          RowSum sum{0, 0, 0};
#pragma unroll
          for (int j = 0; j < COLUMNS; ++j) {
            sum.x = fmaf(row[2 * j], gr[j], sum.x), sum.y = fmaf(row[2 * j], gi[j], sum.y);
            sum.x = fmaf(-row[2 * j + 1], gi[j], sum.x), sum.y = fmaf(row[2 * j + 1], gr[j], sum.y);
            sum.d = fmaf(row[2 * COLUMNS + j], power[j], sum.d);
          }
          return sum;
        };
        if constexpr (MIRRORED) {
          RowSum total = sumTree<0, 1>(rowSum);
#pragma unroll
          for (int lanes = 16 / ROWS; lanes >= 1; lanes >>= 1) {
            total.x += __shfl_xor_sync(0xFFFFFFFFu, total.x, lanes);
            total.y += __shfl_xor_sync(0xFFFFFFFFu, total.y, lanes);
            total.d += __shfl_xor_sync(0xFFFFFFFFu, total.d, lanes);
          }
          if ((lane & (32 / ROWS - 1)) == 0) {
            warpSums[3 * mirror] = total.x, warpSums[3 * mirror + 1] = total.y, warpSums[3 * mirror + 2] = total.d;
          }
        } else {
#pragma unroll
          for (int chunk = 0; chunk < ROWS; chunk += CHUNK) {
            float v[3 * CHUNK];
#pragma unroll
            for (int q = 0; q < CHUNK; ++q) {
              const RowSum sum = rowSum(chunk + q);
              v[3 * q] = sum.x, v[3 * q + 1] = sum.y, v[3 * q + 2] = sum.d;
            }
            int index;
            bool valid;
            const float total = sumLanes<3 * CHUNK>(v, lane, index, valid);
            if (valid && (lane & (sharing(3 * CHUNK) - 1)) == 0) warpSums[3 * chunk + index] = total;
          }
        }
        if constexpr (WARPS == 1) __syncwarp();
        else groupSync(group, GROUP);
        // ---- new gains
        const float *groupSums = sums + (parity * ALL_WARPS + group * WARPS) * 3 * ROWS;
        uint2 *to = work.packets + ((int64_t)parity * work.solves + solve) * PACKETS + firstRow;
        auto renew = [&](int n, int r, float x, float y, float d, bool publishes) {
          const float inverse = 1.0f / d;
          float2 next = d > 0 ? make_float2(x * inverse, y * inverse) : mine[n];  // nothing determines it: it stays
          if (parity == 0) next = make_float2(0.5f * (next.x + mine[n].x), 0.5f * (next.y + mine[n].y));
          old[n] = mine[n];
          mine[n] = next;
          if (publishes && firstRow + r < STATIONS) storePacket(to + r, next.x, next.y, it);
        };
        if constexpr (WARPS <= 4) {
          if (groupWarp == 0 && lane < ROWS) {
            float x = 0, y = 0, d = 0;
#pragma unroll
            for (int w = 0; w < WARPS; ++w) {
              const float *s = groupSums + w * 3 * ROWS + 3 * lane;
              x += s[0], y += s[1], d += s[2];
            }
            renew(0, lane, x, y, d, true);
          }
          __syncwarp();
        } else {
#pragma unroll
          for (int n = 0; n < ROWS_PER_WARP; ++n) {
            const int r = groupWarp + n * WARPS;
            if (r >= ROWS) continue;
            float x = 0, y = 0, d = 0;
            if (lane < WARPS) {
              const float *s = groupSums + lane * 3 * ROWS + 3 * r;
              x = s[0], y = s[1], d = s[2];
            }
#pragma unroll
            for (int lanes = WARPS / 2; lanes >= 1; lanes >>= 1) {
              x += __shfl_xor_sync(0xFFFFFFFFu, x, lanes);
              y += __shfl_xor_sync(0xFFFFFFFFu, y, lanes);
              d += __shfl_xor_sync(0xFFFFFFFFu, d, lanes);
            }
            renew(n, r, x, y, d, lane == 0);
          }
        }
      }
    }
    if (running) hand(work.most);
    __syncthreads();
  }
}

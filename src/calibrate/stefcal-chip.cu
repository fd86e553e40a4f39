// StEFCal with A and B on the chip: loaded once into registers and shared memory across the card, all iterations in one
// cooperative launch.
//   g_i <- sum_j A_ij g_j / sum_j B_ij |g_j|^2, every even iteration averaged with the one before (plan.ts)
//
// A block, one to a multiprocessor, is made of groups of GROUP threads; a group owns ROWS rows of one solve, and a thread of it
// COLUMNS columns of all of them: REGISTER_ROWS rows in registers, the others in shared memory, in 16-byte slots of its own.
// Gains travel as packets (packets.cuh). As many solves as fit go at once, the others in further waves.
//
// When to stop, each block works out for itself, from the same gains in the same order, hence with the same result.
//
// Set by the plan: STATIONS, THREADS (of a block), GROUP, COLUMNS, ROWS, REGISTER_ROWS, CHUNK (rows summed up at a time;
// divides ROWS), GROUPS_PER_SOLVE (at least STATIONS / ROWS; a multiple of a block's groups gives every block one solve),
// JUDGES (1: solves stop by themselves; 0: `most` iterations, whatever happens).
#ifndef RESIDENT
#define RESIDENT 1
#endif
#ifndef REPLICAS
#define REPLICAS 1
#endif
#include "packets.cuh"
#include "row-sums.cuh"

constexpr int GROUPS = THREADS / GROUP, WARPS = GROUP / 32, ALL_WARPS = THREADS / 32;
constexpr int SHARED_ROWS = ROWS - REGISTER_ROWS, VECTORS = COLUMNS * 3 / 4;
// A block's solves, at most.
constexpr int BLOCK_SOLVES =
    GROUPS_PER_SOLVE % GROUPS == 0 ? 1 : (GROUPS + GROUPS_PER_SOLVE - 2) / GROUPS_PER_SOLVE + 1;
constexpr int WIDTH = GROUP * COLUMNS;
constexpr int PACKETS = (STATIONS + 1) / 2 * 2;  // per solve: pairs of packets stay within one
constexpr int AT_ONCE = COLUMNS < 4 ? COLUMNS : 4;  // columns, a whole number of vectors of either matrix
constexpr bool DIRECT = GROUPS == 1;             // every thread needs its own columns' gains alone: no shared copy
constexpr bool MIRRORED = (ROWS & (ROWS - 1)) == 0 && CHUNK == ROWS;  // row-sums.cuh
static_assert(WIDTH >= STATIONS && COLUMNS % 2 == 0, "a group covers a row");
static_assert(SHARED_ROWS == 0 || COLUMNS * 3 % 4 == 0, "rows in shared memory are whole vectors");
static_assert(ROWS % CHUNK == 0 && ROWS <= 32, "chunks of rows; a lane for each row");
static_assert(GROUPS_PER_SOLVE * ROWS >= STATIONS, "groups cover a solve");

struct ChipWork {
  const float2 *numerator;   // [k][i][j]
  const float *denominator;  // [k][i][j]
  const float2 *first;       // [k][i], the first guess
  float2 *gains, *before;    // [k][i], the last iteration's and those it started from
  int *iterations;           // [k]
  uint2 *packets;            // [2][k][PACKETS]
  int solves, solvesPerWave, most;
  float tolerance;           // where JUDGES
};

// Shared memory, in order.
constexpr int MATRIX = 0;                                                  // float4 [SHARED_ROWS][VECTORS][THREADS]
constexpr int SUMS = MATRIX + SHARED_ROWS * VECTORS * THREADS;             // float4 [2][warp][ROWS], (x, y, d, -)
constexpr int KNOWN = SUMS + 2 * ALL_WARPS * ROWS;                         // float2 [2][solve][WIDTH], not DIRECT
constexpr int JUDGED = KNOWN + (DIRECT ? 0 : BLOCK_SOLVES * WIDTH);        // float [warp][2], where JUDGES
constexpr int DONE = JUDGED + (JUDGES ? ALL_WARPS / 2 : 0);                // int [solve], where JUDGES

// Right to the last bit or two, which is what the sums are.
__device__ __forceinline__ float reciprocal(float value) {
  float inverse;
  asm("rcp.approx.f32 %0, %1;" : "=f"(inverse) : "f"(value));
  return inverse;
}

extern "C" __global__ void __launch_bounds__(THREADS, RESIDENT) stefcalChip(const __grid_constant__ ChipWork work) {
  extern __shared__ float4 shared[];
  float4 *matrix = shared + MATRIX;
  float4 *sums = shared + SUMS;
  float2 *known = (float2 *)(shared + KNOWN);
  float *judged = (float *)(shared + JUDGED);
  int *done = (int *)(shared + DONE);
  const int tid = threadIdx.x, lane = tid & 31, warp = tid >> 5;
  const int group = tid / GROUP, inGroup = tid % GROUP, groupWarp = warp % WARPS;
  const int mirror = MIRRORED ? lane * ROWS / 32 : 0;
  auto columnOf = [&](int j) { return j / 2 * 2 * GROUP + 2 * inGroup + j % 2; };

  for (int firstSolve = 0; firstSolve < work.solves; firstSolve += work.solvesPerWave) {
    const int groups = min(work.solvesPerWave, work.solves - firstSolve) * GROUPS_PER_SOLVE;
    const int firstGroup = blockIdx.x * GROUPS;
    if (firstGroup >= groups) break;
    const bool active = firstGroup + group < groups;
    const int least = firstSolve + firstGroup / GROUPS_PER_SOLVE;  // the block's solves
    const int past =
        BLOCK_SOLVES == 1 ? least + 1 : firstSolve + min(firstGroup + GROUPS - 1, groups - 1) / GROUPS_PER_SOLVE + 1;
    const int solve = BLOCK_SOLVES == 1 || !active ? least : firstSolve + (firstGroup + group) / GROUPS_PER_SOLVE;
    const int firstRow = (firstGroup + group) % GROUPS_PER_SOLVE * ROWS;
    const int64_t base = (int64_t)solve * STATIONS;

    float ar[REGISTER_ROWS > 0 ? REGISTER_ROWS : 1][COLUMNS], ai[REGISTER_ROWS > 0 ? REGISTER_ROWS : 1][COLUMNS],
        bb[REGISTER_ROWS > 0 ? REGISTER_ROWS : 1][COLUMNS];
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
      float row[COLUMNS * 3];
      const int i = firstRow + (r ^ mirror);
      const int64_t from = (base + i) * STATIONS;
#pragma unroll
      for (int j = 0; j < COLUMNS; ++j) {
        const bool there = active && i < STATIONS && columnOf(j) < STATIONS;
        if constexpr (STATIONS % 2 == 0) {  // two columns in one load
          if (j % 2) continue;
          const float4 a = there ? __ldcs((const float4 *)(work.numerator + from + columnOf(j))) : make_float4(0, 0, 0, 0);
          const float2 b = there ? __ldcs((const float2 *)(work.denominator + from + columnOf(j))) : make_float2(0, 0);
          row[2 * j] = a.x, row[2 * j + 1] = a.y, row[2 * j + 2] = a.z, row[2 * j + 3] = a.w;
          row[2 * COLUMNS + j] = b.x, row[2 * COLUMNS + j + 1] = b.y;
        } else {
          const float2 a = there ? __ldcs(work.numerator + from + columnOf(j)) : make_float2(0, 0);
          row[2 * j] = a.x, row[2 * j + 1] = a.y;
          row[2 * COLUMNS + j] = there ? __ldcs(work.denominator + from + columnOf(j)) : 0.0f;
        }
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
    if (JUDGES)
      for (int s = tid; s < BLOCK_SOLVES; s += THREADS) done[s] = 0;
    __syncthreads();

    // Lane r of a group's first warp finishes row r.
    const bool finishes = active && groupWarp == 0 && lane < ROWS && firstRow + lane < STATIONS;
    float2 mine = finishes ? work.first[base + firstRow + lane] : make_float2(0, 0);
    float2 old = mine;
    auto hand = [&](int iteration) {  // over to whoever asked
      if (!finishes) return;
      work.gains[base + firstRow + lane] = mine;
      work.before[base + firstRow + lane] = old;
      if (firstRow + lane == 0) work.iterations[solve] = iteration;
    };

    float gr[COLUMNS], gi[COLUMNS];  // where DIRECT
    bool running = active;
    for (int it = 1; it <= work.most + JUDGES; ++it) {
      const int parity = it & 1;
      const bool judging = JUDGES && parity == 1 && it > 1;  // what the last, even iteration changed
      if (JUDGES && it > work.most && !judging) break;
      const uint2 *packets = work.packets + ((int64_t)(1 - parity) * REPLICAS + blockIdx.x % REPLICAS) * work.solves * PACKETS;
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
            for (int j = 0; j < COLUMNS / 2; ++j)
              v[j] = loadPackets(packets + (int64_t)solve * PACKETS + min(columnOf(2 * j), PACKETS - 2));
#pragma unroll
            for (int j = 0; j < COLUMNS / 2; ++j)
              all &= arrived(v[j], it - 1, STATIONS % 2 == 0 || columnOf(2 * j) + 1 < STATIONS);
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
            gr[j] = re, gi[j] = im;  // past the end: some packet, finite, which meets zeros
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
            const int pair = min(i, pairs - 1), s = BLOCK_SOLVES == 1 ? 0 : pair / (PACKETS / 2);
            const int c = (pair - s * (PACKETS / 2)) * 2;
            const bool over = JUDGES && done[s];
            const bool both = STATIONS % 2 == 0 || c + 1 < STATIONS;
            uint4 v;
            do v = loadPackets(packets + (int64_t)least * PACKETS + 2 * pair);
            while (!__all_sync(0xFFFFFFFFu, over || arrived(v, it - 1, both)));
            if (i < pairs && !over)
              *(uint4 *)(now + s * WIDTH + c) = v;
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
          if (!__syncthreads_or(running)) break;
        }
      }
      if (JUDGES && it > work.most) break;  // this turn only judged
      if (!running) continue;
      // ---- row sums
      float4 *warpSums = sums + (parity * ALL_WARPS + warp) * ROWS;
      const float4 *ours = (const float4 *)(known + (parity * BLOCK_SOLVES + solve - least) * WIDTH) + inGroup;
      auto gainPair = [&](int j) {  // of columns j and j + 1
        return DIRECT ? make_float4(gr[j], gi[j], gr[j + 1], gi[j + 1]) : ours[j / 2 * GROUP];
      };
      // Adds to a row's sum what columns j to j + AT_ONCE give it.
      auto addColumns = [&](int r, int j, const float (&x)[AT_ONCE], const float (&y)[AT_ONCE], const float (&power)[AT_ONCE],
                            RowSum &sum) {
        float a[2 * AT_ONCE], b[AT_ONCE];
        if (r < REGISTER_ROWS) {
#pragma unroll
          for (int n = 0; n < AT_ONCE; ++n) {
            const int from = r < REGISTER_ROWS ? r : 0;
            a[2 * n] = ar[from][j + n], a[2 * n + 1] = ai[from][j + n], b[n] = bb[from][j + n];
          }
        } else {
          const float4 *from = matrix + (r - REGISTER_ROWS) * VECTORS * THREADS + tid;
          const float4 first = from[j / 2 * THREADS], second = from[(j / 2 + 1) * THREADS];
          const float4 third = from[(COLUMNS / 2 + j / 4) * THREADS];
          const float as[8] = {first.x, first.y, first.z, first.w, second.x, second.y, second.z, second.w};
          const float bs[4] = {third.x, third.y, third.z, third.w};
#pragma unroll
          for (int n = 0; n < AT_ONCE; ++n) a[2 * n] = as[2 * n], a[2 * n + 1] = as[2 * n + 1], b[n] = bs[n];
        }
#pragma unroll
        for (int n = 0; n < AT_ONCE; ++n) {
          sum.x = fmaf(a[2 * n], x[n], sum.x), sum.y = fmaf(a[2 * n], y[n], sum.y);
          sum.x = fmaf(-a[2 * n + 1], y[n], sum.x), sum.y = fmaf(a[2 * n + 1], x[n], sum.y);
          sum.d = fmaf(b[n], power[n], sum.d);
        }
      };
      auto loadGains = [&](int j, float (&x)[AT_ONCE], float (&y)[AT_ONCE], float (&power)[AT_ONCE]) {
#pragma unroll
        for (int n = 0; n < AT_ONCE; n += 2) {
          const float4 two = gainPair(j + n);
          x[n] = two.x, y[n] = two.y, x[n + 1] = two.z, y[n + 1] = two.w;
        }
#pragma unroll
        for (int n = 0; n < AT_ONCE; ++n) power[n] = x[n] * x[n] + y[n] * y[n];
      };
      if constexpr (MIRRORED) {
        float x[COLUMNS / AT_ONCE][AT_ONCE], y[COLUMNS / AT_ONCE][AT_ONCE], power[COLUMNS / AT_ONCE][AT_ONCE];
#pragma unroll
        for (int q = 0; q < COLUMNS / AT_ONCE; ++q) loadGains(q * AT_ONCE, x[q], y[q], power[q]);
        RowSum total = sumTree<ROWS, 0, 1>([&](int r) {
          RowSum sum{0, 0, 0};
#pragma unroll
          for (int q = 0; q < COLUMNS / AT_ONCE; ++q) addColumns(r, q * AT_ONCE, x[q], y[q], power[q], sum);
          return sum;
        });
#pragma unroll
        for (int lanes = 16 / ROWS; lanes >= 1; lanes >>= 1) {
          total.x += __shfl_xor_sync(0xFFFFFFFFu, total.x, lanes);
          total.y += __shfl_xor_sync(0xFFFFFFFFu, total.y, lanes);
          total.d += __shfl_xor_sync(0xFFFFFFFFu, total.d, lanes);
        }
        if ((lane & (32 / ROWS - 1)) == 0) warpSums[mirror] = make_float4(total.x, total.y, total.d, 0);
      } else {
        // Column after column: the sums of a chunk of rows stay in registers instead of the gains of all columns.
#pragma unroll
        for (int chunk = 0; chunk < ROWS; chunk += CHUNK) {
          RowSum part[CHUNK];
#pragma unroll
          for (int q = 0; q < CHUNK; ++q) part[q] = {0, 0, 0};
#pragma unroll
          for (int j = 0; j < COLUMNS; j += AT_ONCE) {
            float x[AT_ONCE], y[AT_ONCE], power[AT_ONCE];
            loadGains(j, x, y, power);
#pragma unroll
            for (int q = 0; q < CHUNK; ++q) addColumns(chunk + q, j, x, y, power, part[q]);
          }
          float v[3 * CHUNK];
#pragma unroll
          for (int q = 0; q < CHUNK; ++q) v[3 * q] = part[q].x, v[3 * q + 1] = part[q].y, v[3 * q + 2] = part[q].d;
          int index;
          bool valid;
          const float total = sumLanes<3 * CHUNK>(v, lane, index, valid);
          if (valid && (lane & (sharing(3 * CHUNK) - 1)) == 0)
            ((float *)(warpSums + chunk + index / 3))[index % 3] = total;
        }
      }
      // ---- new gains, by the group's first warp
      if constexpr (WARPS == 1) __syncwarp();
      else groupSync(group, GROUP);
      if (groupWarp == 0) {
        const float4 *groupSums = sums + (parity * ALL_WARPS + group * WARPS) * ROWS + min(lane, ROWS - 1);
        float x = 0, y = 0, d = 0;
#pragma unroll
        for (int w = 0; w < WARPS; ++w) {
          const float4 part = groupSums[w * ROWS];
          x += part.x, y += part.y, d += part.z;
        }
        const float inverse = reciprocal(d);
        float2 next = d > 0 ? make_float2(x * inverse, y * inverse) : mine;  // nothing determines it: it stays
        if (parity == 0) next = make_float2(0.5f * (next.x + mine.x), 0.5f * (next.y + mine.y));
        if (finishes) {
          uint2 *to = work.packets + ((int64_t)parity * REPLICAS * work.solves + solve) * PACKETS + firstRow + lane;
#pragma unroll
          for (int n = 0; n < REPLICAS; ++n) storePacket(to + (int64_t)n * work.solves * PACKETS, next.x, next.y, it);
        }
        old = mine, mine = next;
        __syncwarp();
      }
    }
    if (running) hand(work.most);
    __syncthreads();
  }
}

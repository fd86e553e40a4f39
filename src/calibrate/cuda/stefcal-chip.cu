// StEFCal with A and B on the chip: loaded once into registers and shared memory across the card, all iterations in one
// cooperative launch.
//   g_i <- sum_j A_ij g_j / sum_j B_ij |g_j|^2, every even iteration averaged with the one before (plan.ts)
//
// A block, one to a multiprocessor, is made of groups of GROUP threads; a group owns ROWS rows of one solve, and a
// thread of it COLUMNS columns of all of them (chip-rows.cuh). Gains are exchanged as packets (packets.cuh). As many
// solves as fit run at once, the others in further waves.
//
// Each block decides by itself when to stop, from the same gains in the same order, hence with the same result.
//
// Set by the plan: STATIONS, THREADS (of a block), GROUP, COLUMNS, ROWS, REGISTER_ROWS, CHUNK (rows summed up at a
// time; divides ROWS), GROUPS_PER_SOLVE (at least STATIONS / ROWS; a multiple of a block's groups gives every block one
// solve), JUDGES (1: solves stop by themselves; 0: always `most` iterations).
#include "chip-rows.cuh"
#include "packets.cuh"

// A block's solves, at most.
constexpr int BLOCK_SOLVES =
    GROUPS_PER_SOLVE % GROUPS == 0 ? 1 : (GROUPS + GROUPS_PER_SOLVE - 2) / GROUPS_PER_SOLVE + 1;
constexpr bool ALONE = BLOCK_SOLVES == 1;
constexpr int WIDTH = GROUP * COLUMNS;
constexpr int PACKETS = (STATIONS + 1) / 2 * 2;         // per solve: pairs of packets stay within one
constexpr bool ONCE = ALONE && PACKETS / 2 <= THREADS;  // a thread fetches one pair at most
static_assert(GROUPS_PER_SOLVE * ROWS >= STATIONS, "groups cover a solve");
static_assert(!ALONE || (GROUPS_PER_SOLVE - GROUPS) * ROWS < STATIONS, "every block has rows: packets.cuh");

struct ChipWork {
  const float2 *numerator;   // [k][i][j]
  const float *denominator;  // [k][i][j]
  const float2 *first;       // [k][i], the first guess
  float2 *gains, *before;    // [k][i], the last iteration's and those it started from
  int *iterations;           // [k]
  uint2 *packets;            // [2][k][PACKETS]
  int solves, solvesPerWave, most;
  float tolerance;  // where JUDGES
};

// Shared memory, in order, in float4s.
constexpr int MATRIX = 0;                                            // float4 [SHARE]
constexpr int SUMS = MATRIX + SHARE;                                 // float4 [2][warp][ROWS], (x, y, d, -)
constexpr int KNOWN = SUMS + 2 * ALL_WARPS * ROWS;                   // float2 [2][solve][WIDTH], not DIRECT
constexpr int JUDGED = KNOWN + (DIRECT ? 0 : BLOCK_SOLVES * WIDTH);  // float2 [warp], where JUDGES
constexpr int DONE = JUDGED + (JUDGES ? ALL_WARPS / 2 : 0);          // int [solve], where JUDGES and not ALONE

// Right to the last bit or two, like the sums. For normal numbers: others would cost extra steps.
constexpr float LEAST_NORMAL = 1.1754944e-38f;
__device__ __forceinline__ float reciprocal(float value) {
  float inverse;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(value));
  return inverse;
}

// The change of the gains, and their size.
struct Change {
  float moved = 0, size = 0;
  __device__ __forceinline__ void add(float re, float im, float reBefore, float imBefore) {
    moved += (re - reBefore) * (re - reBefore) + (im - imBefore) * (im - imBefore);
    size += re * re + im * im;
  }
  __device__ __forceinline__ bool isBelow(float tolerance) const { return moved < tolerance * tolerance * size; }
};

extern "C" __global__ void __launch_bounds__(THREADS, 1) stefcalChip(const __grid_constant__ ChipWork work) {
  extern __shared__ float4 shared[];
  float4 *sums = shared + SUMS;
  float2 *known = (float2 *)(shared + KNOWN), *judged = (float2 *)(shared + JUDGED);
  int *done = (int *)(shared + DONE);
  const int tid = threadIdx.x, lane = tid & 31, warp = tid >> 5;
  const int group = tid / GROUP, inGroup = tid % GROUP, groupWarp = warp % WARPS;
  // Addresses in shared memory, kept, or the compiler would recompute them on the critical path.
  uint32_t matrixAt = (uint32_t)__cvta_generic_to_shared(shared + MATRIX + tid);
  uint32_t knownAt = (uint32_t)__cvta_generic_to_shared(shared + KNOWN);
  asm volatile("" : "+r"(matrixAt), "+r"(knownAt));

  for (int firstSolve = 0; firstSolve < work.solves; firstSolve += work.solvesPerWave) {
    const int groups = min(work.solvesPerWave, work.solves - firstSolve) * GROUPS_PER_SOLVE;
    const int firstGroup = blockIdx.x * GROUPS;
    if (firstGroup >= groups) break;
    const bool active = ALONE || firstGroup + group < groups;      // a block of one solve has no groups to spare
    const int least = firstSolve + firstGroup / GROUPS_PER_SOLVE;  // the block's solves
    const int past = ALONE ? least + 1 : firstSolve + min(firstGroup + GROUPS - 1, groups - 1) / GROUPS_PER_SOLVE + 1;
    const int solve = ALONE || !active ? least : firstSolve + (firstGroup + group) / GROUPS_PER_SOLVE;
    const int firstRow = (firstGroup + group) % GROUPS_PER_SOLVE * ROWS;
    const int64_t base = (int64_t)solve * STATIONS;

    Share share;
    share.load(work.numerator + base * STATIONS, work.denominator + base * STATIONS, firstRow, active, shared + MATRIX);
    if (!DIRECT)  // columns past the last must stay finite: they meet zeros
      for (int i = tid; i < 2 * BLOCK_SOLVES * WIDTH; i += THREADS) known[i] = make_float2(0, 0);
    if (JUDGES && !ALONE)
      for (int s = tid; s < BLOCK_SOLVES; s += THREADS) done[s] = 0;
    __syncthreads();

    // Lane r of a group's first warp finishes row r.
    const bool finishes = active && groupWarp == 0 && lane < ROWS && firstRow + lane < STATIONS;
    float2 mine = finishes ? work.first[base + firstRow + lane] : make_float2(0, 0);
    float2 old = mine;
    // The place of its packets; computed once, since other blocks wait for them.
    int packetAt = solve * PACKETS + firstRow + lane;
    uint32_t sources = totalLanes<3 * ROWS>(3 * lane);
    asm volatile("" : "+r"(packetAt), "+r"(sources));  // or they would be recomputed each time
    auto hand = [&](int iteration) {                   // hands over the results
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
      const uint2 *packets = work.packets + ((1 - parity) * work.solves + least) * PACKETS;
      const Tag tag(it - 1);
      const uint32_t nowAt = knownAt + parity * (BLOCK_SOLVES * WIDTH * 8);
      float2 *now = known + parity * BLOCK_SOLVES * WIDTH;
      const float2 *earlier = known + (1 - parity) * BLOCK_SOLVES * WIDTH;
      // ---- the gains of iteration it - 1
      Change change;  // of this thread's part, where a block has one solve
      if constexpr (DIRECT) {
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
            for (int j = 0; j < COLUMNS / 2; ++j) v[j] = loadPackets(packets + min(columnOf(2 * j), PACKETS - 2));
#pragma unroll
            for (int j = 0; j < COLUMNS / 2; ++j)
              all &= arrived(v[j], tag, STATIONS % 2 == 0 || columnOf(2 * j) + 1 < STATIONS);
          } while (!__all_sync(0xFFFFFFFFu, all));  // together: a warp that diverges here stays divergent
#pragma unroll
          for (int j = 0; j < COLUMNS; ++j) {
            const float re = __uint_as_float(j % 2 ? v[j / 2].z : v[j / 2].x);
            const float im = __uint_as_float(j % 2 ? v[j / 2].w : v[j / 2].y);
            if (judging && columnOf(j) < STATIONS) change.add(re, im, gr[j], gi[j]);
            gr[j] = re, gi[j] = im;  // past the end: some packet, finite, which meets zeros
          }
        }
      } else {
        if (it == 1) {
          for (int i = tid; i < (past - least) * STATIONS; i += THREADS)
            now[i / STATIONS * WIDTH + i % STATIONS] = work.first[(int64_t)least * STATIONS + i];
        } else {
          // All of the block's solves at once: one round trip to L2, not one for each.
          const int pairs = (past - least) * (PACKETS / 2);
          for (int i = tid; i - lane < pairs; i += THREADS) {
            const int pair = min(i, pairs - 1), s = ALONE ? 0 : pair / (PACKETS / 2);
            const int c = (pair - s * (PACKETS / 2)) * 2;
            const bool over = JUDGES && !ALONE && done[s];
            uint32_t to = nowAt + (s * WIDTH + c) * 8;
            asm volatile("" : "+r"(to));
            uint4 v;
            do v = loadPackets(packets + 2 * pair);
            while (!__all_sync(0xFFFFFFFFu, over || arrived(v, tag, STATIONS % 2 == 0 || c + 1 < STATIONS)));
            if (!over) {
              store16(to, v);  // past the last pair: repeat the last one
              if (judging && ALONE && i < pairs) {
                const float4 was = *(const float4 *)(earlier + c);
                change.add(__uint_as_float(v.x), __uint_as_float(v.y), was.x, was.y);
                change.add(__uint_as_float(v.z), __uint_as_float(v.w), was.z, was.w);
              }
            }
            if (ONCE) break;
          }
        }
        if (!judging || !ALONE) __syncthreads();
      }
      // ---- whether they have settled
      if (judging && ALONE) {
        change.moved = sumWarp(change.moved), change.size = sumWarp(change.size);
        if (lane == 0) judged[warp] = make_float2(change.moved, change.size);
        __syncthreads();
        Change whole;
        for (int w = 0; w < ALL_WARPS; ++w) whole.moved += judged[w].x, whole.size += judged[w].y;
        if (whole.isBelow(work.tolerance)) {
          hand(it - 1);
          running = false;
          break;
        }
      } else if (judging) {
        for (int s = warp; s < past - least; s += ALL_WARPS) {
          if (done[s]) continue;
          Change whole;
          for (int c = lane; c < STATIONS; c += 32) {
            const float2 g = now[s * WIDTH + c], b = earlier[s * WIDTH + c];
            whole.add(g.x, g.y, b.x, b.y);
          }
          whole.moved = sumWarp(whole.moved), whole.size = sumWarp(whole.size);
          __syncwarp();
          if (lane == 0 && whole.isBelow(work.tolerance)) done[s] = 1;
        }
        __syncthreads();
        if (running && done[solve - least]) {
          hand(it - 1);
          running = false;
        }
        if (!__syncthreads_or(running)) break;
      }
      if (JUDGES && it > work.most) break;  // this iteration was only for the test
      if (!running) continue;
      // ---- row sums
      uint2 *packetTo = work.packets + (parity * work.solves * PACKETS + packetAt);
      asm volatile("" : "+l"(packetTo));  // computed before the sums are ready
      const uint32_t ours = nowAt + (solve - least) * (WIDTH * 8) + inGroup * 16;
      const float total = share.sumRows(
          [&](int j) {
            return DIRECT ? make_float4(gr[j], gi[j], gr[j + 1], gi[j + 1]) : loadFour(ours + j / 2 * (GROUP * 16));
          },
          matrixAt, sums + (parity * ALL_WARPS + warp) * ROWS);
      if constexpr (IN_LANES) {
      } else if constexpr (WARPS == 1)
        __syncwarp();
      else
        groupSync(group, GROUP);
      // ---- new gains, by the group's first warp
      if (groupWarp == 0) {
        const float4 *groupSums = sums + (parity * ALL_WARPS + group * WARPS) * ROWS + min(lane, ROWS - 1);
        float x = 0, y = 0, d = 0;
        if constexpr (IN_LANES) {
          x = __shfl_sync(0xFFFFFFFFu, total, sources), y = __shfl_sync(0xFFFFFFFFu, total, sources >> 5);
          d = __shfl_sync(0xFFFFFFFFu, total, sources >> 10);
        } else {
#pragma unroll
          for (int w = 0; w < WARPS; ++w) {
            const float4 part = groupSums[w * ROWS];
            x += part.x, y += part.y, d += part.z;
          }
        }
        const float inverse = reciprocal(d);
        float2 next = d >= LEAST_NORMAL ? make_float2(x * inverse, y * inverse) : mine;  // undetermined: it stays
        if (parity == 0) next = make_float2(0.5f * (next.x + mine.x), 0.5f * (next.y + mine.y));
        if (finishes) storePacket(packetTo, next.x, next.y, it);
        old = mine, mine = next;
        if constexpr (!IN_LANES) __syncwarp();
      }
    }
    if (running) hand(work.most);
    __syncthreads();
  }
}

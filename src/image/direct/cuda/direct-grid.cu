// Voltages onto the grid, in half precision on the tensor cores, folded for the transform.
//
// The box of BOX x BOX cells is placed symmetrically about its middle: u, v = +-1/2, +-3/2, ... That turns both polarisations'
// fields by one phase per pixel, which cancels in every product, and lets the grid be folded into even and odd parts:
//   U_p(l, |v|) = sum_|u| G_ep cos + i G_op sin        F(l, m) = sum_|v| U_e cos + i U_o sin
// (first letter: parity along u; second: along v). With cos and sin stacked along the summed axis both stages are REAL
// products of depth BOX, half the arithmetic of a complex transform; the signs are put into what is stored here:
//   columns of group 0   Re U_e : [ Re G_ee | -Im G_oe ]      group 2   Im U_e : [ Im G_ee |  Re G_oe ]
//              group 1  -Im U_o : [-Im G_eo | -Re G_oo ]      group 3   Re U_o : [ Re G_eo | -Im G_oo ]
//
// grids : [c][slot][column block of 8][depth block of 8][8 columns][8 depths] halves, slot = t * POLARISATIONS + p;
//   column = group * BOX/2 + |v|, depth = parity * BOX/2 + |u|: the core matrices that wgmma reads, no swizzle.
//
// Gridding is a sparse product: per two rows |v| and 8 cells |u|, four quadrants; for each, the stations whose kernels
// touch those cells, 16 at a time (tables.ts). ldmatrix takes an address per lane, so gathering stations is free, and
// what was gathered serves both rows. A warp has one such task for all its steps and keeps the weights in registers.
// Where there is room the copy engine stores the grids, eight steps at a time (STAGED). Elsewhere lanes store their own
// results: two rows of 8 halves are a whole sector of memory, the four tasks of a line are done at the same time, and
// lines are whole before they leave the cache.
//
// Set by the plan: STATIONS, POLARISATIONS, BOX (multiple of 16), WARPS (tasks that a block has), BLOCKS (on a
// multiprocessor at once), HELD (groups of 16 stations whose weights are kept; those of larger tasks are read again
// each time), BUFFERS (1 or 2 of fields: with one, unpacking and gridding take turns), AHEAD (1 or 2: turns of eight
// steps whose samples are in flight), STAGED.
#include "direct-grid.cuh"
#include "hopper.cuh"

constexpr int THREADS = 32 * WARPS;
constexpr int INPUTS = STATIONS * POLARISATIONS;
constexpr int STEPS = 8;                              // eight steps and (re, im) are the 16 rows of an mma
constexpr int FIELD_BYTES = POLARISATIONS * 32 + 16;  // one station: [p][re, im][8 steps]; odd in 16 bytes
constexpr int CELL_BLOCKS = BOX / 16;                 // of 8 cells |u|; as many blocks of 8 rows |v|
constexpr int TASKS = BOX / 4 * CELL_BLOCKS, TASK_BLOCKS = TASKS / WARPS;
constexpr int SLOT_BYTES = 4 * BOX * BOX;
constexpr int LIST_AT = 2 * 4 * 512,
              GROUP_BYTES = LIST_AT + 128;  // weights of two rows and four quadrants, 16 x 4 stations
// Shared memory: samples in flight [turn][a][16 bytes], factors, fields.
constexpr int FACTORS_AT = AHEAD * INPUTS * 16, FIELDS_AT = (FACTORS_AT + INPUTS * 8 + 15) / 16 * 16;
constexpr int FIELDS_BYTES = STATIONS * FIELD_BYTES;
// Where STAGED, a block makes whole blocks of 8 rows, of all four groups of columns, and two buffers hold eight steps
// of them until they are stored : [step][p][group][piece]; the steps' pitch keeps their rows in different banks.
constexpr int STEP_BYTES = POLARISATIONS * SLOT_BYTES;
constexpr int ROW_BLOCK_BYTES = 16 * BOX, GROUP_OF_COLUMNS = CELL_BLOCKS * ROW_BLOCK_BYTES;
constexpr int ROW_BLOCKS = WARPS / (4 * CELL_BLOCKS);
constexpr bool WHOLE = ROW_BLOCKS == CELL_BLOCKS;  // of a step's grids: a single piece
constexpr int PIECES = WHOLE ? 1 : 4 * POLARISATIONS, PIECE_BYTES = WHOLE ? STEP_BYTES : ROW_BLOCKS * ROW_BLOCK_BYTES;
constexpr int STAGED_GROUP = ROW_BLOCKS * ROW_BLOCK_BYTES, STEP_PITCH = POLARISATIONS * 4 * STAGED_GROUP + 16;
constexpr int GRIDS_AT = FIELDS_AT + BUFFERS * FIELDS_BYTES;
static_assert(STAGED == 0 || WARPS == 4 * CELL_BLOCKS * ROW_BLOCKS, "a block makes whole blocks of rows");

__device__ __forceinline__ uint32_t addHalves(uint32_t a, uint32_t b) {
  uint32_t sum;
  asm("add.f16x2 %0, %1, %2;" : "=r"(sum) : "r"(a), "r"(b));
  return sum;
}
__device__ __forceinline__ uint32_t subHalves(uint32_t a, uint32_t b) {
  uint32_t difference;
  asm("sub.f16x2 %0, %1, %2;" : "=r"(difference) : "r"(a), "r"(b));
  return difference;
}

__device__ __forceinline__ void multiplyAdd(uint32_t (&d)[2], uint32_t a0, uint32_t a1, uint32_t a2, uint32_t a3,
                                            uint32_t b0, uint32_t b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%0, %1};"
      : "+r"(d[0]), "+r"(d[1])
      : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
}

// Eight int8 samples (re, im) times the factor, as halves.
__device__ __forceinline__ void scaledSamples(uint4 raw, float2 factor, uint32_t (&re)[4], uint32_t (&im)[4]) {
  const uint32_t words[4] = {raw.x, raw.y, raw.z, raw.w};
#pragma unroll
  for (int pair = 0; pair < 4; ++pair) {
    float x[2], y[2];
    scaledPair(words[pair], factor, x, y);
    re[pair] = packHalves(x[0], x[1]), im[pair] = packHalves(y[0], y[1]);
  }
}

// One quadrant's part of a group: weights of both rows; (re; im) by their real parts, then (-im; re) by the imaginary.
__device__ __forceinline__ void multiplyQuadrant(uint32_t (&d)[2][4][2], int quadrant, uint4 upper, uint4 lower,
                                                 uint32_t field) {
  uint32_t x[4];
  gather(x, field);
  multiplyAdd(d[0][quadrant], x[0], x[1], x[2], x[3], upper.x, upper.y);
  multiplyAdd(d[1][quadrant], x[0], x[1], x[2], x[3], lower.x, lower.y);
  const uint32_t low = negated(x[1]), high = negated(x[3]);
  multiplyAdd(d[0][quadrant], low, x[0], high, x[2], upper.z, upper.w);
  multiplyAdd(d[1][quadrant], low, x[0], high, x[2], lower.z, lower.w);
}
// spectra : [c][a][pitch] int8, zero past the last sample to the next 64. factors : [c][a], scaled. tasks : [c][TASKS].
// tables : [group][GROUP_BYTES]. Grid: (spans of `spanSteps` steps times TASK_BLOCKS, channels of the group). `steps` and
// `spanSteps` are multiples of 8.
extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
    spreadFolded(const int8_t *spectra, int64_t pitch, int steps, int spanSteps, int firstChannel,
                 const float2 *factors, const Task *tasks, const uint8_t *tables, uint8_t *grids) {
  extern __shared__ __align__(128) uint8_t shared[];
  const uint32_t base = (uint32_t)__cvta_generic_to_shared(shared);
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int channel = firstChannel + blockIdx.y;
  const int begin = (int)blockIdx.x / TASK_BLOCKS * spanSteps, end = min(begin + spanSteps, steps);
  const int8_t *rows = spectra + (int64_t)channel * INPUTS * pitch;
  // ldmatrix: lanes 0-7 and 16-23 point at the real parts of 8 stations each, 8-15 and 24-31 at the imaginary parts.
  const uint32_t part = base + FIELDS_AT + (lane >> 3 & 1) * 16;
  const int station = (lane >> 4) * 8 + (lane & 7);
  const Task task = tasks[(int64_t)channel * TASKS + blockIdx.x % TASK_BLOCKS * WARPS + warp];
  const uint8_t *groups = tables + (int64_t)task.first * GROUP_BYTES;
  auto weightsOf = [&](uint32_t k, int row, int quadrant) {
    return __ldg((const uint4 *)(groups + (int64_t)k * GROUP_BYTES + (row * 4 + quadrant) * 512) + lane);
  };
  auto listOf = [&](uint32_t k) {
    return __ldg((const uint2 *)(groups + (int64_t)k * GROUP_BYTES + LIST_AT) + station);
  };
  uint4 held[HELD][2][4];
  uint2 lists[HELD];
#pragma unroll
  for (int k = 0; k < HELD; ++k)
    if (k < task.groups) {
#pragma unroll
      for (int n = 0; n < 8; ++n) held[k][n / 4][n % 4] = weightsOf(k, n / 4, n % 4);
      lists[k] = listOf(k);
    }

  const uint32_t pairOfRows = task.place / CELL_BLOCKS, cells = task.place % CELL_BLOCKS;
  // Without STAGED lanes of a step exchange cells so that each stores 8 bytes of one row: the even ones of the first, the odd
  // ones of the second.
  const bool isOdd = lane & 1;
  const uint32_t inSlot = (STAGED ? pairOfRows / 4 % ROW_BLOCKS : pairOfRows / 4) * ROW_BLOCK_BYTES + cells * 128 +
                          pairOfRows % 4 * 32 + (STAGED ? (lane & 3) * 4 : (lane & 1) * 16 + (lane >> 1 & 1) * 8);
  uint8_t *channelGrids = grids + (int64_t)blockIdx.y * steps * STEP_BYTES;
  for (int a = threadIdx.x; a < INPUTS; a += THREADS)
    *(float2 *)(shared + FACTORS_AT + a * 8) = factors[(int64_t)channel * INPUTS + a];
  __syncthreads();

  // A thread unpacks what it fetched itself: only the fields need a barrier.
  constexpr int TURNS = (INPUTS + THREADS - 1) / THREADS;
  auto fetch = [&](int first) {
    if (first < end) fetchSamples<INPUTS, THREADS>(base + first / STEPS % AHEAD * (INPUTS * 16), rows, pitch, first);
    fetched();
  };
  auto unpack = [&](int first) {
    fetchesArrived<AHEAD - 1>();
    if (first >= end) return;
#pragma unroll 1
    for (int n = 0; n < TURNS; ++n) {
      const int a = n * THREADS + threadIdx.x;
      if (INPUTS % THREADS != 0 && a >= INPUTS) break;
      uint32_t re[4], im[4];
      scaledSamples(*(const uint4 *)(shared + (first / STEPS % AHEAD * INPUTS + a) * 16),
                    *(const float2 *)(shared + FACTORS_AT + a * 8), re, im);
      uint4 *to = (uint4 *)(shared + FIELDS_AT + first / STEPS % BUFFERS * FIELDS_BYTES +
                            a / POLARISATIONS * FIELD_BYTES + a % POLARISATIONS * 32);
      to[0] = make_uint4(re[0], re[1], re[2], re[3]);
      to[1] = make_uint4(im[0], im[1], im[2], im[3]);
    }
  };
  // Pieces of eight steps, spread over the warps: if one warp sent them all, the others would wait.
  auto send = [&](int first) {
    constexpr int LANES = PIECES == 1 ? 1 : 4;
    if (lane >= LANES) return;
    for (int i = warp * LANES + lane; i < STEPS * PIECES; i += WARPS * LANES) {
      const int step = i / PIECES, piece = i % PIECES;
      const uint32_t inStep =
          WHOLE ? 0 : piece / 4 * SLOT_BYTES + piece % 4 * GROUP_OF_COLUMNS + blockIdx.x % TASK_BLOCKS * STAGED_GROUP;
      ptx::storeBytes(channelGrids + (int64_t)(first + step) * STEP_BYTES + inStep,
                      base + GRIDS_AT + (first / STEPS % 2 * STEPS + step) * STEP_PITCH + piece * PIECE_BYTES,
                      PIECE_BYTES);
    }
  };
  fetch(begin);
  if (AHEAD == 2) fetch(begin + STEPS);
  unpack(begin);
  fetch(begin + AHEAD * STEPS);
  __syncthreads();
#pragma unroll 1
  for (int first = begin; first < end; first += STEPS) {
    if (BUFFERS == 2) {
      unpack(first + STEPS);
      fetch(first + (1 + AHEAD) * STEPS);
    }
#pragma unroll 1
    for (int p = 0; p < POLARISATIONS; ++p) {
      const uint32_t fields = part + first / STEPS % BUFFERS * FIELDS_BYTES + p * 32;
      uint32_t d[2][4][2] = {};
#pragma unroll
      for (int k = 0; k < HELD; ++k)
        if (k < task.groups) {
#pragma unroll
          for (int quadrant = 0; quadrant < 4; ++quadrant)
            multiplyQuadrant(d, quadrant, held[k][0][quadrant], held[k][1][quadrant],
                             fields + stationOf(lists[k], quadrant) * FIELD_BYTES);
        }
#pragma unroll 1
      for (uint32_t k = HELD; k < task.groups; ++k) {
        const uint2 list = listOf(k);
#pragma unroll
        for (int quadrant = 0; quadrant < 4; ++quadrant)
          multiplyQuadrant(d, quadrant, weightsOf(k, 0, quadrant), weightsOf(k, 1, quadrant),
                           fields + stationOf(list, quadrant) * FIELD_BYTES);
      }
      uint8_t *to = STAGED ? shared + GRIDS_AT + first / STEPS % 2 * (STEPS * STEP_PITCH) + (lane >> 2) * STEP_PITCH
                           : channelGrids + (int64_t)(first + (lane >> 2)) * STEP_BYTES;
      to += p * (STAGED ? 4 * STAGED_GROUP : SLOT_BYTES) + inSlot;
      auto put = [&](int group, int parity, const uint32_t(&rows)[2]) {
        uint8_t *at = to + group * (STAGED ? STAGED_GROUP : GROUP_OF_COLUMNS) + parity * (CELL_BLOCKS * 128);
        if constexpr (STAGED) {
          *(uint32_t *)at = rows[0], *(uint32_t *)(at + 16) = rows[1];
        } else {
          const uint32_t other = __shfl_xor_sync(0xFFFFFFFFu, isOdd ? rows[0] : rows[1], 1);
          *(uint2 *)at = isOdd ? make_uint2(other, rows[1]) : make_uint2(rows[0], other);
        }
      };
#pragma unroll
      for (int h = 0; h < 2; ++h) {  // real parts, then imaginary ones, whose odd parts are all stored with a minus
        uint32_t ee[2], oe[2], eo[2], oo[2];
#pragma unroll
        for (int row = 0; row < 2; ++row) {
          // quadrants: (v+, u+), (v+, u-), (v-, u+), (v-, u-)
          const uint32_t(&q)[4][2] = d[row];
          const uint32_t evenUp = addHalves(q[0][h], q[1][h]), evenDown = addHalves(q[2][h], q[3][h]);
          const uint32_t oddUp = h == 0 ? subHalves(q[0][h], q[1][h]) : subHalves(q[1][h], q[0][h]);
          const uint32_t oddDown = h == 0 ? subHalves(q[2][h], q[3][h]) : subHalves(q[3][h], q[2][h]);
          ee[row] = addHalves(evenUp, evenDown), oe[row] = addHalves(oddUp, oddDown);
          eo[row] = h == 0 ? subHalves(evenUp, evenDown) : subHalves(evenDown, evenUp);
          oo[row] = h == 0 ? subHalves(oddDown, oddUp) : subHalves(oddUp, oddDown);
        }
        if (h == 0)
          put(0, 0, ee), put(2, 1, oe), put(3, 0, eo), put(1, 1, oo);
        else
          put(2, 0, ee), put(0, 1, oe), put(1, 0, eo), put(3, 1, oo);
      }
    }
    if (STAGED) {
      ptx::showToCopies();
      ptx::storesRead();  // earlier stores are read out: the other buffer may be filled
    }
    __syncthreads();
    if (STAGED) send(first);
    if (BUFFERS == 1) {
      unpack(first + STEPS);
      fetch(first + (1 + AHEAD) * STEPS);
      __syncthreads();
    }
  }
  if (STAGED) ptx::storesDone();
}

// Voltages onto the grid in single precision on the tensor cores, folded for the transform: as direct-grid.cu, with every
// number the sum of two halves and sums in floats.
//
// grids : [c][slot][nearest, rest][column block of 8][depth block of 8][8 columns][8 depths] halves.
//
// A warp has one task for all its steps, two rows |v| and 8 cells |u| in four quadrants, and both polarisations at once, so
// that weights which registers do not hold are read but once for every 8 steps.
//
// Set by the plan: STATIONS, POLARISATIONS, BOX (multiple of 16), WARPS (tasks that a block has), BLOCKS (on a
// multiprocessor at once), HELD (groups of 16 stations whose weights are kept), BUFFERS (1 or 2 of fields: with one, unpacking and gridding take turns).
#include "direct-grid.cuh"

constexpr int THREADS = 32 * WARPS;
constexpr int INPUTS = STATIONS * POLARISATIONS;
constexpr int STEPS = 8;                              // eight steps and (re, im) are the 16 rows of an mma
constexpr int FIELD_BYTES = POLARISATIONS * 64 + 16;  // a station: [p][nearest, rest][re, im][8 steps]; odd in 16 bytes
constexpr int CELL_BLOCKS = BOX / 16;                 // of 8 cells |u|; as many blocks of 8 rows |v|
constexpr int TASKS = BOX / 4 * CELL_BLOCKS, TASK_BLOCKS = TASKS / WARPS;
constexpr int SLOT_BYTES = 4 * BOX * BOX;
constexpr int LIST_AT = 2 * 2 * 4 * 512,
              GROUP_BYTES = LIST_AT + 128;  // [nearest, rest][row][quadrant] weights, 16 x 4 stations
// Shared memory: samples in flight [a][16 bytes], factors, fields.
constexpr int FACTORS_AT = INPUTS * 16, FIELDS_AT = (FACTORS_AT + INPUTS * 8 + 15) / 16 * 16,
              FIELDS_BYTES = STATIONS * FIELD_BYTES;

__device__ __forceinline__ void multiplyAdd(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
// (re; im) by the weights' real parts, then (-im; re) by the imaginary.
__device__ __forceinline__ void multiplyComplex(float (&d)[4], const uint32_t (&x)[4], const uint32_t (&turned)[4],
                                                uint4 w) {
  multiplyAdd(d, x, w.x, w.y);
  multiplyAdd(d, turned, w.z, w.w);
}

// Of one quadrant and 16 stations: [nearest, rest][row].
struct Weights {
  uint4 of[2][2];
};
__device__ __forceinline__ void multiplyQuadrant(float (&d)[POLARISATIONS][2][4][4], int quadrant, const Weights &w,
                                                 uint32_t field) {
#pragma unroll
  for (int p = 0; p < POLARISATIONS; ++p)
#pragma unroll
    for (int rest = 1; rest >= 0; --rest) {
      uint32_t x[4];
      gather(x, field + p * 64 + rest * 32);
      const uint32_t turned[4] = {negated(x[1]), x[0], negated(x[3]), x[2]};
#pragma unroll
      for (int row = 0; row < 2; ++row) {
        if (rest == 0) multiplyComplex(d[p][row][quadrant], x, turned, w.of[1][row]);
        multiplyComplex(d[p][row][quadrant], x, turned, w.of[0][row]);
      }
    }
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
  auto weightsOf = [&](uint32_t k, int quadrant) {
    Weights w;
#pragma unroll
    for (int n = 0; n < 4; ++n)
      w.of[n / 2][n % 2] = __ldg((const uint4 *)(groups + (int64_t)k * GROUP_BYTES + (n * 4 + quadrant) * 512) + lane);
    return w;
  };
  auto listOf = [&](uint32_t k) {
    return __ldg((const uint2 *)(groups + (int64_t)k * GROUP_BYTES + LIST_AT) + station);
  };
  Weights held[HELD + 1][4];
  uint2 lists[HELD + 1];
#pragma unroll
  for (int k = 0; k < HELD; ++k)
    if (k < task.groups) {
#pragma unroll
      for (int quadrant = 0; quadrant < 4; ++quadrant) held[k][quadrant] = weightsOf(k, quadrant);
      lists[k] = listOf(k);
    }
  const uint32_t pairOfRows = task.place / CELL_BLOCKS, cells = task.place % CELL_BLOCKS;
  // Lanes of a step exchange cells so that each stores 8 bytes of one row: the even ones of the first, the odd ones of the
  // second.
  const bool isOdd = lane & 1;
  uint8_t *slots = grids + ((int64_t)blockIdx.y * steps + (lane >> 2)) * (POLARISATIONS * 2 * SLOT_BYTES) +
                   pairOfRows / 4 * (16 * BOX) + cells * 128 + pairOfRows % 4 * 32 + (lane & 1) * 16 +
                   (lane >> 1 & 1) * 8;
  for (int a = threadIdx.x; a < INPUTS; a += THREADS)
    *(float2 *)(shared + FACTORS_AT + a * 8) = factors[(int64_t)channel * INPUTS + a];
  __syncthreads();

  // A thread unpacks what it fetched itself: only the fields need a barrier.
  constexpr int TURNS = (INPUTS + THREADS - 1) / THREADS;
  auto fetch = [&](int first) {
    if (first < end) fetchSamples<INPUTS, THREADS>(base, rows, pitch, first);
    fetched();
  };
  auto unpack = [&](int first) {
    fetchesArrived<0>();
    if (first >= end) return;
#pragma unroll 1
    for (int n = 0; n < TURNS; ++n) {
      const int a = n * THREADS + threadIdx.x;
      if (INPUTS % THREADS != 0 && a >= INPUTS) break;
      const uint32_t *words = (const uint32_t *)(shared + a * 16);
      const float2 factor = *(const float2 *)(shared + FACTORS_AT + a * 8);
      uint8_t *to = shared + FIELDS_AT + first / STEPS % BUFFERS * FIELDS_BYTES + a / POLARISATIONS * FIELD_BYTES +
                    a % POLARISATIONS * 64;
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        uint32_t nearest[2][2], rest[2][2];
#pragma unroll
        for (int pair = 0; pair < 2; ++pair) {
          float x[2], y[2];
          scaledPair(words[half * 2 + pair], factor, x, y);
          splitHalves(x[0], x[1], nearest[0][pair], rest[0][pair]);
          splitHalves(y[0], y[1], nearest[1][pair], rest[1][pair]);
        }
#pragma unroll
        for (int n = 0; n < 2; ++n) {
          *(uint2 *)(to + n * 16 + half * 8) = make_uint2(nearest[n][0], nearest[n][1]);
          *(uint2 *)(to + 32 + n * 16 + half * 8) = make_uint2(rest[n][0], rest[n][1]);
        }
      }
    }
  };
  fetch(begin);
  unpack(begin);
  fetch(begin + STEPS);
  __syncthreads();
#pragma unroll 1
  for (int first = begin; first < end; first += STEPS) {
    if (BUFFERS == 2) {
      unpack(first + STEPS);
      fetch(first + 2 * STEPS);
    }
    const uint32_t fields = part + first / STEPS % BUFFERS * FIELDS_BYTES;
    float d[POLARISATIONS][2][4][4] = {};
#pragma unroll
    for (int k = 0; k < HELD; ++k)
      if (k < task.groups) {
#pragma unroll
        for (int quadrant = 0; quadrant < 4; ++quadrant)
          multiplyQuadrant(d, quadrant, held[k][quadrant], fields + stationOf(lists[k], quadrant) * FIELD_BYTES);
      }
#pragma unroll 1
    for (uint32_t k = HELD; k < task.groups; ++k) {
      const uint2 list = listOf(k);
#pragma unroll
      for (int quadrant = 0; quadrant < 4; ++quadrant)
        multiplyQuadrant(d, quadrant, weightsOf(k, quadrant), fields + stationOf(list, quadrant) * FIELD_BYTES);
    }
#pragma unroll
    for (int p = 0; p < POLARISATIONS; ++p) {
      uint8_t *to = slots + ((int64_t)first * POLARISATIONS + p) * (2 * SLOT_BYTES);
      auto put = [&](int group, int parity, const float(&values)[2][2], uint32_t sign) {
        uint32_t halves[2][2];  // [nearest, rest][row]
#pragma unroll
        for (int row = 0; row < 2; ++row) splitHalves(values[row][0], values[row][1], halves[0][row], halves[1][row]);
#pragma unroll
        for (int rest = 0; rest < 2; ++rest) {
          const uint32_t(&word)[2] = halves[rest];
          const uint32_t other = __shfl_xor_sync(0xFFFFFFFFu, isOdd ? word[0] : word[1], 1);
          *(uint2 *)(to + rest * SLOT_BYTES + group * (CELL_BLOCKS * 16 * BOX) + parity * (CELL_BLOCKS * 128)) =
              isOdd ? make_uint2(other ^ sign, word[1] ^ sign) : make_uint2(word[0] ^ sign, other ^ sign);
        }
      };
      constexpr uint32_t PLUS = 0, MINUS = 0x80008000u;
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        float ee[2][2], oe[2][2], eo[2][2], oo[2][2];
#pragma unroll
        for (int n = 0; n < 4; ++n) {
          const int row = n / 2, cell = n % 2;
          // quadrants: (v+, u+), (v+, u-), (v-, u+), (v-, u-)
          const float(&q)[4][4] = d[p][row];
          const int at = 2 * h + cell;
          const float evenUp = q[0][at] + q[1][at], oddUp = q[0][at] - q[1][at];
          const float evenDown = q[2][at] + q[3][at], oddDown = q[2][at] - q[3][at];
          ee[row][cell] = evenUp + evenDown, oe[row][cell] = oddUp + oddDown;
          eo[row][cell] = evenUp - evenDown, oo[row][cell] = oddUp - oddDown;
        }
        if (h == 0)
          put(0, 0, ee, PLUS), put(2, 1, oe, PLUS), put(3, 0, eo, PLUS), put(1, 1, oo, MINUS);
        else
          put(2, 0, ee, PLUS), put(0, 1, oe, MINUS), put(1, 0, eo, MINUS), put(3, 1, oo, MINUS);
      }
    }
    __syncthreads();
    if (BUFFERS == 1) {
      unpack(first + STEPS);
      fetch(first + 2 * STEPS);
      __syncthreads();
    }
  }
}

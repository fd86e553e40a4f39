// Voltages onto the grid, in half precision on the tensor cores, folded for the transform.
//
// The box of BOX x BOX cells lies symmetrically about its middle: u, v = +-1/2, +-3/2, ... That turns both polarisations'
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
// Gridding is a sparse product: per row |v| and 8 cells |u|, four quadrants; for each, the stations whose kernels touch
// those cells, 16 at a time (cuda-tables.ts). ldmatrix takes an address per lane, so gathering stations is free.
//
// Set by the plan: STATIONS, POLARISATIONS, BOX (multiple of 16), BATCHES (of 8 steps that share each load of weights: 1
// or 2), STAGES (2: a block of rows is stored while the next one is gridded), THREADS.
#include "integers.cuh"

constexpr int INPUTS = STATIONS * POLARISATIONS;
constexpr int STEPS = 8 * BATCHES;                          // eight steps and (re, im) are the 16 rows of an mma
constexpr int FIELD_BYTES = BATCHES * POLARISATIONS * 32 + 16;  // one station: [p][batch][re, im][8 steps]; odd in 16 bytes
constexpr int ROW_BLOCKS = BOX / 16;                        // blocks of 8 rows |v|, and of 8 cells |u|
constexpr int TASKS = 8 * ROW_BLOCKS;                       // per block of rows
constexpr int SLOT_BYTES = 4 * BOX * BOX;
constexpr int STAGE_BYTES = 64 * BOX + 16;                  // a slot's share of a block of rows; 16 more: no bank conflicts
constexpr int BLOCK_BYTES = 4 * 512 + 128;                  // four quadrants of weights, then 16 x 4 stations
constexpr int WARPS = THREADS / 32;
// Shared memory: samples on their way [batch][a][16 bytes], fields, the stage.
constexpr int FIELDS_AT = BATCHES * INPUTS * 16;
constexpr int STAGE_AT = (FIELDS_AT + STATIONS * FIELD_BYTES + 127) / 128 * 128;

struct Task {
  uint32_t blocks, first;  // how many groups of 16 stations, and where they start
};

__device__ __forceinline__ uint32_t packHalves(float low, float high) {
  uint32_t packed;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(packed) : "f"(high), "f"(low));
  return packed;
}
__device__ __forceinline__ uint32_t addHalves(uint32_t a, uint32_t b) {
  uint32_t sum;
  asm("add.f16x2 %0, %1, %2;" : "=r"(sum) : "r"(a), "r"(b));
  return sum;
}
__device__ __forceinline__ uint32_t negated(uint32_t a) { return a ^ 0x80008000u; }
__device__ __forceinline__ uint32_t subHalves(uint32_t a, uint32_t b) { return addHalves(a, negated(b)); }

__device__ __forceinline__ void gather(uint32_t (&a)[4], uint32_t address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3])
               : "r"(address));
}
__device__ __forceinline__ void multiplyAdd(uint32_t (&d)[2], uint32_t a0, uint32_t a1, uint32_t a2, uint32_t a3,
                                            uint32_t b0, uint32_t b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%0, %1};"
      : "+r"(d[0]), "+r"(d[1])
      : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
}

// Eight int8 samples (re, im) times the factor, as halves. A byte b under 0x4B0000 is the float 2^23 + b.
__device__ __forceinline__ void scaledSamples(uint4 raw, float2 factor, uint32_t (&re)[4], uint32_t (&im)[4]) {
  const uint32_t words[4] = {raw.x, raw.y, raw.z, raw.w};
#pragma unroll
  for (int pair = 0; pair < 4; ++pair) {
    const uint32_t biased = words[pair] ^ 0x80808080u;
    auto value = [&](uint32_t selector) { return __uint_as_float(__byte_perm(biased, 0x4B000000u, selector)) - 8388736.0f; };
    const float x0 = value(0x7440), y0 = value(0x7441), x1 = value(0x7442), y1 = value(0x7443);
    re[pair] = packHalves(x0 * factor.x - y0 * factor.y, x1 * factor.x - y1 * factor.y);
    im[pair] = packHalves(x0 * factor.y + y0 * factor.x, x1 * factor.y + y1 * factor.x);
  }
}

__device__ __forceinline__ void copyAhead(uint32_t to, const void *from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
}

// spectra : [c][a][pitch] int8, zero past the last sample to the next 64. factors : [c][a], scaled. tasks : [c][row block]
// [TASKS]. tables : [block][BLOCK_BYTES]. Grid: (spans of `spanSteps` steps, channels of the group). `steps` is a multiple
// of 8; with two batches a last one past it is gridded from zeros and not stored.
extern "C" __global__ void __launch_bounds__(THREADS)
    gridHalf(const int8_t *spectra, int64_t pitch, int steps, int spanSteps, int firstChannel, const float2 *factors,
             const Task *tasks, const uint8_t *tables, uint8_t *grids) {
  extern __shared__ __align__(128) uint8_t shared[];
  const uint32_t base = (uint32_t)__cvta_generic_to_shared(shared);
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int channel = firstChannel + blockIdx.y;
  // ldmatrix: lanes 0-7 and 16-23 point at the real parts of 8 stations each, 8-15 and 24-31 at the imaginary parts.
  const uint32_t part = base + FIELDS_AT + (lane >> 3 & 1) * 16;
  const int station = (lane >> 4) * 8 + (lane & 7);
  const int stepOfLane = lane >> 2, cellOfLane = lane & 3;
  const int begin = blockIdx.x * spanSteps, end = min(begin + spanSteps, steps);
  const int8_t *rows = spectra + (int64_t)channel * INPUTS * pitch;
  uint8_t *slots = grids + (int64_t)blockIdx.y * steps * POLARISATIONS * SLOT_BYTES;

  auto fetch = [&](int first) {
    if (first < end)
      for (int i = threadIdx.x; i < BATCHES * INPUTS; i += THREADS)
        if (first + i / INPUTS * 8 < steps)
          copyAhead(base + i * 16, rows + i % INPUTS * pitch + (int64_t)(first + i / INPUTS * 8) * 2);
  };
  fetch(begin);
  for (int first = begin; first < end; first += STEPS) {
    asm volatile("cp.async.wait_all;" ::: "memory");
    __syncthreads();
    for (int i = threadIdx.x; i < BATCHES * INPUTS; i += THREADS) {
      const int a = i % INPUTS, batch = i / INPUTS;
      uint32_t re[4], im[4];
      const bool isPast = first + batch * 8 >= steps;
      const uint4 raw = isPast ? make_uint4(0, 0, 0, 0) : *(const uint4 *)(shared + i * 16);
      scaledSamples(raw, factors[(int64_t)channel * INPUTS + a], re, im);
      uint4 *to = (uint4 *)(shared + FIELDS_AT + a / POLARISATIONS * FIELD_BYTES + (a % POLARISATIONS * BATCHES + batch) * 32);
      to[0] = make_uint4(re[0], re[1], re[2], re[3]);
      to[1] = make_uint4(im[0], im[1], im[2], im[3]);
    }
    __syncthreads();
    fetch(first + STEPS);
#pragma unroll 1
    for (int rowBlock = 0; rowBlock < ROW_BLOCKS; ++rowBlock) {
      uint8_t *stage = shared + STAGE_AT + rowBlock % STAGES * (POLARISATIONS * STEPS * STAGE_BYTES);
#pragma unroll 1
      for (int n = warp; n < TASKS; n += WARPS) {
        const Task task = tasks[((int64_t)channel * ROW_BLOCKS + rowBlock) * TASKS + n];
        uint32_t d[POLARISATIONS * BATCHES][4][2] = {};
        const uint8_t *block = tables + (int64_t)task.first * BLOCK_BYTES;
#pragma unroll 1
        for (uint32_t k = 0; k < task.blocks; ++k, block += BLOCK_BYTES) {
          const uint2 list = __ldg((const uint2 *)(block + 2048) + station);
          const uint32_t stations[4] = {list.x & 0xFFFF, list.x >> 16, list.y & 0xFFFF, list.y >> 16};
          uint4 w[4];
#pragma unroll
          for (int quadrant = 0; quadrant < 4; ++quadrant) w[quadrant] = __ldg((const uint4 *)(block + quadrant * 512) + lane);
#pragma unroll
          for (int quadrant = 0; quadrant < 4; ++quadrant)
#pragma unroll
            for (int p = 0; p < POLARISATIONS * BATCHES; ++p) {
              uint32_t x[4];
              gather(x, part + stations[quadrant] * FIELD_BYTES + p * 32);
              // (re; im) by the weights' real parts, then (-im; re) by their imaginary parts
              multiplyAdd(d[p][quadrant], x[0], x[1], x[2], x[3], w[quadrant].x, w[quadrant].y);
              multiplyAdd(d[p][quadrant], negated(x[1]), x[0], negated(x[3]), x[2], w[quadrant].z, w[quadrant].w);
            }
        }
        const int column = n % 8, cells = n / 8;
#pragma unroll
        for (int p = 0; p < POLARISATIONS * BATCHES; ++p) {
          uint8_t *to = stage + (p * 8 + stepOfLane) * STAGE_BYTES + cells * 128 + column * 16 + cellOfLane * 4;
          auto put = [&](int group, int parity, uint32_t pair) {
            *(uint32_t *)(to + group * 16 * BOX + parity * ROW_BLOCKS * 128) = pair;
          };
#pragma unroll
          for (int h = 0; h < 2; ++h) {
            // quadrants: (v+, u+), (v+, u-), (v-, u+), (v-, u-)
            const uint32_t evenUp = addHalves(d[p][0][h], d[p][1][h]), oddUp = subHalves(d[p][0][h], d[p][1][h]);
            const uint32_t evenDown = addHalves(d[p][2][h], d[p][3][h]), oddDown = subHalves(d[p][2][h], d[p][3][h]);
            const uint32_t ee = addHalves(evenUp, evenDown), oe = addHalves(oddUp, oddDown);
            const uint32_t eo = subHalves(evenUp, evenDown), oo = subHalves(oddUp, oddDown);
            if (h == 0) put(0, 0, ee), put(2, 1, oe), put(3, 0, eo), put(1, 1, negated(oo));
            else put(2, 0, ee), put(0, 1, negated(oe)), put(1, 0, negated(eo)), put(3, 1, negated(oo));
          }
        }
      }
      __syncthreads();
      constexpr int PIECES = 4 * BOX;  // of 16 bytes, of one slot
      for (int i = threadIdx.x; i < POLARISATIONS * STEPS * PIECES; i += THREADS) {
        const int staged = i / PIECES, piece = i % PIECES, group = piece / BOX;
        const int step = first + staged % STEPS;
        if (BATCHES > 1 && step >= steps) continue;
        *(uint4 *)(slots + (int64_t)(step * POLARISATIONS + staged / STEPS) * SLOT_BYTES +
                   (group * ROW_BLOCKS + rowBlock) * 16 * BOX + piece % BOX * 16) =
            *(const uint4 *)(stage + staged * STAGE_BYTES + piece * 16);
      }
      if (STAGES == 1) __syncthreads();
    }
  }
}

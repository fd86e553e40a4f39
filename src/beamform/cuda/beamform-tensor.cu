// Beams on the tensor cores of any card since Ampere (sm_80): mma.sync m16n8k32, int8 in, int32 out. A block has a tile of 128
// spectra, a warp 16 of them by all columns; stages of 64 stations arrive by cp.async.
//
// Set by the plan, beside those of beamform.cuh: COLUMNS (32 or 64), STAGES.
#include "fragments.cuh"

constexpr int THREADS = 256;

// Chunk q of row r under the 128-byte swizzle.
__device__ __forceinline__ uint32_t swizzled(uint32_t r, uint32_t q) { return r * PANEL_ROW + ((q ^ (r & 7)) * 16); }

__device__ __forceinline__ void copy16(uint32_t to, const void *from, bool isThere) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(isThere ? 16 : 0) : "memory");
}

__device__ __forceinline__ void loadMatrices(uint32_t (&r)[4], uint32_t address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(address)
               : "memory");
}

__device__ __forceinline__ void multiplyAdd(int *d, const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// spectra : [c][a][pitch], int8 (re, im), zero from 2T to the next multiple of 128 bytes. weights : [c][p][column][station][2],
// rows of STEPS * 128 bytes. Grid: a block for each item.
extern "C" __global__ void __launch_bounds__(THREADS) beamformTensor(const Work work) {
  extern __shared__ __align__(128) uint8_t shared[];
  const uint32_t base = (uint32_t)__cvta_generic_to_shared(shared);
  const Tile tile = tileOf(work, blockIdx.x);
  const int8_t *spectra = (const int8_t *)work.spectra + (int64_t)tile.channel * INPUTS * work.pitchBytes;
  const int8_t *weights =
      (const int8_t *)work.weights + (int64_t)tile.channel * POLARISATIONS * 2 * BEAMS * STEPS * PANEL_ROW;
  const int endByte = (work.samples * 2 + PANEL_ROW - 1) / PANEL_ROW * PANEL_ROW;

  // Rows and columns past the last are read as zeros; their address must still be valid.
  auto load = [&](int k) {
    const uint32_t stage = base + k % STAGES * STAGE_BYTES;
    for (int i = threadIdx.x; i < POLARISATIONS * 2 * STEP_STATIONS * 8; i += THREADS) {
      const int q = i % 8, r = i / 8 % STEP_STATIONS, panel = i / 8 / STEP_STATIONS, p = panel / 2;
      const int station = k * STEP_STATIONS + r, byte = 2 * tile.spectrum + panel % 2 * PANEL_ROW + 16 * q;
      const bool isThere = station < STATIONS && byte < endByte;
      const int8_t *from = spectra + (isThere ? (int64_t)(station * POLARISATIONS + p) * work.pitchBytes + byte : 0);
      copy16(stage + panel * SPECTRA_PANEL + swizzled(r, q), from, isThere);
    }
    for (int i = threadIdx.x; i < 2 * COLUMNS * 8; i += THREADS) {
      const int q = i % 8, r = i / 8 % COLUMNS, half = i / 8 / COLUMNS, p = POLARISATIONS == 1 ? 0 : half;
      const int column = columnOf(tile, half) + r;
      const bool isThere = column < 2 * BEAMS;
      const int8_t *from =
          weights + (((int64_t)p * 2 * BEAMS + (isThere ? column : 0)) * STEPS + k) * PANEL_ROW + 16 * q;
      copy16(stage + SPECTRA_BYTES + half * WEIGHT_PANEL + swizzled(r, q), from, isThere);
    }
  };

  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  const uint32_t offset = fragmentOffset(lane, warp & 3) + (warp >> 2) * SPECTRA_PANEL;
  int acc[2][COLUMNS / 2] = {};
  for (int k = 0; k < STAGES - 1; ++k) {
    if (k < STEPS) load(k);
    asm volatile("cp.async.commit_group;" ::: "memory");
  }
  for (int k = 0; k < STEPS; ++k) {
    asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2) : "memory");
    __syncthreads();  // step k has arrived for all threads, and all are done with step k - 1
    if (k + STAGES - 1 < STEPS) load(k + STAGES - 1);
    asm volatile("cp.async.commit_group;" ::: "memory");
    const uint32_t stage = base + k % STAGES * STAGE_BYTES;
#pragma unroll
    for (int s = 0; s < STEP_STATIONS / 16; s += 2) {  // 32 stations: 64 bytes of a row of weights
      uint32_t a[POLARISATIONS][2][4];
#pragma unroll
      for (int p = 0; p < POLARISATIONS; ++p)
#pragma unroll
        for (int n = 0; n < 2; ++n)
          loadTransposed(a[p][n], stage + p * 2 * SPECTRA_PANEL + offset + (s + n) * 16 * PANEL_ROW);
#pragma unroll
      for (int half = 0; half < 2; ++half)
#pragma unroll
        for (int j = 0; j < VALUES; ++j) {
          uint32_t b[4];
          loadMatrices(b,
                       stage + SPECTRA_BYTES + half * WEIGHT_PANEL + swizzled(8 * j + (lane & 7), 2 * s + (lane >> 3)));
          const int p = POLARISATIONS == 1 ? 0 : half;
          multiplyAdd(acc[half] + 4 * j, a[p][0], b[0], b[1]);
          multiplyAdd(acc[half] + 4 * j, a[p][1], b[2], b[3]);
        }
    }
  }
  storeSums(work, tile, tile.spectrum + warp * 16, acc);
}

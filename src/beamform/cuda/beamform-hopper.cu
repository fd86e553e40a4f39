// Beams on Hopper: wgmma fed by the bulk copy engine (sm_90a). Sixteen stations are one instruction deep, 64 spectra
// high and COLUMNS wide; spectra are transposed while they are loaded into registers, weights are read from shared
// memory unchanged.
//
// Persistent blocks: one producer thread fills a ring of stages, two consumer warpgroups have 64 spectra each.
//
// Set by the plan (beamform/cuda/plan.ts), beside those of beamform.cuh: COLUMNS (32, 64 or 128), STAGES.
#include "hopper.cuh"
#include "fragments.cuh"
#include "wgmma.cuh"

constexpr int CONSUMERS = 256, THREADS = CONSUMERS + 128;

struct Ring {
  uint32_t panels, full, empty;  // shared-memory addresses
  int stage;
  uint32_t phase;
  __device__ __forceinline__ uint32_t panel() const { return panels + stage * STAGE_BYTES; }
  __device__ __forceinline__ uint32_t fullBarrier() const { return full + 8 * stage; }
  __device__ __forceinline__ uint32_t emptyBarrier() const { return empty + 8 * stage; }
  __device__ __forceinline__ void advance() {
    if (++stage == STAGES) stage = 0, phase ^= 1;
  }
};

__device__ __forceinline__ void consume(const Work &work, Ring ring) {
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5 & 3, group = threadIdx.x >> 7;
  const uint32_t offset = fragmentOffset(lane, warp) + group * SPECTRA_PANEL;
  for (int item = blockIdx.x; item < work.items; item += gridDim.x) {
    const Tile tile = tileOf(work, item);
    int acc[2][COLUMNS / 2] = {};
    ptx::pin(acc[0]);
    ptx::pin(acc[1]);
    uint32_t previous = 0;
    for (int k = 0; k < STEPS; ++k) {
      ptx::barrierWait(ring.fullBarrier(), ring.phase);
      const uint32_t panel = ring.panel();
      const uint64_t columns = ptx::panelDescriptor(panel + SPECTRA_BYTES);
#pragma unroll
      for (int s = 0; s < STEP_STATIONS / 16; ++s) {
        uint32_t a[POLARISATIONS][4];
#pragma unroll
        for (int p = 0; p < POLARISATIONS; ++p)
          loadTransposed(a[p], panel + p * 2 * SPECTRA_PANEL + offset + s * 16 * PANEL_ROW);
        ptx::wgmmaFence();
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          const uint32_t(&x)[4] = a[POLARISATIONS == 1 ? 0 : half];
          Wgmma<COLUMNS>::multiplyAdd(acc[half], x[0], x[1], x[2], x[3], columns + half * (WEIGHT_PANEL / 16) + 2 * s);
        }
        ptx::wgmmaCommit();
        ptx::wgmmaWait<1>();  // the previous group is complete: it was the last reader of its stage
        if (s == 0 && k > 0 && lane == 0) ptx::barrierArrive(previous);
      }
      previous = ring.emptyBarrier();
      ring.advance();
    }
    ptx::wgmmaWait<0>();
    if (lane == 0) ptx::barrierArrive(previous);
    ptx::pin(acc[0]);
    ptx::pin(acc[1]);
    storeSums(work, tile, tile.spectrum + group * 64 + warp * 16, acc);
  }
}

__device__ __forceinline__ void produce(const Work &work, const TensorMap *x, const TensorMap *y,
                                        const TensorMap *weights, Ring ring) {
  for (int item = blockIdx.x; item < work.items; item += gridDim.x) {
    const Tile tile = tileOf(work, item);
    for (int k = 0; k < STEPS; ++k) {
      const uint32_t full = ring.fullBarrier(), panel = ring.panel();
      ptx::barrierWait(ring.emptyBarrier(), ring.phase ^ 1);
      ptx::barrierExpect(full, STAGE_BYTES);
#pragma unroll
      for (int p = 0; p < POLARISATIONS; ++p)
#pragma unroll
        for (int group = 0; group < 2; ++group)
          ptx::copyBox(panel + (p * 2 + group) * SPECTRA_PANEL, p == 0 ? x : y, full, 2 * (tile.spectrum + 64 * group),
                       k * STEP_STATIONS, tile.channel);
#pragma unroll
      for (int half = 0; half < 2; ++half)
        ptx::copyBox(panel + SPECTRA_BYTES + half * WEIGHT_PANEL, weights, full, k * PANEL_ROW, columnOf(tile, half),
                     tile.channel * POLARISATIONS + (POLARISATIONS == 1 ? 0 : half));
      ring.advance();
    }
  }
}

// x, y: boxes of 64 stations' spectra of a polarisation, zeros outside; weights: boxes of COLUMNS rows.
extern "C" __global__ void __launch_bounds__(THREADS, 1)
    beamformHopper(const __grid_constant__ TensorMap x, const __grid_constant__ TensorMap y,
                   const __grid_constant__ TensorMap weights, const Work work) {
  extern __shared__ uint8_t raw[];
  uint8_t *base = raw + ((1024 - (ptx::sharedAddress(raw) & 1023)) & 1023);
  uint64_t *full = (uint64_t *)(base + STAGES * STAGE_BYTES), *empty = full + STAGES;
  if (threadIdx.x == 0) {
    for (int s = 0; s < STAGES; ++s) {
      ptx::barrierInit(ptx::sharedAddress(full + s), 1);
      ptx::barrierInit(ptx::sharedAddress(empty + s), CONSUMERS / 32);
    }
    ptx::barrierInitFence();
  }
  __syncthreads();
  const Ring ring{ptx::sharedAddress(base), ptx::sharedAddress(full), ptx::sharedAddress(empty), 0, 0};
  if (threadIdx.x >= CONSUMERS) {
    ptx::giveRegisters<40>();
    if (threadIdx.x == CONSUMERS) produce(work, &x, &y, &weights, ring);
  } else {
    ptx::takeRegisters<232>();
    consume(work, ring);
  }
}

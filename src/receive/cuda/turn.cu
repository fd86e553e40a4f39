// The corner turn on the GPU: from packet slots as the ring holds them to spectra as every kernel reads them. 4-bit
// samples stay packed on the bus and are unpacked here; missing packets become zeros, whatever their slot holds.
//
// cells : [row = sender, fragment][SLOTS][CELL_BYTES], samples in a cell by the steps of its own order.
// presence : [row][rowWords], slot s at bit s mod 32 of word s / 32.
// boxes : [row] (first input, first channel) of where its samples go.
// spectra : [c][a][pitch] of (re, im) int8. From `firstSample` of the block, `samples` samples are written at the row's
// start, then zeros to the next multiple of 64 samples, so that kernels may read whole spans.
//
// A thread block turns 64 samples of WIDE inputs in one channel. It reads along inputs, the common memory order, and
// writes along time. Grid: (spans of 64 samples, items = rows × channels of a cell × groups of inputs; strided over).
#include "integers.cuh"

constexpr int TILE = 64, THREADS = 256;
constexpr int GROUPS = (CELL_INPUTS + WIDE - 1) / WIDE;

__device__ __forceinline__ uint16_t sampleAt(const uint8_t *at) {
  int re, im;
  if (SAMPLE_BYTES == 1) {
    const uint32_t byte = *at;
    re = max(-7, (int)(byte << 24) >> 28);
    im = max(-7, (int)(byte << 28) >> 28);
  } else {
    re = max(-127, (int)(int8_t)at[0]);
    im = max(-127, (int)(int8_t)at[SAMPLE_BYTES - 1]);
  }
  return (uint16_t)((re & 0xFF) | (im & 0xFF) << 8);
}

extern "C" __global__ void __launch_bounds__(THREADS)
    turnCells(const uint8_t *cells, const uint32_t *presence, int rowWords, const int2 *boxes, int8_t *spectra,
              int64_t pitch, int firstSample, int samples, int items) {
  // Padded by two, so that neighbours in a column are in different banks.
  __shared__ __align__(4) uint16_t tile[WIDE][TILE + 2];
  const int first = blockIdx.x * TILE;
  for (int item = blockIdx.y; item < items; item += gridDim.y) {
    const int group = item % GROUPS, channel = item / GROUPS % CELL_CHANNELS;
    const int row = item / (GROUPS * CELL_CHANNELS);
    const int firstInput = group * WIDE, inputs = min(WIDE, CELL_INPUTS - firstInput);
    for (int e = threadIdx.x; e < TILE * WIDE; e += THREADS) {
      const int a = e % WIDE, t = e / WIDE;
      uint16_t value = 0;
      if (a < inputs && first + t < samples) {
        const int sample = firstSample + first + t, slot = sample / SAMPLES_PER_SLOT;
        if (presence[row * rowWords + slot / 32] >> (slot % 32) & 1) {
          const int within = channel * STEP_C + (firstInput + a) * STEP_A + sample % SAMPLES_PER_SLOT * STEP_T;
          value = sampleAt(cells + ((int64_t)row * SLOTS + slot) * CELL_BYTES + (int64_t)within * SAMPLE_BYTES);
        }
      }
      tile[a][t] = value;
    }
    __syncthreads();
    const int2 box = boxes[row];
    for (int e = threadIdx.x; e < inputs * (TILE / 2); e += THREADS) {
      const int a = e / (TILE / 2), pair = e % (TILE / 2);
      const int64_t line = (int64_t)(box.y + channel) * INPUTS + box.x + firstInput + a;
      ((uint32_t *)(spectra + line * pitch))[first / 2 + pair] = ((const uint32_t *)tile[a])[pair];
    }
    __syncthreads();
  }
}

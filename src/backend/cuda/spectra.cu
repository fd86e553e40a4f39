// Spectra copied to and from the device: 4-bit samples are unpacked and packed, and every sample is checked against the
// kernels' assumptions.
//
// Device spectra : [c][a][pitch], rows of (re, im) int8 for ci8 and ci4, float32 for cf32. fault : becomes 1 where a
// sample is outside its range (docs/conventions.md, Numbers). Which one, and whether its input is flagged anyway, is
// found on a canonical copy: it is rare and may be slow.
#include "integers.cuh"

// packed : [row][packedPitch], one byte a sample, real part in the high nibble. Writes zeros from `samples` to the next
// multiple of 64 samples, so that kernels may read whole spans. One thread per 8 samples; grid.y over rows.
extern "C" __global__ void unpackCi4(const uint8_t *packed, int64_t packedPitch, int8_t *spectra, int64_t pitch,
                                     int samples, int64_t rows, int *fault) {
  const int first = (blockIdx.x * blockDim.x + threadIdx.x) * 8;
  if (first >= (samples + 63) / 64 * 64) return;
  for (int64_t row = blockIdx.y; row < rows; row += gridDim.y) {
    const uint2 bytes = first < samples ? *(const uint2 *)(packed + row * packedPitch + first) : make_uint2(0, 0);
    const uint32_t in[2] = {bytes.x, bytes.y};
    uint32_t out[4];
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      const uint32_t byte = in[i / 4] >> (i % 4 * 8) & 0xFF;
      int re = (int)(byte << 24) >> 28, im = (int)(byte << 28) >> 28;
      if (first + i >= samples) re = im = 0;
      if (re == -8 || im == -8) *fault = 1;
      const uint32_t pair = (uint32_t)(re & 0xFF) | (uint32_t)(im & 0xFF) << 8;
      out[i / 2] = i % 2 ? out[i / 2] | pair << 16 : pair;
    }
    *(uint4 *)(spectra + row * pitch + first * 2) = make_uint4(out[0], out[1], out[2], out[3]);
  }
}

// The reverse, for canonical copies.
extern "C" __global__ void packCi4(const int8_t *spectra, int64_t pitch, uint8_t *packed, int64_t packedPitch,
                                   int samples, int64_t rows) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= samples) return;
  for (int64_t row = blockIdx.y; row < rows; row += gridDim.y) {
    const int8_t *x = spectra + row * pitch + t * 2;
    packed[row * packedPitch + t] = (uint8_t)((x[0] & 0xF) << 4 | (x[1] & 0xF));
  }
}

// Looks for -128. One thread per 8 samples; the row's tail is already zero.
extern "C" __global__ void checkCi8(const int8_t *spectra, int64_t pitch, int samples, int64_t rows, int *fault) {
  const int first = (blockIdx.x * blockDim.x + threadIdx.x) * 8;
  if (first >= samples) return;
  for (int64_t row = blockIdx.y; row < rows; row += gridDim.y) {
    const uint4 words = *(const uint4 *)(spectra + row * pitch + first * 2);
    const uint32_t in[4] = {words.x, words.y, words.z, words.w};
#pragma unroll
    for (int i = 0; i < 4; ++i)
      if (__vcmpeq4(in[i], 0x80808080u) != 0) *fault = 1;
  }
}

// Looks for NaN and infinity: only for those x - x is not 0.
extern "C" __global__ void checkCf32(const int8_t *spectra, int64_t pitch, int samples, int64_t rows, int *fault) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= samples) return;
  for (int64_t row = blockIdx.y; row < rows; row += gridDim.y) {
    const float2 x = ((const float2 *)(spectra + row * pitch))[t];
    if (x.x - x.x != 0 || x.y - x.y != 0) *fault = 1;
  }
}

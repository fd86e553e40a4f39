// Between blocks of a stream: samples that wait for the next one move to the front of the other buffer. And where inputs
// are delayed: each one's samples from where its first window opens.
#include "integers.cuh"

// rows : [a][pitch]; `bytes` of each row from `from`. Grid: (any, inputs).
extern "C" __global__ void __launch_bounds__(256)
    moveWaiting(const uint8_t *rows, uint8_t *to, int64_t pitchBytes, int64_t from, int64_t bytes, int inputs) {
  for (int a = blockIdx.y; a < inputs; a += gridDim.y) {
    const uint8_t *source = rows + a * pitchBytes + from;
    uint8_t *target = to + a * pitchBytes;
    // To the byte: what follows belongs to the next block, which may be on its way there already.
    const int64_t vectors = from % 16 == 0 ? bytes / 16 : 0;
    for (int64_t i = (int64_t)blockIdx.x * 256 + threadIdx.x; i < vectors; i += (int64_t)gridDim.x * 256)
      ((uint4 *)target)[i] = ((const uint4 *)source)[i];
    for (int64_t i = vectors * 16 + (int64_t)blockIdx.x * 256 + threadIdx.x; i < bytes; i += (int64_t)gridDim.x * 256)
      target[i] = source[i];
  }
}

// rows, to : [a][pitch], a multiple of 16; the bytes of each row from its own opening on go to the front, in vectors of
// 16 and so up to 15 more than asked for. Grid: (any, inputs).
extern "C" __global__ void __launch_bounds__(256)
    openRows(const uint8_t *rows, uint8_t *to, int64_t pitchBytes, const int *openingBytes, int64_t bytes, int inputs) {
  for (int a = blockIdx.y; a < inputs; a += gridDim.y) {
    const int opening = openingBytes[a], words = opening % 16 / 4, bits = opening % 4 * 8;
    const uint4 *source = (const uint4 *)(rows + a * pitchBytes + opening / 16 * 16);
    uint4 *target = (uint4 *)(to + a * pitchBytes);
    const int64_t vectors = (bytes + 15) / 16;
    for (int64_t i = (int64_t)blockIdx.x * 256 + threadIdx.x; i < vectors; i += (int64_t)gridDim.x * 256) {
      const uint4 x = source[i], y = opening % 16 ? source[i + 1] : x;
      const uint32_t w0 = words == 0 ? x.x : words == 1 ? x.y : words == 2 ? x.z : x.w;
      const uint32_t w1 = words == 0 ? x.y : words == 1 ? x.z : words == 2 ? x.w : y.x;
      const uint32_t w2 = words == 0 ? x.z : words == 1 ? x.w : words == 2 ? y.x : y.y;
      const uint32_t w3 = words == 0 ? x.w : words == 1 ? y.x : words == 2 ? y.y : y.z;
      const uint32_t w4 = words == 0 ? y.x : words == 1 ? y.y : words == 2 ? y.z : y.w;
      target[i] = make_uint4(__funnelshift_r(w0, w1, bits), __funnelshift_r(w1, w2, bits),
                             __funnelshift_r(w2, w3, bits), __funnelshift_r(w3, w4, bits));
    }
  }
}

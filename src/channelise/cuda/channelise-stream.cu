// Between blocks of a stream: samples for the next one are moved to the front of the other buffer.
#include "integers.cuh"

// rows : [a][pitch]; `bytes` of each row from `from`. Grid: (any, inputs).
extern "C" __global__ void __launch_bounds__(256)
    moveWaiting(const uint8_t *rows, uint8_t *to, int64_t pitchBytes, int64_t from, int64_t bytes, int inputs) {
  for (int a = blockIdx.y; a < inputs; a += gridDim.y) {
    const uint8_t *source = rows + a * pitchBytes + from;
    uint8_t *target = to + a * pitchBytes;
    // Exact to the byte: the bytes after it belong to the next block, which may be in transfer already.
    const int64_t vectors = from % 16 == 0 ? bytes / 16 : 0;
    for (int64_t i = (int64_t)blockIdx.x * 256 + threadIdx.x; i < vectors; i += (int64_t)gridDim.x * 256)
      ((uint4 *)target)[i] = ((const uint4 *)source)[i];
    for (int64_t i = vectors * 16 + (int64_t)blockIdx.x * 256 + threadIdx.x; i < bytes; i += (int64_t)gridDim.x * 256)
      target[i] = source[i];
  }
}

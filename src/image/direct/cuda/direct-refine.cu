// From samples of the image to its pixels. The squared field of a box of BOX cells has only waves of less than BOX
// cells: SAMPLES = 2 BOX samples along either side determine it, and the pixels between them are weighted sums of
// samples,
//   pixels = W x samples x W^T,   W[pixel][k] = 1/SAMPLES sum over |d| <= BOX of cos 2 pi d (pixel/PIXELS - k/SAMPLES)
// (the last d at half weight), exact up to rounding. The cost of imaging then depends on the aperture, not on the
// number of pixels.
//
// A block makes tiles of ROWS x COLUMNS pixels, one plane after the other with the same weights: weighted along m first, then
// along l.
//
// Set by the plan: SAMPLES, PIXELS, PRODUCTS, ROWS, COLUMNS.
#include "integers.cuh"

constexpr int THREADS = 256;
constexpr int ROW_TILES = (PIXELS + ROWS - 1) / ROWS;
// Shared memory, floats: weights [k][ROWS] and [k][COLUMNS], samples [m][l], rows weighted along m [l][ROWS]
constexpr int COLUMNS_AT = SAMPLES * ROWS, SAMPLES_AT = COLUMNS_AT + SAMPLES * COLUMNS;
constexpr int WEIGHTED_AT = SAMPLES_AT + SAMPLES * SAMPLES;
static_assert(SAMPLES % 4 == 0 && PIXELS % 2 == 0 && ROWS == 8 * (THREADS / 32) && COLUMNS == 4 * 32, "vectors");

__device__ __forceinline__ void addProduct(float (&sums)[4], float by, float4 v) {
  sums[0] = fmaf(by, v.x, sums[0]), sums[1] = fmaf(by, v.y, sums[1]);
  sums[2] = fmaf(by, v.z, sums[2]), sums[3] = fmaf(by, v.w, sums[3]);
}

// Weights of `COUNT` pixels from `first` on, zeros past the last.
template <int COUNT>
__device__ __forceinline__ void bringWeights(float *to, const float *weights, int first) {
  for (int i = threadIdx.x; i < SAMPLES * COUNT; i += THREADS) {
    const int k = i / COUNT, pixel = first + i % COUNT;
    to[i] = pixel < PIXELS ? __ldg(weights + k * PIXELS + pixel) : 0.0f;
  }
}

// samples : [c in group][product][m][l], `planes` of them. weights : [k][pixel]. unscale : [c]. sums : [c][product][m][l]
// float64, replaced or added to. Grid: (tiles of pixels, as many blocks as share the planes).
extern "C" __global__ void __launch_bounds__(THREADS)
    refineSums(const float *samples, const float *weights, int planes, int firstChannel, int add, const double *unscale,
               double *sums) {
  extern __shared__ __align__(16) float shared[];
  const int tid = threadIdx.x, warp = tid / 32, lane = tid % 32;
  const int firstM = blockIdx.x % ROW_TILES * ROWS, firstL = blockIdx.x / ROW_TILES * COLUMNS;
  bringWeights<ROWS>(shared, weights, firstM);
  bringWeights<COLUMNS>(shared + COLUMNS_AT, weights, firstL);
#pragma unroll 1
  for (int plane = blockIdx.y; plane < planes; plane += gridDim.y) {
    const float4 *from = (const float4 *)(samples + (int64_t)plane * SAMPLES * SAMPLES);
    for (int i = tid; i < SAMPLES * SAMPLES / 4; i += THREADS) ((float4 *)(shared + SAMPLES_AT))[i] = __ldcs(from + i);
    __syncthreads();
    for (int tile = tid; tile < SAMPLES / 4 * (ROWS / 4); tile += THREADS) {
      const int m = tile % (ROWS / 4) * 4, l = tile / (ROWS / 4) * 4;
      float part[4][4] = {};  // [l][m]
#pragma unroll 8
      for (int k = 0; k < SAMPLES; ++k) {
        const float4 w = *(const float4 *)(shared + k * ROWS + m);
        const float4 s = *(const float4 *)(shared + SAMPLES_AT + k * SAMPLES + l);
        addProduct(part[0], s.x, w), addProduct(part[1], s.y, w), addProduct(part[2], s.z, w),
            addProduct(part[3], s.w, w);
      }
#pragma unroll
      for (int i = 0; i < 4; ++i)
        *(float4 *)(shared + WEIGHTED_AT + (l + i) * ROWS + m) =
            make_float4(part[i][0], part[i][1], part[i][2], part[i][3]);
    }
    __syncthreads();
    float part[8][4] = {};  // [m][l]
#pragma unroll 8
    for (int k = 0; k < SAMPLES; ++k) {
      const float4 w = *(const float4 *)(shared + COLUMNS_AT + k * COLUMNS + lane * 4);
      const float4 low = *(const float4 *)(shared + WEIGHTED_AT + k * ROWS + warp * 8);
      const float4 high = *(const float4 *)(shared + WEIGHTED_AT + k * ROWS + warp * 8 + 4);
      addProduct(part[0], low.x, w), addProduct(part[1], low.y, w), addProduct(part[2], low.z, w);
      addProduct(part[3], low.w, w), addProduct(part[4], high.x, w), addProduct(part[5], high.y, w);
      addProduct(part[6], high.z, w), addProduct(part[7], high.w, w);
    }
    const double by = unscale[firstChannel + plane / PRODUCTS];
    const int l = firstL + lane * 4;
    double *planeSums = sums + ((int64_t)firstChannel * PRODUCTS + plane) * PIXELS * PIXELS;
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      const int m = firstM + warp * 8 + i;
      if (m >= PIXELS) break;
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        if (l + 2 * half >= PIXELS) break;
        double2 *to = (double2 *)(planeSums + (int64_t)m * PIXELS + l + 2 * half);
        const double2 before = add ? *to : make_double2(0, 0);
        *to = make_double2(before.x + by * part[i][2 * half], before.y + by * part[i][2 * half + 1]);
      }
    }
  }
}

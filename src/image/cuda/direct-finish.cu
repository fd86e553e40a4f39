// From sums of products to the final image: scaled, with the taper taken out and the pixels in order.

#include "integers.cuh"

__device__ __forceinline__ bool takesPart(const float2 *factors, int64_t input) {
  return factors[input].x != 0 || factors[input].y != 0;
}

// Samples that pairs of stations had in common, where both inputs are used, over ordered pairs: the response of the
// sums to a source of flux 1. factors : [c][a]. counts : [run][b], with runOf : [c], or 0 where no block had a gap;
// `whole` samples, of blocks without gaps, come on top: of so many inputs of either polarisation, as many pairs as
// their product. sums : [c][product], products of which Re and Im XY have the same. All whole numbers: exact in any
// order. Grid: (channels, products), 256 threads.
extern "C" __global__ void pairSums(const float2 *factors, const double *counts, const int *runOf, int64_t whole,
                                    int stations, int polarisations, double *sums) {
  __shared__ double shares[256];
  const int channel = blockIdx.x, product = blockIdx.y;
  const int p = product == 1 ? 1 : 0, q = product == 0 ? 0 : 1;
  const int64_t first = (int64_t)channel * stations * polarisations;
  const double *ofChannel = counts ? counts + (int64_t)runOf[channel] * stations * (stations + 1) / 2 : counts;
  auto part = [&](int station, int which) {
    return takesPart(factors, first + (int64_t)station * polarisations + which);
  };
  auto overThreads = [&](double share) {
    __syncthreads();
    shares[threadIdx.x] = share;
    for (int half = 128; half > 0; half /= 2) {
      __syncthreads();
      if (threadIdx.x < half) shares[threadIdx.x] += shares[threadIdx.x + half];
    }
    __syncthreads();
    return shares[0];
  };
  double ofP = 0, ofQ = 0;
  for (int i = threadIdx.x; i < stations; i += 256) {
    ofP += part(i, p) ? 1 : 0;
    ofQ += part(i, q) ? 1 : 0;
  }
  ofP = overThreads(ofP);
  ofQ = overThreads(ofQ);
  double counted = 0;
  if (counts) {
    for (int i = 0; i < stations; ++i) {
      const bool ip = part(i, p), iq = part(i, q);
      if (!ip && !iq) continue;
      for (int j = threadIdx.x; j <= i; j += 256) {
        const int pairs = (ip && part(j, q) ? 1 : 0) + (i != j && iq && part(j, p) ? 1 : 0);
        if (pairs != 0) counted += pairs * ofChannel[(int64_t)i * (i + 1) / 2 + j];
      }
    }
    counted = overThreads(counted);
  }
  if (threadIdx.x == 0) sums[channel * gridDim.y + product] = (double)whole * ofP * ofQ + counted;
}

// sums : [plane][m][l] as the transform leaves them, bin 0 first; plane = channel * products + product. weights : [plane],
// of which Im XY reads Re XY's. correction : [m][l], NaN where nothing is shown. image : [plane][m][l], centred, NaN where
// nothing is shown or nothing was added, float32 or float64 as DOUBLE_PIXELS says. Grid: (planes * blocks of 2048 pixels, 1), 256 threads.
extern "C" __global__ void scaleSums(const double *sums, const double *weights, const double *correction, int pixels,
                                     int products, double *image) {
  constexpr int PER_THREAD = 8;
  const int area = pixels * pixels, blocks = (area + 256 * PER_THREAD - 1) / (256 * PER_THREAD);
  const int plane = blockIdx.x / blocks, half = pixels / 2;
  const double weight = weights[plane % products == 3 ? plane - 1 : plane];
  const double by = weight > 0 ? 1 / weight : __longlong_as_double(0x7FF8000000000000);
  const int64_t first = (int64_t)plane * area;
#pragma unroll
  for (int n = 0; n < PER_THREAD; ++n) {
    const int at = (blockIdx.x % blocks * PER_THREAD + n) * 256 + threadIdx.x;
    if (at >= area) break;
    const int row = at / pixels, column = at % pixels;
    const int m = row < half ? row + half : row - half, l = column < half ? column + half : column - half;
    image[first + at] = (sums[first + m * pixels + l] * by * correction[at]);
  }
}

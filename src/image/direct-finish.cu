// From sums of products to the image that is looked at: its scale, its taper taken out, its pixels in their places.

#include "integers.cuh"

__device__ __forceinline__ bool takesPart(const float2 *factors, int64_t input) {
  return factors[input].x != 0 || factors[input].y != 0;
}

// Samples that pairs of stations had in common, where both inputs take part, over ordered pairs: what a source of flux 1
// puts into the sums. factors : [c][a]. counts : [c][b], or 0 where no block had a gap; `whole` samples, of blocks without
// gaps, come on top: of so many inputs of either polarisation, as many pairs as their product. sums : [c][product], products
// of which Re and Im XY have the same. All whole numbers: exact in any order. Grid: (channels, products), 256 threads.
extern "C" __global__ void pairSums(const float2 *factors, const double *counts, int64_t whole, int stations,
                                    int polarisations, double *sums) {
  __shared__ double shares[256];
  const int channel = blockIdx.x, product = blockIdx.y;
  const int p = product == 1 ? 1 : 0, q = product == 0 ? 0 : 1;
  const int64_t first = (int64_t)channel * stations * polarisations;
  const double *ofChannel = counts + (int64_t)channel * stations * (stations + 1) / 2;
  auto part = [&](int station, int which) { return takesPart(factors, first + (int64_t)station * polarisations + which); };
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
// nothing is shown or nothing was added. Grid: (planes * blocks of 256 pixels, 1).
extern "C" __global__ void scaleSums(const double *sums, const double *weights, const double *correction, int pixels,
                                     int products, float *image) {
  const int area = pixels * pixels, blocks = (area + 255) / 256;
  const int plane = blockIdx.x / blocks, at = blockIdx.x % blocks * 256 + threadIdx.x;
  if (at >= area) return;
  const int m = at / pixels, l = at % pixels, half = pixels / 2;
  const int bin = (m + half) % pixels * pixels + (l + half) % pixels;
  const double weight = weights[plane % products == 3 ? plane - 1 : plane];
  const int64_t first = (int64_t)plane * area;
  image[first + at] = weight > 0 ? (float)(sums[first + bin] / weight * correction[at]) : __int_as_float(0x7FC00000);
}

// A_ij = w_ij R_ij conj(M_ij) and B_ij = w_ij |M_ij|^2 from the lower triangles, as both triangles in float32.
#include "baselines.cuh"

// data, model : [k][b] complex float64; weights : [k][b] float64; scales : [k][2], what A and B are multiplied by so that
// gains and B are near 1. numerator : [k][i][j] complex float32; denominator : [k][i][j] float32. Grid-stride over k, b.
extern "C" __global__ void __launch_bounds__(256)
    makeMatrices(const double2 *data, const double2 *model, const double *weights, const double *scales, float2 *numerator,
                 float *denominator, int solves, int stations) {
  const int64_t baselines = (int64_t)stations * (stations + 1) / 2;
  const int64_t stride = (int64_t)gridDim.x * 256;
  for (int64_t e = (int64_t)blockIdx.x * 256 + threadIdx.x; e < solves * baselines; e += stride) {
    const int64_t k = e / baselines, b = e % baselines;
    int64_t i, j;
    stationsOf(b, i, j);
    const double2 r = data[e], m = model[e];
    const double w = weights[e], forA = w * scales[2 * k], forB = w * scales[2 * k + 1];
    const float re = (float)(forA * (r.x * m.x + r.y * m.y)), im = (float)(forA * (r.y * m.x - r.x * m.y));
    const float power = (float)(forB * (m.x * m.x + m.y * m.y));
    const int64_t matrix = k * stations * stations, lower = matrix + i * stations + j, upper = matrix + j * stations + i;
    numerator[upper] = make_float2(re, -im);
    numerator[lower] = make_float2(re, im);
    denominator[upper] = denominator[lower] = power;
  }
}

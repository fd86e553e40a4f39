// Beams by plain sums: of floats, and of integers on cards without tensor cores. A thread has a spectrum and some beams.
// And incoherent sums, of powers of stations.
//
// Set by the plan, beside those of beamform.cuh: FLOAT_SPECTRA, FLOAT_WEIGHTS.
#include "beamform.cuh"

constexpr int THREADS = 128, TILE_SPECTRA = THREADS, TILE_BEAMS = 8;
constexpr int BEAM_TILES = (BEAMS + TILE_BEAMS - 1) / TILE_BEAMS, CHUNK = 32;
template <int IS_FLOAT>
struct Types {
  using Spectrum = char2;
  using Sum = int;
};
template <>
struct Types<1> {
  using Spectrum = float2;
  using Sum = float;
};
using Spectrum = Types<FLOAT_SPECTRA>::Spectrum;
using Weight = Types<FLOAT_WEIGHTS>::Spectrum;
using Sum = Types<FLOAT_SPECTRA || FLOAT_WEIGHTS>::Sum;

// One value of a spectrum. All threads of a warp call it.
__device__ __forceinline__ void storeValue(const Work &work, int channel, int t, int beam, int plane, float value) {
  if (isShort(work)) {
    if (t < work.samples) partialsOf(work, channel, t, plane)[beam] = value;
    return;
  }
  const int within = t % SLICE, first = t - within, cut = cutOf(work, first);
  for (int part = 0; part < 2; ++part) {
    float v = (within < cut) == (part == 0) ? value : 0.0f;
#pragma unroll
    for (int bit = SLICE / 2; bit > 0; bit >>= 1) v += __shfl_xor_sync(0xFFFFFFFFu, v, bit);
    if (within == 0 && t < work.samples && (part == 0 || cut < SLICE))
      partialsOf(work, channel, first / SLICE * 2 + part, plane)[beam] = v;
  }
}

// weights : [c][b][a], complex. Grid: a block for each item.
extern "C" __global__ void __launch_bounds__(THREADS) beamformPlain(const Work work) {
  __shared__ Weight chunk[TILE_BEAMS][CHUNK];
  const int tiles = (work.samples + TILE_SPECTRA - 1) / TILE_SPECTRA;
  const int firstBeam = (int)(blockIdx.x % BEAM_TILES) * TILE_BEAMS, rest = blockIdx.x / BEAM_TILES;
  const int channel = rest / tiles, t = rest % tiles * TILE_SPECTRA + threadIdx.x;
  const uint8_t *spectra = (const uint8_t *)work.spectra + (int64_t)channel * INPUTS * work.pitchBytes;
  const Weight *weights = (const Weight *)work.weights + (int64_t)channel * BEAMS * INPUTS;
  Voltage<Sum> sums[POLARISATIONS][TILE_BEAMS] = {};
  for (int first = 0; first < INPUTS; first += CHUNK) {
    __syncthreads();
    for (int i = threadIdx.x; i < TILE_BEAMS * CHUNK; i += THREADS) {
      const int b = firstBeam + i / CHUNK, a = first + i % CHUNK;
      const Weight none = {};
      chunk[i / CHUNK][i % CHUNK] = b < BEAMS && a < INPUTS ? weights[(int64_t)b * INPUTS + a] : none;
    }
    __syncthreads();
    if (t >= work.samples) continue;
#pragma unroll 4
    for (int i = 0; i < CHUNK; ++i) {
      if (first + i >= INPUTS) break;
      const Spectrum x = ((const Spectrum *)(spectra + (int64_t)(first + i) * work.pitchBytes))[t];
      const Sum xr = (Sum)x.x, xi = (Sum)x.y;
#pragma unroll
      for (int b = 0; b < TILE_BEAMS; ++b) {
        const Sum wr = (Sum)chunk[b][i].x, wi = (Sum)chunk[b][i].y;
        Voltage<Sum> &to = sums[i % POLARISATIONS][b];
        to.re += wr * xr;
        to.re -= wi * xi;
        to.im += wr * xi;
        to.im += wi * xr;
      }
    }
  }
#pragma unroll
  for (int b = 0; b < TILE_BEAMS; ++b) {
    const int beam = firstBeam + b;
    if (beam >= BEAMS) break;
    const Voltage<Sum> x = sums[0][b], y = sums[POLARISATIONS - 1][b];
    if (work.detection == VOLTAGES) {
      storeVoltage(work, channel, beam, 0, t, x);
      if (POLARISATIONS == 2) storeVoltage(work, channel, beam, 1, t, y);
    } else if (POLARISATIONS == 1) {
      storeValue(work, channel, t, beam, 0, powerOf(x));
    } else {
      for (int plane = 0; plane < work.detection; ++plane)
        storeValue(work, channel, t, beam, plane, detected(work.detection, plane, x, y));
    }
  }
}

// weights : [c][a] float64, factors of powers; BEAMS is 1. Grid: a block for each 128 spectra of a channel.
extern "C" __global__ void __launch_bounds__(THREADS) addStations(const Work work) {
  const int tiles = (work.samples + TILE_SPECTRA - 1) / TILE_SPECTRA;
  const int channel = blockIdx.x / tiles, t = blockIdx.x % tiles * TILE_SPECTRA + threadIdx.x;
  const uint8_t *spectra = (const uint8_t *)work.spectra + (int64_t)channel * INPUTS * work.pitchBytes;
  const double *squares = (const double *)work.weights + (int64_t)channel * INPUTS;
  double sums[POLARISATIONS] = {};
  for (int a = 0; a < INPUTS && t < work.samples; ++a) {
    const Spectrum x = ((const Spectrum *)(spectra + (int64_t)a * work.pitchBytes))[t];
    sums[a % POLARISATIONS] += squares[a] * ((double)x.x * x.x + (double)x.y * x.y);
  }
  if (work.detection == INTENSITY)
    storeValue(work, channel, t, 0, 0,
               (float)(POLARISATIONS == 1 ? sums[0] : 0.5 * (sums[0] + sums[POLARISATIONS - 1])));
  else
    for (int plane = 0; plane < 2; ++plane)
      storeValue(work, channel, t, 0, plane, (float)sums[plane < POLARISATIONS ? plane : 0]);
}

// Common to every beamforming kernel: the shapes, and the places of voltages and powers.
//
// Set by the plan: STATIONS, POLARISATIONS, BEAMS. Inputs are a = s * POLARISATIONS + p.
//   voltages : [c][b][p][t], complex
//   partials : [c][row][d][b] float32, sums of powers of up to SLICE spectra. Bins of SLICE spectra and longer: rows 2 n and
//              2 n + 1 are of slice n, spectra from 16 n on, before and after the end of the bin in it. Shorter bins:
//              a row for each spectrum. Rows have fixed places and are added in order (beamform-finish.cu): the same
//              data give the same bits.
#pragma once
#include "integers.cuh"

constexpr int SLICE = 16;
constexpr int INPUTS = STATIONS * POLARISATIONS;
static_assert(POLARISATIONS == 1 || POLARISATIONS == 2, "one or two polarisations");

// The number of powers; the values are those of plan.ts.
enum Detection : int { VOLTAGES = 0, INTENSITY = 1, TWO = 2, STOKES = 4 };

struct Work {
  int samples;    // of the block
  int detection;  // see above
  int firstEnd;   // where the first bin ends, in spectra of the block
  int perBin;     // spectra of the bins that follow
  int rows;       // rows of partials, for each channel
  int items;      // tiles of all channels
  int64_t pitchBytes;
  void *out;  // voltages or partials
  const void *spectra;
  const void *weights;
};

__device__ __forceinline__ int binOf(const Work &work, int t) {
  return t < work.firstEnd ? 0 : 1 + (t - work.firstEnd) / work.perBin;
}
// How many of the spectra of a slice are in the bin of its first one; SLICE where all are.
__device__ __forceinline__ int cutOf(const Work &work, int first) {
  const int64_t end = work.firstEnd + (int64_t)binOf(work, first) * work.perBin;
  return end - first < SLICE ? (int)(end - first) : SLICE;
}
__device__ __forceinline__ bool isShort(const Work &work) { return work.perBin < SLICE; }

__device__ __forceinline__ float *partialsOf(const Work &work, int channel, int row, int plane) {
  return (float *)work.out + (((int64_t)channel * work.rows + row) * work.detection + plane) * BEAMS;
}

template <class Value>
struct Voltage {
  Value re, im;
};

template <class Value>
__device__ __forceinline__ float powerOf(Voltage<Value> x) {
  const float re = (float)x.re, im = (float)x.im;
  return re * re + im * im;
}

// Plane d of a spectrum; XY = X conj(Y) = U - iV.
template <class Value>
__device__ __forceinline__ float detected(int detection, int plane, Voltage<Value> x, Voltage<Value> y) {
  if (detection == TWO) return powerOf(plane == 0 ? x : y);
  if (plane == 0) return 0.5f * (powerOf(x) + powerOf(y));
  if (plane == 1) return 0.5f * (powerOf(y) - powerOf(x));
  const float xr = (float)x.re, xi = (float)x.im, yr = (float)y.re, yi = (float)y.im;
  return plane == 2 ? xr * yr + xi * yi : xr * yi - xi * yr;
}

template <class Value>
__device__ __forceinline__ void storeVoltage(const Work &work, int channel, int beam, int p, int t, Voltage<Value> x) {
  if (beam >= BEAMS || t >= work.samples) return;
  ((Voltage<Value> *)work.out)[(((int64_t)channel * BEAMS + beam) * POLARISATIONS + p) * work.samples + t] = x;
}

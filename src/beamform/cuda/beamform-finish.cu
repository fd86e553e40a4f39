// Before and after the beams: weights, their order for the tensor cores, and partial sums to bins.
//
// Set by the plan, beside those of beamform.cuh: FLOAT_WEIGHTS.
#include "beamform.cuh"

struct Steering {
  double scale;
  int channels, every;
};

__device__ __forceinline__ signed char wholeByte(double value) {
  constexpr double WHOLE = 1.5 * 4503599627370496.0;  // added and subtracted, it rounds to integers, halves to even
  return (signed char)(int)__dsub_rn(__dadd_rn(value, WHOLE), WHOLE);
}

// weights : [c][b][a], the bits of steeredWeights (weights.ts): every product and sum is rounded by itself, as there.
// anchors : [group of `every` channels][b][s]; steps : [b][s]; inverse : [c][a]. A thread for each anchor.
extern "C" __global__ void steerWeights(const double2 *anchors, const double2 *steps, const double2 *inverse,
                                        void *weights, const Steering how) {
  const int64_t groups = (how.channels + how.every - 1) / how.every, count = groups * BEAMS * STATIONS;
  for (int64_t n = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; n < count; n += (int64_t)gridDim.x * blockDim.x) {
    const int64_t s = n % STATIONS, b = n / STATIONS % BEAMS;
    const int first = (int)(n / STATIONS / BEAMS) * how.every;
    const double2 step = steps[b * STATIONS + s];
    double2 turn = anchors[n];
    for (int c = first; c < first + how.every && c < how.channels; ++c) {
      for (int p = 0; p < POLARISATIONS; ++p) {
        const int64_t a = s * POLARISATIONS + p, to = (c * (int64_t)BEAMS + b) * INPUTS + a;
        const double2 g = inverse[(int64_t)c * INPUTS + a];
        const double re = __dmul_rn(how.scale, __dsub_rn(__dmul_rn(g.x, turn.x), __dmul_rn(g.y, turn.y)));
        const double im = __dmul_rn(how.scale, __dadd_rn(__dmul_rn(g.x, turn.y), __dmul_rn(g.y, turn.x)));
        if (FLOAT_WEIGHTS)
          ((float2 *)weights)[to] = make_float2((float)re, (float)im);
        else
          ((char2 *)weights)[to] = char2{wholeByte(re), wholeByte(im)};
      }
      turn = make_double2(__dsub_rn(__dmul_rn(turn.x, step.x), __dmul_rn(turn.y, step.y)),
                          __dadd_rn(__dmul_rn(turn.x, step.y), __dmul_rn(turn.y, step.x)));
    }
  }
}

// given : [c][b][a] int8 complex; arranged : [c][p][b][re, im of the beam][station, to whole steps of 64][factors of re
// and im]. Re = wr xr - wi xi, Im = wi xr + wr xi. A thread for each weight.
extern "C" __global__ void arrangeWeights(const char2 *given, char2 *arranged, int64_t count) {
  constexpr int ROW = (STATIONS + 63) / 64 * 64;
  for (int64_t n = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; n < count; n += (int64_t)gridDim.x * blockDim.x) {
    const int a = (int)(n % INPUTS);
    const int64_t b = n / INPUTS % BEAMS, c = n / INPUTS / BEAMS;
    const char2 w = given[n];
    char2 *to = arranged + (((c * POLARISATIONS + a % POLARISATIONS) * BEAMS + b) * 2) * ROW + a / POLARISATIONS;
    to[0] = char2{w.x, (signed char)-w.y};
    to[ROW] = char2{w.y, w.x};
  }
}

// powers : [b][d][bin][c] float64, written. A thread for each.
extern "C" __global__ void addPartials(const Work work, double *powers, int bins, int channels) {
  const int64_t count = (int64_t)BEAMS * work.detection * bins * channels;
  for (int64_t n = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; n < count; n += (int64_t)gridDim.x * blockDim.x) {
    const int b = (int)(n % BEAMS), d = (int)(n / BEAMS % work.detection);
    const int bin = (int)(n / BEAMS / work.detection % bins), c = (int)(n / BEAMS / work.detection / bins);
    const int64_t first = bin == 0 ? 0 : work.firstEnd + (int64_t)(bin - 1) * work.perBin;
    const int64_t next = bin == 0 ? work.firstEnd : first + work.perBin;
    const int64_t end = next < work.samples ? next : work.samples;
    const float *from = partialsOf(work, c, 0, d) + b;
    const int64_t step = (int64_t)work.detection * BEAMS;
    double sum = 0;
    if (isShort(work)) {
      for (int64_t t = first; t < end; ++t) sum += from[t * step];
    } else {
      for (int64_t slice = first / SLICE; slice * SLICE < end; ++slice)
        sum += from[(2 * slice + (slice * SLICE < first ? 1 : 0)) * step];
    }
    powers[((int64_t)b * work.detection + d) * bins * channels + (int64_t)bin * channels + c] = sum;
  }
}

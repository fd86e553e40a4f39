// Spectral kurtosis: powers of every input and channel summed over windows of spectra, and what is flagged zeroed.
//
// spectra : [c][a][pitch], rows of (re, im), int8 or float32 as FLOATS says (backend/cuda/spectra.ts)
// edges   : [w + 1], windows [edges[w], edges[w + 1]); all but the last edge are multiples of 4
// sums    : [w][c][a][S1, S2] float64, of |x|^2 and |x|^4: whole numbers of integers, and exact
#include "integers.cuh"
#include "powers.cuh"

constexpr int WARP = 32;
/** Samples in eight bytes. */
constexpr int PER_WORD = FLOATS ? 1 : 4;
constexpr unsigned ALL = 0xFFFFFFFFu;

// Rows are read once, from one end to the other, and the sums are few: memory bandwidth is the limit. Eight lanes read
// a row of a window, 128 bytes at a time and four times that ahead. A block has 32 adjacent rows.
constexpr int LANES = 8, AHEAD = 4, AT_ONCE = 32;

#if FLOATS
typedef double Sum1;
typedef double Sum2;
__device__ __forceinline__ void addOne(uint32_t x, uint32_t y, Sum1 &s1, Sum2 &s2) {
  const double re = __uint_as_float(x), im = __uint_as_float(y);
  const double power = re * re + im * im;
  s1 += power;
  s2 += power * power;
}
__device__ __forceinline__ void add(const uint4 in, Sum1 &s1, Sum2 &s2) {
  addOne(in.x, in.y, s1, s2);
  addOne(in.z, in.w, s1, s2);
}
#else
// 65,536 powers of 2 * 128^2 at the most: S1 is below 2^32.
typedef uint32_t Sum1;
typedef unsigned long long Sum2;
__device__ __forceinline__ void addTwo(uint32_t word, Sum1 &s1, Sum2 &s2) {
  const uint32_t one = (uint32_t)__dp4a((int)word, (int)(word & 0xFFFFu), 0);
  const uint32_t other = (uint32_t)__dp4a((int)word, (int)(word & 0xFFFF0000u), 0);
  s1 += one + other;
  s2 += (Sum2)one * one;
  s2 += (Sum2)other * other;
}
__device__ __forceinline__ void add(const uint4 in, Sum1 &s1, Sum2 &s2) {
  addTwo(in.x, s1, s2);
  addTwo(in.y, s1, s2);
  addTwo(in.z, s1, s2);
  addTwo(in.w, s1, s2);
}
#endif

extern "C" __global__ void __launch_bounds__(LANES *AT_ONCE)
    sumPowers(const int8_t *spectra, int64_t pitch, const int *edges, int windows, int rows, double2 *sums) {
  const int lane = threadIdx.x % LANES, mine = threadIdx.x / LANES;
  const uint32_t tiles = (uint32_t)windows * ((rows + AT_ONCE - 1) / AT_ONCE);
  for (uint32_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    const int row = (int)(tile / windows) * AT_ONCE + mine, window = (int)(tile % windows);
    const bool isThere = row < rows;
    // In words of eight bytes: a window may begin or end in the middle of sixteen spectra.
    const int first = isThere ? edges[window] / PER_WORD : 0;
    const int end = isThere ? (edges[window + 1] + PER_WORD - 1) / PER_WORD : 0;
    const uint4 *pairs = (const uint4 *)(spectra + (int64_t)(isThere ? row : 0) * pitch);
    const int endPair = (end + 1) / 2;
    Sum1 s1 = 0;
    Sum2 s2 = 0;
    for (int pair = first / 2 + lane; pair < endPair; pair += LANES * AHEAD) {
      uint4 in[AHEAD];
#pragma unroll
      for (int n = 0; n < AHEAD; ++n)
        in[n] = pair + n * LANES < endPair ? __ldcs(pairs + pair + n * LANES) : make_uint4(0, 0, 0, 0);
#pragma unroll
      for (int n = 0; n < AHEAD; ++n) {
        const int word = 2 * (pair + n * LANES);
        if (word < first) in[n].x = in[n].y = 0;
        if (word + 1 >= end) in[n].z = in[n].w = 0;
        add(in[n], s1, s2);
      }
    }
#pragma unroll
    for (int step = LANES / 2; step > 0; step /= 2) {
      s1 += __shfl_down_sync(ALL, s1, step, LANES);
      s2 += __shfl_down_sync(ALL, s2, step, LANES);
    }
    if (lane == 0 && isThere) sums[(int64_t)window * rows + row] = make_double2((double)s1, (double)s2);
  }
}

#if FLOATS
// For floats each cell was summed in float32: right to a hundred-thousandth at worst, unless squares of powers are
// outside its range. In units of the mean power: within these limits only negligible squares are lost. Silence counts
// as within.
constexpr double LEAST_MEAN = 1e-12, MOST_MEAN = 1e12;
struct CellSums {
  double s1 = 0, s2 = 0;
  __device__ __forceinline__ void add(PowerCell cell) {
    s1 += __uint_as_float((uint32_t)cell);
    s2 += __uint_as_float((uint32_t)(cell >> 32));
  }
  __device__ __forceinline__ double2 of(const int8_t *row, int first, int end) const {
    const double mean = s1 / (end - first);
    if (mean == 0 || (mean > LEAST_MEAN && mean < MOST_MEAN)) return make_double2(s1, s2);
    const uint2 *samples = (const uint2 *)row;
    double2 sums = make_double2(0, 0);
    for (int t = first; t < end; ++t) addOne(samples[t].x, samples[t].y, sums.x, sums.y);
    return sums;
  }
};
#else
struct CellSums {
  unsigned long long s1 = 0, s2 = 0;
  __device__ __forceinline__ void add(PowerCell cell) {
    s1 += cell & ((1 << CELL_S1_BITS) - 1);
    s2 += cell >> CELL_S1_BITS;
  }
  __device__ __forceinline__ double2 of(const int8_t *, int, int) const { return make_double2((double)s1, (double)s2); }
};
#endif

// The same from the channeliser's sums (powers.cuh), where windows are `perWindow` cells each. A block processes 32
// places of 32 inputs of a window, and transposes them.
extern "C" __global__ void __launch_bounds__(8 * WARP)
    sumCells(const PowerCell *cells, const int *channelsAt, const int *edges, int windows, int perWindow, int channels,
             int inputs, const int8_t *spectra, int64_t pitch, double2 *sums) {
  __shared__ double2 turned[WARP][WARP + 1];
  const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
  const int across = (channels + WARP - 1) / WARP;
  const int firstPlace = (int)(blockIdx.x % across) * WARP, firstInput = (int)(blockIdx.x / across) * WARP;
  const int64_t cellStep = (int64_t)inputs * channels;
  const bool isPlace = firstPlace + lane < channels;
  const int channel = isPlace ? channelsAt[firstPlace + lane] : 0;
  for (int window = blockIdx.y; window < windows; window += gridDim.y) {
    const int first = window * perWindow, end = first + perWindow;
    for (int i = warp; i < WARP && firstInput + i < inputs && isPlace; i += 8) {
      const int input = firstInput + i;
      const PowerCell *from = cells + first * cellStep + (int64_t)input * channels + firstPlace + lane;
      CellSums sum;
#pragma unroll 8
      for (int cell = first; cell < end; ++cell, from += cellStep) sum.add(__ldcs(from));
      turned[i][lane] = sum.of(spectra + ((int64_t)channel * inputs + input) * pitch, edges[window], edges[window + 1]);
    }
    __syncthreads();
    const int input = firstInput + lane;
    for (int i = warp; input < inputs && i < WARP && firstPlace + i < channels; i += 8)
      sums[((int64_t)window * channels + channelsAt[firstPlace + i]) * inputs + input] = turned[lane][i];
    __syncthreads();
  }
}

/** Channels, inputs and samples that become zeros. */
struct Box {
  int firstChannel, endChannel, firstInput, endInput, firstSample, endSample;
};

// A warp zeroes every so manieth row of a range. Ranges are in the host's memory: few, and read once.
extern "C" __global__ void zeroBoxes(int8_t *spectra, int64_t pitch, int inputs, const Box *boxes, int count) {
  for (int n = blockIdx.x; n < count; n += gridDim.x) {
    const Box box = boxes[n];
    const int first = box.firstSample / PER_WORD, end = (box.endSample + PER_WORD - 1) / PER_WORD;
    const int across = box.endInput - box.firstInput, rows = across * (box.endChannel - box.firstChannel);
    for (int row = blockIdx.y; row < rows; row += gridDim.y) {
      const int64_t channel = box.firstChannel + row / across, input = box.firstInput + row % across;
      uint2 *words = (uint2 *)(spectra + (channel * inputs + input) * pitch);
      for (int word = first + (int)threadIdx.x; word < end; word += WARP) words[word] = make_uint2(0, 0);
    }
  }
}

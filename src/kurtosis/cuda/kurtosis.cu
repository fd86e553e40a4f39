// Spectral kurtosis: powers of every input and channel summed over windows of spectra, the first look at the sums, and what
// is taken zeroed.
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

// Rows are read once, from one end to the other, and the sums are few: the card's memory is the limit. Eight lanes take a
// window, 128 bytes at a time and four times that ahead. A block takes 32: 2^windowBits that follow on each other, of so many
// rows, whose sums are neighbours.
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
    sumPowers(const int8_t *spectra, int64_t pitch, const int *edges, int windows, int rows, int windowBits,
              double2 *sums) {
  const int lane = threadIdx.x % LANES, mine = threadIdx.x / LANES;
  const int windowsAtOnce = 1 << windowBits, rowsAtOnce = AT_ONCE >> windowBits;
  const uint32_t across = (windows + windowsAtOnce - 1) >> windowBits;
  const uint32_t tiles = across * ((rows + rowsAtOnce - 1) / rowsAtOnce);
  for (uint32_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    const int row = (int)(tile / across) * rowsAtOnce + (mine >> windowBits);
    const int window = (int)(tile % across) * windowsAtOnce + (mine & (windowsAtOnce - 1));
    const bool isThere = row < rows && window < windows;
    // In words of eight bytes: a window may begin or end in the middle of sixteen.
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
// Of floats float32 summed each cell: right to a hundred-thousandth at worst, unless squares of powers lie beyond its range. Of
// the mean power: within this none is lost but those that add nothing. Silence is silence.
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

// The same from what the channeliser summed on its way (powers.cuh), where windows are `perWindow` cells
// each. A block takes a window's 32 places of 32 inputs, and turns them over.
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

// The first look at sums of powers: which windows and pairs of windows lie outside their fences, and the kurtoses of the
// others added up. screen.ts does the same, bit for bit: every product, sum and quotient is rounded for itself.
//
// marks : [w][c][a]; groupMarks, totals : [w][c][a / 16]
constexpr int GROUP = 16, GROUPS_AT_ONCE = 16;
constexpr uint8_t OUTSIDE = 1, PAIR_OUTSIDE = 2;

/** A fence's head as TypeScript packs it (fences.ts). */
struct Fence {
  double leastPower, mostPower, scale, firstKey, entries, firstEntry;
};
static_assert(sizeof(Fence) == 6 * sizeof(double), "fences.ts packs heads of six float64");

/** Of S2/S1^2: within low and high it is noise's. */
struct FenceEntry {
  double low, high, offset, spread;
};

/** The entry that noise of this strength has to lie within, and does; nullptr where it does not. */
__device__ __forceinline__ const FenceEntry *within(const Fence *fence, const FenceEntry *tables, double s1,
                                                    double s2) {
  if (!(s1 >= fence->leastPower && s1 <= fence->mostPower)) return nullptr;
  int at = (int)fence->firstEntry;
  // The octave and a 64th of it.
  if (fence->entries > 1) at += (int)(__double_as_longlong(s1) >> 46) - (int)fence->firstKey;
  const FenceEntry *entry = tables + at;
  const double square = __dmul_rn(s1, s1);
  return s2 >= __dmul_rn(entry->low, square) && s2 <= __dmul_rn(entry->high, square) ? entry : nullptr;
}

// Sixteen lanes take a group of inputs; one of them adds up their kurtoses, in order. `places` : [w][complex, real][window, pair]
extern "C" __global__ void __launch_bounds__(GROUP *GROUPS_AT_ONCE)
    screenSums(const double2 *sums, int windows, int channels, int inputs, int realChannels, const uint8_t *flags,
               const Fence *fences, const FenceEntry *tables, const int *places, uint8_t *marks, uint8_t *groupMarks,
               double *totals) {
  __shared__ double offsets[GROUPS_AT_ONCE][GROUP + 1];
  const int lane = threadIdx.x % GROUP, mine = threadIdx.x / GROUP;
  const uint32_t groups = (inputs + GROUP - 1) / GROUP;
  const uint32_t items = groups * channels * windows;
  for (uint32_t first = blockIdx.x * GROUPS_AT_ONCE; first < items; first += gridDim.x * GROUPS_AT_ONCE) {
    const uint32_t item = first + mine;
    const uint32_t row = item / groups;
    const int input = (int)(item % groups) * GROUP + lane;
    uint8_t mark = 0;
    double off = 0;
    if (item < items && input < inputs) {
      const int64_t at = (int64_t)row * inputs + input;
      if (flags[input] == 0) {
        const int window = (int)(row / channels);
        const int *place = places + 4 * window + (row % channels < realChannels ? 2 : 0);
        const Fence *fence = fences + place[0];
        const double2 sum = sums[at];
        const FenceEntry *entry = within(fence, tables, sum.x, sum.y);
        if (entry == nullptr)
          mark = OUTSIDE;
        else {
          const double ratio = __ddiv_rn(__dmul_rn(fence->scale, sum.y), __dmul_rn(sum.x, sum.x));
          off = __ddiv_rn(__dsub_rn(ratio, entry->offset), entry->spread);
        }
        if (window + 1 < windows) {
          const double2 next = sums[at + (int64_t)channels * inputs];
          if (within(fences + place[1], tables, __dadd_rn(sum.x, next.x), __dadd_rn(sum.y, next.y)) == nullptr)
            mark |= PAIR_OUTSIDE;
        }
      }
      marks[at] = mark;
    }
    offsets[mine][lane] = off;
    const unsigned half = 0xFFFFu << (threadIdx.x % WARP / GROUP * GROUP);
    const uint8_t all = ((__ballot_sync(ALL, mark & OUTSIDE) & half) != 0 ? OUTSIDE : 0) |
                        ((__ballot_sync(ALL, mark & PAIR_OUTSIDE) & half) != 0 ? PAIR_OUTSIDE : 0);
    if (lane == 0 && item < items) groupMarks[item] = all;
    __syncthreads();
    // Who is left out adds 0, which changes no sum: none is ever -0.
    if (threadIdx.x < GROUPS_AT_ONCE && first + threadIdx.x < items) {
      double total = 0;
#pragma unroll
      for (int a = 0; a < GROUP; ++a) total = __dadd_rn(total, offsets[threadIdx.x][a]);
      totals[first + threadIdx.x] = total;
    }
    __syncthreads();
  }
}

/** Channels, inputs and samples that become zeros; few rows each. */
struct Piece {
  int firstChannel, endChannel, firstInput, endInput, firstSample, endSample;
};

// A warp takes a piece. They lie in the host's memory: few, and read once.
extern "C" __global__ void zeroPieces(int8_t *spectra, int64_t pitch, int inputs, const Piece *pieces, int count) {
  const int lane = threadIdx.x % WARP;
  const int warps = (int)(gridDim.x * blockDim.x / WARP);
  for (int n = (int)(blockIdx.x * blockDim.x + threadIdx.x) / WARP; n < count; n += warps) {
    const Piece piece = pieces[n];
    const int first = piece.firstSample / PER_WORD, end = (piece.endSample + PER_WORD - 1) / PER_WORD;
    for (int c = piece.firstChannel; c < piece.endChannel; ++c)
      for (int a = piece.firstInput; a < piece.endInput; ++a) {
        uint2 *words = (uint2 *)(spectra + ((int64_t)c * inputs + a) * pitch);
        for (int word = first + lane; word < end; word += WARP) words[word] = make_uint2(0, 0);
      }
  }
}

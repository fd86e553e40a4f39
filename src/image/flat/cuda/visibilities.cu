// Images from visibilities, in float64: the same sum as gridded.ts, a warp for each run of pairs of stations.
//
// Each visibility is spread with the cross-correlation of its two stations' kernels, (2K - 1) cells square, around the
// difference of their places, wrapped around the grid; then transformed along both axes by plain sums. The beam is the
// image of the weights: the same kernels run again with those for visibilities.
//
//   makePairKernels, once -> weighPairs -> gridPairs -> transformRows -> transformColumns -> collectSums
//
// Set by the plan: PIXELS, KERNEL, STATIONS, POLARISATIONS, PARTS.
#include "integers.cuh"

constexpr int INPUTS = STATIONS * POLARISATIONS;
constexpr int64_t BASELINES = (int64_t)STATIONS * (STATIONS + 1) / 2;
constexpr int CELLS = KERNEL * KERNEL;
constexpr int PAIR = 2 * KERNEL - 1;
constexpr int PAIR_CELLS = PAIR * PAIR;
constexpr int64_t PLANE = (int64_t)PIXELS * PIXELS;
// XX, YY, XY, YX: pairs i >= j with these polarisations (gridded.ts). One polarisation knows the first alone.
constexpr int COMBINATIONS = POLARISATIONS == 1 ? 1 : 4;
constexpr int PRODUCTS = COMBINATIONS;
constexpr int DENSITIES = 3;
constexpr int WARPS = 4;
constexpr int RUN = 128;  // pairs of a warp: enough to spare the grid, few enough to keep all warps busy

struct Source {
  const double2 *visibilities;  // [c][b][pi][pj], sums over samples
  const double *weights;        // [c][b] or [c][b][pi][pj]
  const double2 *factors;       // [c][a], 0 leaves an input out
  const uint8_t *flags;         // [a]
  const int2 *corners;          // [c][s] (row, column)
  int weightsPerBaseline;
  int includeAutos;
};

__device__ __forceinline__ int product(int combination) { return combination == 3 ? 2 : combination; }
__device__ __forceinline__ int firstPolarisation(int combination) { return combination & 1; }
__device__ __forceinline__ int secondPolarisation(int combination) { return combination == 1 || combination == 2; }
__device__ __forceinline__ int wrapped(int cell) { return (cell % PIXELS + PIXELS) % PIXELS; }

// Stations of baseline b = i (i + 1) / 2 + j.
__device__ __forceinline__ void stationsOf(int64_t b, int &i, int &j) {
  int64_t row = (int64_t)((sqrt(8.0 * b + 1.0) - 1.0) * 0.5);
  while ((row + 1) * (row + 2) / 2 <= b) ++row;
  while (row * (row + 1) / 2 > b) --row;
  i = (int)row;
  j = (int)(b - row * (row + 1) / 2);
}

// The calibrated sum of x_i conj(x_j) and its weight; 0 where an input is left out or another combination includes it
// already.
struct Pair {
  double re, im, weight, times;
};
__device__ __forceinline__ Pair readPair(const Source &from, int channel, int64_t b, int i, int j, int combination) {
  const int pi = firstPolarisation(combination), pj = secondPolarisation(combination);
  const int inputI = i * POLARISATIONS + pi, inputJ = j * POLARISATIONS + pj;
  const double2 fi = from.factors[(int64_t)channel * INPUTS + inputI],
                fj = from.factors[(int64_t)channel * INPUTS + inputJ];
  const double2 f = make_double2(fi.x * fj.x + fi.y * fj.y, fi.y * fj.x - fi.x * fj.y);
  const bool isLeftOut = (f.x == 0 && f.y == 0) || from.flags[inputI] || from.flags[inputJ] || (i == j && pi > pj) ||
                         (i == j && !from.includeAutos);
  if (isLeftOut) return {0, 0, 0, 0};
  const int64_t at = (((int64_t)channel * BASELINES + b) * POLARISATIONS + pi) * POLARISATIONS + pj;
  const double2 v = from.visibilities[at];
  const double weight =
      from.weightsPerBaseline == 1 ? from.weights[(int64_t)channel * BASELINES + b] : from.weights[at];
  // XX and YY of the pair (j, i) add the same real part.
  return {v.x * f.x - v.y * f.y, v.x * f.y + v.y * f.x, weight, i != j && pi == pj ? 2.0 : 1.0};
}
// The cell in which a pair counts for uniform weight: that of (j, i) for YX, which represents the other order of XY.
__device__ __forceinline__ int64_t uvCell(const Source &from, int channel, int i, int j, int combination) {
  const int to = combination == 3 ? j : i, origin = combination == 3 ? i : j;
  const int2 a = from.corners[(int64_t)channel * STATIONS + to], b = from.corners[(int64_t)channel * STATIONS + origin];
  return (int64_t)wrapped(a.x - b.x) * PIXELS + wrapped(a.y - b.y);
}

// densities : [c in group][XX, YY, XY][cell], zeroed before. Grid: (blocks over baselines, channels of the group).
extern "C" __global__ void addDensities(const __grid_constant__ Source from, int firstChannel, double *densities) {
  const int64_t b = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (b >= BASELINES) return;
  const int channel = firstChannel + blockIdx.y;
  int i, j;
  stationsOf(b, i, j);
  for (int combination = 0; combination < COMBINATIONS; ++combination) {
    const Pair pair = readPair(from, channel, b, i, j, combination);
    if (pair.weight == 0) continue;
    double *plane = densities + ((int64_t)blockIdx.y * DENSITIES + product(combination)) * PLANE;
    atomicAdd(plane + uvCell(from, channel, i, j, combination), pair.weight);
    if (i != j && combination < 2) atomicAdd(plane + uvCell(from, channel, j, i, combination), pair.weight);
  }
}

// The cross-correlation of two stations' kernels, as direct imaging's multiplication implies, at one cell of the
// difference of their places: sum of K_i[k] conj(K_j[k']) over k - k' = cell.
__device__ __forceinline__ double2 pairCell(const double2 *kernels, int i, int j, int cell) {
  const int rows = cell / PAIR - (KERNEL - 1), columns = cell % PAIR - (KERNEL - 1);
  double re = 0, im = 0;
  for (int r = max(0, -rows); r < min(KERNEL, KERNEL - rows); ++r)
    for (int c = max(0, -columns); c < min(KERNEL, KERNEL - columns); ++c) {
      const double2 x = __ldg(kernels + i * CELLS + (r + rows) * KERNEL + c + columns);
      const double2 y = __ldg(kernels + j * CELLS + r * KERNEL + c);
      re += x.x * y.x + x.y * y.y;
      im += x.y * y.x - x.x * y.y;
    }
  return make_double2(re, im);
}

// pairKernels : [c][pair in order][cell], the same for every image of a plan. taps : [c][s][row][column]. pairs: pairs.ts.
// Grid-stride over all of them.
extern "C" __global__ void __launch_bounds__(256)
    makePairKernels(const double2 *taps, const uint32_t *pairs, int64_t channels, double2 *pairKernels) {
  const int64_t stride = (int64_t)gridDim.x * 256;
  for (int64_t e = (int64_t)blockIdx.x * 256 + threadIdx.x; e < channels * BASELINES * PAIR_CELLS; e += stride) {
    const int64_t n = e / PAIR_CELLS;
    const uint32_t pair = pairs[n];
    pairKernels[e] =
        pairCell(taps + n / BASELINES * STATIONS * CELLS, pair >> 16, pair & 0xFFFF, (int)(e % PAIR_CELLS));
  }
}

// values : [c in group][pair in order][combination], the gridded values: calibrated, weighted visibilities, or their
// weights times the response to a source at the centre (for the beam, where centre : [c][s] is given). densities: as
// above, or null for natural weight. weightSums : [c][product], zeroed before, or null. Grid: (blocks of 256 pairs,
// channels of the group).
extern "C" __global__ void __launch_bounds__(256)
    weighPairs(const __grid_constant__ Source from, int firstChannel, const double *densities, const uint32_t *pairs,
               const double2 *centre, double2 *values, double *weightSums) {
  const int64_t n = (int64_t)blockIdx.x * 256 + threadIdx.x;
  const int channel = firstChannel + blockIdx.y;
  double weights[COMBINATIONS] = {};
  if (n < BASELINES) {
    const uint32_t pair = pairs[channel * BASELINES + n];
    const bool isTurned = pair >> 16 < (pair & 0xFFFF);  // (j, i): the conjugate, and XY for YX
    const int i = max(pair >> 16, pair & 0xFFFF), j = min(pair >> 16, pair & 0xFFFF);
#pragma unroll
    for (int combination = 0; combination < COMBINATIONS; ++combination) {
      const int held = isTurned && combination >= 2 ? 5 - combination : combination;
      const Pair one = readPair(from, channel, (int64_t)i * (i + 1) / 2 + j, i, j, held);
      double2 value = make_double2(0, 0);
      if (one.weight != 0) {
        const int64_t plane = (int64_t)blockIdx.y * DENSITIES + product(held);
        const double density = densities ? densities[plane * PLANE + uvCell(from, channel, i, j, held)] : 1.0;
        const double by = one.times / density;
        weights[combination] = by * one.weight;
        double re = by * one.re, im = by * one.im;
        if (centre) {
          const double2 x = centre[channel * STATIONS + i], y = centre[channel * STATIONS + j];
          re = by * one.weight * (x.x * y.x + x.y * y.y);
          im = by * one.weight * (x.y * y.x - x.x * y.y);
        }
        value = make_double2(re, isTurned ? -im : im);
      }
      values[((int64_t)blockIdx.y * BASELINES + n) * COMBINATIONS + combination] = value;
    }
  }
  if (!weightSums) return;
  for (int combination = 0; combination < COMBINATIONS; ++combination) {
    double sum = weights[combination];
    for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xFFFFFFFF, sum, step);
    if (threadIdx.x % 32 == 0 && sum != 0)
      atomicAdd(weightSums + (int64_t)channel * PRODUCTS + product(combination), sum);
  }
}

// grids : [c in group][combination][cell] complex, zeroed before. pairKernels: null where the card cannot hold them,
// and they are computed here. pairs, differences: pairs.ts.
//
// A warp takes a run of pairs in their order, the cells of a kernel dealt to its lanes. Along a row of differences the
// window of (2K - 1) columns slides over the grid: a cell's lane keeps its sum until the window has left it, so that it
// touches the grid once. Column x belongs to the lanes of x mod (2K - 1), so that nothing moves between lanes. The next
// pair's kernel is fetched from memory while this one's is added. PARTS warps share the cells of large kernels, so that
// the sums of each fit in registers of more warps. Grid: (PARTS x blocks of WARPS x RUN pairs, channels of the group).
extern "C" __global__ void __launch_bounds__(32 * WARPS)
    gridPairs(const double2 *values, int firstChannel, const double2 *taps, const double2 *pairKernels,
              const uint32_t *pairs, const int2 *differences, double2 *grids) {
  constexpr int PER_LANE = (PAIR_CELLS + 32 * PARTS - 1) / (32 * PARTS), REACH = KERNEL - 1;
  const int lane = threadIdx.x % 32 + 32 * (blockIdx.x % PARTS), channel = firstChannel + blockIdx.y;
  const int64_t first = ((int64_t)(blockIdx.x / PARTS) * WARPS + threadIdx.x / 32) * RUN;
  if (first >= BASELINES) return;
  const int count = (int)min((int64_t)RUN, BASELINES - first);
  const int64_t start = channel * BASELINES + first;
  const uint32_t *list = pairs + start;
  const int2 *places = differences + start;
  const double2 *known = pairKernels ? pairKernels + start * PAIR_CELLS : nullptr;
  const double2 *by = values + ((int64_t)blockIdx.y * BASELINES + first) * COMBINATIONS;
  const double2 *kernels = taps + (int64_t)channel * STATIONS * CELLS;
  double2 *image = grids + (int64_t)blockIdx.y * COMBINATIONS * PLANE;
  double2 sums[PER_LANE][COMBINATIONS] = {};

  // The window's first column modulo its width, and the column of the window that slot k holds then.
  const auto turnOf = [](int column) { return ((column - REACH) % PAIR + PAIR) % PAIR; };
  const auto columnOf = [&](int k, int turn) {
    const int column = (lane + 32 * PARTS * k) % PAIR - turn;
    return column < 0 ? column + PAIR : column;
  };
  // Adds to the grid the columns that leave the window on its way from `here`: those before `end`, or all of them.
  const auto leave = [&](int2 here, int turn, int end) {
#pragma unroll
    for (int k = 0; k < PER_LANE; ++k) {
      const int slot = lane + 32 * PARTS * k, column = here.y - REACH + columnOf(k, turn);
      if (slot >= PAIR_CELLS || column >= end) continue;
      double2 *at = image + (int64_t)wrapped(here.x - REACH + slot / PAIR) * PIXELS + wrapped(column);
#pragma unroll
      for (int combination = 0; combination < COMBINATIONS; ++combination) {
        atomicAdd(&at[combination * PLANE].x, sums[k][combination].x);
        atomicAdd(&at[combination * PLANE].y, sums[k][combination].y);
        sums[k][combination] = make_double2(0, 0);
      }
    }
  };

  double2 value[COMBINATIONS];
  double2 weight[PER_LANE];
  const auto fetch = [&](int n, int turn) {
#pragma unroll
    for (int combination = 0; combination < COMBINATIONS; ++combination)
      value[combination] = by[n * COMBINATIONS + combination];
#pragma unroll
    for (int k = 0; k < PER_LANE; ++k) {
      const int slot = lane + 32 * PARTS * k, cell = slot / PAIR * PAIR + columnOf(k, turn);
      if (slot >= PAIR_CELLS)
        weight[k] = make_double2(0, 0);
      else if (known)
        weight[k] = __ldcs(known + (int64_t)n * PAIR_CELLS + cell);
      else
        weight[k] = pairCell(kernels, list[n] >> 16, list[n] & 0xFFFF, cell);
    }
  };

  int2 here = places[0];
  int turn = turnOf(here.y);
  fetch(0, turn);
  for (int n = 0; n < count; ++n) {
    double2 spread[COMBINATIONS];
    double2 kernel[PER_LANE];
#pragma unroll
    for (int combination = 0; combination < COMBINATIONS; ++combination) spread[combination] = value[combination];
#pragma unroll
    for (int k = 0; k < PER_LANE; ++k) kernel[k] = weight[k];
    const int2 next = places[n];
    const int nextTurn = turnOf(next.y);
    if (n + 1 < count) fetch(n + 1, turnOf(places[n + 1].y));
    if (next.x != here.x)
      leave(here, turn, 2 * PIXELS);
    else if (next.y != here.y)
      leave(here, turn, next.y - REACH);
    here = next;
    turn = nextTurn;
#pragma unroll
    for (int k = 0; k < PER_LANE; ++k) {
      const double re = kernel[k].x, im = kernel[k].y;
#pragma unroll
      for (int combination = 0; combination < COMBINATIONS; ++combination) {
        sums[k][combination].x += spread[combination].x * re - spread[combination].y * im;
        sums[k][combination].y += spread[combination].x * im + spread[combination].y * re;
      }
    }
  }
  leave(here, turn, 2 * PIXELS);
}

// Of the grid only `rowCount` rows from `firstRow` on, wrapped around, are not zero: pairs are in the order whose
// difference is in the upper half of the plane. turns[k] = e^(-2 pi i k / PIXELS). Along l, four rows that share each
// factor: grid (ceil(rowCount / 4), planes), a thread per pixel. alongL : [plane][row that is not zero][l].
extern "C" __global__ void transformRows(const double2 *grids, const double2 *turns, int firstRow, int rowCount,
                                         double2 *alongL) {
  constexpr int AT_ONCE = 4;
  extern __shared__ double2 rows[];  // [k][row]
  const int64_t plane = blockIdx.y * PLANE;
  const int first = blockIdx.x * AT_ONCE;
  for (int e = threadIdx.x; e < AT_ONCE * PIXELS; e += blockDim.x) {
    const int row = e / PIXELS, k = e % PIXELS;
    rows[k * AT_ONCE + row] = first + row < rowCount
                                  ? grids[plane + (int64_t)wrapped(firstRow + first + row) * PIXELS + k]
                                  : make_double2(0, 0);
  }
  __syncthreads();
  for (int l = threadIdx.x; l < PIXELS; l += blockDim.x) {
    double2 sum[AT_ONCE] = {};
    for (int k = 0, at = 0; k < PIXELS; ++k) {
      const double2 by = turns[at];
#pragma unroll
      for (int n = 0; n < AT_ONCE; ++n) {
        const double2 x = rows[k * AT_ONCE + n];
        sum[n].x += x.x * by.x - x.y * by.y;
        sum[n].y += x.x * by.y + x.y * by.x;
      }
      at += l;
      if (at >= PIXELS) at -= PIXELS;
    }
#pragma unroll
    for (int n = 0; n < AT_ONCE; ++n)
      if (first + n < rowCount) alongL[plane + (int64_t)(first + n) * PIXELS + l] = sum[n];
  }
}

// Along m, eight pixels at a time: grid (ceil(PIXELS / 8), planes), a thread per l. XX and YY are real: their imaginary
// parts are not made.
extern "C" __global__ void transformColumns(const double2 *alongL, const double2 *turns, int firstRow, int rowCount,
                                            double2 *fields) {
  constexpr int AT_ONCE = 8;
  const int64_t plane = blockIdx.y * PLANE;
  const int first = blockIdx.x * AT_ONCE;
  const bool isReal = blockIdx.y % COMBINATIONS < 2;
  for (int l = threadIdx.x; l < PIXELS; l += blockDim.x) {
    double2 sum[AT_ONCE];
    int at[AT_ONCE];
#pragma unroll
    for (int n = 0; n < AT_ONCE; ++n)
      sum[n] = make_double2(0, 0), at[n] = wrapped((first + n) % PIXELS * wrapped(firstRow));
    for (int row = 0; row < rowCount; ++row) {
      const double2 x = alongL[plane + (int64_t)row * PIXELS + l];
#pragma unroll
      for (int n = 0; n < AT_ONCE; ++n) {
        const double2 by = turns[at[n]];
        sum[n].x += x.x * by.x - x.y * by.y;
        if (!isReal) sum[n].y += x.x * by.y + x.y * by.x;
        at[n] += (first + n) % PIXELS;
        if (at[n] >= PIXELS) at[n] -= PIXELS;
      }
    }
#pragma unroll
    for (int n = 0; n < AT_ONCE; ++n)
      if (first + n < PIXELS) fields[plane + (int64_t)(first + n) * PIXELS + l] = sum[n];
  }
}

// sums : [c][product][m][l] from the transforms: Re XX, Re YY, then XY + conj(YX).
extern "C" __global__ void collectSums(const double2 *fields, int firstChannel, double *sums) {
  const int64_t pixel = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (pixel >= PLANE) return;
  const double2 *from = fields + (int64_t)blockIdx.y * COMBINATIONS * PLANE + pixel;
  double *to = sums + (int64_t)(firstChannel + blockIdx.y) * PRODUCTS * PLANE + pixel;
  to[0] = from[0].x;
  if (COMBINATIONS == 1) return;
  to[PLANE] = from[PLANE].x;
  to[2 * PLANE] = from[2 * PLANE].x + from[3 * PLANE].x;
  to[3 * PLANE] = from[2 * PLANE].y - from[3 * PLANE].y;
}

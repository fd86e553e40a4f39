// Planes of w to an image and back: transforms along both axes in shared memory, LINES rows or columns to a block, and
// between planes the factor e^(2 pi i spacing (n - 1 - middle)), summed from the last plane down (Horner).
//
//   rowsToImage -> columnsToImage (all planes) -> collectImage     spreadImage -> columnsToGrid -> rowsToGrid
//
// Set by the plan: as wide.cuh, RADICES (digits, whose product is SIDE), LINES, THREADS, OVER_N.
#include "wide.cuh"

// Digits of RADICES, the last one first.
__host__ __device__ constexpr int radixOf(int pass) {
  long long rest = RADICES;
  for (int k = 0; k < pass; ++k) rest /= 10;
  return (int)(rest % 10);
}
__host__ __device__ constexpr int countPasses() {
  int passes = 0;
  while (radixOf(passes) > 0) ++passes;
  return passes;
}
constexpr int PASSES = countPasses();

__device__ __forceinline__ Real2 swapped(Real2 a) { return pairOf(a.y, a.x); }
__device__ __forceinline__ Real2 quarter(Real2 a) { return pairOf(a.y, -a.x); }  // -i a

// e^(-2 pi i jk / R)
template <int R>
__device__ __forceinline__ void butterfly(Real2 *x) {
  if constexpr (R == 2) {
    const Real2 sum = x[0] + x[1];
    x[1] = x[0] - x[1];
    x[0] = sum;
  } else if constexpr (R == 4) {
    const Real2 sum = x[0] + x[2], difference = x[0] - x[2], other = x[1] + x[3], turn = quarter(x[1] - x[3]);
    x[0] = sum + other;
    x[1] = difference + turn;
    x[2] = sum - other;
    x[3] = difference - turn;
  } else if constexpr (R == 8) {
    constexpr Real EIGHTH = (Real)0.70710678118654752440;
    Real2 even[4], odd[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      even[k] = x[k] + x[k + 4];
      odd[k] = x[k] - x[k + 4];
    }
    odd[1] = pairOf((odd[1].x + odd[1].y) * EIGHTH, (odd[1].y - odd[1].x) * EIGHTH);
    odd[2] = quarter(odd[2]);
    odd[3] = pairOf((odd[3].y - odd[3].x) * EIGHTH, (odd[3].x + odd[3].y) * -EIGHTH);
    butterfly<4>(even);
    butterfly<4>(odd);
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      x[2 * k] = even[k];
      x[2 * k + 1] = odd[k];
    }
  } else {
    // 3, 5, 7: inputs j and R - j share their cosines, and their sines but for the sign
    constexpr int HALF = (R - 1) / 2;
    constexpr double COSINES[3][3] = {{-0.5, 0, 0},
                                      {0.30901699437494742410, -0.80901699437494742410, 0},
                                      {0.62348980185873353053, -0.22252093395631440429, -0.90096886790241912624}};
    constexpr double SINES[3][3] = {{0.86602540378443864676, 0, 0},
                                    {0.95105651629515357212, 0.58778525229247312917, 0},
                                    {0.78183148246802980871, 0.97492791218182360702, 0.43388373911755812048}};
    Real2 sums[HALF], differences[HALF];
#pragma unroll
    for (int j = 0; j < HALF; ++j) {
      sums[j] = x[j + 1] + x[R - 1 - j];
      differences[j] = x[j + 1] - x[R - 1 - j];
    }
    const Real2 first = x[0];
#pragma unroll
    for (int j = 0; j < HALF; ++j) x[0] = x[0] + sums[j];
#pragma unroll
    for (int k = 1; k <= HALF; ++k) {
      Real2 along = first, across = pairOf(0, 0);
#pragma unroll
      for (int j = 1; j <= HALF; ++j) {
        const int e = j * k % R, near = e <= HALF ? e : R - e;
        const Real cosine = (Real)COSINES[HALF - 1][near - 1];
        const Real sine = (Real)(e <= HALF ? SINES[HALF - 1][near - 1] : -SINES[HALF - 1][near - 1]);
        along = pairOf(along.x + sums[j - 1].x * cosine, along.y + sums[j - 1].y * cosine);
        across = pairOf(across.x + differences[j - 1].y * sine, across.y - differences[j - 1].x * sine);
      }
      x[k] = along + across;
      x[R - k] = along - across;
    }
  }
}

// lines : [k][line] in shared memory, all threads of the block; turns : [k] = e^(-2 pi i k / SIDE).
template <int PASS, int SIZE>
__device__ __forceinline__ void transform(Real2 *lines, const Real2 *turns) {
  if constexpr (PASS < PASSES) {
    constexpr int R = radixOf(PASS), PARTS = SIZE / R, STRIDE = SIDE / SIZE;
    constexpr int ITEMS = SIDE / R * LINES, EACH = (ITEMS + THREADS - 1) / THREADS;
    Real2 x[EACH][R];
    __syncthreads();
#pragma unroll
    for (int n = 0; n < EACH; ++n) {
      const int item = threadIdx.x + n * THREADS, line = item % LINES, which = item / LINES;
      if (item >= ITEMS) continue;
#pragma unroll
      for (int k = 0; k < R; ++k) x[n][k] = lines[(which + SIDE / R * k) * LINES + line];
    }
    __syncthreads();
#pragma unroll
    for (int n = 0; n < EACH; ++n) {
      const int item = threadIdx.x + n * THREADS, line = item % LINES, which = item / LINES;
      const int p = which / STRIDE, q = which % STRIDE;
      if (item >= ITEMS) continue;
      butterfly<R>(x[n]);
      lines[(q + STRIDE * R * p) * LINES + line] = x[n][0];
#pragma unroll
      for (int k = 1; k < R; ++k)
        lines[(q + STRIDE * (R * p + k)) * LINES + line] = PARTS > 1 ? times(x[n][k], turns[p * k * STRIDE]) : x[n][k];
    }
    transform<PASS + 1, PARTS>(lines, turns);
  } else {
    __syncthreads();
  }
}

// The position of pixel k, counted from 0, in a transform: the middle is at 0.
__device__ __forceinline__ int transformed(int k) { return k < PIXELS / 2 ? k + SIDE - PIXELS / 2 : k - PIXELS / 2; }

// Touched rows of tiles are zeroed, and marked untouched; all others are zero already. Grid: (TILES, planes).
extern "C" __global__ void __launch_bounds__(THREADS) clearTouched(Real2 *planes, uint8_t *touched) {
  uint8_t &mark = touched[(int64_t)blockIdx.y * TILES + blockIdx.x];
  if (!mark) return;
  Real2 *const rows = planes + ((int64_t)blockIdx.y * SIDE + (int64_t)blockIdx.x * TILE) * SIDE;
  for (int k = threadIdx.x; k < TILE * SIDE; k += THREADS) rows[k] = pairOf(0, 0);
  __syncthreads();
  if (threadIdx.x == 0) mark = 0;
}

// planes : [plane][v][u] become [plane][v][l], PIXELS of them in the first places of each row, e^(+2 pi i u l);
// untouched rows stay zero. Grid: (SIDE / LINES, planes).
extern "C" __global__ void __launch_bounds__(THREADS)
    rowsToImage(Real2 *planes, const uint8_t *touched, const Real2 *turns) {
  static_assert(TILE % LINES == 0, "the lines of a block lie in one row of tiles");
  if (!touched[(int64_t)blockIdx.y * TILES + blockIdx.x * LINES / TILE]) return;
  extern __shared__ double shared[];
  Real2 *const lines = reinterpret_cast<Real2 *>(shared);
  Real2 *const rows = planes + ((int64_t)blockIdx.y * SIDE + (int64_t)blockIdx.x * LINES) * SIDE;
  for (int k = threadIdx.x; k < LINES * SIDE; k += THREADS) lines[k % SIDE * LINES + k / SIDE] = swapped(rows[k]);
  transform<0, SIDE>(lines, turns);
  for (int k = threadIdx.x; k < LINES * PIXELS; k += THREADS)
    rows[(int64_t)(k / PIXELS) * SIDE + k % PIXELS] = swapped(lines[transformed(k % PIXELS) * LINES + k / PIXELS]);
}

// The reverse, e^(-2 pi i u l). The same grid.
extern "C" __global__ void __launch_bounds__(THREADS) rowsToGrid(Real2 *planes, const Real2 *turns) {
  extern __shared__ double shared[];
  Real2 *const lines = reinterpret_cast<Real2 *>(shared);
  Real2 *const rows = planes + ((int64_t)blockIdx.y * SIDE + (int64_t)blockIdx.x * LINES) * SIDE;
  for (int k = threadIdx.x; k < LINES * SIDE; k += THREADS) lines[k] = pairOf(0, 0);
  __syncthreads();
  for (int k = threadIdx.x; k < LINES * PIXELS; k += THREADS)
    lines[transformed(k % PIXELS) * LINES + k / PIXELS] = rows[(int64_t)(k / PIXELS) * SIDE + k % PIXELS];
  transform<0, SIDE>(lines, turns);
  for (int k = threadIdx.x; k < LINES * SIDE; k += THREADS) rows[k] = lines[k % SIDE * LINES + k / SIDE];
}

// Columns first ... of one plane into shared memory; untouched rows are not read.
__device__ __forceinline__ void loadColumns(Real2 *lines, const Real2 *plane, const uint8_t *touched, int first) {
  __syncthreads();
  for (int k = threadIdx.x; k < LINES * SIDE; k += THREADS) {
    const int l = first + k % LINES, row = k / LINES;
    const bool isThere = l < PIXELS && touched[row / TILE];
    lines[k] = isThere ? swapped(plane[(int64_t)row * SIDE + l]) : pairOf(0, 0);
  }
}

// sums : [m][l] <- sums * step + plane, planes from the last down to the first, the sums of a block's columns in
// registers meanwhile. steps : [|l|][|m|]. Grid: ceil(PIXELS / LINES).
extern "C" __global__ void __launch_bounds__(THREADS)
    columnsToImage(const Real2 *planes, const uint8_t *touched, int count, const Real2 *turns, const double2 *steps,
                   double2 *sums) {
  constexpr int EACH = (LINES * PIXELS + THREADS - 1) / THREADS;
  extern __shared__ double shared[];
  Real2 *const lines = reinterpret_cast<Real2 *>(shared);
  const int first = blockIdx.x * LINES;
  double2 own[EACH];
  const int last = min(LINES, PIXELS - first);  // columns of this block that are pixels
#pragma unroll
  for (int n = 0; n < EACH; ++n) {
    const int k = threadIdx.x + n * THREADS, m = k / LINES, l = k % LINES;
    own[n] = k < LINES * PIXELS && l < last ? sums[(int64_t)m * PIXELS + first + l] : make_double2(0, 0);
  }
  for (int plane = count - 1; plane >= 0; --plane) {
    loadColumns(lines, planes + (int64_t)plane * SIDE * SIDE, touched + (int64_t)plane * TILES, first);
    transform<0, SIDE>(lines, turns);
#pragma unroll
    for (int n = 0; n < EACH; ++n) {
      const int k = threadIdx.x + n * THREADS, m = k / LINES, l = k % LINES;
      if (k >= LINES * PIXELS || l >= last) continue;
      const Real2 value = swapped(lines[transformed(m) * LINES + l]);
      const double2 step = steps[abs(first + l - PIXELS / 2) * QUARTER + abs(m - PIXELS / 2)], old = own[n];
      own[n] = make_double2(old.x * step.x - old.y * step.y + value.x, old.x * step.y + old.y * step.x + value.y);
    }
  }
#pragma unroll
  for (int n = 0; n < EACH; ++n) {
    const int k = threadIdx.x + n * THREADS, m = k / LINES, l = k % LINES;
    if (k < LINES * PIXELS && l < last) sums[(int64_t)m * PIXELS + first + l] = own[n];
  }
}

// The reverse: sums become planes from the first up, and sums <- sums * conj(step) after each.
extern "C" __global__ void __launch_bounds__(THREADS)
    columnsToGrid(Real2 *planes, int count, const Real2 *turns, const double2 *steps, double2 *sums) {
  extern __shared__ double shared[];
  Real2 *const lines = reinterpret_cast<Real2 *>(shared);
  const int first = blockIdx.x * LINES;
  for (int plane = 0; plane < count; ++plane) {
    Real2 *to = planes + (int64_t)plane * SIDE * SIDE;
    __syncthreads();
    for (int k = threadIdx.x; k < LINES * SIDE; k += THREADS) lines[k] = pairOf(0, 0);
    __syncthreads();
    for (int k = threadIdx.x; k < LINES * PIXELS; k += THREADS) {
      const int m = k / LINES, l = first + k % LINES;
      if (l >= PIXELS) continue;
      const double2 step = steps[abs(l - PIXELS / 2) * QUARTER + abs(m - PIXELS / 2)];
      double2 &sum = sums[(int64_t)m * PIXELS + l];
      const double2 old = sum;
      lines[transformed(m) * LINES + k % LINES] = pairOf((Real)old.x, (Real)old.y);
      sum = make_double2(old.x * step.x + old.y * step.y, old.y * step.x - old.x * step.y);
    }
    transform<0, SIDE>(lines, turns);
    for (int k = threadIdx.x; k < LINES * SIDE; k += THREADS) {
      const int l = first + k % LINES;
      if (l < PIXELS) to[(int64_t)(k / LINES) * SIDE + l] = lines[k];
    }
  }
}

// steps : [|l|][|m|] = e^(2 pi i spacing y), y = n - 1 - middle; ends : e^(2 pi i firstW y) / phi^(y), over n where
// requested; 0 below the horizon. series: 1/phi^ in Chebyshev polynomials of 2 (y / halfRange)^2 - 1. A thread for
// each.
extern "C" __global__ void makeSteps(const __grid_constant__ Shape shape, const double *series, int terms,
                                     double2 *steps, double2 *ends) {
  const int64_t at = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (at >= (int64_t)QUARTER * QUARTER) return;
  const double l = (double)(at / QUARTER) * shape.pixelCosine, m = (double)(at % QUARTER) * shape.pixelCosine;
  const double r2 = __dadd_rn(__dmul_rn(l, l), __dmul_rn(m, m));  // unfused, as on the host: the horizon is the same
  steps[at] = ends[at] = make_double2(0, 0);
  if (!(r2 <= 1)) return;
  const double n = sqrt(1 - r2);
  if (OVER_N && n == 0) return;
  const double y = -r2 / (1 + n) - shape.middle, ratio = shape.halfRange > 0 ? y / shape.halfRange : 0;
  const double t = 2 * fmin(1.0, ratio * ratio) - 1;
  double next = 0, after = 0;
  for (int k = terms - 1; k > 0; --k) {
    const double here = 2 * t * next - after + series[k];
    after = next;
    next = here;
  }
  double factor = t * next - after + series[0];
  if (OVER_N) factor /= n;
  double sine, cosine;
  sincospi(2 * shape.spacing * y, &sine, &cosine);
  steps[at] = make_double2(cosine, sine);
  const double turn = shape.firstW * y;
  sincospi(2 * (turn - rint(turn)), &sine, &cosine);
  ends[at] = make_double2(factor * cosine, factor * sine);
}

// image : [m][l] += the sums with all corrections; NaN below the horizon. corrections : [distance from the middle].
extern "C" __global__ void collectImage(const double2 *sums, const double2 *ends, const double *corrections,
                                        double *image) {
  const int64_t at = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (at >= (int64_t)PIXELS * PIXELS) return;
  const int l = abs((int)(at % PIXELS) - PIXELS / 2), m = abs((int)(at / PIXELS) - PIXELS / 2);
  const double2 end = ends[l * QUARTER + m], sum = sums[at];
  const double value = (sum.x * end.x - sum.y * end.y) * corrections[l] * corrections[m];
  image[at] = end.x == 0 && end.y == 0 ? __longlong_as_double(0x7FF8000000000000LL) : image[at] + value;
}

// The reverse; pixels below the horizon are ignored.
extern "C" __global__ void spreadImage(const double *image, const double2 *ends, const double *corrections,
                                       double2 *sums) {
  const int64_t at = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (at >= (int64_t)PIXELS * PIXELS) return;
  const int l = abs((int)(at % PIXELS) - PIXELS / 2), m = abs((int)(at / PIXELS) - PIXELS / 2);
  const double2 end = ends[l * QUARTER + m];
  const bool isSky = end.x != 0 || end.y != 0;
  const double value = isSky ? image[at] * corrections[l] * corrections[m] : 0;
  sums[at] = make_double2(value * end.x, -value * end.y);
}

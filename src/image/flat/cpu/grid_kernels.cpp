// levels: portable avx2 avx512
#include "image/flat/cpu/grid_kernels.h"

#include "image/cpu/lane_fft.h"

namespace corella {
namespace CORELLA_LEVEL {
namespace {

using Pairs = Complex<Doubles>;

/** Eight columns of a kernel, in as many registers as the level needs. */
typedef double Row __attribute__((vector_size(64)));

template <int K>
void multiplySized(const double *tapsI, const double *tapsJ, PairProduct &product) {
  constexpr int Q = 2 * K - 1;
  // rows of conj(K_j), reversed: then both run the same way along the product
  Row jRe[K] = {}, jIm[K] = {};
  for (int row = 0; row < K; row++) {
    for (int column = 0; column < K; column++) {
      jRe[row][K - 1 - column] = tapsJ[2 * (row * K + column)];
      jIm[row][K - 1 - column] = -tapsJ[2 * (row * K + column) + 1];
    }
  }
  // Columns of K_i outermost: the next one, a column on, finds the stored values in the cache.
  double re[Q][PRODUCT_STRIDE / 2] = {}, im[Q][PRODUCT_STRIDE / 2] = {};
  for (int column = 0; column < K; column++) {
    for (int d = 0; d < Q; d++) {
      Row sumRe = loadVector<Row>(re[d] + column), sumIm = loadVector<Row>(im[d] + column);
      const int first = d < K - 1 ? 0 : d - (K - 1), end = d < K - 1 ? d + 1 : K;
      for (int row = first; row < end; row++) {
        const double *tap = tapsI + 2 * (row * K + column);
        const Row &otherRe = jRe[row - d + K - 1], &otherIm = jIm[row - d + K - 1];
        sumRe += tap[0] * otherRe;
        sumRe -= tap[1] * otherIm;
        sumIm += tap[0] * otherIm;
        sumIm += tap[1] * otherRe;
      }
      storeVector(re[d] + column, sumRe);
      storeVector(im[d] + column, sumIm);
    }
  }
  for (int d = 0; d < Q; d++) {
    for (int column = 0; column < PRODUCT_STRIDE / 2; column++) {
      const int at = d * PRODUCT_STRIDE + 2 * column;
      product.straight[at] = re[d][column];
      product.straight[at + 1] = im[d][column];
      product.turned[at] = -im[d][column];
      product.turned[at + 1] = re[d][column];
    }
  }
}

void multiply(int64_t kernelSize, const double *tapsI, const double *tapsJ, PairProduct &product) {
  switch (kernelSize) {
    case 1: return multiplySized<1>(tapsI, tapsJ, product);
    case 3: return multiplySized<3>(tapsI, tapsJ, product);
    case 5: return multiplySized<5>(tapsI, tapsJ, product);
    default: return multiplySized<7>(tapsI, tapsJ, product);
  }
}

void add(int64_t kernelSize, const PairProduct &product, int64_t side, int64_t row, int64_t column,
         const PairValue *values, int64_t count) {
  const int64_t rows = 2 * kernelSize - 1;
  for (int64_t r = 0; r < rows; r++) {
    const int64_t at = 2 * ((row + r) * side + column);
    for (int64_t c = 0; c < 2 * rows; c += LANES<double>) {
      const Doubles straight = loadVector<Doubles>(product.straight + r * PRODUCT_STRIDE + c);
      const Doubles turned = loadVector<Doubles>(product.turned + r * PRODUCT_STRIDE + c);
      for (int64_t n = 0; n < count; n++) {
        const PairValue &value = values[n];
        double *image = value.image + at + c;
        storeVector(image, loadVector<Doubles>(image) + straight * value.re + turned * value.im);
        if (!value.beam) continue;
        double *beam = value.beam + at + c;
        storeVector(beam, loadVector<Doubles>(beam) + straight * value.beamRe + turned * value.beamIm);
      }
    }
  }
}

/** The margin's rows and columns wrap to the other end of the grid. */
void fold(double *grid, int64_t n, int64_t side) {
  for (int64_t row = 0; row < side; row++) {
    double *cells = grid + 2 * row * side;
    for (int64_t at = 2 * n; at < 2 * side; at++) {
      cells[at - 2 * n] += cells[at];
      cells[at] = 0;
    }
  }
  for (int64_t at = 2 * n * side; at < 2 * side * side; at++) {
    grid[at - 2 * n * side] += grid[at];
    grid[at] = 0;
  }
}

/** Vectors of neighbouring columns of a grid, down its rows. */
struct FromGrid {
  const double *first;
  int64_t side;
  CORELLA_INLINE Pairs operator()(int64_t row) const {
    const double *cells = first + 2 * row * side;
    Pairs x;
    for (int lane = 0; lane < LANES<double>; lane++) {
      x.re[lane] = cells[2 * lane];
      x.im[lane] = cells[2 * lane + 1];
    }
    return x;
  }
};

/** Vectors of neighbouring columns into the rows of two planes. */
struct ToPlanes {
  double *re, *im;
  int64_t side;
  CORELLA_INLINE void operator()(int64_t row, const Pairs &value) const {
    storeVector(re + row * side, value.re);
    storeVector(im + row * side, value.im);
  }
};

/** Vectors of neighbouring rows of two planes, along their columns. */
struct FromPlanes {
  const double *re, *im;
  int64_t side;
  CORELLA_INLINE Pairs operator()(int64_t column) const {
    Pairs x;
    for (int lane = 0; lane < LANES<double>; lane++) {
      x.re[lane] = re[lane * side + column];
      x.im[lane] = im[lane * side + column];
    }
    return x;
  }
};

void transform(const LaneFft<double> &fft, double *grid, int64_t side, double *other, void *memory) {
  const int64_t n = fft.length, plane = side * side;
  auto *buffers = static_cast<Pairs *>(memory);
  fold(grid, n, side);
  for (int64_t column = 0; column < n; column += LANES<double>) {
    transformLanes<Doubles>(fft, FromGrid{grid + 2 * column, side}, buffers, buffers + n,
                            ToPlanes{other + column, other + plane + column, side});
  }
  for (int64_t m = 0; m < n; m += LANES<double>) {
    transformLanes<Doubles>(fft, FromPlanes{other + m * side, other + plane + m * side, side}, buffers, buffers + n,
                            ToPlanes{grid + m, grid + plane + m, side});
  }
}

}  // namespace

extern const GridKernels gridKernels = {LANES<double>, multiply, add, transform};

}  // namespace CORELLA_LEVEL
}  // namespace corella

// levels: portable avx2 avx512
#include "image/grid_kernels.h"

#include "image/lane_fft.h"

namespace corella {
namespace CORELLA_LEVEL {
namespace {

using Pairs = Complex<Doubles>;

template <int K>
void multiplySized(const double *tapsI, const double *tapsJ, PairProduct &product) {
  constexpr int Q = 2 * K - 1;
  // rows of conj(K_j), turned round: then both run the same way along the product
  constexpr int PADDED = 8;
  double jRe[K][PADDED] = {}, jIm[K][PADDED] = {};
  for (int row = 0; row < K; row++) {
    for (int column = 0; column < K; column++) {
      jRe[row][K - 1 - column] = tapsJ[2 * (row * K + column)];
      jIm[row][K - 1 - column] = -tapsJ[2 * (row * K + column) + 1];
    }
  }
  __builtin_memset(product.re, 0, Q * PRODUCT_STRIDE * sizeof(double));
  __builtin_memset(product.im, 0, Q * PRODUCT_STRIDE * sizeof(double));
  // Columns outermost: a sum is taken up again at the same address, or much later.
  for (int column = 0; column < K; column++) {
    for (int rowI = 0; rowI < K; rowI++) {
      const double re = tapsI[2 * (rowI * K + column)], im = tapsI[2 * (rowI * K + column) + 1];
      for (int rowJ = 0; rowJ < K; rowJ++) {
        double *toRe = product.re + (rowI - rowJ + K - 1) * PRODUCT_STRIDE + column;
        double *toIm = product.im + (rowI - rowJ + K - 1) * PRODUCT_STRIDE + column;
#pragma GCC ivdep
        for (int x = 0; x < PADDED; x++) {
          toRe[x] += re * jRe[rowJ][x] - im * jIm[rowJ][x];
          toIm[x] += re * jIm[rowJ][x] + im * jRe[rowJ][x];
        }
      }
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

void add(int64_t kernelSize, const PairProduct &product, int64_t row, int64_t column, const PairValue *values,
         int64_t count) {
  constexpr int64_t WIDE = LANES<double>;
  const int64_t side = 2 * kernelSize - 1;
  for (int64_t n = 0; n < count; n++) {
    const PairValue &value = values[n];
    for (int64_t r = 0; r < side; r++) {
      const int64_t at = (row + r) * value.image.stride + column;
      for (int64_t c = 0; c < side; c += WIDE) {
        const Doubles re = loadVector<Doubles>(product.re + r * PRODUCT_STRIDE + c);
        const Doubles im = loadVector<Doubles>(product.im + r * PRODUCT_STRIDE + c);
        const auto into = [&](double *plane, const Doubles &more) __attribute__((always_inline)) {
          storeVector(plane + at + c, loadVector<Doubles>(plane + at + c) + more);
        };
        into(value.image.re, re * value.re - im * value.im);
        into(value.image.im, im * value.re + re * value.im);
        into(value.beam.re, re * value.weight);
        into(value.beam.im, im * value.weight);
      }
    }
  }
}

/** The margin's rows and columns are those at the other end of the grid. */
void fold(double *plane, int64_t n, int64_t stride) {
  for (int64_t row = 0; row < stride; row++) {
    for (int64_t column = n; column < stride; column++) {
      plane[row * stride + column - n] += plane[row * stride + column];
      plane[row * stride + column] = 0;
    }
  }
  for (int64_t row = n; row < stride; row++) {
    for (int64_t column = 0; column < n; column++) {
      plane[(row - n) * stride + column] += plane[row * stride + column];
      plane[row * stride + column] = 0;
    }
  }
}

/** Vectors of neighbouring columns, down the rows. */
struct FromRows {
  const double *re, *im;
  int64_t stride;
  CORELLA_INLINE Pairs operator()(int64_t row) const {
    return {loadVector<Doubles>(re + row * stride), loadVector<Doubles>(im + row * stride)};
  }
};
struct ToRows {
  double *re, *im;
  int64_t stride;
  CORELLA_INLINE void operator()(int64_t row, const Pairs &value) const {
    storeVector(re + row * stride, value.re);
    storeVector(im + row * stride, value.im);
  }
};

/** Vectors of neighbouring rows, along the columns. */
struct FromColumns {
  const double *re, *im;
  int64_t stride;
  CORELLA_INLINE Pairs operator()(int64_t column) const {
    Pairs x;
    for (int lane = 0; lane < LANES<double>; lane++) {
      x.re[lane] = re[lane * stride + column];
      x.im[lane] = im[lane * stride + column];
    }
    return x;
  }
};

void transform(const LaneFft<double> &fft, GridPlanes grid, GridPlanes field, void *memory) {
  const int64_t n = fft.length, stride = grid.stride;
  auto *buffers = static_cast<Pairs *>(memory);
  fold(grid.re, n, stride);
  fold(grid.im, n, stride);
  for (int64_t column = 0; column < n; column += LANES<double>) {
    transformLanes<Doubles>(fft, FromRows{grid.re + column, grid.im + column, stride}, buffers, buffers + n,
                            ToRows{grid.re + column, grid.im + column, stride});
  }
  for (int64_t m = 0; m < n; m += LANES<double>) {
    transformLanes<Doubles>(fft, FromColumns{grid.re + m * stride, grid.im + m * stride, stride}, buffers,
                            buffers + n, ToRows{field.re + m, field.im + m, stride});
  }
}

}  // namespace

extern const GridKernels gridKernels = {LANES<double>, multiply, add, transform};

}  // namespace CORELLA_LEVEL
}  // namespace corella

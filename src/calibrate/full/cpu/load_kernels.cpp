// levels: portable avx2 avx512
#include "calibrate/full/cpu/load_kernels.h"

#include "calibrate/full/cpu/full_parts.h"
#include "calibrate/full/cpu/pair_numbers.h"

namespace corella {
namespace CORELLA_LEVEL {
namespace {

CORELLA_INLINE Doubles squaresOf(const double *numbers) {
  Doubles sum = {};
#pragma GCC unroll 4
  for (int n = 0; n < 8; n += LANES<double>) {
    const Doubles value = loadVector<Doubles>(numbers + n);
    sum += value * value;
  }
  return sum;
}
CORELLA_INLINE double largestOf(const Doubles &values) {
  double largest = 0;
  for (int lane = 0; lane < LANES<double>; lane++) largest = values[lane] > largest ? values[lane] : largest;
  return largest;
}

void measure(const double *data, const double *model, const double *weights, int64_t count, PairSizes &sizes) {
  Doubles power = {}, largestData = {}, largestModel = {};
  for (int64_t at = 0; at < count; at++) {
    if (weights[at] == 0) continue;
    const Doubles ofData = squaresOf(data + 8 * at) * weights[at], ofModel = squaresOf(model + 8 * at) * weights[at];
    power += ofData;
    largestData = ofData > largestData ? ofData : largestData;
    largestModel = ofModel > largestModel ? ofModel : largestModel;
    sizes.pairs++;
    if (sizes.form != GENERAL) {
      const int form = formOf(model + 8 * at);
      sizes.form = form > sizes.form ? form : sizes.form;
    }
  }
  const double most[2] = {largestOf(largestData), largestOf(largestModel)};
  sizes.power += total<double>(power);
  sizes.largestData = most[0] > sizes.largestData ? most[0] : sizes.largestData;
  sizes.largestModel = most[1] > sizes.largestModel ? most[1] : sizes.largestModel;
}

/** The numbers of a vector of columns; zeros where there is no pair, or one without weight, which is not read. */
struct Columns {
  WideDoubles data[8], model[8], weight;
};
template <int LANE = 0>
CORELLA_INLINE void readAll(Columns &to, const double *data, const double *model, const double *weights) {
  if constexpr (LANE < COLUMNS) {
#pragma GCC unroll 8
    for (int n = 0; n < 8; n++) {
      to.data[n][LANE] = data[8 * LANE + n];
      to.model[n][LANE] = model[8 * LANE + n];
    }
    to.weight[LANE] = weights[LANE];
    readAll<LANE + 1>(to, data, model, weights);
  }
}
void readSome(Columns &to, const double *data, const double *model, const double *weights, int64_t count) {
  to = Columns();
  for (int64_t lane = 0; lane < count; lane++) {
    if (weights[lane] == 0) continue;
    for (int n = 0; n < 8; n++) {
      to.data[n][lane] = data[8 * lane + n];
      to.model[n][lane] = model[8 * lane + n];
    }
    to.weight[lane] = weights[lane];
  }
}

CORELLA_INLINE bool haveAll(const double *weights) {
  bool all = true;
  for (int lane = 0; lane < COLUMNS; lane++) all = all && weights[lane] != 0;
  return all;
}

template <ModelForm FORM>
void load(const PairRow &of) {
  constexpr int64_t FLOATS = PAIR_FLOATS[FORM], PRODUCTS = PairPlace<FORM>::PRODUCTS, BLOCK = PairPlace<FORM>::BLOCK;
  const int64_t row = of.station % PANEL_ROWS;
  Columns columns;
  for (int64_t vector = 0; vector * COLUMNS < of.station; vector++) {
    const int64_t at = vector * COLUMNS, left = of.station - at;
    if (left >= COLUMNS && haveAll(of.weights + at))
      readAll(columns, of.data + 8 * at, of.model + 8 * at, of.weights + at);
    else
      readSome(columns, of.data + 8 * at, of.model + 8 * at, of.weights + at, left < COLUMNS ? left : COLUMNS);
    WideDoubles root = {};
    if constexpr (FORM == GENERAL)
      for (int lane = 0; lane < COLUMNS; lane++) root[lane] = std::sqrt(columns.weight[lane]);
    WideDoubles numbers[FLOATS];
    pairNumbers<FORM>(columns.data, columns.model, {of.scaleData, of.scaleModel}, columns.weight, root, numbers);
    const int64_t first = vector / VECTORS_AT_ONCE * VECTORS_AT_ONCE;
    const int64_t wide = of.vectors - first < VECTORS_AT_ONCE ? of.vectors - first : VECTORS_AT_ONCE;
    const PairPlace<FORM> place = {wide, FORM == GENERAL ? 1 : PRODUCT_ROWS};
    float *const part = of.panel + first * PANEL_ROWS * FLOATS * COLUMNS;
#pragma GCC unroll 32
    for (int64_t n = 0; n < FLOATS; n++) {
      const int64_t to = n < PRODUCTS ? place.product(row, n / BLOCK, vector - first) + n % BLOCK
                                      : place.power(row, vector - first) + n - PRODUCTS;
      storeVector(part + to * COLUMNS, __builtin_convertvector(numbers[n], Floats));
    }
  }
}

}  // namespace

extern const LoadKernels loadKernels = {measure, {load<UNPOLARISED>, load<DIAGONAL>, load<GENERAL>}};

}  // namespace CORELLA_LEVEL
}  // namespace corella

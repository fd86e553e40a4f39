// The numbers of a pair that are constant over iterations, by the form of its model (stefcal_full_kernels.h).
#pragma once
#include <cmath>

#include "calibrate/full/cpu/stefcal_full_kernels.h"

namespace corella {
namespace CORELLA_LEVEL {
namespace {

/** The form of a 2 × 2 model. */
CORELLA_INLINE ModelForm formOf(const double *model) {
  for (int n = 2; n < 6; n++)
    if (model[n] != 0) return GENERAL;
  return model[0] == model[6] && model[1] == model[7] ? UNPOLARISED : DIAGONAL;
}

/** a conj(b) times factor, of complex numbers at these places. */
template <class Number>
CORELLA_INLINE void byConjugate(const Number *a, const Number *b, const Number &factor, Number *out) {
  out[0] = factor * (a[0] * b[0] + a[1] * b[1]);
  out[1] = factor * (a[1] * b[0] - a[0] * b[1]);
}

/**
 * data, model : 8 numbers of a pair, or of some pairs as vectors; they are scaled by these, and the pair by its weight.
 */
struct PairScales {
  double data, model;
};

template <ModelForm FORM, class Number>
CORELLA_INLINE void pairNumbers(const Number *data, const Number *model, const PairScales &scales, const Number &weight,
                                const Number &root, Number *out) {
  const Number product = weight * (scales.data * scales.model), power = weight * (scales.model * scales.model);
  if constexpr (FORM != GENERAL) {
#pragma GCC unroll 2
    for (int column = 0; column < (FORM == DIAGONAL ? 2 : 1); column++)
#pragma GCC unroll 4
      for (int n = 0; n < 4; n++) byConjugate(data + 2 * n, model + 6 * column, product, out + 8 * column + 2 * n);
    Number *powers = out + (FORM == DIAGONAL ? 16 : 8);
    powers[0] = power * (model[0] * model[0] + model[1] * model[1]);
    if constexpr (FORM == DIAGONAL) {
      powers[1] = power * (model[6] * model[6] + model[7] * model[7]);
      byConjugate(model, model + 6, power, powers + 2);
    }
  } else {
    const Number ofData = root * scales.data, ofModel = root * scales.model;
#pragma GCC unroll 8
    for (int n = 0; n < 8; n++) {
      out[n] = data[n] * ofData;
      out[8 + n] = model[n] * ofModel;
    }
    // D = M H Mᴴ in the numbers 00, 11, √2 re 01, √2 im 01
    const double s = 1.41421356237309505;
    const auto square = [&](int n) {
      return power * (model[2 * n] * model[2 * n] + model[2 * n + 1] * model[2 * n + 1]);
    };
    Number upper[2], lower[2], left[2], right[2], straight[2], across[2];
    byConjugate(model, model + 2, power, upper);       // M00 M01*
    byConjugate(model + 4, model + 6, power, lower);   // M10 M11*
    byConjugate(model, model + 4, power, left);        // M00 M10*
    byConjugate(model + 2, model + 6, power, right);   // M01 M11*
    byConjugate(model, model + 6, power, straight);    // M00 M11*
    byConjugate(model + 2, model + 4, power, across);  // M01 M10*
    const Number rows[16] = {square(0),
                             square(1),
                             s * upper[0],
                             -s * upper[1],
                             square(2),
                             square(3),
                             s * lower[0],
                             -s * lower[1],
                             s * left[0],
                             s * right[0],
                             straight[0] + across[0],
                             across[1] - straight[1],
                             s * left[1],
                             s * right[1],
                             straight[1] + across[1],
                             straight[0] - across[0]};
#pragma GCC unroll 16
    for (int n = 0; n < 16; n++) out[16 + n] = rows[n];
  }
}

}  // namespace
}  // namespace CORELLA_LEVEL
}  // namespace corella

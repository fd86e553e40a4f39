// levels: portable avx2 avx512
// Wide images in float32 and float64; wide_kernels.h says what each kernel does.
#include <utility>

#include "image/wide/cpu/wide_grid.h"
#include "image/wide/cpu/wide_transforms.h"

namespace corella {
namespace CORELLA_LEVEL {
namespace {

template <class Real, int MOST>
int64_t scratchReals(const WideShape<Real> &shape) {
  return static_cast<int64_t>(shape.wSupport) * Gridder<Real, MOST>::PATCH;
}

/** For so many supports from 3 on. */
template <class Real, int... W>
constexpr WideKernels<Real> kernelsOf(std::integer_sequence<int, W...>) {
  return {
      LANES<Real>,
      place<Real>,
      scratchReals<Real, 2 + sizeof...(W)>,
      {nullptr, nullptr, nullptr, Gridder<Real, 3 + W>::grid...},
      {nullptr, nullptr, nullptr, Gridder<Real, 3 + W>::degrid...},
      Transforms<Real>::rowsToImage,
      Transforms<Real>::rowsToGrid,
      Transforms<Real>::columnsToImage,
      Transforms<Real>::columnsToGrid,
      Transforms<Real>::skipPlane,
  };
}

}  // namespace

extern const WideKernels<float> wideKernelsFloat = kernelsOf<float>(std::make_integer_sequence<int, 6>());
extern const WideKernels<double> wideKernelsDouble = kernelsOf<double>(std::make_integer_sequence<int, 9>());

}  // namespace CORELLA_LEVEL
}  // namespace corella

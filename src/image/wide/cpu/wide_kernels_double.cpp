// levels: portable avx2 avx512
// Wide images in float64; wide_kernels.h says what each does.
#include "image/wide/cpu/wide_grid.h"
#include "image/wide/cpu/wide_transforms.h"

namespace corella {
namespace CORELLA_LEVEL {
namespace {

int64_t scratchReals(const WideShape<double> &shape) {
  return static_cast<int64_t>(shape.wSupport) * Gridder<double, 11>::PATCH;
}

template <int W>
using Of = Gridder<double, W>;

}  // namespace

extern const WideKernels<double> wideKernelsDouble;
const WideKernels<double> wideKernelsDouble = {
    LANES<double>,
    place<double>,
    scratchReals,
    {nullptr, nullptr, nullptr, Of<3>::grid, Of<4>::grid, Of<5>::grid, Of<6>::grid, Of<7>::grid, Of<8>::grid,
     Of<9>::grid, Of<10>::grid, Of<11>::grid},
    {nullptr, nullptr, nullptr, Of<3>::degrid, Of<4>::degrid, Of<5>::degrid, Of<6>::degrid, Of<7>::degrid,
     Of<8>::degrid, Of<9>::degrid, Of<10>::degrid, Of<11>::degrid},
    Transforms<double>::rowsToImage,
    Transforms<double>::rowsToGrid,
    Transforms<double>::columnsToImage,
    Transforms<double>::columnsToGrid,
    Transforms<double>::skipPlane,
};

}  // namespace CORELLA_LEVEL
}  // namespace corella

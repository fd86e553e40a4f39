// levels: portable avx2 avx512
// Wide images in float32; wide_kernels.h says what each does.
#include "image/wide/cpu/wide_grid.h"
#include "image/wide/cpu/wide_transforms.h"

namespace corella {
namespace CORELLA_LEVEL {
namespace {

int64_t scratchReals(const WideShape<float> &shape) {
  return static_cast<int64_t>(shape.wSupport) * Gridder<float, 8>::PATCH;
}

}  // namespace

extern const WideKernels<float> wideKernelsFloat;
const WideKernels<float> wideKernelsFloat = {
    LANES<float>,
    place<float>,
    scratchReals,
    {nullptr, nullptr, nullptr, Gridder<float, 3>::grid, Gridder<float, 4>::grid, Gridder<float, 5>::grid,
     Gridder<float, 6>::grid, Gridder<float, 7>::grid, Gridder<float, 8>::grid},
    {nullptr, nullptr, nullptr, Gridder<float, 3>::degrid, Gridder<float, 4>::degrid, Gridder<float, 5>::degrid,
     Gridder<float, 6>::degrid, Gridder<float, 7>::degrid, Gridder<float, 8>::degrid},
    Transforms<float>::rowsToImage,
    Transforms<float>::rowsToGrid,
    Transforms<float>::columnsToImage,
    Transforms<float>::columnsToGrid,
    Transforms<float>::skipPlane,
};

}  // namespace CORELLA_LEVEL
}  // namespace corella

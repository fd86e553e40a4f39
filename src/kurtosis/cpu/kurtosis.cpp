// Spectral kurtosis on threads: powers of every input and channel summed over windows, and what is taken zeroed.
#include <algorithm>
#include <cstring>

#include "backend/cpu/context.h"
#include "kurtosis/cpu/kurtosis_kernel.h"
#include "kurtosis/cpu/kurtosis_screen.h"

namespace corella {
namespace {

struct Windows {
  const int32_t *edges;  // [w + 1]
  int64_t count;
};

void check(const SpectraLayout &layout, const Windows &windows) {
  require(layout.channels >= 1 && layout.inputs >= 1 && layout.capacity >= 1, "a block has a size below 1");
  require(windows.count >= 1 && windows.edges[0] == 0, "windows must begin with the block");
  for (int64_t w = 0; w < windows.count; w++)
    require(windows.edges[w] % 4 == 0 && windows.edges[w + 1] > windows.edges[w],
            "windows must begin at multiples of 4");
  require(windows.edges[windows.count] <= layout.capacity, "a window lies beyond the block");
}

void sumWindow(const KurtosisKernel &kernel, SpectraType type, const char *at, int64_t first, int64_t end,
               double *sums) {
  switch (type) {
    case SpectraType::cf32: return kernel.sumFloats(reinterpret_cast<const float *>(at), first, end, sums);
    case SpectraType::ci4: return kernel.sumNibbles(reinterpret_cast<const int8_t *>(at), first, end, sums);
    case SpectraType::ci8: return kernel.sumIntegers(reinterpret_cast<const int8_t *>(at), first, end, sums);
  }
}

void sumPowers(Context &context, const SpectraLayout &layout, const char *block, const Windows &windows,
               const Screen &screen, double *sums) {
  const KurtosisKernel &kernel = CORELLA_PICK_BYTES(context.level, kurtosisKernel);
  const int64_t inputBlocks = layout.inputBlocks();
  context.pool.run(layout.channels * inputBlocks, [&](int64_t item, int) {
    const int64_t channel = item / inputBlocks, group = item % inputBlocks, firstInput = group * TILE_INPUTS;
    const char *at = block + item * layout.inputBlockBytes();
    const int64_t inputs = std::min(TILE_INPUTS, layout.inputs - firstInput);
    // Of a window, and of the one before it.
    double made[2][2 * TILE_INPUTS];
    uint8_t marks[2][TILE_INPUTS];
    const uint8_t *flags = screen.flaggedInputs + firstInput;
    const auto keepMarks = [&](int64_t w) {
      const int64_t row = w * layout.channels + channel;
      std::memcpy(screen.marks + row * layout.inputs + firstInput, marks[w % 2], static_cast<size_t>(inputs));
      screen.groupMarks[row * inputBlocks + group] = allOf(marks[w % 2], inputs);
    };
    for (int64_t w = 0; w < windows.count; w++) {
      double *here = made[w % 2];
      sumWindow(kernel, layout.type, at, windows.edges[w], windows.edges[w + 1], here);
      const int64_t row = w * layout.channels + channel;
      std::memcpy(sums + 2 * (row * layout.inputs + firstInput), here,
                  static_cast<size_t>(2 * inputs) * sizeof(double));
      if (screen.heads == nullptr) continue;
      const int64_t shape = channel < screen.realChannels ? 2 : 0;
      screenWindow(screen, screen.heads[screen.places[4 * w + shape]], here, flags, inputs, marks[w % 2],
                   screen.totals + row * inputBlocks + group);
      if (w > 0) {
        const Fence &pair = screen.heads[screen.places[4 * (w - 1) + shape + 1]];
        screenPair(screen, pair, made[(w - 1) % 2], here, flags, inputs, marks[(w - 1) % 2]);
        keepMarks(w - 1);
      }
    }
    if (screen.heads != nullptr) keepMarks(windows.count - 1);
  });
}

void zeroIntegers(char *tiles, int64_t input, int64_t first, int64_t end) {
  for (int64_t t = first; t < end; t += 4) {
    char *line = tiles + t / TILE_SAMPLES * TILE_BYTES + withinPlane(input, t % TILE_SAMPLES);
    std::memset(line, 0, 4);
    std::memset(line + PLANE_BYTES, 0, 4);
  }
}

void zeroFloats(float *vectors, int64_t input, int64_t first, int64_t end) {
  for (int64_t t = first; t < end; t++) {
    vectors[t * FLOATS_PER_SAMPLE + input] = 0;
    vectors[t * FLOATS_PER_SAMPLE + TILE_INPUTS + input] = 0;
  }
}

void zeroTaken(Context &context, const SpectraLayout &layout, char *block, const Windows &windows,
               const uint8_t *mask) {
  const int64_t inputBlocks = layout.inputBlocks();
  context.pool.run(layout.channels * inputBlocks, [&](int64_t item, int) {
    const int64_t channel = item / inputBlocks, firstInput = item % inputBlocks * TILE_INPUTS;
    char *at = block + item * layout.inputBlockBytes();
    const int64_t inputs = std::min(TILE_INPUTS, layout.inputs - firstInput);
    for (int64_t w = 0; w < windows.count; w++) {
      const uint8_t *row = mask + (w * layout.channels + channel) * layout.inputs + firstInput;
      for (int64_t input = 0; input < inputs; input++) {
        if (row[input] == 0) continue;
        if (layout.type == SpectraType::cf32)
          zeroFloats(reinterpret_cast<float *>(at), input, windows.edges[w], windows.edges[w + 1]);
        else
          zeroIntegers(at, input, windows.edges[w], windows.edges[w + 1]);
      }
    }
  });
}

}  // namespace
}  // namespace corella

using namespace corella;

// block as in spectra.h; edges : [w + 1]; sums : [w][c][a][S1, S2]. The rest as in kurtosis_screen.h, and nothing of it is
// read or written where there are no fences.
CORELLA_EXPORT int32_t corella_kurtosis_sums(char *error, void *context, int32_t type, int64_t channels, int64_t inputs,
                                             int64_t capacity, const void *block, const int32_t *edges, int64_t windows,
                                             double *sums, int64_t fences, const double *heads, const double *tables,
                                             const int32_t *places, int64_t realChannels, const uint8_t *flaggedInputs,
                                             uint8_t *marks, uint8_t *groupMarks, double *totals) {
  return withContext(error, context, [&](Context &open) {
    const SpectraLayout layout{static_cast<SpectraType>(type), channels, inputs, capacity};
    check(layout, {edges, windows});
    const Fence *all = fences > 0 ? reinterpret_cast<const Fence *>(heads) : nullptr;
    for (int64_t n = 0; n < 4 * windows && all != nullptr; n++)
      require(places[n] >= 0 && places[n] < fences, "a window has no fence");
    const Screen screen{
        all,   reinterpret_cast<const FenceEntry *>(tables), places, flaggedInputs, realChannels, marks, groupMarks,
        totals};
    sumPowers(open, layout, static_cast<const char *>(block), {edges, windows}, screen, sums);
  });
}

// mask : [w][c][a], 1 where an input's samples become zeros.
CORELLA_EXPORT int32_t corella_kurtosis_zero(char *error, void *context, int32_t type, int64_t channels, int64_t inputs,
                                             int64_t capacity, void *block, const int32_t *edges, int64_t windows,
                                             const uint8_t *mask) {
  return withContext(error, context, [&](Context &open) {
    const SpectraLayout layout{static_cast<SpectraType>(type), channels, inputs, capacity};
    check(layout, {edges, windows});
    zeroTaken(open, layout, static_cast<char *>(block), {edges, windows}, mask);
  });
}

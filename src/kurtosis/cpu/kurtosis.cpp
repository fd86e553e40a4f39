// Spectral kurtosis on threads: sums powers of every input and channel over windows, and zeroes flagged samples.
#include <algorithm>
#include <cstring>

#include "backend/cpu/context.h"
#include "backend/cpu/spectra_powers.h"
#include "kurtosis/cpu/kurtosis_kernel.h"

namespace corella {
namespace {

/** A block, the powers beside it (spectra_powers.h) or null, and its windows. */
struct Source {
  SpectraLayout layout;
  const char *block;
  const uint32_t *powers;
  const int32_t *edges;  // [w + 1]
  int64_t windows;
};

void check(const SpectraLayout &layout, const int32_t *edges, int64_t windows) {
  require(layout.channels >= 1 && layout.inputs >= 1 && layout.capacity >= 1, "a block has a size below 1");
  require(windows >= 1 && edges[0] == 0, "windows must begin with the block");
  for (int64_t w = 0; w < windows; w++)
    require(edges[w] % 4 == 0 && edges[w + 1] > edges[w], "windows must begin at multiples of 4");
  require(edges[windows] <= layout.capacity, "a window is beyond the block");
}

/**
 * Whether all powers of floats with these sums were within float32: only negligible squares underflowed. Silence counts
 * as within. Everything else, NaN included, is summed again.
 */
bool isWithin(const double *sums, int64_t spectra) {
  constexpr double LEAST_MEAN = 1e-12, MOST_MEAN = 1e12;
  for (int64_t input = 0; input < TILE_INPUTS; input++) {
    const double mean = sums[2 * input] / static_cast<double>(spectra);
    if (!(mean == 0 || (mean > LEAST_MEAN && mean < MOST_MEAN))) return false;
  }
  return true;
}

/** One channel of sixteen inputs over a window; sums : [sixteen inputs][S1, S2]. */
void sumWindow(const KurtosisKernel &kernel, const Source &source, int64_t channel, int64_t inputBlock, int64_t w,
               double *sums) {
  const SpectraLayout &layout = source.layout;
  const int64_t first = source.edges[w], end = source.edges[w + 1];
  const bool isFloat = layout.type == SpectraType::cf32;
  if (source.powers != nullptr) {
    const PowersLayout powers(layout);
    // After the block's last spectrum there are zeros.
    const int64_t firstGroup = first / POWER_SPECTRA, groups = (end + POWER_SPECTRA - 1) / POWER_SPECTRA - firstGroup;
    const uint32_t *cells = source.powers + inputBlock * powers.inputBlockWords() +
                            channel / POWER_CHANNELS * powers.quadWords() + firstGroup * POWER_CELL_WORDS +
                            channel % POWER_CHANNELS * POWER_WORDS;
    if (!isFloat) return kernel.sumIntegerGroups(cells, groups, sums);
    kernel.sumFloatGroups(reinterpret_cast<const float *>(cells), groups, sums);
    if (isWithin(sums, end - first)) return;
  }
  const char *at = source.block + channel * layout.channelBytes() + inputBlock * layout.inputBlockBytes();
  if (isFloat)
    kernel.sumFloats(reinterpret_cast<const float *>(at), first, end, sums);
  else
    kernel.sumIntegers(reinterpret_cast<const int8_t *>(at), first, end, sums);
}

/** sums : [w][c][a][S1, S2] */
void sumBlock(Context &context, const Source &source, double *sums) {
  const KurtosisKernel &kernel = CORELLA_PICK_BYTES(context.level, kurtosisKernel);
  const SpectraLayout &layout = source.layout;
  const int64_t inputBlocks = layout.inputBlocks();
  const auto body = [&](int64_t item, int) {
    const int64_t channel = item / inputBlocks, inputBlock = item % inputBlocks, firstInput = inputBlock * TILE_INPUTS;
    const int64_t inputs = std::min(TILE_INPUTS, layout.inputs - firstInput);
    double made[2 * TILE_INPUTS];
    for (int64_t w = 0; w < source.windows; w++) {
      sumWindow(kernel, source, channel, inputBlock, w, made);
      std::memcpy(sums + 2 * ((w * layout.channels + channel) * layout.inputs + firstInput), made,
                  static_cast<size_t>(2 * inputs) * sizeof(double));
    }
  };
  // Summing is limited by memory, which few threads saturate; the others make the next block.
  Pool::Started run = context.pool.start(layout.channels * inputBlocks, std::max(1, context.pool.threads() / 4), body);
  context.pool.wait(run);
}

/** A SpectraGap (core/gaps.ts), as six int32. */
struct Box {
  int32_t firstChannel, endChannel, firstInput, endInput, firstSample, endSample;
};

/** One channel of a range; its samples begin and end with windows, at multiples of four or the block's end. */
void zeroBox(const SpectraLayout &layout, char *block, const Box &box, int64_t channel) {
  for (int64_t input = box.firstInput; input < box.endInput;) {
    const int64_t inBlock = input % TILE_INPUTS, inputs = std::min(TILE_INPUTS - inBlock, box.endInput - input);
    const auto bytes = static_cast<size_t>(4 * inputs);
    char *at = block + channel * layout.channelBytes() + input / TILE_INPUTS * layout.inputBlockBytes() + 4 * inBlock;
    const bool isFloat = layout.type == SpectraType::cf32;
    for (int64_t t = box.firstSample; t < box.endSample; t += isFloat ? 1 : 4) {
      char *line =
          at + (isFloat ? t * FLOATS_PER_SAMPLE * 4 : t / TILE_SAMPLES * TILE_BYTES + withinPlane(0, t % TILE_SAMPLES));
      std::memset(line, 0, bytes);
      std::memset(line + (isFloat ? 4 * TILE_INPUTS : PLANE_BYTES), 0, bytes);
    }
    input += inputs;
  }
}

}  // namespace
}  // namespace corella

using namespace corella;

// block as in spectra.h; powers of the same as in spectra_powers.h, or null; edges : [w + 1], the last the block's own end where
// there are powers; sums : [w][c][a][S1, S2].
CORELLA_EXPORT int32_t corella_kurtosis_sums(char *error, void *context, int32_t type, int64_t channels, int64_t inputs,
                                             int64_t capacity, const void *block, const void *powers,
                                             const int32_t *edges, int64_t windows, double *sums) {
  return withContext(error, context, [&](Context &open) {
    const SpectraLayout layout{static_cast<SpectraType>(type), channels, inputs, capacity};
    check(layout, edges, windows);
    // Windows that begin within sixteen spectra are summed from the block.
    for (int64_t w = 0; w < windows; w++)
      if (edges[w] % POWER_SPECTRA != 0) powers = nullptr;
    sumBlock(open, {layout, static_cast<const char *>(block), static_cast<const uint32_t *>(powers), edges, windows},
             sums);
  });
}

// boxes : [count][first channel, end, first input, end, first sample, end], ranges whose samples become zeros.
CORELLA_EXPORT int32_t corella_kurtosis_zero(char *error, void *context, int32_t type, int64_t channels, int64_t inputs,
                                             int64_t capacity, void *block, const int32_t *boxes, int64_t count) {
  return withContext(error, context, [&](Context &open) {
    const SpectraLayout layout{static_cast<SpectraType>(type), channels, inputs, capacity};
    const auto *all = reinterpret_cast<const Box *>(boxes);
    for (int64_t n = 0; n < count; n++)
      require(all[n].firstChannel >= 0 && all[n].endChannel <= channels && all[n].firstInput >= 0 &&
                  all[n].endInput <= inputs && all[n].firstSample >= 0 && all[n].endSample <= capacity,
              "what is flagged is beyond the block");
    open.pool.run(count, [&](int64_t n, int) {
      for (int64_t c = all[n].firstChannel; c < all[n].endChannel; c++)
        zeroBox(layout, static_cast<char *>(block), all[n], c);
    });
  });
}

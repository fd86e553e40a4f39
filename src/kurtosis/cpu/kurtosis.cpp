// Spectral kurtosis on threads: powers of every input and channel summed over windows, and what is flagged zeroed.
#include <algorithm>
#include <cstring>

#include "backend/cpu/context.h"
#include "backend/cpu/spectra_powers.h"
#include "kurtosis/cpu/kurtosis_kernel.h"

namespace corella {
namespace {

constexpr int64_t SUMS = 2 * TILE_INPUTS;

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

/** Up to four channels of sixteen inputs. */
struct Rows {
  int64_t firstChannel, channels, inputBlock;
};

/** One channel, from the block itself. */
void sumSpectra(const KurtosisKernel &kernel, const Source &source, const Rows &rows, int64_t c, int64_t first,
                int64_t end, double *sums) {
  const SpectraLayout &layout = source.layout;
  const char *at =
      source.block + (rows.firstChannel + c) * layout.channelBytes() + rows.inputBlock * layout.inputBlockBytes();
  if (layout.type == SpectraType::cf32)
    kernel.sumFloats(reinterpret_cast<const float *>(at), first, end, sums);
  else
    kernel.sumIntegers(reinterpret_cast<const int8_t *>(at), first, end, sums);
}

/** Whole groups of sixteen spectra from their powers, and what windows cut off at either end from the block. */
void sumWindow(const KurtosisKernel &kernel, const Source &source, const Rows &rows, int64_t w, double *sums) {
  const int64_t first = source.edges[w], end = source.edges[w + 1];
  const bool isLast = w + 1 == source.windows;
  const int64_t firstGroup = (first + POWER_SPECTRA - 1) / POWER_SPECTRA;
  // Behind the block's last spectrum there are zeros.
  const int64_t endGroup = isLast ? (end + POWER_SPECTRA - 1) / POWER_SPECTRA : end / POWER_SPECTRA;
  const int64_t groups = endGroup - firstGroup;
  if (source.powers == nullptr || groups < 1) {
    for (int64_t c = 0; c < rows.channels; c++) sumSpectra(kernel, source, rows, c, first, end, sums + c * SUMS);
    return;
  }
  const PowersLayout powers(source.layout);
  const uint32_t *cells = source.powers + rows.inputBlock * powers.inputBlockWords() +
                          rows.firstChannel / POWER_CHANNELS * powers.quadWords() + firstGroup * POWER_CELL_WORDS;
  const bool isFloat = source.layout.type == SpectraType::cf32;
  if (isFloat)
    kernel.sumFloatGroups(reinterpret_cast<const float *>(cells), groups, rows.channels, sums);
  else
    kernel.sumIntegerGroups(cells, groups, rows.channels, sums);
  for (int64_t c = 0; c < rows.channels; c++, sums += SUMS) {
    const auto add = [&](int64_t from, int64_t to) {
      if (from >= to) return;
      double more[SUMS];
      sumSpectra(kernel, source, rows, c, from, to, more);
      for (int64_t n = 0; n < SUMS; n++) sums[n] += more[n];
    };
    add(first, firstGroup * POWER_SPECTRA);
    add(endGroup * POWER_SPECTRA, end);
    if (isFloat && !kernel.isWithin(sums, end - first)) sumSpectra(kernel, source, rows, c, first, end, sums);
  }
}

/** sums : [w][c][a][S1, S2] */
void sumBlock(Context &context, const Source &source, double *sums) {
  const KurtosisKernel &kernel = CORELLA_PICK_BYTES(context.level, kurtosisKernel);
  const SpectraLayout &layout = source.layout;
  const int64_t quads = (layout.channels + POWER_CHANNELS - 1) / POWER_CHANNELS, inputBlocks = layout.inputBlocks();
  const auto body = [&](int64_t item, int) {
    const int64_t firstChannel = item / inputBlocks * POWER_CHANNELS, firstInput = item % inputBlocks * TILE_INPUTS;
    const Rows rows{firstChannel, std::min(POWER_CHANNELS, layout.channels - firstChannel), item % inputBlocks};
    const int64_t inputs = std::min(TILE_INPUTS, layout.inputs - firstInput);
    double made[POWER_CHANNELS][SUMS];
    for (int64_t w = 0; w < source.windows; w++) {
      sumWindow(kernel, source, rows, w, made[0]);
      for (int64_t c = 0; c < rows.channels; c++)
        std::memcpy(sums + 2 * ((w * layout.channels + firstChannel + c) * layout.inputs + firstInput), made[c],
                    static_cast<size_t>(2 * inputs) * sizeof(double));
    }
  };
  // Most of it waits for memory, which few threads keep as busy as all of them; the others make the next block.
  Pool::Started run = context.pool.start(quads * inputBlocks, std::max(1, context.pool.threads() / 4), body);
  context.pool.wait(run);
}

/** A SpectraGap (core/gaps.ts), as six int32. */
struct Box {
  int32_t firstChannel, endChannel, firstInput, endInput, firstSample, endSample;
};

/** One channel of a box; its samples begin and end with windows, at multiples of four or the block's end. */
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
    sumBlock(open, {layout, static_cast<const char *>(block), static_cast<const uint32_t *>(powers), edges, windows},
             sums);
  });
}

// boxes : [count][first channel, end, first input, end, first sample, end] whose samples become zeros.
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

#include "kurtosis/cpu/kurtosis_sums.h"

#include <algorithm>
#include <cstring>

namespace corella {
namespace {

/** Up to four channels of an input block. */
struct Rows {
  int64_t firstChannel, channels, inputBlock;
};

constexpr int64_t SUMS = 2 * TILE_INPUTS;

/** One channel, from the block itself. */
void sumSpectra(const KurtosisKernel &kernel, const Source &source, const Rows &rows, int64_t c, int64_t first,
                int64_t end, double *sums) {
  const SpectraLayout &layout = source.layout;
  const char *at =
      source.block + (rows.firstChannel + c) * layout.channelBytes() + rows.inputBlock * layout.inputBlockBytes();
  switch (layout.type) {
    case SpectraType::cf32: return kernel.sumFloats(reinterpret_cast<const float *>(at), first, end, sums);
    case SpectraType::ci4: return kernel.sumNibbles(reinterpret_cast<const int8_t *>(at), first, end, sums);
    case SpectraType::ci8: return kernel.sumIntegers(reinterpret_cast<const int8_t *>(at), first, end, sums);
  }
}

/** Whole groups of sixteen spectra from their powers, and what windows cut off at either end from the block. */
void sumGroups(const KurtosisKernel &kernel, const Source &source, const Rows &rows, int64_t first, int64_t end,
               bool isLast, double *sums) {
  const PowersLayout powers(source.layout);
  const int64_t firstGroup = (first + POWER_SPECTRA - 1) / POWER_SPECTRA;
  // Behind the block's last spectrum there are zeros.
  const int64_t endGroup = isLast ? (end + POWER_SPECTRA - 1) / POWER_SPECTRA : end / POWER_SPECTRA;
  const int64_t groups = endGroup - firstGroup;
  if (groups < 1) {
    for (int64_t c = 0; c < rows.channels; c++) sumSpectra(kernel, source, rows, c, first, end, sums + c * SUMS);
    return;
  }
  const uint32_t *cells = source.powers + rows.inputBlock * powers.inputBlockWords() +
                          rows.firstChannel / POWER_CHANNELS * powers.quadWords() + firstGroup * POWER_CELL_WORDS;
  const bool isFloat = source.layout.type == SpectraType::cf32;
  if (isFloat)
    kernel.sumFloatGroups(reinterpret_cast<const float *>(cells), groups, rows.channels, sums);
  else
    kernel.sumIntegerGroups(cells, groups, rows.channels, sums);
  for (int64_t c = 0; c < rows.channels; c++) {
    const auto add = [&](int64_t from, int64_t to) {
      if (from >= to) return;
      double more[SUMS];
      sumSpectra(kernel, source, rows, c, from, to, more);
      for (int64_t n = 0; n < SUMS; n++) sums[c * SUMS + n] += more[n];
    };
    add(first, firstGroup * POWER_SPECTRA);
    add(endGroup * POWER_SPECTRA, end);
    if (isFloat && !kernel.isWithin(sums + c * SUMS, end - first))
      sumSpectra(kernel, source, rows, c, first, end, sums + c * SUMS);
  }
}

/** As many as have these groups: cells of one quad lie behind those of the one before, and are fetched ahead with them. */
constexpr int64_t GROUPS_TOGETHER = 32;
constexpr int64_t quadsTogether(int64_t spectra) {
  return std::max<int64_t>(1, GROUPS_TOGETHER * POWER_SPECTRA / std::max<int64_t>(POWER_SPECTRA, spectra));
}

}  // namespace

PowerSums::PowerSums(Context &context, const Source &of, const Windows &over, const Screen &through, double *to)
    : kernel(CORELLA_PICK_BYTES(context.level, kurtosisKernel)),
      source(of),
      windows(over),
      screen(through),
      sums(to),
      atOnce(source.powers ? POWER_CHANNELS : 1),
      quads((source.layout.channels + atOnce - 1) / atOnce),
      together(source.powers ? quadsTogether(windows.edges[windows.count]) : 1) {}

Pool::Started PowerSums::start(Pool &pool) {
  // Most of it waits for memory, which few threads keep as busy as all of them; the others make the next block.
  const int most = std::max(1, pool.threads() / 4);
  return pool.start((quads + together - 1) / together * source.layout.inputBlocks(), most, *this);
}

void PowerSums::operator()(int64_t item, int) const {
  const int64_t inputBlocks = source.layout.inputBlocks(), first = item / inputBlocks * together;
  for (int64_t quad = first; quad < std::min(first + together, quads); quad++) sumQuad(quad, item % inputBlocks);
}

void PowerSums::sumQuad(int64_t quad, int64_t group) const {
  const SpectraLayout &layout = source.layout;
  const int64_t inputBlocks = layout.inputBlocks(), firstChannel = quad * atOnce;
  const Rows rows{firstChannel, std::min(atOnce, layout.channels - firstChannel), group};
  const int64_t firstInput = group * TILE_INPUTS, inputs = std::min(TILE_INPUTS, layout.inputs - firstInput);
  // Of a window, and of the one before it.
  double made[2][POWER_CHANNELS][SUMS];
  uint8_t marks[2][POWER_CHANNELS][TILE_INPUTS];
  const uint8_t *flags = screen.flaggedInputs + firstInput;
  const auto keepMarks = [&](int64_t w, int64_t c) {
    const int64_t row = w * layout.channels + firstChannel + c;
    std::memcpy(screen.marks + row * layout.inputs + firstInput, marks[w % 2][c], static_cast<size_t>(inputs));
    screen.groupMarks[row * inputBlocks + group] = allOf(marks[w % 2][c], inputs);
  };
  for (int64_t w = 0; w < windows.count; w++) {
    if (source.powers)
      sumGroups(kernel, source, rows, windows.edges[w], windows.edges[w + 1], w + 1 == windows.count, made[w % 2][0]);
    else
      sumSpectra(kernel, source, rows, 0, windows.edges[w], windows.edges[w + 1], made[w % 2][0]);
    for (int64_t c = 0; c < rows.channels; c++) {
      const int64_t channel = firstChannel + c, row = w * layout.channels + channel;
      const double *here = made[w % 2][c], *before = made[(w + 1) % 2][c];
      std::memcpy(sums + 2 * (row * layout.inputs + firstInput), here,
                  static_cast<size_t>(2 * inputs) * sizeof(double));
      if (screen.heads == nullptr) continue;
      const int64_t shape = channel < screen.realChannels ? 2 : 0;
      kernel.screenWindow(screen, screen.heads[screen.places[4 * w + shape]], here, flags, inputs, marks[w % 2][c],
                          screen.totals + row * inputBlocks + group);
      if (w > 0) {
        const Fence &pair = screen.heads[screen.places[4 * (w - 1) + shape + 1]];
        kernel.screenPair(screen, pair, before, here, flags, inputs, marks[(w + 1) % 2][c]);
        keepMarks(w - 1, c);
      }
    }
  }
  for (int64_t c = 0; screen.heads != nullptr && c < rows.channels; c++) keepMarks(windows.count - 1, c);
}

}  // namespace corella

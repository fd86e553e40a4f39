// Spectral kurtosis on threads: powers of every input and channel summed over windows, and what is taken zeroed.
#include <algorithm>
#include <cstring>

#include "backend/cpu/context.h"
#include "backend/cpu/spectra_powers.h"
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

/** A block, and the powers that lie beside it (spectra_powers.h), or null. */
struct Source {
  const SpectraLayout &layout;
  const char *block;
  const uint32_t *powers;
};

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

void sumPowers(Context &context, const Source &source, const Windows &windows, const Screen &screen, double *sums) {
  const KurtosisKernel &kernel = CORELLA_PICK_BYTES(context.level, kurtosisKernel);
  const SpectraLayout &layout = source.layout;
  const int64_t inputBlocks = layout.inputBlocks();
  const int64_t atOnce = source.powers ? POWER_CHANNELS : 1;
  const int64_t quads = (layout.channels + atOnce - 1) / atOnce;
  const int64_t together = source.powers ? quadsTogether(windows.edges[windows.count]) : 1;
  const auto sumQuad = [&](int64_t quad, int64_t group) {
    const int64_t firstChannel = quad * atOnce;
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
  };
  // Most of it waits for memory, which few threads keep as busy as all of them; the others make the next block.
  const int most = std::max(1, context.pool.threads() / 4);
  context.pool.runBeside((quads + together - 1) / together * inputBlocks, most, [&](int64_t item, int) {
    const int64_t first = item / inputBlocks * together;
    for (int64_t quad = first; quad < std::min(first + together, quads); quad++) sumQuad(quad, item % inputBlocks);
  });
}

/** Inputs of one channel's block of sixteen that follow on each other, over a window. */
struct Box {
  char *at;  // of the first input at the block's first spectrum
  int64_t inputs, first, end;
};

/** Where the parts of a box lie: four samples of an input in a line, or one in a vector, and imaginary ones further on. */
struct IntegerLines {
  static constexpr int64_t STEP = 4, IMAGINARY = PLANE_BYTES;
  static int64_t bytesTo(int64_t t) { return t / TILE_SAMPLES * TILE_BYTES + withinPlane(0, t % TILE_SAMPLES); }
};
struct FloatLines {
  static constexpr int64_t STEP = 1, IMAGINARY = 4 * TILE_INPUTS;
  static int64_t bytesTo(int64_t t) { return t * FLOATS_PER_SAMPLE * 4; }
};

/** Walks through the lines of boxes. */
template <class Lines>
struct Walk {
  const Box *box, *end;
  int64_t t;

  Walk(const Box *boxes, int64_t count) : box(boxes), end(boxes + count), t(boxes->first) {}
  bool hasEnded() const { return box == end; }
  char *line() const { return box->at + Lines::bytesTo(t); }
  void step() {
    t += Lines::STEP;
    if (t >= box->end && ++box < end) t = box->first;
  }
};

/** Lines on their way from memory while others are zeroed. */
constexpr int LINES_AHEAD = 24;

template <class Lines>
void zeroBoxes(const Box *boxes, int64_t count) {
  Walk<Lines> ahead(boxes, count);
  const auto fetch = [&] {
    if (ahead.hasEnded()) return;
    __builtin_prefetch(ahead.line(), 1);
    __builtin_prefetch(ahead.line() + Lines::IMAGINARY, 1);
    ahead.step();
  };
  for (int n = 0; n < LINES_AHEAD; n++) fetch();
  for (Walk<Lines> here(boxes, count); !here.hasEnded(); here.step()) {
    fetch();
    char *line = here.line();
    if (here.box->inputs == 1) {
      // Most are taken alone.
      std::memset(line, 0, 4);
      std::memset(line + Lines::IMAGINARY, 0, 4);
    } else {
      const size_t bytes = static_cast<size_t>(4 * here.box->inputs);
      std::memset(line, 0, bytes);
      std::memset(line + Lines::IMAGINARY, 0, bytes);
    }
  }
}

/** Cells that a thread zeroes at a time: some ten microseconds. */
constexpr int64_t CELLS_AT_ONCE = 8;

/** From the nth cell on, the first that shares no lines with the one before it: two threads never write to one line. */
int64_t ownLines(const SpectraLayout &layout, const int32_t *taken, int64_t count, int64_t n) {
  const auto rowOf = [&](int64_t cell) { return taken[cell] / layout.inputs; };
  const auto blockOf = [&](int64_t cell) { return taken[cell] % layout.inputs / TILE_INPUTS; };
  while (n > 0 && n < count && rowOf(n) == rowOf(n - 1) && blockOf(n) == blockOf(n - 1)) n++;
  return std::min(n, count);
}

/** taken : cells [w][c][a], in their order. */
void zeroTaken(Context &context, const SpectraLayout &layout, char *block, const Windows &windows, const int32_t *taken,
               int64_t count) {
  context.pool.run((count + CELLS_AT_ONCE - 1) / CELLS_AT_ONCE, [&](int64_t item, int) {
    const int64_t last = ownLines(layout, taken, count, (item + 1) * CELLS_AT_ONCE);
    Box boxes[CELLS_AT_ONCE + TILE_INPUTS];
    int64_t found = 0;
    for (int64_t n = ownLines(layout, taken, count, item * CELLS_AT_ONCE); n < last;) {
      const int64_t row = taken[n] / layout.inputs, input = taken[n] % layout.inputs;
      const int64_t most = std::min(layout.inputs, input / TILE_INPUTS * TILE_INPUTS + TILE_INPUTS) - input;
      int64_t inputs = 1;
      while (inputs < most && n + inputs < last && taken[n + inputs] == taken[n] + inputs) inputs++;
      n += inputs;
      const int64_t window = row / layout.channels, channel = row % layout.channels;
      char *at = block + channel * layout.channelBytes() + input / TILE_INPUTS * layout.inputBlockBytes() +
                 4 * (input % TILE_INPUTS);
      boxes[found++] = {at, inputs, windows.edges[window], windows.edges[window + 1]};
    }
    if (found == 0) return;
    layout.type == SpectraType::cf32 ? zeroBoxes<FloatLines>(boxes, found) : zeroBoxes<IntegerLines>(boxes, found);
  });
}

}  // namespace
}  // namespace corella

using namespace corella;

// block as in spectra.h; powers of the same as in spectra_powers.h, or null; edges : [w + 1], the last the block's own end
// where there are powers; sums : [w][c][a][S1, S2]. The rest as in kurtosis_screen.h, and nothing of it is
// read or written where there are no fences.
CORELLA_EXPORT int32_t corella_kurtosis_sums(char *error, void *context, int32_t type, int64_t channels, int64_t inputs,
                                             int64_t capacity, const void *block, const void *powers,
                                             const int32_t *edges, int64_t windows, double *sums, int64_t fences,
                                             const double *heads, const double *tables, const int32_t *places,
                                             int64_t realChannels, const uint8_t *flaggedInputs, uint8_t *marks,
                                             uint8_t *groupMarks, double *totals) {
  return withContext(error, context, [&](Context &open) {
    const SpectraLayout layout{static_cast<SpectraType>(type), channels, inputs, capacity};
    check(layout, {edges, windows});
    const Fence *all = fences > 0 ? reinterpret_cast<const Fence *>(heads) : nullptr;
    for (int64_t n = 0; n < 4 * windows && all != nullptr; n++)
      require(places[n] >= 0 && places[n] < fences, "a window has no fence");
    const Screen screen{
        all,   reinterpret_cast<const FenceEntry *>(tables), places, flaggedInputs, realChannels, marks, groupMarks,
        totals};
    const Source source{layout, static_cast<const char *>(block), static_cast<const uint32_t *>(powers)};
    sumPowers(open, source, {edges, windows}, screen, sums);
  });
}

// taken : cells [w][c][a] whose samples become zeros, in their order.
CORELLA_EXPORT int32_t corella_kurtosis_zero(char *error, void *context, int32_t type, int64_t channels, int64_t inputs,
                                             int64_t capacity, void *block, const int32_t *edges, int64_t windows,
                                             const int32_t *taken, int64_t count) {
  return withContext(error, context, [&](Context &open) {
    const SpectraLayout layout{static_cast<SpectraType>(type), channels, inputs, capacity};
    check(layout, {edges, windows});
    for (int64_t n = 0; n < count; n++)
      require(taken[n] >= 0 && taken[n] < windows * channels * inputs, "what was taken lies beyond the windows");
    zeroTaken(open, layout, static_cast<char *>(block), {edges, windows}, taken, count);
  });
}

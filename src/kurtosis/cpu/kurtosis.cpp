// Spectral kurtosis on threads: powers of every input and channel summed over windows, and what is taken zeroed.
#include <algorithm>
#include <cstring>

#include "backend/cpu/context.h"
#include "kurtosis/cpu/kurtosis_sums.h"

namespace corella {
namespace {

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
    checkFences(places, windows, fences);
    const Screen screen{
        all,   reinterpret_cast<const FenceEntry *>(tables), places, flaggedInputs, realChannels, marks, groupMarks,
        totals};
    const Source source{layout, static_cast<const char *>(block), static_cast<const uint32_t *>(powers)};
    PowerSums work(open, source, {edges, windows}, screen, sums);
    Pool::Started run = work.start(open.pool);
    open.pool.wait(run);
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

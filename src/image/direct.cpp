// Direct imaging on threads: what each channel's antennas touch, who adds which time steps, and how the sums come
// out. Every channel, and every piece of its time where channels are few, has sums of its own: the same input gives
// the same bits, however the threads were scheduled.
#include <algorithm>
#include <atomic>
#include <memory>
#include <vector>

#include "backend/cpu/context.h"
#include "image/direct_kernels.h"
#include "image/fft_tables.h"

namespace corella {
namespace {

constexpr int64_t roundUp(int64_t value, int64_t multiple) { return (value + multiple - 1) / multiple * multiple; }

/** Float32 sums run over this many vectors of time steps before float64 takes over: 7 digits stay nearly whole. */
constexpr int64_t STEPS_BETWEEN_FLUSHES = 64;
/** Work for each thread, at least, so that none waits long for the last. */
constexpr int64_t TASKS_PER_THREAD = 4;
/** All workers' scratch together; where the box is so large that it would take more, fewer work. */
constexpr int64_t MOST_SCRATCH_BYTES = int64_t{1} << 30;

struct Options {
  int64_t pixels, channels, stations, polarisations, kernelSize;
  /** corners : [c][s][row, column] on the grid; taps : [c][s][row][column] complex; shown : [m][l]. */
  const int32_t *corners;
  const double *taps;
  const uint8_t *shown;
};

struct Box {
  int64_t rows, columns;
};

using Memory = std::unique_ptr<void, void (*)(void *)>;

class DirectImager {
 public:
  DirectImager(Context &context, const Options &options)
      : kernels(CORELLA_PICK(context.level, directKernels)),
        channels(options.channels),
        corners(options.corners, options.corners + 2 * options.channels * options.stations),
        taps(static_cast<size_t>(2 * options.channels * options.stations * options.kernelSize * options.kernelSize)),
        turns(makeTurns<float>(options.pixels)) {
    shape.pixels = options.pixels;
    // Two or four classes a side: n is even.
    shape.classes = options.pixels % 4 == 0 ? 4 : 2;
    shape.stations = options.stations;
    shape.polarisations = options.polarisations;
    shape.kernelSize = options.kernelSize;
    const int64_t length = options.pixels / shape.classes;
    shortTurns = makeTurns<float>(length);
    shape.fft = planLaneFft(length, shortTurns.data());
    shape.turns = turns.data();
    shape.groups = roundUp(length, kernels.size.fold) / kernels.size.fold;
    markShown(options.shown);
    moveToBoxes(options);
    for (size_t n = 0; n < taps.size(); n++) taps[n] = static_cast<float>(options.taps[n]);
    pieces = std::max<int64_t>(1, (TASKS_PER_THREAD * context.pool.threads() + channels - 1) / channels);
    pieces = std::min<int64_t>(pieces, context.pool.threads());
    totals = std::make_unique<ZeroedArray<double>>(context.pool, static_cast<size_t>(channels * pieces * outputs()));
    makeScratch(context.pool.threads());
  }

  /** factors : [c][a] complex. */
  void accumulate(Context &context, SpectraType type, const char *block, int64_t capacity, int64_t samples,
                  const double *factors) {
    const int64_t inputs = shape.stations * shape.polarisations;
    const SpectraLayout layout{type, channels, inputs, capacity};
    const int64_t steps = (samples + kernels.size.lanes - 1) / kernels.size.lanes;
    const int64_t cut = std::min(pieces, steps);
    std::vector<float> singleFactors(factors, factors + 2 * channels * inputs);
    std::atomic<int64_t> next{0};
    context.pool.run(static_cast<int64_t>(scratches.size()), [&](int64_t member, int) {
      const DirectScratch &scratch = scratches[static_cast<size_t>(member)];
      for (int64_t task = next++; task < channels * cut; task = next++) {
        const int64_t c = task / cut, piece = task % cut;
        const Box &box = boxes[static_cast<size_t>(c)];
        const int64_t size = shape.stations * shape.kernelSize * shape.kernelSize;
        const DirectChannel channel{box.rows,
                                    box.columns,
                                    corners.data() + 2 * c * shape.stations,
                                    taps.data() + 2 * c * size,
                                    singleFactors.data() + 2 * c * inputs,
                                    layout,
                                    block + c * layout.channelBytes(),
                                    samples};
        double *sums = totals->data() + (c * pieces + piece) * outputs();
        const int64_t end = steps * (piece + 1) / cut;
        for (int64_t first = steps * piece / cut; first < end; first += STEPS_BETWEEN_FLUSHES) {
          kernels.addSteps(shape, channel, scratch, first, std::min(end, first + STEPS_BETWEEN_FLUSHES));
          kernels.flush(shape, scratch.sums, sums);
        }
      }
    });
  }

  /** sums : [c][product][m][l] in the transform's order, 0 where nothing is shown; ours start again at 0. */
  void finish(Context &context, double *sums) {
    const int64_t n = shape.pixels, inProduct = outputs() / shape.products(), padded = shape.groups * kernels.size.fold;
    context.pool.run(channels * shape.products(), [&](int64_t plane, int) {
      const int64_t c = plane / shape.products(), product = plane % shape.products();
      double *image = sums + plane * n * n;
      for (int64_t l = 0; l < n; l++) {
        const int64_t slot = slots[static_cast<size_t>(l)];
        for (int64_t m = 0; m < n; m++) {
          double total = 0;
          for (int64_t piece = 0; slot >= 0 && piece < pieces; piece++) {
            const int64_t at = (slot * shape.classes + m % shape.classes) * padded + m / shape.classes;
            total += totals->data()[(c * pieces + piece) * outputs() + product * inProduct + at];
          }
          image[m * n + l] = total;
        }
      }
    });
    totals->zero(context.pool);
  }

  const DirectKernels &kernels;
  const int64_t channels;
  DirectShape shape{};

 private:
  int64_t outputs() const { return shape.products() * shape.sumVectors() * kernels.size.fold; }

  void markShown(const uint8_t *shown) {
    const int64_t n = shape.pixels;
    // pixel k is in the transform's bin (k − n/2) mod n, and bin k in pixel (k + n/2) mod n
    const auto isShown = [&](int64_t l, int64_t m) { return shown[(m + n / 2) % n * n + (l + n / 2) % n] != 0; };
    for (int64_t l = 0; l < n; l++) {
      bool any = false;
      for (int64_t m = 0; m < n; m++) any |= isShown(l, m);
      slots.push_back(any ? static_cast<int32_t>(shape.slotCount++) : -1);
    }
    shownGroups.assign(static_cast<size_t>(shape.sumVectors()), 0);
    for (int64_t l = 0; l < n; l++) {
      const int64_t slot = slots[static_cast<size_t>(l)];
      for (int64_t m = 0; slot >= 0 && m < n; m++) {
        const int64_t group = m / shape.classes / kernels.size.fold;
        if (isShown(l, m)) {
          shownGroups[static_cast<size_t>((slot * shape.classes + m % shape.classes) * shape.groups + group)] = 1;
        }
      }
    }
    shape.slots = slots.data();
    shape.shownGroups = shownGroups.data();
  }

  /** Corners become relative to the smallest box around a channel's kernels. */
  void moveToBoxes(const Options &options) {
    for (int64_t c = 0; c < channels; c++) {
      int32_t *own = corners.data() + 2 * c * shape.stations;
      int32_t least[2] = {own[0], own[1]}, most[2] = {own[0], own[1]};
      for (int64_t n = 0; n < 2 * shape.stations; n++) {
        least[n % 2] = std::min(least[n % 2], own[n]);
        most[n % 2] = std::max(most[n % 2], own[n]);
      }
      for (int64_t n = 0; n < 2 * shape.stations; n++) own[n] -= least[n % 2];
      const Box box{most[0] - least[0] + options.kernelSize, most[1] - least[1] + options.kernelSize};
      require(box.rows <= shape.pixels && box.columns <= shape.pixels, "kernels reach past the grid");
      boxes.push_back(box);
    }
  }

  void makeScratch(int threads) {
    int64_t rows = 0, cells = 0;
    for (const Box &box : boxes) {
      rows = std::max(rows, box.rows);
      cells = std::max(cells, box.rows * box.columns);
    }
    // An odd distance: columns a power of two apart would all want the same place in the cache.
    const int64_t betweenRows = rows | 1, length = shape.fft.length;
    const int64_t element = 2 * kernels.size.lanes * 4;
    const int64_t grid = shape.polarisations * cells * element;
    const int64_t between = shape.polarisations * length * betweenRows * element;
    const int64_t buffers = 2 * length * element;
    const int64_t fields = shape.polarisations * shape.groups * kernels.size.fold * element;
    const int64_t sums = shape.products() * shape.sumVectors() * kernels.size.lanes * 4;
    const int64_t bytes = roundUp(grid + between + buffers + fields + sums, 4096);
    const int64_t crew = std::clamp<int64_t>(MOST_SCRATCH_BYTES / bytes, 1, threads);
    for (int64_t member = 0; member < crew; member++) {
      memories.push_back(alignedMemory(static_cast<size_t>(bytes)));
      auto *at = static_cast<char *>(memories.back().get());
      std::memset(at, 0, static_cast<size_t>(bytes));
      DirectScratch scratch;
      scratch.grid = at;
      scratch.between = at + grid;
      scratch.betweenRows = betweenRows;
      scratch.buffers = at + grid + between;
      scratch.fields = at + grid + between + buffers;
      scratch.sums = reinterpret_cast<float *>(at + grid + between + buffers + fields);
      scratches.push_back(scratch);
    }
  }

  std::vector<int32_t> corners, slots;
  std::vector<float> taps, turns, shortTurns;
  std::vector<uint8_t> shownGroups;
  std::vector<Box> boxes;
  /** totals : [c][piece of time][product][slot][class][j]. */
  std::unique_ptr<ZeroedArray<double>> totals;
  int64_t pieces = 1;
  std::vector<Memory> memories;
  std::vector<DirectScratch> scratches;
};

}  // namespace
}  // namespace corella

using namespace corella;

// corners : [c][s][row, column]; taps : [c][s][row][column] complex; shown : [m][l].
CORELLA_EXPORT int32_t corella_direct_open(char *error, void *context, int64_t pixels, int64_t channels,
                                           int64_t stations, int64_t polarisations, int64_t kernelSize,
                                           const int32_t *corners, const double *taps, const uint8_t *shown,
                                           void **imager) {
  return withContext(error, context, [&](Context &open) {
    require(pixels >= 8 && pixels <= 1024 && pixels % 2 == 0, "pixels must be even, from 8 to 1024");
    require(channels >= 1 && stations >= 1 && kernelSize >= 1, "an imager has a size below 1");
    require(polarisations == 1 || polarisations == 2, "polarisations must be 1 or 2");
    const Options options{pixels, channels, stations, polarisations, kernelSize, corners, taps, shown};
    *imager = open.keep(std::make_unique<DirectImager>(open, options));
  });
}

// block : spectra of the imager's channels and inputs (spectra.h); factors : [c][a] complex.
CORELLA_EXPORT int32_t corella_direct_accumulate(char *error, void *context, void *imager, int32_t type,
                                                 const void *block, int64_t capacity, int64_t samples,
                                                 const double *factors) {
  return withContext(error, context, [&](Context &open) {
    require(type >= 0 && type <= 2, "no such type of spectra");
    require(samples >= 0 && samples <= capacity, "more samples than the block holds");
    static_cast<DirectImager *>(imager)->accumulate(open, static_cast<SpectraType>(type),
                                                    static_cast<const char *>(block), capacity, samples, factors);
  });
}

// sums : [c][product][m][l], bin 0 first.
CORELLA_EXPORT int32_t corella_direct_finish(char *error, void *context, void *imager, double *sums) {
  return withContext(error, context,
                     [&](Context &open) { static_cast<DirectImager *>(imager)->finish(open, sums); });
}

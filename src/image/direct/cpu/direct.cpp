// Direct imaging on threads: the grid cells that each channel's antennas touch, the division of time steps, and the
// order of sums. Every channel, and every piece of its time where channels are few, has sums of its own: the same input
// gives the same bits, however the threads were scheduled.
#include <algorithm>
#include <atomic>
#include <memory>
#include <tuple>
#include <vector>

#include "backend/cpu/context.h"
#include "image/direct/cpu/direct_kernels.h"
#include "image/cpu/fft_tables.h"

namespace corella {
namespace {

constexpr int64_t roundUp(int64_t value, int64_t multiple) { return (value + multiple - 1) / multiple * multiple; }

/**
 * Float32 sums run over this many vectors of time steps before they are added to float64: 7 digits stay nearly whole.
 */
constexpr int64_t STEPS_BETWEEN_FLUSHES = 64;
/** The least number of tasks for each thread, so that none waits long for the last. */
constexpr int64_t TASKS_PER_THREAD = 4;
/** The scratch of all workers together; where the grid box is so large that it would exceed this, fewer work. */
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

/** In float32 or float64. */
class AnyDirectImager {
 public:
  virtual ~AnyDirectImager() = default;
  /** factors : [c][a] complex. */
  virtual void accumulate(Context &context, SpectraType type, const char *block, int64_t capacity, int64_t samples,
                          const double *factors) = 0;
  /** sums : [c][product][m][l] in the transform's order, 0 where nothing is shown; ours start again at 0. */
  virtual void finish(Context &context, double *sums) = 0;
};

const DirectKernels<float> &pickKernels(Level level, float) { return CORELLA_PICK(level, directKernels); }
const DirectKernels<double> &pickKernels(Level level, double) { return CORELLA_PICK(level, directKernelsExact); }

template <class Real>
class DirectImager final : public AnyDirectImager {
 public:
  DirectImager(Context &context, const Options &options)
      : kernels(pickKernels(context.level, Real())), channels(options.channels) {
    shape.pixels = options.pixels;
    // Two or four classes a side: n is even.
    shape.classes = options.pixels % 4 == 0 ? 4 : 2;
    shape.stations = options.stations;
    shape.polarisations = options.polarisations;
    shape.kernelSize = options.kernelSize;
    const int64_t length = options.pixels / shape.classes;
    turns = makeTurns<Real>(length);
    shape.fft = planLaneFft(length, turns.data());
    const std::vector<Real> all = makeTurns<Real>(options.pixels);
    for (int64_t r = 0; r < shape.classes; r++) {
      for (int64_t p = 0; p < length; p++) {
        const auto at = static_cast<size_t>(2 * r * p);
        classTurns.insert(classTurns.end(), {all[at], all[at + 1]});
      }
    }
    shape.classTurns = classTurns.data();
    shape.groups = roundUp(length, kernels.fold) / kernels.fold;
    markShown(options.shown);
    for (int64_t c = 0; c < channels; c++) addChannel(options, c);
    pieces = std::max<int64_t>(1, (TASKS_PER_THREAD * context.pool.threads() + channels - 1) / channels);
    pieces = std::min<int64_t>(pieces, context.pool.threads());
    totals = std::make_unique<ZeroedArray<double>>(context.pool, static_cast<size_t>(channels * pieces * outputs()));
    makeScratch(context.pool.threads());
  }

  void accumulate(Context &context, SpectraType type, const char *block, int64_t capacity, int64_t samples,
                  const double *factors) override {
    const int64_t inputs = shape.stations * shape.polarisations;
    const SpectraLayout layout{type, channels, inputs, capacity};
    const int64_t steps = (samples + kernels.lanes - 1) / kernels.lanes;
    const int64_t cut = std::min(pieces, steps);
    const std::vector<Real> ownFactors(factors, factors + 2 * channels * inputs);
    std::atomic<int64_t> next{0};
    context.pool.run(static_cast<int64_t>(scratches.size()), [&](int64_t member, int) {
      const DirectScratch<Real> &scratch = scratches[static_cast<size_t>(member)];
      for (int64_t task = next++; task < channels * cut; task = next++) {
        const int64_t c = task / cut, piece = task % cut;
        const Box &box = boxes[static_cast<size_t>(c)];
        const int64_t size = shape.stations * shape.kernelSize * shape.kernelSize;
        const DirectChannel<Real> channel{box.rows,
                                          box.columns,
                                          order.data() + c * shape.stations,
                                          corners.data() + 2 * c * shape.stations,
                                          taps.data() + 2 * c * size,
                                          ownFactors.data() + 2 * c * inputs,
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

  void finish(Context &context, double *sums) override {
    const int64_t n = shape.pixels, inProduct = outputs() / shape.products(), padded = shape.groups * kernels.fold;
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

 private:
  int64_t outputs() const { return shape.products() * shape.sumVectors() * kernels.fold; }

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
        const int64_t group = m / shape.classes / kernels.fold;
        if (isShown(l, m)) {
          shownGroups[static_cast<size_t>((slot * shape.classes + m % shape.classes) * shape.groups + group)] = 1;
        }
      }
    }
    shape.slots = slots.data();
    shape.shownGroups = shownGroups.data();
  }

  /** Orders a channel's stations by place and moves them into the smallest box around their kernels. */
  void addChannel(const Options &options, int64_t c) {
    const int32_t *own = options.corners + 2 * c * shape.stations;
    const int64_t first = static_cast<int64_t>(order.size());
    int32_t least[2] = {own[0], own[1]}, most[2] = {own[0], own[1]};
    for (int64_t s = 0; s < shape.stations; s++) {
      order.push_back(static_cast<int32_t>(s));
      for (int64_t axis = 0; axis < 2; axis++) {
        least[axis] = std::min(least[axis], own[2 * s + axis]);
        most[axis] = std::max(most[axis], own[2 * s + axis]);
      }
    }
    std::sort(order.begin() + first, order.end(), [&](int32_t a, int32_t b) {
      return std::tie(own[2 * a], own[2 * a + 1], a) < std::tie(own[2 * b], own[2 * b + 1], b);
    });
    const int64_t size = 2 * shape.kernelSize * shape.kernelSize;
    for (int64_t n = 0; n < shape.stations; n++) {
      const int64_t s = order[static_cast<size_t>(first + n)];
      for (int64_t axis = 0; axis < 2; axis++) corners.push_back(own[2 * s + axis] - least[axis]);
      const double *kernel = options.taps + (c * shape.stations + s) * size;
      for (int64_t tap = 0; tap < size; tap++) taps.push_back(static_cast<Real>(kernel[tap]));
    }
    const Box box{most[0] - least[0] + shape.kernelSize, most[1] - least[1] + shape.kernelSize};
    require(box.rows <= shape.pixels && box.columns <= shape.pixels, "kernels reach past the grid");
    boxes.push_back(box);
  }

  void makeScratch(int threads) {
    int64_t rows = 0, cells = 0;
    for (const Box &box : boxes) {
      rows = std::max(rows, box.rows);
      cells = std::max(cells, box.rows * box.columns);
    }
    // An odd distance: columns a power of two apart would conflict in the cache.
    const int64_t betweenRows = rows | 1, length = shape.fft.length;
    const int64_t element = 2 * kernels.lanes * static_cast<int64_t>(sizeof(Real));
    const int64_t grid = shape.polarisations * cells * element;
    const int64_t between = shape.polarisations * length * betweenRows * element;
    const int64_t buffers = 2 * length * element;
    const int64_t fields = shape.polarisations * shape.groups * kernels.fold * element;
    const int64_t sums = shape.products() * shape.sumVectors() * element / 2;
    const int64_t bytes = roundUp(grid + between + buffers + fields + sums, 4096);
    const int64_t crew = std::clamp<int64_t>(MOST_SCRATCH_BYTES / bytes, 1, threads);
    for (int64_t member = 0; member < crew; member++) {
      memories.push_back(alignedMemory(static_cast<size_t>(bytes)));
      auto *at = static_cast<char *>(memories.back().get());
      std::memset(at, 0, static_cast<size_t>(bytes));
      DirectScratch<Real> scratch;
      scratch.grid = at;
      scratch.between = at + grid;
      scratch.betweenRows = betweenRows;
      scratch.buffers = at + grid + between;
      scratch.fields = at + grid + between + buffers;
      scratch.sums = reinterpret_cast<Real *>(at + grid + between + buffers + fields);
      scratches.push_back(scratch);
    }
  }

  const DirectKernels<Real> &kernels;
  const int64_t channels;
  DirectShape<Real> shape{};
  std::vector<int32_t> order, corners, slots;
  std::vector<Real> taps, turns, classTurns;
  std::vector<uint8_t> shownGroups;
  std::vector<Box> boxes;
  /** totals : [c][piece of time][product][slot][class][j]. */
  std::unique_ptr<ZeroedArray<double>> totals;
  int64_t pieces = 1;
  std::vector<Memory> memories;
  std::vector<DirectScratch<Real>> scratches;
};

}  // namespace
}  // namespace corella

using namespace corella;

// corners : [c][s][row, column]; taps : [c][s][row][column] complex; shown : [m][l]; bits: of the numbers, 32 or 64.
CORELLA_EXPORT int32_t corella_direct_open(char *error, void *context, int64_t pixels, int64_t channels,
                                           int64_t stations, int64_t polarisations, int64_t kernelSize,
                                           const int32_t *corners, const double *taps, const uint8_t *shown,
                                           int32_t bits, void **imager) {
  return withContext(error, context, [&](Context &open) {
    require(pixels >= 8 && pixels <= 1024 && pixels % 2 == 0, "pixels must be even, from 8 to 1024");
    require(channels >= 1 && stations >= 1 && kernelSize >= 1, "an imager has a size below 1");
    require(polarisations == 1 || polarisations == 2, "polarisations must be 1 or 2");
    const Options options{pixels, channels, stations, polarisations, kernelSize, corners, taps, shown};
    require(bits == 32 || bits == 64, "numbers must have 32 or 64 bits");
    std::unique_ptr<AnyDirectImager> made;
    if (bits == 32)
      made = std::make_unique<DirectImager<float>>(open, options);
    else
      made = std::make_unique<DirectImager<double>>(open, options);
    *imager = open.keep(std::move(made));
  });
}

// block : spectra of the imager's channels and inputs (spectra.h); factors : [c][a] complex.
CORELLA_EXPORT int32_t corella_direct_accumulate(char *error, void *context, void *imager, int32_t type,
                                                 const void *block, int64_t capacity, int64_t samples,
                                                 const double *factors) {
  return withContext(error, context, [&](Context &open) {
    require(type >= 0 && type <= 2, "no such type of spectra");
    require(samples >= 0 && samples <= capacity, "more samples than the block holds");
    static_cast<AnyDirectImager *>(imager)->accumulate(open, static_cast<SpectraType>(type),
                                                       static_cast<const char *>(block), capacity, samples, factors);
  });
}

// sums : [c][product][m][l], bin 0 first.
CORELLA_EXPORT int32_t corella_direct_finish(char *error, void *context, void *imager, double *sums) {
  return withContext(error, context,
                     [&](Context &open) { static_cast<AnyDirectImager *>(imager)->finish(open, sums); });
}

// Images from visibilities on threads, the sums of gridded.ts in another order. A batch of channels at a time: its
// pairs are gridded, where channels are few by several threads with a grid each; then every grid is transformed.
#include <algorithm>
#include <limits>
#include <memory>
#include <tuple>
#include <vector>

#include "backend/cpu/context.h"
#include "image/cpu/fft_tables.h"
#include "image/flat/cpu/grid_kernels.h"

namespace corella {
namespace {

constexpr int64_t roundUp(int64_t value, int64_t multiple) { return (value + multiple - 1) / multiple * multiple; }
constexpr int64_t baseline(int64_t i, int64_t j) { return i * (i + 1) / 2 + j; }

/** All grids together; if they would exceed this, fewer threads work. */
constexpr int64_t MOST_GRID_BYTES = int64_t{1} << 30;
/** Fewer pairs get no grid of their own. */
constexpr int64_t PAIRS_PER_PIECE = 4096;

struct Options {
  int64_t pixels, channels, stations, polarisations, kernelSize;
  const int32_t *corners;
  const double *taps, *centre;
};

/** One call's arrays, as in gridded.ts. */
struct Call {
  const double *visibilities;
  /** weights : [c][b], or [c][b][pi][pj] where weightsPerBaseline says so. */
  const double *weights;
  int64_t weightsPerBaseline;
  const uint8_t *flags;
  const double *factors;
  bool uniform, autos;
  /** [m][l], centred; NaN where nothing is shown. */
  const double *correction;
  /** images : [c][product][m][l], centred; no beams where none are wanted. */
  double *images, *beams, *weightSums;

  int64_t kinds() const { return beams ? 2 : 1; }
};

/** Polarisations of a pair i ≥ j, and the product they add to: XX, YY, XY, and YX for the other order of XY. */
struct Combination {
  int64_t pi, pj, product;
  constexpr bool isParallel() const { return pi == pj; }
};
constexpr Combination COMBINATIONS[4] = {{0, 0, 0}, {1, 1, 1}, {0, 1, 2}, {1, 0, 2}};
constexpr int64_t DENSITIES = 3;

struct Pair {
  double re, im, weight;
};

class VisibilityImager {
 public:
  VisibilityImager(Context &context, const Options &options)
      : kernels(CORELLA_PICK(context.level, gridKernels)),
        n(options.pixels),
        channels(options.channels),
        stations(options.stations),
        polarisations(options.polarisations),
        kernelSize(options.kernelSize),
        products(options.polarisations == 1 ? 1 : 4),
        // The margin takes a whole product and the rest of its last vector.
        side(roundUp(options.pixels + PRODUCT_STRIDE / 2, kernels.lanes)),
        corners(options.corners, options.corners + 2 * channels * stations),
        taps(options.taps, options.taps + 2 * channels * stations * kernelSize * kernelSize),
        centre(options.centre, options.centre + 2 * channels * stations),
        turns(makeTurns<double>(options.pixels)),
        fft(planLaneFft(options.pixels, turns.data())) {
    for (int64_t c = 0; c < channels; c++) {
      const auto first = static_cast<int64_t>(order.size());
      for (int64_t s = 0; s < stations; s++) order.push_back(static_cast<int32_t>(s));
      std::sort(order.begin() + first, order.end(), [&](int32_t a, int32_t b) {
        const int32_t *cornerA = cornerOf(c, a), *cornerB = cornerOf(c, b);
        return std::tie(cornerA[0], cornerA[1], a) < std::tie(cornerB[0], cornerB[1], b);
      });
    }
    const int64_t bytes = setDoubles() * 8;
    const int64_t threads = context.pool.threads();
    setCount = std::clamp<int64_t>(MOST_GRID_BYTES / bytes, 1, threads);
    pieces = std::clamp<int64_t>(setCount / channels, 1, std::max<int64_t>(1, baseline(stations, 0) / PAIRS_PER_PIECE));
    batch = std::min(channels, setCount / pieces);
    setCount = batch * pieces;
    grids = std::make_unique<ZeroedArray<double>>(context.pool, static_cast<size_t>(setCount * setDoubles()));
    densities.resize(static_cast<size_t>(batch * DENSITIES * n * n));
    partWeights.resize(static_cast<size_t>(setCount * products));
    buffers = alignedMemory(static_cast<size_t>(threads * bufferBytes()));
  }

  void image(Context &context, const Call &call) {
    for (int64_t first = 0; first < channels; first += batch) {
      const int64_t count = std::min(batch, channels - first);
      if (call.uniform) {
        context.pool.run(count, [&](int64_t slot, int) { weighCells(call, first + slot, density(slot)); });
      }
      context.pool.run(count * pieces, [&](int64_t set, int) {
        const int64_t slot = set / pieces;
        gridPairs(call, first + slot, set % pieces, call.uniform ? density(slot) : nullptr, set);
      });
      const int64_t each = call.kinds() * products;
      context.pool.run(count * each,
                       [&](int64_t task, int worker) { transformGrid(task / each, task % each, worker); });
      context.pool.run(count, [&](int64_t slot, int) { collect(call, first + slot, slot); });
    }
  }

 private:
  /** A set: the images' grids of all combinations, then their beams'. */
  int64_t gridDoubles() const { return 2 * side * side; }
  int64_t setDoubles() const { return 2 * products * gridDoubles(); }
  /** Of one worker: a grid, and two transforms of vectors. */
  int64_t bufferBytes() const { return (gridDoubles() + 2 * n * 2 * kernels.lanes) * 8; }
  double *gridOf(int64_t set, int64_t grid) const { return grids->data() + set * setDoubles() + grid * gridDoubles(); }
  double *density(int64_t slot) { return densities.data() + slot * DENSITIES * n * n; }

  /** The calibrated sum and its weight; weight 0 where nothing is to be added. */
  Pair readPair(const Call &call, int64_t channel, int64_t i, int64_t j, const Combination &combination) const {
    const int64_t inputI = i * polarisations + combination.pi, inputJ = j * polarisations + combination.pj;
    // XY of one station with itself is held by (0, 1) alone
    if (i == j && combination.pi > combination.pj) return {0, 0, 0};
    if (call.flags[inputI] == 1 || call.flags[inputJ] == 1) return {0, 0, 0};
    const double *factorI = call.factors + 2 * (channel * stations * polarisations + inputI);
    const double *factorJ = call.factors + 2 * (channel * stations * polarisations + inputJ);
    const double factorRe = factorI[0] * factorJ[0] + factorI[1] * factorJ[1];
    const double factorIm = factorI[1] * factorJ[0] - factorI[0] * factorJ[1];
    if (factorRe == 0 && factorIm == 0) return {0, 0, 0};
    const int64_t b = channel * baseline(stations, 0) + baseline(i, j);
    const int64_t product = combination.pi * polarisations + combination.pj;
    const double *sum = call.visibilities + 2 * (b * polarisations * polarisations + product);
    const double weight =
        call.weightsPerBaseline == 1 ? call.weights[b] : call.weights[b * call.weightsPerBaseline + product];
    return {sum[0] * factorRe - sum[1] * factorIm, sum[0] * factorIm + sum[1] * factorRe, weight};
  }

  const int32_t *cornerOf(int64_t channel, int64_t s) const { return corners.data() + 2 * (channel * stations + s); }

  /** The cell of the uv plane in which a pair counts: that of (j, i) for YX, which represents the other order of XY. */
  int64_t uvCell(int64_t channel, int64_t i, int64_t j, const Combination &combination) const {
    const int32_t *to = cornerOf(channel, i), *from = cornerOf(channel, j);
    if (combination.pi > combination.pj) std::swap(to, from);
    return (to[0] - from[0] + n) % n * n + (to[1] - from[1] + n) % n;
  }

  void weighCells(const Call &call, int64_t channel, double *density) const {
    std::fill_n(density, DENSITIES * n * n, 0.0);
    for (int64_t i = 0; i < stations; i++) {
      for (int64_t j = 0; j <= i; j++) {
        if (i == j && !call.autos) continue;
        for (int64_t which = 0; which < products; which++) {
          const Combination &combination = COMBINATIONS[which];
          const double weight = readPair(call, channel, i, j, combination).weight;
          double *plane = density + combination.product * n * n;
          plane[uvCell(channel, i, j, combination)] += weight;
          if (i != j && combination.isParallel()) plane[uvCell(channel, j, i, combination)] += weight;
        }
      }
    }
  }

  /** One piece of a channel's pairs: rows i dealt out in turn, so that all pieces have equal lengths. */
  void gridPairs(const Call &call, int64_t channel, int64_t piece, const double *density, int64_t set) {
    std::fill_n(gridOf(set, 0), call.kinds() * products * gridDoubles(), 0.0);
    double *weightSums = partWeights.data() + set * products;
    std::fill_n(weightSums, products, 0.0);
    const int64_t size = 2 * kernelSize * kernelSize;
    PairProduct product;
    for (int64_t i = piece; i < stations; i += pieces) {
      for (int64_t place = 0; place < stations; place++) {
        const int64_t j = order[static_cast<size_t>(channel * stations + place)];
        if (j > i || (i == j && !call.autos)) continue;
        // The response to a source of 1 Jy at the image's centre: only heights change its phase.
        const double *x = centre.data() + 2 * (channel * stations + i),
                     *y = centre.data() + 2 * (channel * stations + j);
        const double centreRe = x[0] * y[0] + x[1] * y[1], centreIm = x[1] * y[0] - x[0] * y[1];
        PairValue values[4];
        int64_t count = 0;
        for (int64_t which = 0; which < products; which++) {
          const Combination &combination = COMBINATIONS[which];
          const Pair pair = readPair(call, channel, i, j, combination);
          if (pair.weight == 0) continue;
          // the pair (j, i) adds the same real part to XX and YY
          double per = i != j && combination.isParallel() ? 2 : 1;
          if (density) per /= density[combination.product * n * n + uvCell(channel, i, j, combination)];
          const double weight = pair.weight * per;
          double *beam = call.beams ? gridOf(set, products + which) : nullptr;
          values[count++] = {pair.re * per,     pair.im * per,      weight * centreRe,
                             weight * centreIm, gridOf(set, which), beam};
          weightSums[combination.product] += pair.weight * per;
        }
        if (count == 0) continue;
        const double *own = taps.data() + channel * stations * size;
        kernels.multiply(kernelSize, own + i * size, own + j * size, product);
        const int32_t *at = cornerOf(channel, i), *from = cornerOf(channel, j);
        const int64_t row = at[0] - from[0] - (kernelSize - 1), column = at[1] - from[1] - (kernelSize - 1);
        kernels.add(kernelSize, product, side, (row + 2 * n) % n, (column + 2 * n) % n, values, count);
      }
    }
  }

  void transformGrid(int64_t slot, int64_t grid, int worker) {
    double *first = gridOf(slot * pieces, grid);
    for (int64_t piece = 1; piece < pieces; piece++) {
      const double *other = gridOf(slot * pieces + piece, grid);
      for (int64_t at = 0; at < gridDoubles(); at++) first[at] += other[at];
    }
    char *own = static_cast<char *>(buffers.get()) + worker * bufferBytes();
    kernels.transform(fft, first, side, reinterpret_cast<double *>(own), own + gridDoubles() * 8);
  }

  /** Re XX, Re YY, then XY + conj(YX), from planes [l][m], bin 0 first, to images : [c][product][m][l]. */
  void collect(const Call &call, int64_t channel, int64_t slot) {
    double *weightSums = call.weightSums + channel * products;
    for (int64_t product = 0; product < products; product++) {
      weightSums[product] = 0;
      // Re XY and Im XY weigh the same
      const int64_t from = std::min<int64_t>(product, 2);
      for (int64_t piece = 0; piece < pieces; piece++) {
        weightSums[product] += partWeights[static_cast<size_t>((slot * pieces + piece) * products + from)];
      }
    }
    for (int64_t kind = 0; kind < call.kinds(); kind++) {
      double *images = (kind == 0 ? call.images : call.beams) + channel * products * n * n;
      const double *re[4], *im[4];
      for (int64_t which = 0; which < products; which++) {
        re[which] = gridOf(slot * pieces, kind * products + which);
        im[which] = re[which] + side * side;
      }
      for (int64_t product = 0; product < products; product++) {
        show(call, weightSums[product], images + product * n * n, [&](int64_t from) {
          if (product < 2) return re[product][from];
          return product == 2 ? re[2][from] + re[3][from] : im[2][from] - im[3][from];
        });
      }
    }
  }

  /** One plane scaled as in direct.ts: by weight, the taper taken out, halves swapped. */
  template <typename Sum>
  void show(const Call &call, double weightSum, double *image, const Sum &sum) const {
    const int64_t half = n / 2;
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const double scale = weightSum > 0 ? 1 / weightSum : nan;
    // Square by square: the planes lie across the image.
    constexpr int64_t SQUARE = 16;
    for (int64_t firstM = 0; firstM < n; firstM += SQUARE) {
      for (int64_t firstL = 0; firstL < n; firstL += SQUARE) {
        const int64_t endM = std::min(n, firstM + SQUARE), endL = std::min(n, firstL + SQUARE);
        for (int64_t m = firstM; m < endM; m++) {
          const int64_t binM = m < half ? m + half : m - half;
          for (int64_t l = firstL; l < endL; l++) {
            const int64_t binL = l < half ? l + half : l - half;
            image[m * n + l] = sum(binL * side + binM) * scale * call.correction[m * n + l];
          }
        }
      }
    }
  }

  const GridKernels &kernels;
  const int64_t n, channels, stations, polarisations, kernelSize, products, side;
  const std::vector<int32_t> corners;
  const std::vector<double> taps, centre, turns;
  const LaneFft<double> fft;
  /**
   * order : [c][place], stations row by row, so that pairs of one station with all others move steadily over the grid.
   */
  std::vector<int32_t> order;
  /** Channels at a time, pieces of each, and the sets of grids they need. */
  int64_t batch, pieces, setCount;
  std::unique_ptr<ZeroedArray<double>> grids;
  std::vector<double> densities, partWeights;
  std::unique_ptr<void, void (*)(void *)> buffers{nullptr, std::free};
};

}  // namespace
}  // namespace corella

using namespace corella;

// corners : [c][s][row, column]; taps : [c][s][row][column] complex; centre : [c][s] complex.
CORELLA_EXPORT int32_t corella_visibility_imager_open(char *error, void *context, int64_t pixels, int64_t channels,
                                                      int64_t stations, int64_t polarisations, int64_t kernelSize,
                                                      const int32_t *corners, const double *taps, const double *centre,
                                                      void **imager) {
  return withContext(error, context, [&](Context &open) {
    require(pixels >= 16 && pixels <= 1024 && pixels % 2 == 0, "pixels must be even, from 16 to 1024");
    require(channels >= 1 && stations >= 1, "an imager has a size below 1");
    require(kernelSize >= 1 && kernelSize <= MOST_KERNEL && kernelSize % 2 == 1, "kernels must be 1, 3, 5 or 7 wide");
    require(polarisations == 1 || polarisations == 2, "polarisations must be 1 or 2");
    const Options options{pixels, channels, stations, polarisations, kernelSize, corners, taps, centre};
    *imager = open.keep(std::make_unique<VisibilityImager>(open, options));
  });
}

// visibilities : [c][b][pi][pj] complex; weights : [c][b], or [c][b][pi][pj] with weightsPerBaseline = P²;
// flags : [a]; factors : [c][a] complex; correction : [m][l]; images and, where wanted, beams : [c][product][m][l];
// weightSums : [c][product].
CORELLA_EXPORT int32_t corella_visibility_imager_run(char *error, void *context, void *imager,
                                                     const double *visibilities, const double *weights,
                                                     int64_t weightsPerBaseline, const uint8_t *flags,
                                                     const double *factors, int32_t uniform, int32_t autos,
                                                     const double *correction, double *images, double *beams,
                                                     double *weightSums) {
  return withContext(error, context, [&](Context &open) {
    const Call call{visibilities, weights, weightsPerBaseline, flags, factors, uniform != 0, autos != 0, correction,
                    images,       beams,   weightSums};
    static_cast<VisibilityImager *>(imager)->image(open, call);
  });
}

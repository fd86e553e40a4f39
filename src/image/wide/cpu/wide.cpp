// Wide images on threads: visibilities to planes of w to an image, and an image to visibilities.
//
// Where all planes are in memory, blocks are gridded on arrival and the planes transformed once, at the end. Where they
// are not, every block goes through all planes, a stack of them at a time, and its image is added to those before.
#include "image/wide/cpu/wide_planes.h"

namespace corella {
namespace {

/** One block as passed from TypeScript. */
struct Block {
  int64_t rows, channels;
  const double *uvw, *scales;
  const void *values;
  const float *weights;
};

class WideImager {
 public:
  virtual ~WideImager() = default;
  /** totals : weights, visibilities. */
  virtual void add(const Block &block, double *totals) = 0;
  virtual void finish(double weight, double *image) = 0;
  virtual void loadModel(const double *image) = 0;
  virtual void predict(const Block &block, void *out) = 0;
  /** One call at a time. */
  std::mutex turn;
};

template <class Body>
int32_t withImager(char *error, void *context, void *imager, Body &&body) noexcept {
  return withContext(error, context, [&](Context &) {
    WideImager &open = *static_cast<WideImager *>(imager);
    std::lock_guard<std::mutex> lock(open.turn);
    body(open);
  });
}

template <class Real>
class Imager final : public WideImager {
 public:
  Imager(Pool &pool, const WideKernels<Real> &kernels, const WideNumbers &plan)
      : pool(pool),
        kernels(kernels),
        tables(pool, plan, kernels.lanes),
        shape(tables.shape),
        scratch(pool, kernels, shape),
        held(static_cast<int>(plan.planesHeld)),
        planes(pool, kernels, tables, scratch, held) {
    require(kernels.grid[shape.support] != nullptr, "there is no kernel of this support");
    if (holdsAll()) planes.start(0, shape.planes);
  }

  void add(const Block &block, double *totals) override {
    const WideRows<Real> rows = rowsOf(block);
    const WideRuns runs = sortRuns(pool, kernels, shape, rows);
    totals[0] = runs.weightSum;
    totals[1] = static_cast<double>(runs.visibilities);
    if (holdsAll()) {
      planes.grid(runs, rows);
      return;
    }
    planes.clearSums();
    for (int end = shape.planes; end > 0; end -= held) {
      planes.start(std::max(0, end - held), end);
      planes.grid(runs, rows);
      planes.addToSums();
    }
    image.resize(static_cast<size_t>(shape.pixels * shape.pixels));
    planes.collect(image.data());
  }

  void finish(double weight, double *to) override {
    if (holdsAll()) {
      planes.finish(to, weight);
      planes.start(0, shape.planes);
      return;
    }
    if (image.empty()) {
      image.resize(static_cast<size_t>(shape.pixels * shape.pixels));
      planes.clearSums();
      planes.collect(image.data());
    }
    pool.run(shape.pixels, [&](int64_t row, int) {
      for (int64_t at = row * shape.pixels; at < (row + 1) * shape.pixels; at++) {
        to[at] = image[static_cast<size_t>(at)] / weight;
      }
    });
    image.clear();
  }

  void loadModel(const double *from) override {
    if (!model) model = std::make_unique<WidePlanes<Real>>(pool, kernels, tables, scratch, held);
    if (!holdsAll()) {
      modelImage.assign(from, from + shape.pixels * shape.pixels);
      return;
    }
    model->start(0, shape.planes);
    model->spread(from);
    model->fromSums(nullptr);
  }

  void predict(const Block &block, void *out) override {
    require(model != nullptr, "no model was loaded");
    const WideRows<Real> rows = rowsOf(block);
    Real *values = static_cast<Real *>(out);
    std::fill_n(values, 2 * rows.rows * rows.channels, Real(0));
    const WideRuns runs = sortRuns(pool, kernels, shape, rows);
    if (holdsAll()) {
      model->degrid(runs, rows, values);
      return;
    }
    model->spread(modelImage.data());
    for (int first = 0; first < shape.planes; first += held) {
      model->start(first, std::min(shape.planes, first + held));
      model->fromSums(&runs);
      model->degrid(runs, rows, values);
    }
  }

 private:
  bool holdsAll() const { return held == shape.planes; }

  WideRows<Real> rowsOf(const Block &block) {
    require(block.rows < (int64_t{1} << 32) && block.channels <= 65536,
            "a block holds more than 2³² rows or 65536 channels");
    scales.assign(block.scales, block.scales + block.channels);
    scales.resize(static_cast<size_t>(block.channels + WIDE_CHUNK));
    return {block.rows,   block.channels, block.uvw, scales.data(), static_cast<const Real *>(block.values),
            block.weights};
  }

  Pool &pool;
  const WideKernels<Real> &kernels;
  const WideTables<Real> tables;
  const WideShape<Real> &shape;
  const WideScratch<Real> scratch;
  const int held;
  WidePlanes<Real> planes;
  std::unique_ptr<WidePlanes<Real>> model;
  std::vector<double> scales, image, modelImage;
};

}  // namespace
}  // namespace corella

using namespace corella;

// sizes : float64?, pixels, side, support, degree, wSupport, wDegree, planes, planesHeld, terms, over n?
// numbers : pixelCosine, leastW, firstW, spacing, middle, halfRange. Arrays as plan.ts has them.
CORELLA_EXPORT int32_t corella_wide_open(char *error, void *context, const int64_t *sizes, const double *numbers,
                                         const double *taps, const double *wTaps, const double *corrections,
                                         const double *series, void **imager) {
  return withContext(error, context, [&](Context &open) {
    const WideNumbers plan{sizes[1],   sizes[2],   sizes[3],       sizes[4],   sizes[5],    sizes[6],   sizes[7],
                           sizes[8],   sizes[9],   sizes[10] != 0, numbers[0], numbers[1],  numbers[2], numbers[3],
                           numbers[4], numbers[5], taps,           wTaps,      corrections, series};
    require(plan.pixels >= 2 && plan.pixels % 2 == 0, "pixels must be even");
    require(plan.side % (2 * WIDE_TILE) == 0 && plan.side >= (plan.pixels + 15) / 16 * 16,
            "the grid's side does not fit");
    require(plan.support >= 3 && plan.support < 16 && plan.wSupport >= 1 && plan.wSupport <= MOST_W_SUPPORT,
            "a kernel's support is out of range");
    require(
        plan.planes >= plan.wSupport && plan.planes <= 65535 && plan.planesHeld >= 1 && plan.planesHeld <= plan.planes,
        "the number of planes is out of range");
    std::unique_ptr<WideImager> made;
    if (sizes[0] != 0)
      made = std::make_unique<Imager<double>>(open.pool, CORELLA_PICK(open.level, wideKernelsDouble), plan);
    else
      made = std::make_unique<Imager<float>>(open.pool, CORELLA_PICK(open.level, wideKernelsFloat), plan);
    *imager = open.keep(std::move(made));
  });
}

// uvw : [row][u, v, w] metres; scales : [c] wavelengths in a metre; values : [row][c] complex of the plan's precision,
// or null for ones; weights : [row][c]; totals : weights, visibilities.
CORELLA_EXPORT int32_t corella_wide_add(char *error, void *context, void *imager, int64_t rows, int64_t channels,
                                        const double *uvw, const double *scales, const void *values,
                                        const float *weights, double *totals) {
  return withImager(error, context, imager, [&](WideImager &open) {
    open.add({rows, channels, uvw, scales, values, weights}, totals);
  });
}

// image : [m][l], sums of weighted visibilities over the weight; NaN below the horizon. Clears the sums.
CORELLA_EXPORT int32_t corella_wide_finish(char *error, void *context, void *imager, double weight, double *image) {
  return withImager(error, context, imager, [&](WideImager &open) { open.finish(weight, image); });
}

CORELLA_EXPORT int32_t corella_wide_model(char *error, void *context, void *imager, const double *image) {
  return withImager(error, context, imager, [&](WideImager &open) { open.loadModel(image); });
}

// values : [row][c] complex of the plan's precision.
CORELLA_EXPORT int32_t corella_wide_predict(char *error, void *context, void *imager, int64_t rows, int64_t channels,
                                            const double *uvw, const double *scales, void *values) {
  return withImager(error, context, imager, [&](WideImager &open) {
    open.predict({rows, channels, uvw, scales, nullptr, nullptr}, values);
  });
}

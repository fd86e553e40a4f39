// StEFCal on threads: batches of independent solves, formula and layout as in plan.ts.
//
// Sums are float32, yet gains converge to any tolerance, because once they settle only their distance d from an anchor
// g₀ is summed in float32:
//
//   Σ A g = Σ A g₀ + Σ A d      Σ B |g|² = Σ B |g₀|² + Σ B (|g|² − |g₀|²)
//
// The anchor's sums are made in float64, a pass some four times as long, needed once or twice in a solve.
#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "backend/cpu/context.h"
#include "calibrate/cpu/anchors.h"
#include "calibrate/cpu/calibrator.h"
#include "calibrate/cpu/panels.h"

namespace corella {
namespace {

/** From here on a solve is long enough to be shared by all threads. */
constexpr int64_t SHARED_STATIONS = 256;

/** Results of one thread over its own stations or rows. */
struct alignas(64) Findings {
  Movement movement = {0, 0, 0};
  double largestA = 0, largestB = 0;
};

/** One solve and its team of threads. */
class Solve {
 public:
  Solve(const StefcalKernels &chosen, int64_t stationCount, int teamSize)
      : kernels(chosen),
        stations(stationCount),
        threads(teamSize),
        barrier(teamSize),
        layout(stationCount, chosen.lanes, teamSize),
        stride(roundUp(stationCount, STATIONS_TOGETHER)),
        findings(static_cast<size_t>(teamSize)),
        floatMemory(alignedMemory(static_cast<size_t>((1 + teamSize) * 3 * stride) * sizeof(float))),
        doubleMemory(alignedMemory(static_cast<size_t>((4 + teamSize) * 3 * stride) * sizeof(double))) {
    layout.setFloats(3);
    panels = alignedMemory(static_cast<size_t>(layout.length()) * sizeof(float));
    auto *floats = static_cast<float *>(floatMemory.get());
    auto *doubles = static_cast<double *>(doubleMemory.get());
    std::fill_n(floats, (1 + threads) * 3 * stride, 0.0f);
    std::fill_n(doubles, (4 + threads) * 3 * stride, 0.0);
    distance = floats;
    partial = floats + 3 * stride;
    gains = doubles;
    anchor = doubles + 3 * stride;
    anchorSums = doubles + 6 * stride;
    diagonal = doubles + 9 * stride;
    exactPartial = doubles + 12 * stride;
  }

  /** Called by every thread of the team with its own number. */
  void run(const SolveBatch &batch, int64_t solve, int thread) {
    load(batch, solve, thread);
    const double near = nearestAnchor(batch.tolerance);
    Findings &mine = findings[static_cast<size_t>(thread)];
    double change = INFINITY;
    int64_t iteration = 0;
    bool backwards = false;
    while (iteration < batch.most) {
      iteration++;
      sweep(thread, backwards);
      backwards = !backwards;
      barrier.wait();
      const bool even = iteration % 2 == 0;
      // all from the previous gains, which the sums are made of
      mine.movement =
          kernels.move({stride, gains, anchor, anchorSums, diagonal, partial, threads, distance, ratio, even},
                       firstStation(thread), firstStation(thread + 1));
      barrier.wait();
      const Findings all = total();
      change = std::sqrt(all.movement.change / all.movement.size);
      if (even && change < batch.tolerance) break;
      const double away = std::sqrt(all.movement.distance / all.movement.size);
      if (change < ANCHOR_BELOW * away && away > near) setAnchor(thread);
    }
    store(batch, solve, thread);
    if (thread == 0) {
      batch.iterationsRun[solve] = static_cast<int32_t>(iteration);
      batch.lastChange[solve] = change;
    }
    barrier.wait();  // no thread loads the next solve while others still store this one
  }

 private:
  /** Whole vectors to each thread, including those past the last station: their gains are and stay 0. */
  int64_t firstStation(int thread) const { return stride / STATIONS_TOGETHER * thread / threads * STATIONS_TOGETHER; }

  Findings total() const {
    Findings all;
    for (const Findings &one : findings) {
      all.movement.change += one.movement.change;
      all.movement.size += one.movement.size;
      all.movement.distance += one.movement.distance;
      all.largestA = std::max(all.largestA, one.largestA);
      all.largestB = std::max(all.largestB, one.largestB);
    }
    return all;
  }

  template <class Use>
  void eachRow(int thread, Use use) const {
    for (int64_t i = layout.firstRow(thread); i < layout.firstRow(thread + 1); i++) use(i);
  }

  /** A = w R conj(M) and B = w |M|², scaled by powers of two to lie below 2; gains likewise. */
  void load(const SolveBatch &batch, int64_t solve, int thread) {
    const int64_t first = solve * rowStart(stations);
    const double *data = batch.data + 2 * first, *model = batch.model + 2 * first, *weights = batch.weights + first;
    const auto elementA = [&](int64_t at, double &re, double &im) {
      const double dRe = data[2 * at], dIm = data[2 * at + 1], mRe = model[2 * at], mIm = model[2 * at + 1];
      re = weights[at] * (dRe * mRe + dIm * mIm);
      im = weights[at] * (dIm * mRe - dRe * mIm);
    };
    const auto elementB = [&](int64_t at) {
      return weights[at] * (model[2 * at] * model[2 * at] + model[2 * at + 1] * model[2 * at + 1]);
    };
    Findings &mine = findings[static_cast<size_t>(thread)];
    mine = {};
    eachRow(thread, [&](int64_t i) {
      for (int64_t at = rowStart(i); at <= rowStart(i) + i; at++) {
        double re, im;
        elementA(at, re, im);
        mine.largestA = std::max({mine.largestA, std::abs(re), std::abs(im)});
        mine.largestB = std::max(mine.largestB, elementB(at));
      }
    });
    const double *guess = batch.gains + 2 * solve * stations;
    double largestGain = 0;
    for (int64_t n = 0; n < 2 * stations; n++) largestGain = std::max(largestGain, std::abs(guess[n]));
    barrier.wait();
    const Findings all = total();
    const double scaleA = 1 / powerOfTwo(all.largestA), scaleB = 1 / powerOfTwo(all.largestB);
    const double gainUnit = powerOfTwo(largestGain);
    if (thread == 0) {
      unit = gainUnit;
      // g/unit = (ΣA g/unit) / (unit² ΣB |g/unit|²), with scaleA in the one sum and scaleB in the other
      ratio = scaleB / scaleA / (unit * unit);
    }

    auto *to = static_cast<float *>(panels.get());
    std::fill(to + layout.begin(thread), to + layout.begin(thread + 1), 0.0f);
    eachRow(thread, [&](int64_t i) {
      float *row = to + layout.at(i) + i % PANEL_ROWS * 3 * kernels.lanes;
      double re, im;
      for (int64_t j = 0; j < i; j++) {
        elementA(rowStart(i) + j, re, im);
        float *element = row + j / kernels.lanes * 3 * PANEL_ROWS * kernels.lanes + j % kernels.lanes;
        element[0] = static_cast<float>(re * scaleA);
        element[kernels.lanes] = static_cast<float>(im * scaleA);
        element[2 * kernels.lanes] = static_cast<float>(elementB(rowStart(i) + j) * scaleB);
      }
      elementA(rowStart(i) + i, re, im);
      diagonal[i] = re * scaleA;
      diagonal[stride + i] = im * scaleA;
      diagonal[2 * stride + i] = elementB(rowStart(i) + i) * scaleB;
    });
    for (int64_t s = firstStation(thread); s < std::min(stations, firstStation(thread + 1)); s++) {
      gains[s] = guess[2 * s] / gainUnit;
      gains[stride + s] = guess[2 * s + 1] / gainUnit;
      for (int64_t plane = 0; plane < 3; plane++) anchor[plane * stride + s] = anchorSums[plane * stride + s] = 0;
      keepDistance(s);
    }
    barrier.wait();
  }

  void store(const SolveBatch &batch, int64_t solve, int thread) const {
    double *found = batch.gains + 2 * solve * stations;
    for (int64_t s = firstStation(thread); s < std::min(stations, firstStation(thread + 1)); s++) {
      found[2 * s] = gains[s] * unit;
      found[2 * s + 1] = gains[stride + s] * unit;
    }
  }

  PanelRange rangeOf(int thread, bool backwards) const { return layout.range(panels.get(), thread, backwards); }

  void sweep(int thread, bool backwards) {
    float *sums = partial + thread * 3 * stride;
    std::fill_n(sums, 3 * stride, 0.0f);
    kernels.sweep(rangeOf(thread, backwards), {distance, stride}, {sums, stride});
  }

  void keepDistance(int64_t s) {
    const double re = gains[s], im = gains[stride + s];
    distance[s] = static_cast<float>(re - anchor[s]);
    distance[stride + s] = static_cast<float>(im - anchor[stride + s]);
    distance[2 * stride + s] = static_cast<float>(re * re + im * im - anchor[2 * stride + s]);
  }

  void setAnchor(int thread) {
    for (int64_t s = firstStation(thread); s < firstStation(thread + 1); s++) {
      const double re = gains[s], im = gains[stride + s];
      anchor[s] = re;
      anchor[stride + s] = im;
      anchor[2 * stride + s] = re * re + im * im;
      keepDistance(s);
    }
    barrier.wait();
    double *sums = exactPartial + thread * 3 * stride;
    std::fill_n(sums, 3 * stride, 0.0);
    kernels.sweepExactly(rangeOf(thread, false), {anchor, stride}, {sums, stride});
    barrier.wait();
    for (int64_t s = firstStation(thread); s < firstStation(thread + 1); s++) {
      for (int64_t plane = 0; plane < 3; plane++) {
        anchorSums[plane * stride + s] = 0;
        for (int other = 0; other < threads; other++) {
          anchorSums[plane * stride + s] += exactPartial[(other * 3 + plane) * stride + s];
        }
      }
    }
    barrier.wait();
  }

  const StefcalKernels &kernels;
  const int64_t stations;
  const int threads;
  Barrier barrier;
  Panels layout;
  /** Stations, padded, in every plane below. */
  const int64_t stride;
  std::vector<Findings> findings;
  using Memory = std::unique_ptr<void, void (*)(void *)>;
  Memory floatMemory, doubleMemory, panels{nullptr, std::free};
  /** Planes : [re, im, power][s]; `partial` and `exactPartial` hold a set for each thread. */
  float *distance, *partial;
  double *gains, *anchor, *anchorSums, *diagonal, *exactPartial;
  /** The unit of the gains; the factor from a quotient of scaled sums to a gain. */
  double unit = 1, ratio = 1;
};

using GainCalibrator = Calibrator<Solve, StefcalKernels, SHARED_STATIONS>;

}  // namespace
}  // namespace corella

using namespace corella;

CORELLA_EXPORT int32_t corella_calibrator_open(char *error, void *context, int64_t stations, void **calibrator) {
  return withContext(error, context, [&](Context &open) {
    *calibrator = open.keep(std::make_unique<GainCalibrator>(open, CORELLA_PICK(open.level, stefcalKernels), stations));
  });
}

// Arrays as SolveBatch of plan.ts; tolerance < 0 runs exactly `most` iterations.
CORELLA_EXPORT int32_t corella_calibrator_solve(char *error, void *context, void *calibrator, int64_t solves,
                                                const double *data, const double *model, const double *weights,
                                                double *gains, int64_t most, double tolerance, int32_t *iterationsRun,
                                                double *lastChange) {
  return withContext(error, context, [&](Context &open) {
    auto &engine = *static_cast<GainCalibrator *>(calibrator);
    engine.run(open,
               {solves, engine.stations, data, model, weights, gains, most, tolerance, iterationsRun, lastChange});
  });
}

// StEFCal on threads: batches of independent solves, formula and layout as in plan.ts.
//
// Sums are float32, yet gains converge to any tolerance, because once they settle only their distance d from an
// anchor g₀ goes through float32:
//
//   Σ A g = Σ A g₀ + Σ A d      Σ B |g|² = Σ B |g₀|² + Σ B (|g|² − |g₀|²)
//
// The anchor's sums are made in float64, a pass some four times as long, needed once or twice in a solve.
#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "backend/cpu/context.h"
#include "calibrate/cpu/calibrator.h"
#include "calibrate/cpu/stefcal_kernels.h"

namespace corella {
namespace {

/** Float32 keeps 6 digits of d: a new anchor is set when the gains move by less than this fraction of it. */
constexpr double ANCHOR_BELOW = 1e-4;
/** Sums are then good to 1e-6 of d; within 1e4 tolerances of the anchor that is a hundredth of the tolerance. */
constexpr double NEAR_TOLERANCES = 1e4;
/** Within this distance of the anchor float64 itself has no more digits to win. */
constexpr double NEAREST = 1e-13;
/** What a fixed number of iterations is held to. */
constexpr double DEFAULT_TOLERANCE = 1e-8;
/** From here on a solve is long enough to be shared by all threads. */
constexpr int64_t SHARED_STATIONS = 256;

/** Stations in the widest vector; they are padded to whole ones. */
constexpr int64_t STATIONS_TOGETHER = 16;

constexpr int64_t roundUp(int64_t value, int64_t multiple) { return (value + multiple - 1) / multiple * multiple; }
constexpr int64_t rowStart(int64_t i) { return i * (i + 1) / 2; }

/** The largest power of two ≤ value, so that dividing by it costs no digit; 1 for 0. */
double powerOfTwo(double value) { return value > 0 ? std::ldexp(1.0, std::ilogb(value)) : 1; }

/** What one thread finds over its own stations or rows. */
struct alignas(64) Findings {
  Movement movement = {0, 0, 0};
  double largestA = 0, largestB = 0;
};

/** One solve and the team of threads at work on it. */
class Solve {
 public:
  Solve(const StefcalKernels &chosen, int64_t stationCount, int teamSize)
      : kernels(chosen),
        stations(stationCount),
        threads(teamSize),
        barrier(teamSize),
        panelCount((stationCount + PANEL_ROWS - 1) / PANEL_ROWS),
        stride(roundUp(stationCount, STATIONS_TOGETHER)),
        offsets(static_cast<size_t>(panelCount + 1)),
        shares(static_cast<size_t>(teamSize + 1)),
        findings(static_cast<size_t>(teamSize)),
        floatMemory(alignedMemory(static_cast<size_t>((1 + teamSize) * 3 * stride) * sizeof(float))),
        doubleMemory(alignedMemory(static_cast<size_t>((4 + teamSize) * 3 * stride) * sizeof(double))) {
    for (int64_t panel = 0; panel < panelCount; panel++) {
      // the panel's last row ends before its diagonal; the first panel's three columns still take a vector
      const int64_t columns = roundUp((panel + 1) * PANEL_ROWS - 1, kernels.lanes);
      offsets[static_cast<size_t>(panel + 1)] = offsets[static_cast<size_t>(panel)] + columns * 3 * PANEL_ROWS;
    }
    panels = alignedMemory(static_cast<size_t>(offsets.back()) * sizeof(float));
    // Neighbouring panels to one thread, the same number of bytes to each: they stay in its cache.
    for (int thread = 0; thread <= threads; thread++) {
      const int64_t bytes = offsets.back() * thread / threads;
      shares[static_cast<size_t>(thread)] = std::lower_bound(offsets.begin(), offsets.end(), bytes) - offsets.begin();
    }
    shares.back() = panelCount;
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
    const double near =
        std::max(NEAREST, NEAR_TOLERANCES * (batch.tolerance < 0 ? DEFAULT_TOLERANCE : batch.tolerance));
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
      // all from the gains before, which the sums are made of
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
    barrier.wait();  // nobody loads the next solve while others still store this one
  }

 private:
  /** Whole vectors to each thread, those past the last station too: their gains are and stay 0. */
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
    const int64_t end = std::min(stations, shares[static_cast<size_t>(thread + 1)] * PANEL_ROWS);
    for (int64_t i = shares[static_cast<size_t>(thread)] * PANEL_ROWS; i < end; i++) use(i);
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
    const int64_t from = offsets[static_cast<size_t>(shares[static_cast<size_t>(thread)])];
    const int64_t end = offsets[static_cast<size_t>(shares[static_cast<size_t>(thread + 1)])];
    std::fill(to + from, to + end, 0.0f);
    eachRow(thread, [&](int64_t i) {
      float *row = to + offsets[static_cast<size_t>(i / PANEL_ROWS)] + i % PANEL_ROWS * 3 * kernels.lanes;
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

  PanelRange rangeOf(int thread, bool backwards) const {
    return {static_cast<const float *>(panels.get()), offsets.data(), shares[static_cast<size_t>(thread)],
            shares[static_cast<size_t>(thread + 1)], backwards};
  }

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
  const int64_t panelCount;
  /** Stations, padded, in every plane below. */
  const int64_t stride;
  std::vector<int64_t> offsets, shares;
  std::vector<Findings> findings;
  using Memory = std::unique_ptr<void, void (*)(void *)>;
  Memory floatMemory, doubleMemory, panels{nullptr, std::free};
  /** Planes : [re, im, power][s]; `partial` and `exactPartial` hold a set for each thread. */
  float *distance, *partial;
  double *gains, *anchor, *anchorSums, *diagonal, *exactPartial;
  /** Gains are kept in this unit; what turns a quotient of scaled sums into a gain. */
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

// Full-polarisation StEFCal on threads: batches of independent solves, formula and layout as in full/plan.ts.
//
// Sums are float32, of the gains' distance from an anchor whose own sums are float64, as in calibrate/cpu/stefcal.cpp:
// they are linear in G and in H = Gᴴ G. There are three methods to reach a tolerance: all stations from the same gains
// with mixed steps (mixing.h) and occasional fits of what stations share (common_modes.h), as in the reference; station
// after station; and, for many stations, least squares of all of them together, starting from a core of a few
// (full_newton.h).
#include "calibrate/full/cpu/full_newton.h"

namespace corella {
namespace {

/** As in full/common.ts: longer common steps, in units of the tolerance, are made; the limit for a new fit. */
constexpr double MOST_TOLERANCES = 10;
constexpr int FITS = 2;
constexpr double FIT_BELOW[FITS] = {0.1, 1e-3}, LATE_BELOW = 1e-2, FIT_AGAIN_ABOVE = 0.05;
constexpr int64_t FIT_AGAIN_AFTER = 8;
/** With fewer stations a panel has too many of them: then all at once is better. */
constexpr int64_t IN_TURN_STATIONS = 16;
/** From here on a solve is long enough to be shared by all threads. */
constexpr int64_t SHARED_STATIONS = 128;
/**
 * From here on a core is solved first; a multiple of every machine's vectors. With 12 stations none in two hundred ends
 * at a false minimum.
 */
constexpr int64_t CORE_FROM = 48;
constexpr int64_t coreOf(int64_t stations) { return stations < SHARED_STATIONS ? 16 : 32; }
/** The tolerance of a core, and its most iterations. */
constexpr double CORE_TOLERANCE = 1e-2;
constexpr int64_t MOST_CORE = 60;
/** With a larger error of its gains the core is not used; with a larger error of all gains, steps together are slow. */
constexpr double MOST_CORE_ERROR = 0.3, MOST_ERROR = 0.1;

/** The result of the core: nothing to solve; noise; a start; a start for steps together. */
enum class Core { empty, noisy, rough, good };

/** One solve and its team of threads. */
class FullSolve : FullNewton {
 public:
  FullSolve(const FullKernels &chosen, int64_t stationCount, int teamSize)
      : FullNewton(chosen, stationCount, teamSize) {
    if (stations < CORE_FROM) return;
    core = std::make_unique<FullSolve>(chosen, coreOf(stations), 1);
    coreGains.resize(static_cast<size_t>(GAIN_PLANES * coreOf(stations)));
  }

  /** Called by every thread of the team with its own number. */
  void run(const FullBatch &batch, int64_t solve, int thread) {
    load(batch, solve, thread);
    Progress at;
    const Core begun = batch.tolerance < 0 || !core ? Core::noisy : beginWithCore(batch, solve, thread);
    if (begun == Core::empty) runAtOnce(batch, solve, thread, TOGETHER_BELOW, at);
    if (!at.ended && (begun == Core::empty || begun == Core::good)) runTogether(batch, solve, thread, at);
    if (!at.ended && threads == 1 && batch.tolerance >= 0 && form != GENERAL && stations >= IN_TURN_STATIONS)
      runInTurn(batch, solve, at);
    if (!at.ended) runAtOnce(batch, solve, thread, 0, at);
    finish(batch, solve, thread, at);
  }

 private:
  /**
   * The first stations by themselves, and from them the others: a hundredth of the pairs gives all gains to a few per
   * cent.
   */
  Core beginWithCore(const FullBatch &batch, int64_t solve, int thread) {
    const int64_t columns = core->stations;
    if (thread == 0) coreFound = solveCore(batch, solve);
    barrier.wait();
    if (coreFound == Core::empty || coreFound == Core::noisy) return coreFound;
    const int64_t begin = firstStation(thread), end = firstStation(thread + 1);
    for (int64_t s = begin; s < std::min(end, columns); s++)
      for (int64_t n = 0; n < GAIN_PLANES; n++)
        gains[PLANE_OF[n] * stride + s] = coreGains[static_cast<size_t>(GAIN_PLANES * s + n)] / unit;
    keepDistance(thread);
    float *sums = partial + thread * ALL_PLANES * stride;
    std::fill_n(sums, ALL_PLANES * stride, 0.0f);
    barrier.wait();
    kernels.extend[form](layout.range(panels.get(), thread, false), columns, {distance, stride}, {sums, stride});
    barrier.wait();
    // stations of the core have no sums, and keep their gains
    kernels.step({stride, gains, anchorSums, partial, threads, nullptr, ratio, next, nullptr, nullptr, nullptr}, begin,
                 end);
    copyNext(thread);
    keepDistance(thread);
    barrier.wait();
    return coreFound;
  }

  /** Into coreGains. */
  Core solveCore(const FullBatch &batch, int64_t solve) {
    const int64_t first = solve * rowStart(stations), columns = core->stations;
    std::copy_n(batch.gains + GAIN_PLANES * solve * stations, GAIN_PLANES * columns, coreGains.data());
    int32_t passes;
    double change, normal[64], variance;
    FullBatch part;
    // its pairs are the first of the half
    static_cast<SolveBatch &>(part) = {1,
                                       columns,
                                       batch.data + 8 * first,
                                       batch.model + 8 * first,
                                       batch.weights + first,
                                       coreGains.data(),
                                       std::min(batch.most, MOST_CORE),
                                       std::max(batch.tolerance, CORE_TOLERANCE),
                                       &passes,
                                       &change};
    part.commonNormal = normal;
    part.commonVariance = &variance;
    try {
      core->runAsCore(part);
    } catch (const std::bad_alloc &) {
      return Core::empty;  // the other threads wait
    }
    const double error = core->errorOfGains();
    if (std::isnan(error)) return Core::empty;
    if (!(change < part.tolerance && error < MOST_CORE_ERROR)) return Core::noisy;
    const double ofAll = error * std::sqrt(static_cast<double>(columns) / static_cast<double>(stations));
    return ofAll < MOST_ERROR ? Core::good : Core::rough;
  }

  void runAsCore(const FullBatch &batch) {
    load(batch, 0, 0);
    Progress at;
    runAtOnce(batch, 0, 0, TOGETHER_BELOW, at);
    if (!at.ended) runTogether(batch, 0, 0, at);
    finish(batch, 0, 0, at);
  }

  /** Relative error of solved gains by noise and by the model's misfit; NaN if none is solved. */
  double errorOfGains() const {
    double inverse = 0, size = 0;
    for (int64_t s = 0; s < stations; s++) {
      const Row row = rowOf(s);
      const double determinant = row.d.x[0] * row.d.x[6] - row.d.x[2] * row.d.x[2] - row.d.x[3] * row.d.x[3];
      if (!(determinant > 0)) continue;
      inverse += (row.d.x[0] + row.d.x[6]) / determinant;
      size += row.h.x[0] + row.h.x[6];
    }
    return std::sqrt(4 * fit.variance * inverse / size);
  }

  /**
   * All stations from the same gains, with the correction of their common step; until the end, or a change below
   * `until`.
   */
  void runAtOnce(const FullBatch &batch, int64_t solve, int thread, double until, Progress &at) {
    const bool fixed = batch.tolerance < 0;
    const double near = nearestAnchor(batch.tolerance);
    FullFindings &mine = findings[static_cast<size_t>(thread)];
    Mixing mixing;
    double &change = at.change;
    int64_t &iteration = at.iteration;
    int fits = 0;
    int64_t fitted = 0;
    double amended = 0;
    bool backwards = false, amending = false, late = false;
    while (iteration < batch.most) {
      iteration++;
      float *sums = partial + thread * ALL_PLANES * stride;
      std::fill_n(sums, ALL_PLANES * stride, 0.0f);
      kernels.sweep[form](layout.range(panels.get(), thread, backwards), {distance, stride}, {sums, stride});
      backwards = !backwards;
      barrier.wait();
      if (withSelf) addSelves(batch, solve, thread);
      // all from the previous gains, which the sums are made of
      const FullStep made = kernels.step({stride, gains, anchorSums, partial, threads, withSelf ? own : nullptr, ratio,
                                          next, nullptr, nullptr, nullptr},
                                         firstStation(thread), firstStation(thread + 1));
      mine.movement = made.movement;
      std::copy_n(made.right, 8, mine.right.x);
      barrier.wait();
      const bool even = iteration % 2 == 0, last = iteration == batch.most;
      if (!fixed) {
        change = changeNow();
        const bool far = amended > FIT_AGAIN_ABOVE;
        bool fitNow = far || (amending && !late && iteration >= fitted + FIT_AGAIN_AFTER);
        for (; form != UNPOLARISED && fits < FITS && change < FIT_BELOW[fits]; fits++) fitNow = true;
        if (fitNow) {
          fitAll(batch, solve, thread);
          fitted = iteration;
          amending = true;
          late = change < LATE_BELOW;
        }
        if (far) mixing.forget();
        if (amending) {
          amended = amend(thread);
          change = changeNow();
        }
      }
      const bool settled = !fixed && change < batch.tolerance;
      // A late fit is used to the end: its correction is included in the change.
      if ((settled || last) && !(late && amending)) fitAll(batch, solve, thread);
      if (fixed) {
        mine.movement = move(thread, even);
      } else if (settled) {
        if ((late && amending) || !(fit.size >= MOST_TOLERANCES * batch.tolerance)) {
          copyNext(thread);
          break;
        }
        change = fit.size;
        turnAll(thread);
        amending = late = form != UNPOLARISED;
        mixing.forget();
      } else if (last || !mixing.wanted(change)) {
        move(thread, even && !last);
      } else {
        mix(thread, mixing);
      }
      mine.distance = keepDistance(thread);
      barrier.wait();
      if (fixed) change = changeNow();
      const double away = awayNow();
      if (!last && change < ANCHOR_BELOW * away && away > near) setAnchor(thread);
      if (!last && change < until) return;
    }
    at.ended = true;
  }

  /**
   * Panel after panel, each from the current gains of the others: with mixing such steps converge in as many iterations
   * as the others need beside their fits, or fewer. Not for a general model: without early fits of what stations share
   * one in five ends at a false minimum.
   */
  void runInTurn(const FullBatch &batch, int64_t solve, Progress &at) {
    const double near = nearestAnchor(batch.tolerance);
    FullFindings &mine = findings[0];
    Mixing mixing;
    double &change = at.change;
    int64_t &iteration = at.iteration;
    while (iteration < batch.most) {
      iteration++;
      std::fill_n(partial, ALL_PLANES * stride, 0.0f);
      if (withSelf) addSelves(batch, solve, 0);
      mine.movement = kernels.sweepInTurn[form](
          layout.range(panels.get(), 0, true),
          {stride, gains, anchor, anchorSums, withSelf ? own : nullptr, ratio, next, distance, partial});
      change = changeNow();
      const bool settled = change < batch.tolerance;
      if (settled || iteration == batch.most) {
        copyNext(0);
        keepDistance(0);
        std::fill_n(partial, ALL_PLANES * stride, 0.0f);
        kernels.sweep[form](layout.range(panels.get(), 0, false), {distance, stride}, {partial, stride});
        if (withSelf) addSelves(batch, solve, 0);
        fitAll(batch, solve, 0);
        if (!settled || !(fit.size >= MOST_TOLERANCES * batch.tolerance)) break;
        change = fit.size;
        turnAll(0);
        mixing.forget();
      } else if (mixing.wanted(change)) {
        mix(0, mixing);
      } else {
        copyNext(0);
      }
      mine.distance = keepDistance(0);
      const double away = awayNow();
      if (change < ANCHOR_BELOW * away && away > near) setAnchor(0);
    }
    at.ended = true;
  }

  void finish(const FullBatch &batch, int64_t solve, int thread, const Progress &at) {
    store(batch, solve, thread);
    if (thread == 0) {
      batch.iterationsRun[solve] = static_cast<int32_t>(at.iteration);
      batch.lastChange[solve] = at.change;
      std::copy_n(fit.normal, 64, batch.commonNormal + 64 * solve);
      batch.commonVariance[solve] = fit.variance;
    }
    barrier.wait();  // no thread loads the next solve while others still store this one
  }

  /** For many stations: a solve of the first few, and their gains. */
  std::unique_ptr<FullSolve> core;
  std::vector<double> coreGains;
  Core coreFound = Core::empty;
};

using FullCalibrator = Calibrator<FullSolve, FullKernels, SHARED_STATIONS>;

}  // namespace
}  // namespace corella

using namespace corella;

CORELLA_EXPORT int32_t corella_full_calibrator_open(char *error, void *context, int64_t stations, void **calibrator) {
  return withContext(error, context, [&](Context &open) {
    *calibrator = open.keep(std::make_unique<FullCalibrator>(open, CORELLA_PICK(open.level, fullKernels), stations));
  });
}

// Arrays as FullBatch of full/plan.ts; tolerance < 0 runs exactly `most` iterations.
CORELLA_EXPORT int32_t corella_full_calibrator_solve(char *error, void *context, void *calibrator, int64_t solves,
                                                     const double *data, const double *model, const double *weights,
                                                     double *gains, int64_t most, double tolerance,
                                                     int32_t *iterationsRun, double *lastChange, double *commonNormal,
                                                     double *commonVariance) {
  return withContext(error, context, [&](Context &open) {
    auto &engine = *static_cast<FullCalibrator *>(calibrator);
    FullBatch batch;
    static_cast<SolveBatch &>(batch) = {solves, engine.stations, data,          model,     weights, gains,
                                        most,   tolerance,       iterationsRun, lastChange};
    batch.commonNormal = commonNormal;
    batch.commonVariance = commonVariance;
    engine.run(open, batch);
  });
}

// Full-polarisation StEFCal on threads: batches of independent solves, formula and layout as in full/plan.ts.
//
// Sums are float32, of the gains' distance from an anchor whose own sums are float64, as in calibrate/cpu/stefcal.cpp: they are
// linear in G and in H = Gᴴ G. Until a tolerance steps are mixed (mixing.h), and what all stations share is looked at before
// the end (common_modes.h).
#include "calibrate/cpu/anchors.h"
#include "calibrate/full/cpu/full_memory.h"

namespace corella {
namespace {

/** As in full/common.ts: a longer step in common, in units of the tolerance, is made; where it is fitted anew. */
constexpr double MOST_TOLERANCES = 10;
constexpr int FITS = 2;
constexpr double FIT_BELOW[FITS] = {0.1, 1e-3}, LATE_BELOW = 1e-2, FIT_AGAIN_ABOVE = 0.05, LONGEST_AMENDS = 0.3;
constexpr int64_t FIT_AGAIN_AFTER = 8;
/** Of fewer a panel holds too many of them: then all at once is better. */
constexpr int64_t IN_TURN_STATIONS = 16;
/** From here on a solve is long enough to be shared by all threads. */
constexpr int64_t SHARED_STATIONS = 128;

/** One solve and the team of threads at work on it. */
class FullSolve : FullMemory {
 public:
  FullSolve(const FullKernels &chosen, int64_t stationCount, int teamSize)
      : FullMemory(chosen, stationCount, teamSize) {}

  /** Called by every thread of the team with its own number. */
  void run(const FullBatch &batch, int64_t solve, int thread) {
    load(batch, solve, thread);
    if (threads == 1 && batch.tolerance >= 0 && form != GENERAL && stations >= IN_TURN_STATIONS)
      runInTurn(batch, solve);
    else
      runAtOnce(batch, solve, thread);
  }

 private:
  /** All stations from the same gains, and what such steps lack of a common one. */
  void runAtOnce(const FullBatch &batch, int64_t solve, int thread) {
    const bool fixed = batch.tolerance < 0;
    const double near = nearestAnchor(batch.tolerance);
    FullFindings &mine = findings[static_cast<size_t>(thread)];
    Mixing mixing;
    double change = INFINITY;
    int64_t iteration = 0;
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
      // all from the gains before, which the sums are made of
      const FullStep made =
          kernels.step({stride, gains, anchorSums, partial, threads, withSelf ? own : nullptr, ratio, next},
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
      // A late fit holds to the end: what it would have moved is in the change.
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
    }
    finish(batch, solve, thread, iteration, change);
  }

  /**
   * Panel after panel, each from what the others are by then: mixing alone brings such steps there in as many iterations as the
   * others take beside their fits, or fewer. Not of a general model: without early fits of what stations share one in five ends
   * at a bottom that is not the deepest.
   */
  void runInTurn(const FullBatch &batch, int64_t solve) {
    const double near = nearestAnchor(batch.tolerance);
    FullFindings &mine = findings[0];
    Mixing mixing;
    double change = INFINITY;
    int64_t iteration = 0;
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
    finish(batch, solve, 0, iteration, change);
  }

  void finish(const FullBatch &batch, int64_t solve, int thread, int64_t iteration, double change) {
    store(batch, solve, thread);
    if (thread == 0) {
      batch.iterationsRun[solve] = static_cast<int32_t>(iteration);
      batch.lastChange[solve] = change;
      std::copy_n(fit.normal, 64, batch.commonNormal + 64 * solve);
      batch.commonVariance[solve] = fit.variance;
    }
    barrier.wait();  // nobody loads the next solve while others still store this one
  }

  /** A station with itself: Z = G Mᴴ, N += w V Z, D += w Zᴴ Z, in the scales of the others. */
  void addSelves(const FullBatch &batch, int64_t solve, int thread) {
    const int64_t first = solve * rowStart(stations);
    const double product = scaleData * scaleModel, power = scaleModel * scaleModel;
    for (int64_t s = firstStation(thread); s < endOfStations(thread); s++) {
      const int64_t at = first + rowStart(s) + s;
      const double weight = batch.weights[at];
      Matrix2 n = {}, d = {};
      if (weight != 0) {
        const Matrix2 &model = reinterpret_cast<const Matrix2 &>(batch.model[8 * at]);
        const Matrix2 z = times<Take::plain, Take::adjoint>(planesAt(gains, s), model);
        n = times(reinterpret_cast<const Matrix2 &>(batch.data[8 * at]), z);
        d = times<Take::adjoint>(z, z);
      }
      for (int64_t k = 0; k < GAIN_PLANES; k++) own[PLANE_OF[k] * stride + s] = weight * product * n.x[k];
      const double numbers[4] = {d.x[0], d.x[6], M_SQRT2 * d.x[2], M_SQRT2 * d.x[3]};
      for (int64_t k = 0; k < 4; k++) own[(GAIN_PLANES + k) * stride + s] = weight * power * numbers[k];
    }
  }

  /** gains = next − Σ γ moved. */
  void mix(int thread, Mixing &mixing) {
    MixProducts &products = findings[static_cast<size_t>(thread)].products;
    products = {};
    const int64_t planes = GAIN_PLANES * stride;
    const int slot = mixing.begin();
    if (slot >= 0)
      eachNumber(thread, [&](int64_t at) {
        moved[slot * planes + at] = next[at] - lastNext[at];
        rests[slot * planes + at] = next[at] - gains[at] - lastRest[at];
      });
    eachNumber(thread, [&](int64_t at) {
      lastNext[at] = next[at];
      lastRest[at] = next[at] - gains[at];
    });
    for (int age = 0; age < mixing.kept(); age++) {
      const int kept = mixing.slot(age);
      const double *one = rests + kept * planes, *newest = rests + slot * planes;
      double gram = 0, wanted = 0;
      eachNumber(thread, [&](int64_t at) {
        gram += one[at] * newest[at];
        wanted += one[at] * lastRest[at];
      });
      products.gram[kept] = gram;
      products.wanted[kept] = wanted;
    }
    barrier.wait();
    MixProducts all;
    for (const FullFindings &one : findings)
      for (int k = 0; k < MIXED_STEPS; k++) {
        all.gram[k] += one.products.gram[k];
        all.wanted[k] += one.products.wanted[k];
      }
    double factors[MIXED_STEPS] = {};
    mixing.solve(all, factors);
    copyNext(thread);
    for (int age = 0; age < mixing.kept(); age++) {
      const double *one = moved + mixing.slot(age) * planes;
      const double factor = factors[age];
      eachNumber(thread, [&](int64_t at) { gains[at] -= factor * one[at]; });
    }
  }

  /** A station's gain, its H, and the sums of its row, in units of the data's and the model's. */
  struct Row {
    Matrix2 gain, h, n, d;
  };
  Row rowOf(int64_t s) const {
    const double perModel = unit * unit / (scaleModel * scaleModel), perData = unit / (scaleData * scaleModel);
    double sum[ALL_PLANES];
    for (int64_t plane = 0; plane < ALL_PLANES; plane++) {
      sum[plane] = anchorSums[plane * stride + s] + (withSelf ? own[plane * stride + s] : 0);
      for (int part = 0; part < threads; part++)
        sum[plane] += static_cast<double>(partial[(part * ALL_PLANES + plane) * stride + s]);
    }
    Row row;
    row.gain = planesAt(gains, s);
    for (double &value : row.gain.x) value *= unit;
    row.h = times<Take::adjoint>(row.gain, row.gain);
    for (int64_t k = 0; k < GAIN_PLANES; k++) row.n.x[k] = sum[PLANE_OF[k]] * perData;
    const double re = sum[10] * perModel / M_SQRT2, im = sum[11] * perModel / M_SQRT2;
    row.d = {{sum[8] * perModel, 0, re, im, re, -im, sum[9] * perModel, 0}};
    return row;
  }

  /** next + G u of this thread's stations, u being what their steps lack; its size. */
  double amend(int thread) {
    // by columns, as planes are, and scaled as their sums
    const double scale = unit * unit * unit * unit / (scaleModel * scaleModel);
    Matrix2 right = {}, u = {};
    for (const FullFindings &one : findings)
      for (int64_t n = 0; n < GAIN_PLANES; n++) right.x[n] += scale * one.right.x[PLANE_OF[n]];
    for (int m = 0; m < 8; m++)
      for (int k = 0; k < 8; k++) u.x[m] += fit.amends[8 * m + k] * right.x[k];
    double squares = 0;
    for (double value : u.x) squares += value * value;
    const double size = std::sqrt(squares);
    if (size > LONGEST_AMENDS)
      for (double &value : u.x) value *= LONGEST_AMENDS / size;
    double byColumns[GAIN_PLANES];
    for (int64_t n = 0; n < GAIN_PLANES; n++) byColumns[PLANE_OF[n]] = u.x[n];
    barrier.wait();  // everybody has read the movement of the step
    findings[static_cast<size_t>(thread)].movement =
        kernels.amend(stride, gains, byColumns, next, firstStation(thread), firstStation(thread + 1));
    barrier.wait();
    return size;
  }

  /** What all stations share, at the gains that the sums are made of. */
  void fitAll(const FullBatch &batch, int64_t solve, int thread) {
    const int64_t first = solve * rowStart(stations);
    FullFindings &mine = findings[static_cast<size_t>(thread)];
    CommonSums &sums = mine.common = {};
    sums.squares = mine.power;
    sums.numbers = 8.0 * static_cast<double>(mine.pairs);
    for (int64_t s = firstStation(thread); s < endOfStations(thread); s++) {
      const Row row = rowOf(s);
      hs[static_cast<size_t>(s)] = row.h;
      const double numbers[4] = {row.h.x[0], row.h.x[6], row.h.x[2], row.h.x[3]};
      for (int64_t n = 0; n < 4; n++) hPlanes[n * stride + s] = static_cast<float>(numbers[n] / (unit * unit));
      sums.addRow(row.gain, row.h, row.n, row.d);
    }
    barrier.wait();
    if (form == DIAGONAL)
      for (int64_t i = layout.firstRow(thread); i < layout.firstRow(thread + 1); i++)
        sums.addPairs(i, batch.model + 8 * (first + rowStart(i)), batch.weights + first + rowStart(i), hs.data());
    if (form == GENERAL) {
      const PanelRange range = layout.range(panels.get(), thread, false);
      for (int64_t at = range.first; at < range.end; at++) {
        double rows[PANEL_ROWS][32];
        kernels.sumCommon(range, at, {hPlanes, stride}, &rows);
        for (int64_t row = 0; row < PANEL_ROWS && at * PANEL_ROWS + row < stations; row++)
          sums.addOwn(rows[row], unit * unit / (scaleModel * scaleModel),
                      hs[static_cast<size_t>(at * PANEL_ROWS + row)]);
      }
    }
    if (withSelf)
      for (int64_t s = firstStation(thread); s < endOfStations(thread); s++) {
        const int64_t at = first + rowStart(s) + s;
        if (batch.weights[at] != 0)
          sums.addSelf(batch.weights[at], batch.data + 8 * at, reinterpret_cast<const Matrix2 &>(batch.model[8 * at]),
                       hs[static_cast<size_t>(s)]);
      }
    // Of an unpolarised model the pairs' sum is that of the rows, each pair twice.
    if (form == UNPOLARISED)
      for (int p = 0; p < 4; p++)
        for (int q = 0; q < 8; q++) sums.pairs[p][q] = sums.rows[p][q] / 2;
    barrier.wait();
    if (thread == 0) {
      CommonSums all;
      for (const FullFindings &one : findings) all.add(one.common);
      fit = fitCommon(all);
    }
    barrier.wait();
  }

  /** G (1 + u) of this thread's stations. */
  void turnAll(int thread) {
    Matrix2 common = fit.step;
    common.x[0] += 1;
    common.x[6] += 1;
    for (int64_t s = firstStation(thread); s < endOfStations(thread); s++) {
      const Matrix2 turned = times(planesAt(gains, s), common);
      for (int64_t n = 0; n < GAIN_PLANES; n++) gains[PLANE_OF[n] * stride + s] = turned.x[n];
    }
  }

  void setAnchor(int thread) {
    // gains and H of them, as far as they are from nothing
    const int64_t begin = firstStation(thread), end = firstStation(thread + 1);
    for (int64_t s = begin; s < end; s++) {
      const Matrix2 gain = planesAt(gains, s), h = times<Take::adjoint>(gain, gain);
      for (int64_t n = 0; n < GAIN_PLANES; n++) anchor[PLANE_OF[n] * stride + s] = gain.x[n];
      const double numbers[4] = {h.x[0], h.x[6], M_SQRT2 * h.x[2], M_SQRT2 * h.x[3]};
      for (int64_t n = 0; n < 4; n++) anchor[(GAIN_PLANES + n) * stride + s] = numbers[n];
    }
    keepDistance(thread);
    barrier.wait();
    double *sums = exactPartial + thread * ALL_PLANES * stride;
    std::fill_n(sums, ALL_PLANES * stride, 0.0);
    kernels.sweepExactly[form](layout.range(panels.get(), thread, false), {anchor, stride}, {sums, stride});
    barrier.wait();
    for (int64_t plane = 0; plane < ALL_PLANES; plane++)
      for (int64_t s = begin; s < end; s++) {
        double sum = 0;
        for (int other = 0; other < threads; other++) sum += exactPartial[(other * ALL_PLANES + plane) * stride + s];
        anchorSums[plane * stride + s] = sum;
      }
    barrier.wait();
  }

  CommonFit fit = {};
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

// Parts of a full-polarisation solve common to all methods: autocorrelations, what stations have in common, mixing,
// anchors.
#pragma once
#include "calibrate/full/cpu/full_memory.h"

namespace corella {

/** As in full/common.ts: the longest step of all stations in common. */
constexpr double LONGEST_AMENDS = 0.3;

/** Passes over all pairs so far, the last change, and whether the solve has ended. */
struct Progress {
  int64_t iteration = 0;
  double change = INFINITY;
  bool ended = false;
};

class FullShared : protected FullMemory {
 protected:
  using FullMemory::FullMemory;

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

  /**
   * u : the correction of single stations' steps from Σ Gᴴ (N − G D), by columns, with limited length; returns its
   * size.
   */
  double commonPart(double (&byColumns)[GAIN_PLANES]) const {
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
    const double shorter = size > LONGEST_AMENDS ? LONGEST_AMENDS / size : 1;
    for (int64_t n = 0; n < GAIN_PLANES; n++) byColumns[PLANE_OF[n]] = shorter * u.x[n];
    return size;
  }

  /** next + G u of this thread's stations, u being the correction of their steps; returns its size. */
  double amend(int thread) {
    double u[GAIN_PLANES];
    const double size = commonPart(u);
    barrier.wait();  // all threads have read the movement of the step
    findings[static_cast<size_t>(thread)].movement =
        kernels.amend(stride, gains, u, next, firstStation(thread), firstStation(thread + 1));
    barrier.wait();
    return size;
  }

  /** What all stations share, at the gains of the current sums. */
  void fitAll(const FullBatch &batch, int64_t solve, int thread) {
    CommonSums &sums = sumStations(batch, solve, thread);
    barrier.wait();
    if (form != UNPOLARISED) {
      const PanelRange range = layout.range(panels.get(), thread, false);
      for (int64_t at = range.first; at < range.end; at++) {
        double rows[PANEL_ROWS][32];
        kernels.sumCommon[form](range, at, {hPlanes, stride}, &rows);
        for (int64_t row = 0; row < PANEL_ROWS && at * PANEL_ROWS + row < stations; row++)
          sums.addOwn(rows[row], unit * unit / (scaleModel * scaleModel),
                      hs[static_cast<size_t>(at * PANEL_ROWS + row)]);
      }
    } else {
      // For an unpolarised model the pairs' sum is that of the rows, each pair twice.
      for (int p = 0; p < 4; p++)
        for (int q = 0; q < 8; q++) sums.pairs[p][q] = sums.rows[p][q] / 2;
    }
    barrier.wait();
    if (thread == 0) fit = fitCommon(allSums());
    barrier.wait();
  }

  /** The misfit of the model at those gains; the rest of the fit is kept. */
  void findVariance(const FullBatch &batch, int64_t solve, int thread) {
    sumStations(batch, solve, thread);
    barrier.wait();
    if (thread == 0) fit.variance = allSums().variance();
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
    // gains and their H, relative to zero
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

 private:
  CommonSums &sumStations(const FullBatch &batch, int64_t solve, int thread) {
    const int64_t first = solve * rowStart(stations);
    FullFindings &mine = findings[static_cast<size_t>(thread)];
    CommonSums &sums = mine.common = {};
    sums.squares = mine.pairs.power;
    sums.numbers = 8.0 * static_cast<double>(mine.pairs.pairs);
    for (int64_t s = firstStation(thread); s < endOfStations(thread); s++) {
      const Row row = rowOf(s);
      hs[static_cast<size_t>(s)] = row.h;
      const double numbers[4] = {row.h.x[0], row.h.x[6], row.h.x[2], row.h.x[3]};
      for (int64_t n = 0; n < 4; n++) hPlanes[n * stride + s] = static_cast<float>(numbers[n] / (unit * unit));
      sums.addRow(row.gain, row.h, row.n, row.d);
      const int64_t at = first + rowStart(s) + s;
      if (withSelf && batch.weights[at] != 0)
        sums.addSelf(batch.weights[at], batch.data + 8 * at, reinterpret_cast<const Matrix2 &>(batch.model[8 * at]),
                     row.h);
    }
    return sums;
  }
  CommonSums allSums() const {
    CommonSums all;
    for (const FullFindings &one : findings) all.add(one.common);
    return all;
  }
};

}  // namespace corella

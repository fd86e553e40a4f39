// Least squares of all stations together (newton_kernels.h), by a team of threads: gains a few per cent off converge in
// three or four steps, each a pass over all pairs like StEFCal's and some faster ones.
#pragma once
#include "calibrate/cpu/anchors.h"
#include "calibrate/full/cpu/full_shared.h"
#include "calibrate/full/cpu/newton_kernels.h"

namespace corella {

/** Below this change steps can be made together. */
constexpr double TOGETHER_BELOW = 0.1;
/** What all stations share is fitted then, and again at the end unless the change was below this. */
constexpr double LATE_TOGETHER = 0.1;
/** The allowed remainder of the equations: as much as the last step left, within these limits. */
constexpr double LEAST_LEFT = 0.01, MOST_LEFT = 0.1, LEFT_OF_RATE = 0.3;
/** Steps that leave more than this of the one before are mixed; above the second limit, twice, they have failed. */
constexpr double MIX_ABOVE = 0.1, NO_GOOD_ABOVE = 0.5;

class FullNewton : protected FullShared {
 protected:
  FullNewton(const FullKernels &chosen, int64_t stationCount, int teamSize)
      : FullShared(chosen, stationCount, teamSize),
        newtonDoubles(alignedMemory(static_cast<size_t>(7 * GAIN_PLANES * stride) * sizeof(double))),
        newtonFloats(alignedMemory(static_cast<size_t>((1 + teamSize) * GAIN_PLANES * stride) * sizeof(float))) {
    auto *doubles = static_cast<double *>(newtonDoubles.get());
    auto *floats = static_cast<float *>(newtonFloats.get());
    const int64_t each = GAIN_PLANES * stride;
    std::fill_n(doubles, 7 * each, 0.0);
    std::fill_n(floats, (1 + teamSize) * each, 0.0f);
    const auto plane = [&](int64_t n) { return doubles + n * each; };
    turnedOwn = plane(6);
    turnedSums = floats + each;
    powers = plane(0);
    inverses = powers + each / 2;
    vectors = {stride,   gains,    powers, inverses,   plane(1), plane(2), plane(3),
               plane(4), plane(5), floats, turnedSums, threads,  nullptr};
  }

  /** From gains that are close; returns without the end where such steps do not converge. */
  void runTogether(const FullBatch &batch, int64_t solve, int thread, Progress &at) {
    const double near = nearestAnchor(batch.tolerance);
    FullFindings &mine = findings[static_cast<size_t>(thread)];
    Mixing mixing;
    bool amending = false, late = false, anchored = false, backwards = false;
    double before = INFINITY, rate = 0;
    int noGood = 0;
    while (at.iteration < batch.most) {
      at.iteration++;
      float *sums = partial + thread * ALL_PLANES * stride;
      std::fill_n(sums, ALL_PLANES * stride, 0.0f);
      // at an anchor its own sums are enough
      if (!anchored)
        kernels.sweep[form](layout.range(panels.get(), thread, backwards), {distance, stride}, {sums, stride});
      backwards = !backwards;
      barrier.wait();
      if (withSelf) addSelves(batch, solve, thread);
      const FullStep made = kernels.step({stride, gains, anchorSums, partial, threads, withSelf ? own : nullptr, ratio,
                                          next, vectors.rest, powers, inverses},
                                         firstStation(thread), firstStation(thread + 1));
      mine.movement = made.movement;
      std::copy_n(made.right, 8, mine.right.x);
      barrier.wait();
      const double single = changeNow();
      if (form != UNPOLARISED && !amending) {
        fitAll(batch, solve, thread);
        amending = true;
        late = single < LATE_TOGETHER;
      }
      const double left = std::max(std::min(MOST_LEFT, std::max(3 * single, LEFT_OF_RATE * rate)),
                                   std::max(LEAST_LEFT, 0.1 * batch.tolerance / single));
      at.iteration += stepTogether(batch, solve, thread, amending, left, batch.most - at.iteration);
      at.change = changeNow();
      if (at.change < batch.tolerance || at.iteration >= batch.most) {
        at.ended = true;
        if (late)
          findVariance(batch, solve, thread);
        else
          fitAll(batch, solve, thread);
        copyNext(thread);
        return;
      }
      rate = before < INFINITY ? at.change / before : 0;
      before = at.change;
      if (rate > NO_GOOD_ABOVE && ++noGood > 1) return;
      if (rate > MIX_ABOVE && mixing.wanted(at.change))
        mix(thread, mixing);
      else
        copyNext(thread);
      mine.distance = keepDistance(thread);
      barrier.wait();
      // an anchor that suffices to the end
      const double away = awayNow();
      anchored = away > near && at.change * std::max({rate, at.change, LEAST_LEFT}) < near;
      if (anchored) setAnchor(thread);
    }
    at.ended = true;
  }

 private:
  /**
   * From the sums of a step, its rest and powers: `next` of all stations, until only the allowed rest is left; returns
   * passes over pairs.
   */
  int64_t stepTogether(const FullBatch &batch, int64_t solve, int thread, bool amending, double enough, int64_t most) {
    const int64_t first = firstStation(thread), end = firstStation(thread + 1);
    const NewtonKernels &newton = *kernels.newton;
    FullFindings &mine = findings[static_cast<size_t>(thread)];
    NewtonStations of = vectors;
    of.own = withSelf ? turnedOwn : nullptr;
    for (int64_t plane = 0; plane < GAIN_PLANES; plane++)
      std::fill(of.step + plane * stride + first, of.step + plane * stride + end, 0.0);
    double u[GAIN_PLANES] = {};
    if (amending) commonPart(u);
    mine.product = newton.ready(of, u, first, end);
    barrier.wait();
    double left = productNow(), part = 0;
    const double wanted = enough * enough * left;
    int64_t passes = 0;
    // The tolerance is compared with the step that all would make separately from here.
    mine.movement = newton.arrive(of, next, first, end);
    barrier.wait();
    if (changeNow() < batch.tolerance) return 0;
    while (passes < most && left > wanted) {
      newton.turn(of, part, first, end);
      if (withSelf) turnSelves(batch, solve, thread, of);
      barrier.wait();
      float *sums = turnedSums + thread * GAIN_PLANES * stride;
      std::fill_n(sums, GAIN_PLANES * stride, 0.0f);
      newton.sweep[form](layout.range(panels.get(), thread, false), {of.turned, stride}, {sums, stride});
      passes++;
      barrier.wait();
      mine.product = newton.make(of, first, end);
      barrier.wait();
      const double stiffness = productNow();
      if (!(stiffness > 0)) break;
      newton.advance(of, left / stiffness, mine.right.x, first, end);
      barrier.wait();
      if (amending) commonPart(u);
      mine.product = newton.ready(of, u, first, end);
      barrier.wait();
      const double now = productNow();
      if (!(now > 0)) break;
      part = now / left;
      left = now;
    }
    barrier.wait();  // all threads have read the products
    mine.movement = newton.arrive(of, next, first, end);
    barrier.wait();
    return passes;
  }

  double productNow() const {
    double sum = 0;
    for (const FullFindings &one : findings) sum += one.product;
    return sum;
  }

  /** A station with itself: w M X Mᴴ of its Hermitian parts A and B. */
  void turnSelves(const FullBatch &batch, int64_t solve, int thread, const NewtonStations &of) {
    const int64_t begin = solve * rowStart(stations);
    for (int64_t s = firstStation(thread); s < endOfStations(thread); s++) {
      const int64_t at = begin + rowStart(s) + s;
      const double factor = batch.weights[at] * scaleModel * scaleModel;
      for (int64_t half = 0; half < GAIN_PLANES; half += 4) {
        double out[4] = {};
        if (factor != 0) {
          const auto number = [&](int64_t n) { return static_cast<double>(of.turned[(half + n) * stride + s]); };
          const double re = number(2) * M_SQRT1_2, im = number(3) * M_SQRT1_2;
          const Matrix2 x = {{number(0), 0, re, im, re, -im, number(1), 0}};
          const Matrix2 &model = reinterpret_cast<const Matrix2 &>(batch.model[8 * at]);
          const Matrix2 c = times<Take::plain, Take::adjoint>(times(model, x), model);
          out[0] = factor * c.x[0], out[1] = factor * c.x[6];
          out[2] = factor * M_SQRT2 * c.x[2], out[3] = factor * M_SQRT2 * c.x[3];
        }
        for (int64_t n = 0; n < 4; n++) turnedOwn[(half + n) * stride + s] = out[n];
      }
    }
  }

  Memory newtonDoubles, newtonFloats;
  double *powers, *inverses, *turnedOwn;
  float *turnedSums;
  NewtonStations vectors;
};

}  // namespace corella

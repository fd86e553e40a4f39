// A plan's tables for one level: taps filled up to whole vectors, factors of transforms, and for a quarter of the image
// the factor from plane to plane and the factor for a finished sum.
#pragma once
#include <cmath>
#include <complex>
#include <limits>
#include <vector>

#include "image/cpu/fft_tables.h"
#include "image/wide/cpu/paged_memory.h"
#include "image/wide/cpu/wide_kernels.h"

namespace corella {

/** A plan as passed from TypeScript (imager.ts); arrays are only read while it is opened. */
struct WideNumbers {
  int64_t pixels, side, support, degree, wSupport, wDegree, planes, planesHeld, terms;
  bool overN;
  double pixelCosine, leastW, firstW, spacing, middle, halfRange;
  const double *taps, *wTaps, *corrections, *series;
};

template <class Real>
class WideTables {
 public:
  WideTables(Pool &pool, const WideNumbers &plan, int64_t lanes)
      : quarterSide(plan.pixels / 2 + 1),
        corrections(plan.corrections, plan.corrections + quarterSide),
        squares(static_cast<size_t>(quarterSide)),
        steps(quarter(quarterSide)),
        ends(quarter(quarterSide)),
        turns(makeTurns<Real>(plan.side)) {
    for (int64_t k = 0; k < quarterSide; k++) {
      const double cosine = static_cast<double>(k) * plan.pixelCosine;
      squares[static_cast<size_t>(k)] = cosine * cosine;
    }
    uTaps = padTaps(plan.taps, plan.support, plan.degree, 2, lanes);
    vTaps = padTaps(plan.taps, plan.support, plan.degree, 1, lanes);
    wTaps = padTaps(plan.wTaps, plan.wSupport, plan.wDegree, 1, lanes);
    shape.side = plan.side;
    shape.pixels = plan.pixels;
    shape.support = static_cast<int>(plan.support);
    shape.wSupport = static_cast<int>(plan.wSupport);
    shape.degree = static_cast<int>(plan.degree);
    shape.wDegree = static_cast<int>(plan.wDegree);
    shape.planes = static_cast<int>(plan.planes);
    shape.pixelCosine = plan.pixelCosine;
    shape.leastW = plan.leastW;
    shape.spacing = plan.spacing;
    shape.middle = plan.middle;
    shape.uTaps = uTaps.data();
    shape.vTaps = vTaps.data();
    shape.wTaps = wTaps.data();
    shape.fft = planLaneFft(plan.side, turns.data());
    // longest columns first
    pool.run(quarterSide, [&](int64_t n, int) { fillColumn(plan, quarterSide - 1 - n); });
  }

  /** e^(2πi spacing·y), and e^(2πi firstW·y)/φ̂ (over n where requested); 0 below the horizon. */
  const std::complex<double> &step(int64_t x, int64_t y) const { return steps.get()[at(x, y)]; }
  const std::complex<double> &end(int64_t x, int64_t y) const { return ends.get()[at(x, y)]; }
  /** 1/φ̂ along both axes. */
  double correction(int64_t x, int64_t y) const {
    return corrections[static_cast<size_t>(std::abs(x))] * corrections[static_cast<size_t>(std::abs(y))];
  }

  WideShape<Real> shape;

 private:
  using Quarter = std::unique_ptr<std::complex<double>, void (*)(void *)>;
  /** Uninitialised: the thread that fills a column touches it first. */
  static Quarter quarter(int64_t side) {
    auto memory = pagedMemory(static_cast<size_t>(side * side) * sizeof(std::complex<double>));
    return Quarter(static_cast<std::complex<double> *>(memory.release()), std::free);
  }

  size_t at(int64_t x, int64_t y) const { return static_cast<size_t>(std::abs(x) * quarterSide + std::abs(y)); }

  static std::vector<Real> padTaps(const double *taps, int64_t support, int64_t degree, int64_t times, int64_t lanes) {
    const int64_t width = (times * support + lanes - 1) / lanes * lanes;
    std::vector<Real> padded(static_cast<size_t>((degree + 1) * width), 0);
    for (int64_t power = 0; power <= degree; power++) {
      for (int64_t k = 0; k < times * support; k++) {
        padded[static_cast<size_t>(power * width + k)] = static_cast<Real>(taps[power * support + k / times]);
      }
    }
    return padded;
  }

  /** One column up to the diagonal, and the row that is its mirror image. */
  void fillColumn(const WideNumbers &plan, int64_t x) {
    constexpr double TAU = 6.283185307179586476925;
    const auto put = [&](int64_t y, std::complex<double> step, std::complex<double> end) {
      steps.get()[at(x, y)] = steps.get()[at(y, x)] = step;
      ends.get()[at(x, y)] = ends.get()[at(y, x)] = end;
    };
    for (int64_t y = 0; y <= x; y++) {
      // from a table, so that no product is fused with the sum: the horizon equals the reference's
      const double r2 = squares[static_cast<size_t>(x)] + squares[static_cast<size_t>(y)];
      const double n = std::sqrt(1 - r2);
      if (!(r2 <= 1) || (plan.overN && n == 0)) {
        put(y, 0, 0);
        continue;
      }
      const double away = -r2 / (1 + n) - plan.middle;
      const double ratio = plan.halfRange > 0 ? away / plan.halfRange : 0, t = 2 * std::min(1.0, ratio * ratio) - 1;
      // Clenshaw's sum of the Chebyshev series
      double next = 0, after = 0;
      for (int64_t k = plan.terms - 1; k > 0; k--) {
        const double here = 2 * t * next - after + plan.series[k];
        after = next;
        next = here;
      }
      double factor = t * next - after + plan.series[0];
      if (plan.overN) factor /= n;
      const double offset = plan.firstW * away;
      put(y, std::polar(1.0, TAU * plan.spacing * away), std::polar(factor, TAU * (offset - std::rint(offset))));
    }
  }

  const int64_t quarterSide;
  std::vector<double> corrections, squares;
  /** [|x|][|y|] of the image's quarter. */
  Quarter steps, ends;
  std::vector<Real> turns, uTaps, vTaps, wTaps;
};

}  // namespace corella

// Full-polarisation StEFCal on threads: batches of independent solves, formula and layout as in full/plan.ts.
//
// V and M are kept in float32, scaled. Sums are float32 while the gains move by more than SWITCH_BELOW, and float64 from
// there on, a pass some two and a half times as long: rounding would stop them short of any finer tolerance.
#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "backend/cpu/context.h"
#include "calibrate/cpu/calibrator.h"
#include "calibrate/full/cpu/stefcal_full_kernels.h"

namespace corella {
namespace {

/** Rounding moves float32 sums by a few 1e-7 of themselves. */
constexpr double SWITCH_BELOW = 2e-6;
/** Below this part of d₀₀·d₁₁ the determinant of D is rounding (LEAST_DETERMINANT of full/plan.ts). */
constexpr double LEAST_DETERMINANT = 1e-12;
/** From here on a solve is long enough to be shared by all threads. */
constexpr int64_t SHARED_STATIONS = 128;
/** Stations in the widest vector; planes are padded to whole ones. */
constexpr int64_t STATIONS_TOGETHER = 16;

constexpr int64_t roundUp(int64_t value, int64_t multiple) { return (value + multiple - 1) / multiple * multiple; }
constexpr int64_t rowStart(int64_t i) { return i * (i + 1) / 2; }

/** The largest power of two ≤ value, so that dividing by it costs no digit; 1 for 0. */
double powerOfTwo(double value) { return value > 0 ? std::ldexp(1.0, std::ilogb(value)) : 1; }

/** What one thread finds over its own stations or rows. */
struct alignas(64) FullFindings {
  double change = 0, size = 0, largestData = 0, largestModel = 0;
};

/** out = a·b, bᴴ or aᴴ where told: 2 × 2 complex, rows first. */
enum class Take { plain, adjoint };
template <Take A, Take B>
void multiply(const double *a, const double *b, double *out) {
  for (int row = 0; row < 2; row++)
    for (int column = 0; column < 2; column++) {
      double re = 0, im = 0;
      for (int k = 0; k < 2; k++) {
        const int atA = A == Take::plain ? 4 * row + 2 * k : 4 * k + 2 * row;
        const int atB = B == Take::plain ? 4 * k + 2 * column : 4 * column + 2 * k;
        const double aRe = a[atA], aIm = A == Take::plain ? a[atA + 1] : -a[atA + 1];
        const double bRe = b[atB], bIm = B == Take::plain ? b[atB + 1] : -b[atB + 1];
        re += aRe * bRe - aIm * bIm;
        im += aRe * bIm + aIm * bRe;
      }
      out[4 * row + 2 * column] = re;
      out[4 * row + 2 * column + 1] = im;
    }
}

/** One solve and the team of threads at work on it. */
class FullSolve {
 public:
  FullSolve(const FullKernels &chosen, int64_t stationCount, int teamSize)
      : kernels(chosen),
        stations(stationCount),
        threads(teamSize),
        barrier(teamSize),
        stride(roundUp(stationCount, STATIONS_TOGETHER)),
        offsets(static_cast<size_t>(stationCount + 1)),
        shares(static_cast<size_t>(teamSize + 1)),
        findings(static_cast<size_t>(teamSize)),
        diagonal(static_cast<size_t>(16 * stationCount)),
        floatMemory(alignedMemory(static_cast<size_t>((GAIN_PLANES + teamSize * SUM_PLANES) * stride) * sizeof(float))),
        doubleMemory(
            alignedMemory(static_cast<size_t>((GAIN_PLANES + teamSize * SUM_PLANES) * stride) * sizeof(double))) {
    for (int64_t i = 0; i < stations; i++)
      offsets[static_cast<size_t>(i + 1)] = offsets[static_cast<size_t>(i)] + 16 * roundUp(i, kernels.lanes);
    rows = alignedMemory(static_cast<size_t>(offsets.back()) * sizeof(float));
    // Neighbouring rows to one thread, the same number of bytes to each: they stay in its cache.
    for (int thread = 0; thread <= threads; thread++) {
      const int64_t upTo = offsets.back() * thread / threads;
      shares[static_cast<size_t>(thread)] = std::lower_bound(offsets.begin(), offsets.end(), upTo) - offsets.begin();
    }
    shares.front() = 0;
    shares.back() = stations;
    auto *floats = static_cast<float *>(floatMemory.get());
    auto *doubles = static_cast<double *>(doubleMemory.get());
    std::fill_n(floats, (GAIN_PLANES + threads * SUM_PLANES) * stride, 0.0f);
    std::fill_n(doubles, (GAIN_PLANES + threads * SUM_PLANES) * stride, 0.0);
    coarse = floats;
    coarseSums = floats + GAIN_PLANES * stride;
    gains = doubles;
    exactSums = doubles + GAIN_PLANES * stride;
  }

  /** Called by every thread of the team with its own number. */
  void run(const SolveBatch &batch, int64_t solve, int thread) {
    load(batch, solve, thread);
    double change = INFINITY;
    int64_t iteration = 0;
    bool backwards = false, exact = false;
    while (iteration < batch.most) {
      iteration++;
      const FullRows own = {static_cast<const float *>(rows.get()), offsets.data(), shares[static_cast<size_t>(thread)],
                            shares[static_cast<size_t>(thread + 1)], backwards};
      if (exact) {
        double *sums = exactSums + thread * SUM_PLANES * stride;
        std::fill_n(sums, SUM_PLANES * stride, 0.0);
        kernels.sweepExactly(own, {gains, stride}, {sums, stride});
      } else {
        float *sums = coarseSums + thread * SUM_PLANES * stride;
        std::fill_n(sums, SUM_PLANES * stride, 0.0f);
        kernels.sweep(own, {coarse, stride}, {sums, stride});
      }
      backwards = !backwards;
      barrier.wait();
      const bool even = iteration % 2 == 0;
      move(thread, even, exact);
      barrier.wait();
      const FullFindings all = total();
      change = std::sqrt(all.change / all.size);
      if (even && change < batch.tolerance) break;
      exact = exact || change < SWITCH_BELOW;
    }
    double *found = batch.gains + GAIN_PLANES * solve * stations;
    for (int64_t s = firstStation(thread); s < firstStation(thread + 1); s++)
      for (int64_t n = 0; n < GAIN_PLANES; n++) found[GAIN_PLANES * s + n] = gains[n * stride + s] * unit;
    if (thread == 0) {
      batch.iterationsRun[solve] = static_cast<int32_t>(iteration);
      batch.lastChange[solve] = change;
    }
    barrier.wait();  // nobody loads the next solve while others still store this one
  }

 private:
  int64_t firstStation(int thread) const { return stations * thread / threads; }

  FullFindings total() const {
    FullFindings all;
    for (const FullFindings &one : findings) {
      all.change += one.change;
      all.size += one.size;
      all.largestData = std::max(all.largestData, one.largestData);
      all.largestModel = std::max(all.largestModel, one.largestModel);
    }
    return all;
  }

  /** V √w and M √w, scaled by powers of two to lie below 2; gains likewise. */
  void load(const SolveBatch &batch, int64_t solve, int thread) {
    const int64_t first = solve * rowStart(stations);
    const double *data = batch.data + 8 * first, *model = batch.model + 8 * first, *weights = batch.weights + first;
    FullFindings &mine = findings[static_cast<size_t>(thread)];
    mine = {};
    const int64_t begin = shares[static_cast<size_t>(thread)], end = shares[static_cast<size_t>(thread + 1)];
    for (int64_t at = rowStart(begin); at < rowStart(end); at++) {
      if (weights[at] == 0) continue;
      const double root = std::sqrt(weights[at]);
      for (int64_t n = 0; n < 8; n++) {
        mine.largestData = std::max(mine.largestData, root * std::abs(data[8 * at + n]));
        mine.largestModel = std::max(mine.largestModel, root * std::abs(model[8 * at + n]));
      }
    }
    const double *guess = batch.gains + GAIN_PLANES * solve * stations;
    double largestGain = 0;
    for (int64_t n = 0; n < GAIN_PLANES * stations; n++) largestGain = std::max(largestGain, std::abs(guess[n]));
    barrier.wait();
    const FullFindings all = total();
    const double scaleData = 1 / powerOfTwo(all.largestData), scaleModel = 1 / powerOfTwo(all.largestModel);
    const double gainUnit = powerOfTwo(largestGain);
    if (thread == 0) {
      unit = gainUnit;
      // G/unit = N′ D′⁻¹ · scaleModel / (scaleData unit²) of scaled sums N′ and D′
      ratio = scaleModel / scaleData / (unit * unit);
    }
    auto *to = static_cast<float *>(rows.get());
    std::fill(to + offsets[static_cast<size_t>(begin)], to + offsets[static_cast<size_t>(end)], 0.0f);
    for (int64_t i = begin; i < end; i++) {
      float *row = to + offsets[static_cast<size_t>(i)];
      for (int64_t j = 0; j <= i; j++) {
        const int64_t at = rowStart(i) + j;
        const bool used = weights[at] != 0;
        const double root = used ? std::sqrt(weights[at]) : 0;
        for (int64_t n = 0; n < 8; n++) {
          const double ofData = used ? data[8 * at + n] * root * scaleData : 0;
          const double ofModel = used ? model[8 * at + n] * root * scaleModel : 0;
          if (j == i) {
            diagonal[static_cast<size_t>(16 * i + n)] = ofData;
            diagonal[static_cast<size_t>(16 * i + 8 + n)] = ofModel;
          } else {
            float *element = row + j / kernels.lanes * 16 * kernels.lanes + j % kernels.lanes;
            element[n * kernels.lanes] = static_cast<float>(ofData);
            element[(8 + n) * kernels.lanes] = static_cast<float>(ofModel);
          }
        }
      }
    }
    for (int64_t s = firstStation(thread); s < firstStation(thread + 1); s++)
      for (int64_t n = 0; n < GAIN_PLANES; n++) {
        gains[n * stride + s] = guess[GAIN_PLANES * s + n] / gainUnit;
        coarse[n * stride + s] = static_cast<float>(gains[n * stride + s]);
      }
    barrier.wait();
  }

  /** One step of this thread's stations, from the gains that the sums are made of. */
  void move(int thread, bool average, bool exact) {
    FullFindings &mine = findings[static_cast<size_t>(thread)];
    mine = {};
    for (int64_t s = firstStation(thread); s < firstStation(thread + 1); s++) {
      double sums[SUM_PLANES] = {}, before[8], next[8];
      for (int64_t plane = 0; plane < SUM_PLANES; plane++)
        for (int part = 0; part < threads; part++) {
          const int64_t at = (part * SUM_PLANES + plane) * stride + s;
          sums[plane] += exact ? exactSums[at] : static_cast<double>(coarseSums[at]);
        }
      for (int64_t n = 0; n < 8; n++) before[n] = gains[n * stride + s];
      addDiagonal(s, before, sums);
      const double d00 = sums[8], d11 = sums[9], re = sums[10], im = sums[11];
      const double determinant = d00 * d11 - re * re - im * im;
      if (determinant > LEAST_DETERMINANT * d00 * d11) {
        const double inverse[8] = {d11, 0, -re, -im, -re, im, d00, 0};
        multiply<Take::plain, Take::plain>(sums, inverse, next);
        for (double &value : next) value *= ratio / determinant;
      } else {
        std::copy_n(before, 8, next);
      }
      for (int64_t n = 0; n < 8; n++) {
        if (average) next[n] = (next[n] + before[n]) / 2;
        mine.change += (next[n] - before[n]) * (next[n] - before[n]);
        mine.size += next[n] * next[n];
        gains[n * stride + s] = next[n];
        coarse[n * stride + s] = static_cast<float>(next[n]);
      }
    }
  }

  /** A station with itself: Z = G Mᴴ. */
  void addDiagonal(int64_t s, const double *own, double *sums) const {
    const double *data = diagonal.data() + 16 * s, *model = data + 8;
    double z[8], up[8], down[8];
    multiply<Take::plain, Take::adjoint>(own, model, z);
    multiply<Take::plain, Take::plain>(data, z, up);
    multiply<Take::adjoint, Take::plain>(z, z, down);
    for (int n = 0; n < 8; n++) sums[n] += up[n];
    sums[8] += down[0];
    sums[9] += down[6];
    sums[10] += down[2];
    sums[11] += down[3];
  }

  const FullKernels &kernels;
  const int64_t stations;
  const int threads;
  Barrier barrier;
  /** Stations, padded, in every plane below. */
  const int64_t stride;
  std::vector<int64_t> offsets, shares;
  std::vector<FullFindings> findings;
  /** diagonal : [s][V then M], scaled. */
  std::vector<double> diagonal;
  using Memory = std::unique_ptr<void, void (*)(void *)>;
  Memory floatMemory, doubleMemory, rows{nullptr, std::free};
  /** Planes : [plane][s]; sums hold a set for each thread. */
  float *coarse, *coarseSums;
  double *gains, *exactSums;
  /** Gains are kept in this unit; what turns N′ D′⁻¹ into a gain. */
  double unit = 1, ratio = 1;
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
                                                     int32_t *iterationsRun, double *lastChange) {
  return withContext(error, context, [&](Context &open) {
    auto &engine = *static_cast<FullCalibrator *>(calibrator);
    engine.run(open,
               {solves, engine.stations, data, model, weights, gains, most, tolerance, iterationsRun, lastChange});
  });
}

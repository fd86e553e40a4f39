// The memory of a full-polarisation solve: its pairs in panels, its stations in planes; and how they are loaded and
// stored.
#pragma once
#include <memory>
#include <new>
#include <vector>

#include "backend/cpu/context.h"
#include "calibrate/cpu/calibrator.h"
#include "calibrate/cpu/panels.h"
#include "calibrate/full/cpu/common_modes.h"
#include "calibrate/full/cpu/mixing.h"
#include "calibrate/full/cpu/load_kernels.h"

namespace corella {

/** The place of TypeScript's order of a gain, rows first, among the planes, columns first. */
constexpr int64_t PLANE_OF[GAIN_PLANES] = {0, 1, 4, 5, 2, 3, 6, 7};

struct FullBatch : SolveBatch {
  /** Out : [k][8][8] and [k]. */
  double *commonNormal, *commonVariance;
};

/** Results of one thread over its own stations or rows. */
struct alignas(64) FullFindings {
  FullMovement movement = {0, 0};
  double distance = 0;
  MixProducts products;
  // while loading
  PairSizes pairs, selves;
  CommonSums common;
  Matrix2 right;
  double product = 0;
};

/** The memory of one solve, for a team of threads. */
class FullMemory {
 protected:
  FullMemory(const FullKernels &chosen, int64_t stationCount, int teamSize)
      : kernels(chosen),
        stations(stationCount),
        threads(teamSize),
        barrier(teamSize),
        layout(stationCount, chosen.lanes, teamSize),
        stride(roundUp(stationCount, STATIONS_TOGETHER)),
        findings(static_cast<size_t>(teamSize)),
        hs(static_cast<size_t>(stationCount)),
        floatMemory(alignedMemory(static_cast<size_t>(((1 + teamSize) * ALL_PLANES + 4) * stride) * sizeof(float))),
        doubleMemory(
            alignedMemory(static_cast<size_t>((3 + teamSize) * ALL_PLANES + (4 + 2 * MIXED_STEPS) * GAIN_PLANES) *
                          static_cast<size_t>(stride) * sizeof(double))) {
    auto *floats = static_cast<float *>(floatMemory.get());
    auto *doubles = static_cast<double *>(doubleMemory.get());
    std::fill_n(floats, ((1 + threads) * ALL_PLANES + 4) * stride, 0.0f);
    std::fill_n(doubles, ((3 + threads) * ALL_PLANES + (4 + 2 * MIXED_STEPS) * GAIN_PLANES) * stride, 0.0);
    distance = floats;
    partial = floats + ALL_PLANES * stride;
    hPlanes = partial + threads * ALL_PLANES * stride;
    const auto take = [&doubles, this](int64_t planes) {
      double *taken = doubles;
      doubles += planes * stride;
      return taken;
    };
    anchor = take(ALL_PLANES);
    anchorSums = take(ALL_PLANES);
    own = take(ALL_PLANES);
    exactPartial = take(threads * ALL_PLANES);
    gains = take(GAIN_PLANES);
    next = take(GAIN_PLANES);
    lastNext = take(GAIN_PLANES);
    lastRest = take(GAIN_PLANES);
    moved = take(MIXED_STEPS * GAIN_PLANES);
    rests = take(MIXED_STEPS * GAIN_PLANES);
  }

  /** Whole vectors to each thread, including those past the last station: their gains are and stay 0. */
  int64_t firstStation(int thread) const { return stride / STATIONS_TOGETHER * thread / threads * STATIONS_TOGETHER; }
  int64_t endOfStations(int thread) const { return std::min(stations, firstStation(thread + 1)); }

  /** Of G's planes, over this thread's stations. */
  template <class Use>
  void eachNumber(int thread, Use use) const {
    for (int64_t plane = 0; plane < GAIN_PLANES; plane++)
      for (int64_t at = plane * stride + firstStation(thread); at < plane * stride + firstStation(thread + 1); at++)
        use(at);
  }

  void copyNext(int thread) {
    eachNumber(thread, [&](int64_t at) { gains[at] = next[at]; });
  }

  /** Moves to the next gains, or half the way. */
  FullMovement move(int thread, bool average) {
    FullMovement movement = {0, 0};
    eachNumber(thread, [&](int64_t at) {
      const double now = average ? (next[at] + gains[at]) / 2 : next[at];
      movement.change += (now - gains[at]) * (now - gains[at]);
      movement.size += now * now;
      gains[at] = now;
    });
    return movement;
  }

  double changeNow() const {
    double moves = 0, size = 0;
    for (const FullFindings &one : findings) {
      moves += one.movement.change;
      size += one.movement.size;
    }
    return std::sqrt(moves / size);
  }
  double awayNow() const {
    double away = 0, size = 0;
    for (const FullFindings &one : findings) {
      away += one.distance;
      size += one.movement.size;
    }
    return std::sqrt(away / size);
  }

  Matrix2 planesAt(const double *planes, int64_t s) const {
    Matrix2 out;
    for (int64_t n = 0; n < GAIN_PLANES; n++) out.x[n] = planes[PLANE_OF[n] * stride + s];
    return out;
  }

  /** Sizes of data, model and gains, and the form common to all pairs; then their numbers, scaled by powers of two. */
  void load(const FullBatch &batch, int64_t solve, int thread) {
    const int64_t first = solve * rowStart(stations);
    const double *data = batch.data + 8 * first, *model = batch.model + 8 * first, *weights = batch.weights + first;
    FullFindings &mine = findings[static_cast<size_t>(thread)];
    mine = {};
    const int64_t begin = layout.firstRow(thread), end = layout.firstRow(thread + 1);
    for (int64_t i = begin; i < end; i++) {
      const int64_t row = rowStart(i), self = row + i;
      kernels.load->measure(data + 8 * row, model + 8 * row, weights + row, i, mine.pairs);
      kernels.load->measure(data + 8 * self, model + 8 * self, weights + self, 1, mine.selves);
    }
    const double *guess = batch.gains + GAIN_PLANES * solve * stations;
    double largestGain = 0;
    for (int64_t n = 0; n < GAIN_PLANES * stations; n++) largestGain = std::max(largestGain, std::abs(guess[n]));
    barrier.wait();
    if (thread == 0) {
      PairSizes all;
      withSelf = false;
      for (const FullFindings &one : findings) {
        withSelf = withSelf || one.selves.pairs > 0;
        for (const PairSizes &some : {one.pairs, one.selves}) {
          all.largestData = std::max(all.largestData, some.largestData);
          all.largestModel = std::max(all.largestModel, some.largestModel);
          all.form = std::max(all.form, some.form);
        }
      }
      form = all.form;
      scaleData = 1 / powerOfTwo(std::sqrt(all.largestData));
      scaleModel = 1 / powerOfTwo(std::sqrt(all.largestModel));
      unit = powerOfTwo(largestGain);
      // G/unit = N′ D′⁻¹ · scaleModel / (scaleData unit²) of scaled sums N′ and D′
      ratio = scaleModel / scaleData / (unit * unit);
      layout.setFloats(PAIR_FLOATS[form]);
      holdPanels();
    }
    barrier.wait();
    if (length < layout.length()) throw std::bad_alloc();
    auto *to = static_cast<float *>(panels.get());
    std::fill(to + layout.begin(thread), to + layout.begin(thread + 1), 0.0f);
    for (int64_t i = begin; i < end; i++) {
      const int64_t row = rowStart(i);
      kernels.load->load[form]({i, data + 8 * row, model + 8 * row, weights + row, scaleData, scaleModel,
                                to + layout.at(i), layout.columns(i) / kernels.lanes});
    }
    for (int64_t plane = 0; plane < ALL_PLANES; plane++) {
      std::fill(anchor + plane * stride + firstStation(thread), anchor + plane * stride + firstStation(thread + 1),
                0.0);
      std::fill(anchorSums + plane * stride + firstStation(thread),
                anchorSums + plane * stride + firstStation(thread + 1), 0.0);
    }
    for (int64_t s = firstStation(thread); s < endOfStations(thread); s++)
      for (int64_t n = 0; n < GAIN_PLANES; n++) gains[PLANE_OF[n] * stride + s] = guess[GAIN_PLANES * s + n] / unit;
    keepDistance(thread);
    barrier.wait();
  }

  /** Called by thread 0; the others have to learn of failed allocations, or they would wait for it. */
  void holdPanels() {
    if (layout.length() <= length) return;
    length = 0;
    try {
      panels = alignedMemory(static_cast<size_t>(layout.length()) * sizeof(float));
      length = layout.length();
    } catch (const std::bad_alloc &) {
      panels.reset();
    }
  }

  void store(const FullBatch &batch, int64_t solve, int thread) const {
    double *found = batch.gains + GAIN_PLANES * solve * stations;
    for (int64_t s = firstStation(thread); s < endOfStations(thread); s++)
      for (int64_t n = 0; n < GAIN_PLANES; n++) found[GAIN_PLANES * s + n] = gains[PLANE_OF[n] * stride + s] * unit;
  }

  double keepDistance(int thread) {
    return kernels.keepDistance(stride, gains, anchor, distance, firstStation(thread), firstStation(thread + 1));
  }

  const FullKernels &kernels;
  const int64_t stations;
  const int threads;
  Barrier barrier;
  Panels layout;
  /** Stations, padded, in every plane below. */
  const int64_t stride;
  std::vector<FullFindings> findings;
  /** hs : [s], H in the gains' own units, while what stations share is fitted. */
  std::vector<Matrix2> hs;
  using Memory = std::unique_ptr<void, void (*)(void *)>;
  Memory floatMemory, doubleMemory, panels{nullptr, std::free};
  int64_t length = 0;
  /** Planes : [plane][s]; `partial` and `exactPartial` hold a set for each thread, `moved` and `rests` one a slot. */
  float *distance, *partial;
  double *anchor, *anchorSums, *own, *exactPartial;
  double *gains, *next, *lastNext, *lastRest, *moved, *rests;
  /** H as 00, 11, 01 re, 01 im, in `unit` squared, with `hs`. */
  float *hPlanes;
  int form = UNPOLARISED;
  bool withSelf = false;
  double scaleData = 1, scaleModel = 1;
  /** The unit of the gains; the factor from N′ D′⁻¹ to a gain. */
  double unit = 1, ratio = 1;
};

}  // namespace corella

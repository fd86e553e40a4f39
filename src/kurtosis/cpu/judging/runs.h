// Means over runs of 1, 2, 4 … windows of every channel, each run half of one further on (judging/runs.ts).
#pragma once
#include "kurtosis/cpu/judging/cells.h"

namespace corella {
namespace judging {

struct RunLimits {
  double bias;
  /** Means nearer to the bias than this stay. */
  double leastOffset;
};

class Runs {
 public:
  Runs(const Plan &of, const Cells &from) : channels(of.channels), cells(from) {}

  /**
   * isNoise(mean, count) says whether a mean of so many inputs' windows, less the bias, is that of noise;
   * take(channel, first, end, mean) takes the windows [first, end) of a channel, and leaves them out of the cells.
   */
  template <class IsNoise, class Take>
  void find(int64_t windows, const RunLimits &limits, IsNoise &&isNoise, Take &&take) {
    const auto look = [&](int64_t place, int64_t part, int64_t run) {
      const int64_t c = place % channels, first = place / channels * part, end = std::min(windows, first + run);
      sum(c, first, end);
      if (count == 0) return;
      const double mean = total / static_cast<double>(count) - limits.bias;
      if (std::abs(mean) > limits.leastOffset && !isNoise(mean, count)) take(c, first, end, mean);
    };
    listen(windows, limits);
    for (const int64_t cell : loud) look(cell, 1, 1);
    // Parts of half a run; those of the next runs are two of these.
    for (int64_t part = 1; 2 * part <= windows && !loud.empty(); part *= 2) {
      if (part > 1) join(windows, part, limits);
      for (const int64_t place : loud) {
        if (place >= channels) look(place - channels, part, 2 * part);
        look(place, part, 2 * part);
      }
    }
  }

 private:
  static constexpr double MARGIN = 1e-9;
  static constexpr int64_t AT_ONCE = 32;
  const int64_t channels;
  const Cells &cells;
  /** Parts that are not near noise, [part][c]: what is not here need not be looked at. */
  std::vector<int64_t> loud, joined;
  std::vector<uint8_t> isJoined;
  double total = 0;
  int64_t count = 0;

  static bool isQuiet(double total, double count, const RunLimits &limits) {
    return std::abs(total - limits.bias * count) <= limits.leastOffset * (1 - MARGIN) * count;
  }

  /** Windows' channels that are not near noise. */
  void listen(int64_t windows, const RunLimits &limits) {
    const int64_t all = windows * channels;
    const double *totals = cells.totals.data();
    const int32_t *counts = cells.counts.data();
    loud.clear();
    // Nearly all are: many are asked at once.
    for (int64_t first = 0; first < all; first += AT_ONCE) {
      const int64_t end = std::min(all, first + AT_ONCE);
      int64_t quiet = 0;
      for (int64_t cell = first; cell < end; cell++) quiet += isQuiet(totals[cell], counts[cell], limits);
      for (int64_t cell = first; quiet < end - first && cell < end; cell++)
        if (!isQuiet(totals[cell], counts[cell], limits)) loud.push_back(cell);
    }
  }

  /** From parts of half that length to parts of this. */
  void join(int64_t windows, int64_t length, const RunLimits &limits) {
    joined.clear();
    isJoined.assign(static_cast<size_t>(((windows + length - 1) / length + 1) * channels), 0);
    for (const int64_t half : loud) {
      const int64_t place = half / channels / 2 * channels + half % channels;
      if (isJoined[static_cast<size_t>(place)] == 0) joined.push_back(place);
      isJoined[static_cast<size_t>(place)] = 1;
    }
    loud.clear();
    for (const int64_t place : joined) {
      const int64_t first = place / channels * length;
      sum(place % channels, first, std::min(windows, first + length));
      if (!isQuiet(total, static_cast<double>(count), limits)) loud.push_back(place);
    }
  }

  void sum(int64_t channel, int64_t first, int64_t end) {
    total = 0;
    count = 0;
    for (int64_t cell = first * channels + channel; cell < end * channels; cell += channels) {
      total += cells.totals[static_cast<size_t>(cell)];
      count += cells.counts[static_cast<size_t>(cell)];
    }
  }
};

}  // namespace judging
}  // namespace corella

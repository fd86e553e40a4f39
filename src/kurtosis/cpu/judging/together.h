// What is too weak to show in one window of one input, and is heard by many inputs, stays for long, or is in all channels
// (together.ts).
#pragma once
#include "kurtosis/cpu/judging/middle.h"
#include "kurtosis/cpu/judging/runs.h"

namespace corella {
namespace judging {

class Together {
 public:
  /** Limits that were not known: nothing holds that was said of the block, and `near` is to be put back. */
  std::vector<Wanted> wanted;
  struct Nears {
    Near mean, spread;
  } near;

  Together(const Plan &of, LimitTables &known, Offences &to, Cells &in)
      : plan(of), tables(known), offences(to), cells(in), runs(of, in) {
    roots.resize(static_cast<size_t>(plan.inputsAsked + 1));
  }

  bool canJudge(int64_t windows) const {
    return plan.channels - plan.realChannels >= LEAST_CHANNELS && windows * plan.channels >= LEAST_CELLS;
  }

  /**
   * Windows that are louder in all channels together; channels that are not noise go into the offences. The variance is that of
   * a kurtosis of the shortest window.
   */
  const std::vector<int32_t> &judge(const Block &block, double variance) {
    bursts.clear();
    wanted.clear();
    int32_t shortest = block.edges[1] - block.edges[0];
    for (int64_t w = 1; w < block.windows; w++) shortest = std::min(shortest, block.edges[w + 1] - block.edges[w]);
    if (shortest != length) setLength(shortest, variance);
    limits = &tables.meansOf(length);
    if (!findUsual(block.windows * plan.channels)) return bursts;
    findBursts(block.windows);
    const auto isNoise = [&](double mean, int64_t count) {
      const Limits known = limitsOf(static_cast<double>(count) / inflation);
      return mean <= known.high && mean >= known.low;
    };
    runs.find(block.windows, {bias, LEAST_OFFSET}, isNoise, [&](int64_t c, int64_t first, int64_t end, double mean) {
      for (int64_t w = first; w < end; w++) takeCell(w * plan.channels + c, mean > 0 ? ABOVE : BELOW);
    });
    takeCrowds();
    takeAround(block.windows);
    return bursts;
  }

 private:
  static constexpr double LEAST_OFFSET = 0.04, LEAST_OFFSET_OF_FEW = 0.1, CHANNELS_ALIKE = 1.5;
  static constexpr int64_t LEAST_CHANNELS = 8, LEAST_CELLS = 32, LEAST_WINDOWS = 8;

  const Plan &plan;
  LimitTables &tables;
  Offences &offences;
  Cells &cells;
  Runs runs;
  Middle middle;
  /** Of the shortest window, and what follows from it. */
  int32_t length = 0;
  double variance = 0;
  std::vector<double> roots;  // [count], √count/σ
  std::vector<Limits> *limits = nullptr;
  /** What noise is like here: its mean less 1, and the variance of means over inputs, over that of independent ones. */
  double bias = 0, inflation = 1;
  std::vector<double> means;
  std::vector<int32_t> bursts;
  std::vector<int64_t> heard;
  std::vector<int64_t> here;

  void setLength(int32_t spectra, double ofOne) {
    length = spectra;
    variance = ofOne;
    const double sigma = std::sqrt(variance);
    for (size_t count = 0; count < roots.size(); count++) roots[count] = std::sqrt(static_cast<double>(count)) / sigma;
  }

  /** By medians, which a few channels or windows of interference leave as they are. */
  bool findUsual(int64_t rows) {
    const int32_t *counts = cells.counts.data();
    if (static_cast<int64_t>(means.size()) < rows) means.resize(static_cast<size_t>(rows));
    int64_t many = 0;
    for (int64_t row = 0; row < rows; row++) {
      means[static_cast<size_t>(many)] = cells.means[static_cast<size_t>(row)];
      many += counts[row] > 0;
    }
    if (many < LEAST_CELLS) return false;
    bias = middle.of(means.data(), many, near.mean);
    // Skies that all inputs hear make their kurtoses alike, and means over inputs less certain than their number says.
    double *next = means.data();
    for (int64_t row = 0; row < rows; row++) {
      if (counts[row] == 0) continue;
      *next = std::abs(*next - bias) * roots[static_cast<size_t>(counts[row])];
      next++;
    }
    const double spread = 1.4826 * middle.of(means.data(), many, near.spread);
    inflation = std::max(1.0, spread * spread);
    return true;
  }

  void findBursts(int64_t windows) {
    const bool isKnown = windows >= LEAST_WINDOWS;
    for (int64_t w = 0; w < windows; w++) {
      double total = 0;
      int64_t count = 0;
      for (int64_t cell = w * plan.channels; cell < (w + 1) * plan.channels; cell++) {
        total += cells.totals[static_cast<size_t>(cell)];
        count += cells.counts[static_cast<size_t>(cell)];
      }
      if (count == 0) continue;
      const double mean = total / static_cast<double>(count) - (isKnown ? bias : 0);
      const Limits known = limitsOf(static_cast<double>(count) / (inflation * CHANNELS_ALIKE));
      if (!(mean > std::max(known.high, isKnown ? LEAST_OFFSET : LEAST_OFFSET_OF_FEW))) continue;
      bursts.push_back(static_cast<int32_t>(w));
      // What is said of all channels is not said of each again.
      cells.leaveOut(w * plan.channels, (w + 1) * plan.channels);
    }
  }

  /** Math.round of a number that is not negative. */
  static int64_t rounded(double value) {
    const double whole = std::floor(value);
    return static_cast<int64_t>(whole) + (value - whole >= 0.5 ? 1 : 0);
  }

  /** Where more inputs offend, each for itself, than noise would have it by one sigma more, the others go with them. */
  void takeCrowds() {
    offences.forRows([&](int64_t row) {
      const int32_t counted = cells.counts[static_cast<size_t>(row)];
      // One alone is no crowd.
      if (offences.countIn(row) < 2 || counted == 0) return;
      int32_t above = 0, below = 0;
      for (int64_t group = 0; group < plan.groups; group++) {
        const Offenders &bits = offences.at(row, group);
        above += countOf(bits.alone() & ~static_cast<uint32_t>(bits.below));
        below += countOf(bits.alone() & bits.below);
      }
      // Inputs that hear the same noise are no crowd.
      const int64_t crowd = plan.crowds[static_cast<size_t>(rounded((counted + above + below) / inflation))];
      if (rounded(above / inflation) >= crowd) takeCell(row, ABOVE);
      if (rounded(below / inflation) >= crowd) takeCell(row, BELOW);
    });
  }

  /** Beside what most inputs hear, in time and frequency, a mean of one sigma less is enough, and so on from there. */
  void takeAround(int64_t windows) {
    const int64_t channels = plan.channels;
    const double sigmas = (plan.sigmas - 1) * std::sqrt(variance * inflation);
    heard.clear();
    here.assign(static_cast<size_t>(windows), 0);
    offences.forRows([&](int64_t row) {
      if (!isHeard(row)) return;
      heard.push_back(row);
      here[static_cast<size_t>(row / channels)]++;
    });
    // What is in most channels is a burst, over as suddenly as it came.
    heard.erase(std::remove_if(heard.begin(), heard.end(),
                               [&](int64_t row) { return 2 * here[static_cast<size_t>(row / channels)] > channels; }),
                heard.end());
    // It grows while it is walked through.
    for (size_t n = 0; n < heard.size(); n++) {
      const int64_t w = heard[n] / channels, c = heard[n] % channels;
      const uint32_t side = sideOf(heard[n]);
      for (int64_t ww = std::max<int64_t>(0, w - 1); ww <= std::min(windows - 1, w + 1); ww++)
        for (int64_t cc = std::max(plan.realChannels, c - 1); cc <= std::min(channels - 1, c + 1); cc++) {
          const int64_t at = ww * channels + cc;
          const int32_t counted = cells.counts[static_cast<size_t>(at)];
          if (counted == 0 || isHeard(at)) continue;
          const double mean = (cells.totals[static_cast<size_t>(at)] / counted - bias) * (side == ABOVE ? 1 : -1);
          if (mean <= std::max(LEAST_OFFSET, sigmas / std::sqrt(static_cast<double>(counted)))) continue;
          takeCell(at, side);
          heard.push_back(at);
        }
    }
  }

  /** Whether most inputs of a cell offend. */
  bool isHeard(int64_t row) const {
    const int64_t offending = offences.countIn(row);
    return offending >= 2 && 2 * offending > plan.inputsAsked;
  }

  /** On which side most of them do. */
  uint32_t sideOf(int64_t row) {
    int32_t above = 0;
    for (int64_t group = 0; group < plan.groups; group++) {
      const Offenders &bits = offences.at(row, group);
      above += countOf(bits.all & ~static_cast<uint32_t>(bits.below));
    }
    return 2 * above > offences.countIn(row) ? ABOVE : BELOW;
  }

  void takeCell(int64_t row, uint32_t side) {
    if (cells.counts[static_cast<size_t>(row)] == 0) return;
    cells.leaveOut(row, row + 1);
    offences.setOthers(row, TOGETHER + side);
  }

  /** Of means of so many; few numbers are kept, each of a few less than asked for. */
  Limits limitsOf(double count) {
    const auto step = static_cast<int32_t>(std::floor(4 * octavesOf(std::max(1.0, count))));
    if (const Limits *known = LimitTables::find(*limits, step)) return *known;
    wanted.push_back({length, step});
    return {-std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
  }
};

}  // namespace judging
}  // namespace corella

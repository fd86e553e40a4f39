// Windows that go with others: pairs, what lies between two that are taken, and neighbours of what most stations hear (judge.ts).
#pragma once
#include "kurtosis/cpu/judging/marked.h"

namespace corella {
namespace judging {

class Neighbours {
 public:
  Neighbours(const Plan &of, const LimitTables &known, Offences &to) : plan(of), limits(known), offences(to) {}

  /** Windows that nobody took, with the next, by one standard deviation more; both go. */
  void judgePairs(const Block &block, const std::vector<MarkedGroup> &marked, std::vector<Wanted> &wanted) {
    const int64_t channels = plan.channels, groups = plan.groups;
    /** The group of the next window, if that is marked. */
    size_t next = 0;
    for (const MarkedGroup &here : marked) {
      if (here.paired == 0) continue;
      const int64_t at = here.place, after = at + channels * groups, row = here.row, w = row / channels;
      while (next < marked.size() && marked[next].place < after) next++;
      if (w + 1 >= block.windows) break;
      // Only what neither was taken for alone; a pair's own verdict is told apart. Two silent ones have none.
      const uint32_t alone = offences.at(at).alone() | offences.at(after).alone();
      const bool isMarked = next < marked.size() && marked[next].place == after;
      const uint32_t quiet = isMarked ? here.silent & marked[next].silent : 0;
      for (uint32_t left = here.paired & ~alone & ~quiet; left != 0; left &= left - 1) {
        const int64_t group = here.group;
        const uint32_t verdict = verdictOfPair(block, w, row, group * GROUP + lowest(left), wanted);
        if (verdict != ABOVE && verdict != BELOW) continue;
        offences.set(row, group, left & -left, PAIRED + verdict);
        offences.set(row + channels, group, left & -left, PAIRED + verdict);
      }
    }
  }

  /** What lies between two that were taken alone goes too, and what lies between one and the block's end. */
  void takeBetween(int64_t windows) {
    const int64_t channels = plan.channels;
    // Those that are added are not alone, and take nobody with them.
    for (int64_t w = 0; w < windows; w++)
      offences.forRows(w * channels, (w + 1) * channels, [&](int64_t row) {
        if (w == 1) takeBetweenRows(EDGE, row - channels, row);
        if (w + 2 == windows)
          takeBetweenRows(row, row + channels, EDGE);
        else if (w + 2 < windows && offences.countIn(row + 2 * channels) > 0)
          takeBetweenRows(row, row + channels, row + 2 * channels);
      });
  }

  /** Windows beside those in which most stations offend; judged : [w][c], stations that can be judged. */
  void takeNeighbours(int64_t windows, const std::vector<int32_t> &judged) {
    const int64_t channels = plan.channels;
    heard.clear();
    offences.forRows([&](int64_t row) {
      const int64_t most = judged[static_cast<size_t>(row)];
      // There are never more stations than inputs.
      if (2 * offences.countIn(row) <= most || 2 * offendingStations(row) <= most) return;
      heard.push_back({static_cast<int32_t>(row % channels), static_cast<int32_t>(row / channels)});
    });
    std::sort(heard.begin(), heard.end(), [](const Heard &x, const Heard &y) {
      return x.channel != y.channel ? x.channel < y.channel : x.window < y.window;
    });
    for (size_t n = 0; n < heard.size();) {
      const size_t first = n;
      const int32_t c = heard[n].channel;
      more.assign(static_cast<size_t>(windows), 0);
      for (; n < heard.size() && heard[n].channel == c; n++) more[static_cast<size_t>(heard[n].window)] = 1;
      extendRuns();
      for (size_t k = first; k < n; k++) more[static_cast<size_t>(heard[k].window)] = 0;
      for (int64_t w = 0; w < windows; w++)
        if (more[static_cast<size_t>(w)] == 1) offences.setOthers(w * channels + c, TOGETHER + ABOVE);
    }
  }

 private:
  /** Beyond the block's first or last window. */
  static constexpr int64_t EDGE = -1;
  struct Heard {
    int32_t channel, window;
  };
  const Plan &plan;
  const LimitTables &limits;
  Offences &offences;
  std::vector<Heard> heard;
  std::vector<uint8_t> more;
  std::vector<double> sums, most;

  uint32_t verdictOfPair(const Block &block, int64_t w, int64_t row, int64_t input, std::vector<Wanted> &wanted) const {
    const int64_t x = row * plan.inputs + input, y = x + plan.channels * plan.inputs;
    const int64_t length = block.edges[w + 2] - block.edges[w];
    const int64_t spectra = block.lost ? length - block.lost[x] - block.lost[y] : length;
    if (spectra < LEAST_SPECTRA) return UNJUDGED;
    const bool isReal = row - w * plan.channels < plan.realChannels;
    const int64_t key = LimitTables::keyOf(spectra, isReal, true);
    const Limits *known = limits.ofSpan(key);
    if (known == nullptr) {
      wanted.push_back({static_cast<int32_t>(key), -1});
      return UNJUDGED;
    }
    const double s1 = block.sums[2 * x] + block.sums[2 * y], s2 = block.sums[2 * x + 1] + block.sums[2 * y + 1];
    const Curve &curve = isReal ? plan.real : plan.complex;
    const auto many = static_cast<double>(spectra);
    return verdictOf(offsetOf(s1, s2, many, factorOf(many, isReal ? 0.5 : 1), curve), *known);
  }

  void takeBetweenRows(int64_t before, int64_t row, int64_t after) {
    for (int64_t group = 0; group < plan.groups; group++) {
      uint32_t bits = plan.asked[static_cast<size_t>(group)] & ~static_cast<uint32_t>(offences.at(row, group).all);
      if (before != EDGE) bits &= offences.at(before, group).alone();
      if (after != EDGE) bits &= offences.at(after, group).alone();
      if (bits == 0) continue;
      const uint32_t below = offences.at(before == EDGE ? after : before, group).below;
      if ((bits & ~below) != 0) offences.set(row, group, bits & ~below, PAIRED + ABOVE);
      if ((bits & below) != 0) offences.set(row, group, bits & below, PAIRED + BELOW);
    }
  }

  int64_t offendingStations(int64_t row) {
    int64_t offending = 0;
    for (int64_t group = 0; group < plan.groups; group++) {
      const uint32_t bits = offences.at(row, group).all;
      offending += countOf(plan.isDual ? eitherOf(bits) : bits);
    }
    return offending;
  }

  /** extend.ts, of `more`. */
  void extendRuns() {
    constexpr double LEFT = 0.25;
    const size_t length = more.size();
    sums.assign(length + 1, 0);
    for (size_t n = 0; n < length; n++) sums[n + 1] = sums[n] + (more[n] == 1 ? LEFT : LEFT - 1);
    most.assign(length + 1, 0);
    most[length] = sums[length];
    for (size_t n = length; n-- > 0;) most[n] = std::max(sums[n], most[n + 1]);
    double least = std::numeric_limits<double>::infinity();
    for (size_t n = 0; n < length; n++) {
      least = std::min(least, sums[n]);
      if (most[n + 1] - least >= -1e-9) more[n] = 1;
    }
  }
};

}  // namespace judging
}  // namespace corella

// Which time is accepted: the same rules as lane-clocks.ts.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

namespace corella::receive {

/** No tick. Not −1: a wrapping clock may be assigned to the cycle before, below 0. */
constexpr int64_t NEVER = INT64_MIN;

/** Towards minus infinity. */
inline int64_t floorDivide(int64_t value, int64_t by) { return value / by - (value % by < 0); }

struct Moment {
  int64_t tick = 0;
  int64_t epoch = 0;
};

class LaneClocks {
 public:
  LaneClocks(int32_t lanes, int64_t ticksOfBlock, int64_t hearingSpan)
      : clocks(static_cast<size_t>(lanes)), blockTicks(ticksOfBlock), span(hearingSpan) {
    heardLately.reserve(clocks.size());
  }

  void believe(int32_t lane, Moment moment) {
    Clock clock;
    clock.confirmed = moment.tick;
    clock.confirmedEpoch = moment.epoch;
    clock.heard = ++seen;
    clocks[static_cast<size_t>(lane)] = clock;
  }

  /** True if a confirmed clock reached another block. */
  bool hear(int32_t lane, Moment moment) {
    Clock &clock = clocks[static_cast<size_t>(lane)];
    seen++;
    heardRival = false;
    const int64_t before = clock.confirmedEpoch == moment.epoch ? clock.confirmed : NEVER;
    if (before != NEVER && near(moment.tick, before)) {
      clock.confirmed = std::max(before, moment.tick);
      clock.heard = seen;
      clock.isRivalLast = false;
      return floorDivide(clock.confirmed, blockTicks) != floorDivide(before, blockTicks);
    }
    const bool agrees = clock.rival != NEVER && clock.rivalEpoch == moment.epoch && near(moment.tick, clock.rival);
    const bool isInRow = agrees && clock.isRivalLast;
    if (!agrees) clock.isFormer = false;
    clock.rival = moment.tick;
    clock.rivalEpoch = moment.epoch;
    clock.isRivalLast = true;
    const bool isSilent = seen - clock.heard > CONTESTED_SPANS * span;
    if (!isInRow || (clock.isContested && !isSilent)) {
      heardRival = agrees;
      return false;
    }
    clock.isContested = clock.isFormer && !isSilent;
    clock.rival = clock.confirmed;
    clock.rivalEpoch = clock.confirmedEpoch;
    clock.isRivalLast = false;
    clock.isFormer = true;
    clock.confirmed = moment.tick;
    clock.confirmedEpoch = moment.epoch;
    clock.heard = seen;
    return before == NEVER || floorDivide(moment.tick, blockTicks) != floorDivide(before, blockTicks);
  }

  /** Of the epoch that most sources report; on a tie the present one stays. False if no source is active. */
  bool median(int64_t presentEpoch, Moment &out) {
    heardLately.clear();
    for (const Clock &clock : clocks) {
      if (clock.confirmed != NEVER && seen - clock.heard <= span)
        heardLately.push_back({clock.confirmedEpoch, clock.confirmed});
    }
    if (heardLately.empty()) return false;
    std::sort(heardLately.begin(), heardLately.end(),
              [](const Heard &x, const Heard &y) { return x.epoch != y.epoch ? x.epoch < y.epoch : x.tick < y.tick; });
    size_t bestFrom = 0, bestCount = 0;
    for (size_t from = 0; from < heardLately.size();) {
      size_t to = from;
      while (to < heardLately.size() && heardLately[to].epoch == heardLately[from].epoch) to++;
      const bool present = heardLately[from].epoch == presentEpoch;
      if (to - from > bestCount || (to - from == bestCount && present)) {
        bestFrom = from;
        bestCount = to - from;
      }
      from = to;
    }
    const Heard &middle = heardLately[bestFrom + (bestCount - 1) / 2];
    out = {middle.tick, middle.epoch};
    return true;
  }

  /** Median over the sources between two ticks of an epoch; NEVER if there are none. */
  int64_t medianBetween(int64_t epoch, int64_t least, int64_t most) {
    heardLately.clear();
    for (const Clock &clock : clocks) {
      if (clock.confirmed != NEVER && seen - clock.heard <= span && clock.confirmedEpoch == epoch &&
          clock.confirmed >= least && clock.confirmed <= most)
        heardLately.push_back({epoch, clock.confirmed});
    }
    if (heardLately.empty()) return NEVER;
    std::sort(heardLately.begin(), heardLately.end(), [](const Heard &x, const Heard &y) { return x.tick < y.tick; });
    return heardLately[(heardLately.size() - 1) / 2].tick;
  }

  /** Whether no source's last packet was between these ticks, among the sources active lately. */
  bool areElsewhere(int64_t epoch, int64_t least, int64_t most) const {
    return std::none_of(clocks.begin(), clocks.end(), [&](const Clock &clock) {
      return clock.confirmed != NEVER && seen - clock.heard <= span && !clock.isRivalLast &&
             clock.confirmedEpoch == epoch && clock.confirmed >= least && clock.confirmed <= most;
    });
  }

  void forget() { std::fill(clocks.begin(), clocks.end(), Clock{}); }

  void fold(int64_t mask) {
    for (Clock &clock : clocks) {
      if (clock.rival != NEVER) clock.rival &= mask;
      if (clock.confirmed != NEVER) clock.confirmed &= mask;
    }
  }

  /** Whether the last packet continued a clock other than its source's own. */
  bool heardRival = false;

 private:
  static constexpr int64_t CONTESTED_SPANS = 8;
  struct Clock {
    int64_t confirmed = NEVER, confirmedEpoch = 0, heard = 0, rival = NEVER, rivalEpoch = 0;
    bool isRivalLast = false, isFormer = false, isContested = false;
  };
  struct Heard {
    int64_t epoch, tick;
  };
  bool near(int64_t x, int64_t y) const { return (x < y ? y - x : x - y) <= blockTicks; }

  std::vector<Clock> clocks;
  std::vector<Heard> heardLately;
  const int64_t blockTicks, span;
  int64_t seen = 0;
};

}  // namespace corella::receive

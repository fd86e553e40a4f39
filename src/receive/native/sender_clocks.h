// Which time is accepted: the same rules as sender-clocks.ts.
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

class SenderClocks {
 public:
  SenderClocks(int32_t senders, int64_t ticksOfBlock, int64_t activePackets)
      : clocks(static_cast<size_t>(senders)), blockTicks(ticksOfBlock), span(activePackets) {
    active.reserve(clocks.size());
  }

  void believe(int32_t sender, Moment moment) {
    Clock clock;
    clock.confirmed = moment.tick;
    clock.confirmedEpoch = moment.epoch;
    clock.confirmedAt = ++seen;
    clocks[static_cast<size_t>(sender)] = clock;
  }

  /** True if a confirmed clock reached another block. */
  bool follow(int32_t sender, Moment moment) {
    Clock &clock = clocks[static_cast<size_t>(sender)];
    seen++;
    isOtherClock = false;
    const int64_t before = clock.confirmedEpoch == moment.epoch ? clock.confirmed : NEVER;
    if (before != NEVER && near(moment.tick, before)) {
      clock.confirmed = std::max(before, moment.tick);
      clock.confirmedAt = seen;
      clock.isOtherLast = false;
      return floorDivide(clock.confirmed, blockTicks) != floorDivide(before, blockTicks);
    }
    const bool agrees = clock.other != NEVER && clock.otherEpoch == moment.epoch && near(moment.tick, clock.other);
    const bool isInRow = agrees && clock.isOtherLast;
    if (!agrees) clock.isFormer = false;
    clock.other = moment.tick;
    clock.otherEpoch = moment.epoch;
    clock.isOtherLast = true;
    const bool isSilent = seen - clock.confirmedAt > CONTESTED_SPANS * span;
    if (!isInRow || (clock.isContested && !isSilent)) {
      isOtherClock = agrees;
      return false;
    }
    clock.isContested = clock.isFormer && !isSilent;
    clock.other = clock.confirmed;
    clock.otherEpoch = clock.confirmedEpoch;
    clock.isOtherLast = false;
    clock.isFormer = true;
    clock.confirmed = moment.tick;
    clock.confirmedEpoch = moment.epoch;
    clock.confirmedAt = seen;
    return before == NEVER || floorDivide(moment.tick, blockTicks) != floorDivide(before, blockTicks);
  }

  /** Of the epoch that most sources report; on a tie the present one stays. False if no source is active. */
  bool median(int64_t presentEpoch, Moment &out) {
    active.clear();
    for (const Clock &clock : clocks) {
      if (clock.confirmed != NEVER && seen - clock.confirmedAt <= span)
        active.push_back({clock.confirmed, clock.confirmedEpoch});
    }
    if (active.empty()) return false;
    std::sort(active.begin(), active.end(), [](const Moment &x, const Moment &y) {
      return x.epoch != y.epoch ? x.epoch < y.epoch : x.tick < y.tick;
    });
    size_t bestFrom = 0, bestCount = 0;
    for (size_t from = 0; from < active.size();) {
      size_t to = from;
      while (to < active.size() && active[to].epoch == active[from].epoch) to++;
      const bool present = active[from].epoch == presentEpoch;
      if (to - from > bestCount || (to - from == bestCount && present)) {
        bestFrom = from;
        bestCount = to - from;
      }
      from = to;
    }
    out = active[bestFrom + (bestCount - 1) / 2];
    return true;
  }

  /** Median over the sources between two ticks of an epoch; NEVER if there are none. */
  int64_t medianBetween(int64_t epoch, int64_t least, int64_t most) {
    active.clear();
    for (const Clock &clock : clocks) {
      if (clock.confirmed != NEVER && seen - clock.confirmedAt <= span && clock.confirmedEpoch == epoch &&
          clock.confirmed >= least && clock.confirmed <= most)
        active.push_back({clock.confirmed, epoch});
    }
    if (active.empty()) return NEVER;
    std::sort(active.begin(), active.end(), [](const Moment &x, const Moment &y) { return x.tick < y.tick; });
    return active[(active.size() - 1) / 2].tick;
  }

  /** Whether no source's last packet was between these ticks, among the sources active lately. */
  bool areElsewhere(int64_t epoch, int64_t least, int64_t most) const {
    return std::none_of(clocks.begin(), clocks.end(), [&](const Clock &clock) {
      return clock.confirmed != NEVER && seen - clock.confirmedAt <= span && !clock.isOtherLast &&
             clock.confirmedEpoch == epoch && clock.confirmed >= least && clock.confirmed <= most;
    });
  }

  void forget() { std::fill(clocks.begin(), clocks.end(), Clock{}); }

  void fold(int64_t mask) {
    for (Clock &clock : clocks) {
      if (clock.other != NEVER) clock.other &= mask;
      if (clock.confirmed != NEVER) clock.confirmed &= mask;
    }
  }

  /** Whether the last packet continued a clock other than its source's own. */
  bool isOtherClock = false;

 private:
  static constexpr int64_t CONTESTED_SPANS = 8;
  struct Clock {
    int64_t confirmed = NEVER, confirmedEpoch = 0, confirmedAt = 0, other = NEVER, otherEpoch = 0;
    bool isOtherLast = false, isFormer = false, isContested = false;
  };
  bool near(int64_t x, int64_t y) const { return (x < y ? y - x : x - y) <= blockTicks; }

  std::vector<Clock> clocks;
  std::vector<Moment> active;
  const int64_t blockTicks, span;
  int64_t seen = 0;
};

}  // namespace corella::receive

// Whose time is believed: the rules of lane-clocks.ts, word for word.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

namespace corella::receive {

/** No tick: clocks that wrap may be taken for the turn before, and stand below 0. */
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
    clocks[static_cast<size_t>(lane)] = {moment.tick, moment.epoch, moment.tick, moment.epoch, ++seen};
  }

  /** True where a confirmed clock came to another block. */
  bool hear(int32_t lane, Moment moment) {
    Clock &clock = clocks[static_cast<size_t>(lane)];
    const bool agrees = clock.last != NEVER && clock.lastEpoch == moment.epoch && near(moment.tick, clock.last);
    clock.last = moment.tick;
    clock.lastEpoch = moment.epoch;
    clock.heard = ++seen;
    if (!agrees) return false;
    const int64_t before = clock.confirmedEpoch == moment.epoch ? clock.confirmed : NEVER;
    clock.confirmed = before != NEVER && near(moment.tick, before) ? std::max(before, moment.tick) : moment.tick;
    clock.confirmedEpoch = moment.epoch;
    return before == NEVER || floorDivide(clock.confirmed, blockTicks) != floorDivide(before, blockTicks);
  }

  /** Of the epoch that most lanes tell; where they are even the present one stays. False where nobody was heard. */
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

  void forget() { std::fill(clocks.begin(), clocks.end(), Clock{}); }

  void fold(int64_t mask) {
    for (Clock &clock : clocks) {
      if (clock.last != NEVER) clock.last &= mask;
      if (clock.confirmed != NEVER) clock.confirmed &= mask;
    }
  }

 private:
  struct Clock {
    int64_t last = NEVER, lastEpoch = 0, confirmed = NEVER, confirmedEpoch = 0, heard = 0;
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

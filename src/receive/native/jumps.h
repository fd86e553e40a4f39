// Whether a jump of the senders' clocks is followed: the same rules as jumps.ts.
#pragma once
#include <cmath>
#include <cstdint>
#include <vector>

#include "sender_clocks.h"
#include "stream.h"

namespace corella::receive {

class Jumps {
 public:
  /** `hz`: ticks per second, 0 if unknown. */
  Jumps(const Parser &format, double hz, int64_t ticksOfBlock, int64_t ticksSkipped, int32_t window,
        int64_t cellsOfBlock)
      : epochOf(format.epochUnixSeconds),
        rateHz(hz),
        blockTicks(ticksOfBlock),
        skipTicks(ticksSkipped),
        slackS(double(window * ticksOfBlock) / (hz > 0 ? hz : 1)),
        cells(cellsOfBlock) {
    resyncsNs.reserve(MOST_RESYNCS + 1);
  }

  bool isDated(Moment moment) const {
    if (!epochOf || rateHz <= 0) return true;
    const double time = timeS(moment);
    return time >= -62135596800.0 && time < 253402300800.0;
  }

  void came(int64_t unixNs) {
    newestNs = unixNs;
    isClaimed = false;
  }

  void filled(int64_t placed) {
    if (2 * placed >= cells) isTrusted = true;
  }

  /** Counts the jumps that are refused. */
  bool areFollowed(Moment to, Moment head, int64_t unixNs, bool isLeft) {
    if (isBelieved(to, head, unixNs, isLeft)) return true;
    if (!isClaimed) claimedNs = unixNs;
    isClaimed = true;
    if (unixNs - claimedNs >= CONFIRM_NS) return true;
    const bool goesOn = lastRefused.tick != NEVER && lastRefused.epoch == to.epoch &&
                        to.tick >= lastRefused.tick - blockTicks && to.tick - skipTicks <= lastRefused.tick;
    if (!goesOn) refused++;
    lastRefused = to;
    return false;
  }

  void resynchronised(Moment head, int64_t unixNs) {
    if (isTrusted) {
      trusted = head;
      trustedNs = newestNs;
    }
    isTrusted = false;
    newestNs = unixNs;
    isClaimed = false;
    lastRefused = {NEVER, 0};
    resyncsNs.push_back(unixNs);
    if (resyncsNs.size() > MOST_RESYNCS) resyncsNs.erase(resyncsNs.begin());
  }

  int64_t refused = 0;
  static constexpr size_t MOST_RESYNCS = 4;

 private:
  static constexpr double AHEAD_S = 3600, RUNS_ON_S = 2;
  static constexpr int64_t CONFIRM_NS = 10000000000, MINUTE_NS = 60000000000;

  bool isBelieved(Moment to, Moment head, int64_t unixNs, bool isLeft) const {
    const bool isLimited = resyncsNs.size() == MOST_RESYNCS && unixNs - resyncsNs.front() < MINUTE_NS;
    const Moment running = isTrusted ? head : trusted;
    const int64_t runningNs = isTrusted ? newestNs : trustedNs;
    if (running.tick == NEVER || rateHz <= 0) return !isLimited;
    const double aheadS = timeS(to) - timeS(running);
    const double silentS = unixNs > runningNs ? double(unixNs - runningNs) / 1e9 : 0;
    const bool isAfter = aheadS >= -slackS;
    const bool goesOn = to.epoch == running.epoch && std::fabs(aheadS - silentS) <= RUNS_ON_S;
    if (!isTrusted && isAfter && goesOn) return true;
    if (isLimited) return false;
    if (isAfter && aheadS <= silentS + AHEAD_S) return true;
    return !epochOf && isLeft;
  }

  double timeS(Moment moment) const {
    const double epochS = epochOf ? double(epochOf(moment.epoch)) : 0;
    return epochS + double(moment.tick) / (rateHz > 0 ? rateHz : 1);
  }

  int64_t (*const epochOf)(int64_t epoch);
  const double rateHz;
  const int64_t blockTicks, skipTicks;
  const double slackS;
  const int64_t cells;
  int64_t newestNs = 0, trustedNs = 0, claimedNs = 0;
  bool isTrusted = false, isClaimed = false;
  Moment trusted = {NEVER, 0}, lastRefused = {NEVER, 0};
  std::vector<int64_t> resyncsNs;
};

}  // namespace corella::receive

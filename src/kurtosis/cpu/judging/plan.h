// What judges by spectral kurtosis in C++ share: the plan, bits of sixteen inputs, and codes. TypeScript (judge.ts) is the
// reference, followed step by step: every product and every sum is rounded as it is there.
#pragma once
#include <cstdint>
#include <vector>

#include "kurtosis/cpu/kurtosis_screen.h"

namespace corella {
namespace judging {

/** Inputs of a group (screen.ts). */
constexpr int64_t GROUP = 16;
/** verdicts.ts */
enum : uint32_t { NOISE = 0, ABOVE = 1, BELOW = 2, UNJUDGED = 3, PAIRED = 4, TOGETHER = 8 };
/** plan.ts */
constexpr int64_t LEAST_SPECTRA = 24;

inline int lowest(uint32_t bits) { return __builtin_ctz(bits); }

/** How many of 16 bits are set. */
inline int32_t countOf(uint32_t bits) {
  const uint32_t pairs = bits - ((bits >> 1) & 0x5555), fours = (pairs & 0x3333) + ((pairs >> 2) & 0x3333);
  return static_cast<int32_t>(((((fours + (fours >> 4)) & 0x0f0f) * 0x0101) >> 8) & 0x1f);
}

/** One bit, the lower, for each station of two polarisations of which either input is set. */
inline uint32_t eitherOf(uint32_t bits) { return (bits | (bits >> 1)) & 0x5555; }

/** RoundedCurve of rounded.ts; no entries where numbers are not rounded. */
struct Curve {
  double leastPower = 0, plainFrom = 0, plainTo = 0, firstOctave = 0;
  std::vector<double> means, spreads;
};

struct Plan {
  int64_t channels = 0, inputs = 0, realChannels = 0;
  bool isDual = false, keepsBursts = false, takesStations = false;
  double sigmas = 0;
  Curve complex, real;
  std::vector<uint8_t> flagged;  // [a]
  std::vector<int32_t> crowds;   // [inputs], how many of so many are a crowd (together.ts)
  // Of the above:
  int64_t groups = 0, inputsAsked = 0, stationsAsked = 0;
  std::vector<uint16_t> asked;     // [a / 16], bits of inputs that are not left out
  std::vector<int32_t> askedMany;  // [a / 16]

  void prepare() {
    groups = (inputs + GROUP - 1) / GROUP;
    asked.assign(static_cast<size_t>(groups), 0);
    for (int64_t a = 0; a < inputs; a++)
      if (flagged[static_cast<size_t>(a)] == 0)
        asked[static_cast<size_t>(a / GROUP)] |= static_cast<uint16_t>(1 << (a % GROUP));
    for (const uint16_t bits : asked) {
      askedMany.push_back(countOf(bits));
      inputsAsked += countOf(bits);
      stationsAsked += countOf(isDual ? eitherOf(bits) : bits);
    }
  }

  const Curve &curveOf(int64_t channel) const { return channel < realChannels ? real : complex; }
};

/** A block as it comes: sums : [w][c][a][S1, S2], and what the first look found in them (kurtosis_screen.h). */
struct Block {
  const int32_t *edges;  // [w + 1]
  int64_t windows;
  const double *sums;
  const uint32_t *lost;  // [w][c][a], spectra that did not come; null where all did
  Screen screen;
};

}  // namespace judging
}  // namespace corella

// Verdicts of sums of powers, as verdicts.ts and rounded.ts have them, and the limits that TypeScript worked out.
#pragma once
#include <cmath>
#include <cstring>
#include <limits>

#include "kurtosis/cpu/judging/plan.h"

namespace corella {
namespace judging {

/** log2 as octaves.ts has it. */
inline double octavesOf(double value) {
  uint64_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  int32_t octave = static_cast<int32_t>(bits >> 52) - 1023;
  bits = (bits & 0xfffffffffffffu) | 0x3ff0000000000000u;
  double part;
  std::memcpy(&part, &bits, sizeof part);
  if (part > 1.4142135623730951) {
    part /= 2;
    octave++;
  }
  const double t = (part - 1) / (part + 1), square = t * t;
  double sum = 0;
  for (int n = 21; n >= 1; n -= 2) sum = sum * square + 1.0 / n;
  return octave + (2 / 0.6931471805599453) * t * sum;
}

/** SK is this times M·S2/S1² − 1. */
inline double factorOf(double spectra, double shape) { return (spectra * shape + 1) / (spectra - 1); }

inline double kurtosisOf(double s1, double s2, double spectra, double factor) {
  return factor * ((spectra * s2) / (s1 * s1) - 1);
}

/** SK less what noise has on average, over the spread that rounding leaves it; NaN where nothing can be said. */
inline double offsetOf(double s1, double s2, double spectra, double factor, const Curve &curve) {
  constexpr double STEPS_PER_OCTAVE = 16;
  constexpr double NaN = std::numeric_limits<double>::quiet_NaN();
  if (s1 == 0) return NaN;
  const double kurtosis = kurtosisOf(s1, s2, spectra, factor);
  if (curve.means.empty()) return kurtosis - 1;
  const double power = s1 / spectra;
  if (power >= curve.plainFrom && power <= curve.plainTo) return kurtosis - 1;
  // What is not a number has no place on the curve.
  if (!(power >= curve.leastPower)) return NaN;
  const double place = (octavesOf(power) - curve.firstOctave) * STEPS_PER_OCTAVE;
  const size_t last = curve.means.size() - 1;
  if (place >= static_cast<double>(last)) return (kurtosis - curve.means[last]) / curve.spreads[last];
  const size_t n = static_cast<size_t>(std::max(0.0, std::floor(place)));
  const double part = place - static_cast<double>(n);
  const double mean = curve.means[n] + part * (curve.means[n + 1] - curve.means[n]);
  const double spread = curve.spreads[n] + part * (curve.spreads[n + 1] - curve.spreads[n]);
  return (kurtosis - mean) / spread;
}

struct Limits {
  double low = std::numeric_limits<double>::quiet_NaN(), high = std::numeric_limits<double>::quiet_NaN();

  bool isKnown() const { return !std::isnan(low); }
};

inline uint32_t verdictOf(double off, const Limits &limits) {
  if (off > limits.high) return ABOVE;
  if (off < limits.low) return BELOW;
  return std::isnan(off) ? UNJUDGED : NOISE;
}

/** Limits that are not there yet: TypeScript works them out, and the block is judged again. */
struct Wanted {
  /** Of a window or a pair of so many spectra (keyOfSpan of fences.ts), or of means of windows so long. */
  int32_t key;
  /** Of means: of how many inputs' windows (together.ts); −1 else. */
  int32_t step;
};

class LimitTables {
 public:
  static int64_t keyOf(int64_t spectra, bool isReal, bool isPair) {
    return 4 * spectra + (isReal ? 0 : 1) + (isPair ? 2 : 0);
  }

  void add(const Wanted &place, const Limits &limits) {
    std::vector<Limits> &to = place.step < 0 ? spans : meansOf(place.key);
    const size_t at = static_cast<size_t>(place.step < 0 ? place.key : place.step);
    if (to.size() <= at) to.resize(at + 1);
    to[at] = limits;
  }

  /** Null where they are not known. */
  const Limits *ofSpan(int64_t key) const { return find(spans, key); }

  /** Of means of windows of one length, by their steps. */
  std::vector<Limits> &meansOf(int32_t length) {
    for (Means &one : means)
      if (one.length == length) return one.limits;
    means.push_back({length, {}});
    return means.back().limits;
  }

  static const Limits *find(const std::vector<Limits> &limits, int64_t at) {
    const bool isThere = at < static_cast<int64_t>(limits.size()) && limits[static_cast<size_t>(at)].isKnown();
    return isThere ? &limits[static_cast<size_t>(at)] : nullptr;
  }

 private:
  struct Means {
    int32_t length;
    std::vector<Limits> limits;
  };
  std::vector<Limits> spans;
  std::vector<Means> means;
};

/** The entry of a fence for S1, null where it has none (screen.ts). */
inline const FenceEntry *entryOf(const Fence &fence, const FenceEntry *tables, double s1) {
  if (!(s1 >= fence.leastPower && s1 <= fence.mostPower)) return nullptr;
  const FenceEntry *entries = tables + static_cast<int64_t>(fence.firstEntry);
  if (fence.entries <= 1) return entries;
  int64_t bits;
  std::memcpy(&bits, &s1, sizeof bits);
  return entries + ((bits >> 46) - static_cast<int64_t>(fence.firstKey));
}

inline bool isWithin(const FenceEntry &entry, double s1, double s2) {
  const double square = s1 * s1;
  return s2 >= entry.low * square && s2 <= entry.high * square;
}

inline double offsetBy(const Fence &fence, const FenceEntry &entry, double s1, double s2) {
  return ((fence.scale * s2) / (s1 * s1) - entry.offset) / entry.spread;
}

}  // namespace judging
}  // namespace corella

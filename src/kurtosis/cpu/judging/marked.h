// Groups of inputs that were marked, and what is said of their inputs one by one (judging/marked.ts, judge.ts).
#pragma once
#include <algorithm>
#include <cstring>

#include "kurtosis/cpu/judging/offences.h"
#include "kurtosis/cpu/judging/verdicts.h"

namespace corella {
namespace judging {

/** A group that has a mark. */
struct MarkedGroup {
  int32_t place;             // in [w][c][a / 16]
  int32_t row, group;        // its parts
  uint16_t outside, paired;  // bits of inputs marked as OUTSIDE and as PAIR_OUTSIDE
  uint16_t silent;           // bits of inputs that came whole and are silent or too weak
};

/** Stations of a row that cannot be judged. */
struct Dropped {
  int64_t row;
  int32_t many;
};

/**
 * Of windows of so many spectra: what makes their kurtosis, and where noise's lies. S2/S1² beyond these by more than anything rounds
 * needs no quotient: between those powers numbers count as not rounded.
 */
struct Kind {
  int64_t key = -1;
  double spectra = 0, factor = 0;
  const Limits *limits = nullptr;
  double leastPower = 0, mostPower = 0, surelyAbove = 0, surelyBelow = 0;

  void setSure(const Curve &curve) {
    constexpr double MARGIN = 1e-11, LEAST = 1e-140, MOST = 1e140;
    const bool isRounded = !curve.means.empty();
    leastPower = isRounded ? spectra * curve.plainFrom * (1 + MARGIN) : LEAST;
    mostPower = isRounded ? spectra * curve.plainTo * (1 - MARGIN) : MOST;
    surelyAbove = ((limits->high + 1) / factor + 1) / spectra * (1 + MARGIN);
    surelyBelow = ((limits->low + 1) / factor + 1) / spectra * (1 - MARGIN);
  }
};

/** What a thread found in its rows; the room is kept. */
struct Found {
  std::vector<MarkedGroup> groups;
  std::vector<int32_t> words;
  /** The one asked for last: most ask for the same again. */
  Kind kind;
  std::vector<Dropped> dropped;
  std::vector<Wanted> wanted;
  int64_t unjudged = 0;

  void clear() {
    groups.clear();
    dropped.clear();
    wanted.clear();
    kind = Kind();
    unjudged = 0;
  }
};

constexpr uint64_t ONES = 0x0101010101010101;

/** Bits of eight bytes that are 0 or 1. */
inline uint32_t bitsOf(uint64_t bytes) { return static_cast<uint32_t>((bytes * uint64_t{0x0102040810204080}) >> 56); }

class Marking {
 public:
  Marking(const Plan &of, const LimitTables &known, Offences &to) : plan(of), limits(known), offences(to) {}

  /** Windows of which a part never came have limits of their own: they are looked at one by one, and so are their pairs. */
  void addMissing(const Block &block, const int32_t *places, int64_t count) const {
    const auto mark = [&](int64_t row, int64_t input, uint8_t what) {
      block.screen.marks[row * plan.inputs + input] |= what;
      block.screen.groupMarks[row * plan.groups + input / GROUP] |= what;
    };
    for (int64_t n = 0; n < count; n++) {
      const int64_t row = places[n] / plan.inputs, input = places[n] % plan.inputs;
      if (plan.flagged[static_cast<size_t>(input)] != 0) continue;
      mark(row, input, OUTSIDE | PAIR_OUTSIDE);
      if (row >= plan.channels) mark(row - plan.channels, input, PAIR_OUTSIDE);
    }
  }

  /** Every input of rows [first, end) that was marked for itself. */
  void judgeRows(const Block &block, int64_t first, int64_t end, Found &found) const {
    findGroups(block, first * plan.groups, end * plan.groups, found);
    findInputs(block, found);
    for (MarkedGroup &group : found.groups)
      if (group.outside != 0) judgeInputs(block, group, found);
  }

 private:
  const Plan &plan;
  const LimitTables &limits;
  Offences &offences;

  /** Little is marked: eight groups are asked at a time, and what will be read comes meanwhile. */
  void findGroups(const Block &block, int64_t first, int64_t end, Found &found) const {
    const uint8_t *marks = block.screen.groupMarks;
    const int64_t words = (end - first) / 8;
    if (static_cast<int64_t>(found.words.size()) < words) found.words.resize(static_cast<size_t>(words));
    const auto wordAt = [&](int64_t word) {
      uint64_t eight;
      std::memcpy(&eight, marks + first + 8 * word, sizeof eight);
      return eight;
    };
    // Added up instead of branched upon: nobody foresees which are marked.
    int64_t many = 0;
    for (int64_t word = 0; word < words; word++) {
      found.words[static_cast<size_t>(many)] = static_cast<int32_t>(word);
      many += wordAt(word) != 0;
    }
    const auto add = [&](int64_t at) {
      const auto row = static_cast<int32_t>(static_cast<uint32_t>(at) / static_cast<uint32_t>(plan.groups));
      const auto group = static_cast<int32_t>(at - row * plan.groups);
      found.groups.push_back({static_cast<int32_t>(at), row, group, 0, 0, 0});
      __builtin_prefetch(block.screen.marks + row * plan.inputs + group * GROUP);
    };
    for (int64_t n = 0; n < many; n++) {
      const int64_t word = found.words[static_cast<size_t>(n)];
      const uint64_t eight = wordAt(word);
      for (uint64_t left = (eight | eight >> 1) & ONES; left != 0; left &= left - 1)
        add(first + 8 * word + __builtin_ctzll(left) / 8);
    }
    for (int64_t at = first + 8 * words; at < end; at++)
      if (marks[at] != 0) add(at);
  }

  void findInputs(const Block &block, Found &found) const {
    for (MarkedGroup &group : found.groups) {
      const int64_t first = group.row * plan.inputs + group.group * GROUP;
      const int64_t inputs = std::min(GROUP, plan.inputs - group.group * GROUP);
      uint64_t bytes[2] = {0, 0};
      if (inputs == GROUP)
        std::memcpy(bytes, block.screen.marks + first, sizeof bytes);
      else
        std::memcpy(bytes, block.screen.marks + first, static_cast<size_t>(inputs));
      const auto bits = [&](int shift) {
        return static_cast<uint16_t>(bitsOf((bytes[0] >> shift) & ONES) | bitsOf((bytes[1] >> shift) & ONES) << 8);
      };
      group.outside = bits(0);
      group.paired = bits(1);
      for (uint32_t left = group.outside; left != 0; left &= left - 1)
        __builtin_prefetch(block.sums + 2 * (first + lowest(left)));
    }
  }

  void judgeInputs(const Block &block, MarkedGroup &marked, Found &found) const {
    const int64_t row = marked.row, group = marked.group;
    const int64_t window = static_cast<uint32_t>(row) / static_cast<uint32_t>(plan.channels);
    const int64_t channel = row - window * plan.channels;
    const int64_t length = block.edges[window + 1] - block.edges[window];
    const bool isReal = channel < plan.realChannels;
    uint32_t said[4] = {0, 0, 0, 0}, shorter = 0;
    if (block.lost == nullptr && marked.outside == 0xffff && length >= LEAST_SPECTRA) {
      judgeSixteen(block, marked, length, isReal, found, said);
    } else {
      const int64_t first = row * plan.inputs + group * GROUP;
      for (uint32_t left = marked.outside; left != 0; left &= left - 1) {
        const uint32_t one = left & -left;
        const int64_t at = first + lowest(left), missing = block.lost ? block.lost[at] : 0;
        if (missing != 0 || length < LEAST_SPECTRA) shorter |= one;
        said[verdictAt(block, at, length - missing, isReal, found)] |= one;
      }
    }
    if (said[ABOVE] != 0) offences.set(row, group, said[ABOVE], ABOVE);
    if (said[BELOW] != 0) offences.set(row, group, said[BELOW], BELOW);
    if (said[UNJUDGED] != 0) {
      found.unjudged += countOf(said[UNJUDGED]);
      const int32_t many = stationsOf(said[UNJUDGED], plan.asked[static_cast<size_t>(group)]);
      if (many > 0) found.dropped.push_back({row, many});
    }
    marked.silent = static_cast<uint16_t>(said[UNJUDGED] & ~shorter);
  }

  const Kind &kindOf(int64_t spectra, bool isReal, Found &found) const {
    const int64_t key = LimitTables::keyOf(spectra, isReal, false);
    if (found.kind.key == key) return found.kind;
    const auto many = static_cast<double>(spectra);
    found.kind = Kind();
    found.kind.key = key;
    found.kind.spectra = many;
    found.kind.factor = factorOf(many, isReal ? 0.5 : 1);
    found.kind.limits = limits.ofSpan(key);
    if (found.kind.limits == nullptr)
      found.wanted.push_back({static_cast<int32_t>(key), -1});
    else
      found.kind.setSure(isReal ? plan.real : plan.complex);
    return found.kind;
  }

  uint32_t verdictAt(const Block &block, int64_t at, int64_t spectra, bool isReal, Found &found) const {
    if (spectra < LEAST_SPECTRA) return UNJUDGED;
    const Kind &kind = kindOf(spectra, isReal, found);
    if (kind.limits == nullptr) return NOISE;
    const double s1 = block.sums[2 * at], s2 = block.sums[2 * at + 1], square = s1 * s1;
    if (s1 >= kind.leastPower && s1 <= kind.mostPower) {
      if (s2 > kind.surelyAbove * square) return ABOVE;
      if (s2 < kind.surelyBelow * square) return BELOW;
    }
    return verdictOf(offsetOf(s1, s2, kind.spectra, kind.factor, isReal ? plan.real : plan.complex), *kind.limits);
  }

  /** The same of all inputs of a group at once, as vectors: interference hits many. */
  void judgeSixteen(const Block &block, const MarkedGroup &marked, int64_t spectra, bool isReal, Found &found,
                    uint32_t *said) const {
    const Kind &kind = kindOf(spectra, isReal, found);
    if (kind.limits == nullptr) return;
    const int64_t first = marked.row * plan.inputs + marked.group * GROUP;
    const double *sums = block.sums + 2 * first;
    uint64_t above[2], below[2];
    uint8_t isAbove[GROUP], isBelow[GROUP];
    for (int64_t a = 0; a < GROUP; a++) {
      const double s1 = sums[2 * a], s2 = sums[2 * a + 1], square = s1 * s1;
      const bool isPlain = s1 >= kind.leastPower && s1 <= kind.mostPower;
      isAbove[a] = isPlain & (s2 > kind.surelyAbove * square);
      isBelow[a] = isPlain & (s2 < kind.surelyBelow * square);
    }
    std::memcpy(above, isAbove, sizeof above);
    std::memcpy(below, isBelow, sizeof below);
    said[ABOVE] = bitsOf(above[0]) | bitsOf(above[1]) << 8;
    said[BELOW] = bitsOf(below[0]) | bitsOf(below[1]) << 8;
    for (uint32_t left = 0xffff & ~(said[ABOVE] | said[BELOW]); left != 0; left &= left - 1)
      said[verdictAt(block, first + lowest(left), spectra, isReal, found)] |= left & -left;
  }

  /** Stations of which no polarisation can be judged, of a group's inputs that cannot; its inputs are of one group. */
  int32_t stationsOf(uint32_t unjudged, uint32_t asked) const {
    if (!plan.isDual) return countOf(unjudged);
    const uint32_t lacking = unjudged | ~asked;
    return countOf(lacking & (lacking >> 1) & eitherOf(unjudged));
  }
};

}  // namespace judging
}  // namespace corella

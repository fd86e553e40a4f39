// Who offends in a block, as bits of groups of inputs (offences.ts).
#pragma once
#include <algorithm>

#include "kurtosis/cpu/judging/plan.h"

namespace corella {
namespace judging {

/** Of a group: who offends, and of those who lies below its limits, in a pair of windows, and together with others. */
struct Offenders {
  uint16_t all = 0, below = 0, paired = 0, together = 0;

  /** Who does for itself, in one window. */
  uint32_t alone() const { return all & ~static_cast<uint32_t>(paired | together); }
  uint32_t codeOf(int bit) const {
    const auto one = [bit](uint32_t bits) { return (bits >> bit) & 1; };
    return 1 + one(below) + PAIRED * one(paired) + TOGETHER * one(together);
  }
};

/** Rows that a word of bits holds: threads share rows out by so many. */
constexpr int64_t ROWS_OF_WORD = 64;

class Offences {
 public:
  explicit Offences(const Plan &of) : plan(of) {}

  /** Nobody offends in a block of so many windows. */
  void clear(int64_t windows) {
    forRows([&](int64_t row) { forget(row); });
    forgetRows();
    rows = windows * plan.channels;
    if (static_cast<int64_t>(counts.size()) >= rows) return;
    counts.resize(static_cast<size_t>(rows));
    groups.resize(static_cast<size_t>(rows * plan.groups));
    any.resize(static_cast<size_t>((rows + ROWS_OF_WORD - 1) / ROWS_OF_WORD));
  }

  /** A row's offenders, by whoever has seen them last; all rows are to be forgotten afterwards. */
  void forget(int64_t row) {
    counts[static_cast<size_t>(row)] = 0;
    for (int64_t group = 0; group < plan.groups; group++) at(row, group) = Offenders();
  }
  void forgetRows() { std::fill(any.begin(), any.end(), 0); }

  Offenders &at(int64_t row, int64_t group) { return groups[static_cast<size_t>(row * plan.groups + group)]; }
  const Offenders &at(int64_t place) const { return groups[static_cast<size_t>(place)]; }
  /** How many inputs of a row offend. */
  int32_t countIn(int64_t row) const { return counts[static_cast<size_t>(row)]; }

  /** Inputs of a group of a row offend so, whatever was said of them before. */
  void set(int64_t row, int64_t group, uint32_t bits, uint32_t code) {
    Offenders &to = at(row, group);
    const auto put = [bits](uint16_t &plane, bool isSet) {
      plane = static_cast<uint16_t>(isSet ? plane | bits : plane & ~bits);
    };
    const uint32_t added = bits & ~static_cast<uint32_t>(to.all);
    put(to.all, true);
    put(to.below, code % PAIRED == BELOW);
    put(to.paired, (code & PAIRED) != 0);
    put(to.together, (code & TOGETHER) != 0);
    counts[static_cast<size_t>(row)] += countOf(added);
    any[static_cast<size_t>(row / ROWS_OF_WORD)] |= bitOf(row);
  }

  /** All inputs of a row that are asked and do not offend yet. */
  void setOthers(int64_t row, uint32_t code) {
    for (int64_t group = 0; group < plan.groups; group++) {
      const uint32_t others = plan.asked[static_cast<size_t>(group)] & ~static_cast<uint32_t>(at(row, group).all);
      if (others != 0) set(row, group, others, code);
    }
  }

  /** Calls body(row) of every row in which any offends, ascending; the body may add to rows. */
  template <class Body>
  void forRows(Body &&body) const {
    forRows(0, rows, body);
  }
  /** Of rows [first, end). */
  template <class Body>
  void forRows(int64_t first, int64_t end, Body &&body) const {
    for (int64_t word = first / ROWS_OF_WORD; word * ROWS_OF_WORD < end; word++) {
      uint64_t left = any[static_cast<size_t>(word)];
      if (word * ROWS_OF_WORD < first) left &= ~uint64_t{0} << (first % ROWS_OF_WORD);
      for (; left != 0; left &= left - 1) {
        const int64_t row = word * ROWS_OF_WORD + __builtin_ctzll(left);
        if (row >= end) return;
        body(row);
      }
    }
  }

 private:
  const Plan &plan;
  int64_t rows = 0;
  std::vector<int32_t> counts;    // [w][c]
  std::vector<Offenders> groups;  // [w][c][a / 16]
  std::vector<uint64_t> any;      // [row / 64], a bit for each row in which any offends

  static uint64_t bitOf(int64_t row) { return uint64_t{1} << (row % ROWS_OF_WORD); }
};

}  // namespace judging
}  // namespace corella

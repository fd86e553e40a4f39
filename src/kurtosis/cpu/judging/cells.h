// Kurtoses of windows' channels, added up over those inputs that came whole and do not offend (judging/cells.ts).
#pragma once
#include "kurtosis/cpu/judging/marked.h"

namespace corella {
namespace judging {

/** Both [w][c]; nobody is counted of channels of real numbers. The room is kept from block to block. */
class Cells {
 public:
  std::vector<double> totals;   // of inputs' kurtoses less 1; 0 where none is counted
  std::vector<int32_t> counts;  // of inputs
  std::vector<double> means;    // one over the other, before anything is taken together; where any is counted

  Cells(const Plan &of, const Offences &from) : plan(of), offences(from) {}

  void reserve(int64_t rows) {
    if (static_cast<int64_t>(totals.size()) >= rows) return;
    totals.resize(static_cast<size_t>(rows));
    counts.resize(static_cast<size_t>(rows));
    means.resize(static_cast<size_t>(rows));
  }

  /** Nearly all rows are nothing but noise, and are what was screened. */
  void addScreened(const Block &block, int64_t first, int64_t end) {
    const double *from = block.screen.totals + first * plan.groups;
    const auto asked = static_cast<int32_t>(plan.inputsAsked);
    for (int64_t row = first; row < end; row++) {
      double total = 0;
      for (int64_t group = 0; group < plan.groups; group++) total += *from++;
      totals[static_cast<size_t>(row)] = total;
      counts[static_cast<size_t>(row)] = asked;
      means[static_cast<size_t>(row)] = total / asked;
    }
  }

  /** Those outside their fences are in no total: where they all offend or are silent, and nobody else does, only the count is less. */
  void leaveOutMarked(const Block &block, const std::vector<MarkedGroup> &marked) {
    const auto asked = static_cast<int32_t>(plan.inputsAsked);
    for (size_t n = 0; n < marked.size();) {
      const size_t first = n;
      const int64_t row = marked[n].row;
      int32_t out = 0, offending = 0;
      bool isSame = true;
      for (; n < marked.size() && marked[n].row == row; n++) {
        const uint32_t bits = offences.at(marked[n].place).all;
        isSame = isSame && marked[n].outside == (bits | marked[n].silent) &&
                 areWhole(block, row, marked[n].group, marked[n].outside);
        out += countOf(marked[n].outside);
        offending += countOf(bits);
      }
      if (isSame && offending == offences.countIn(row))
        put(row, totals[static_cast<size_t>(row)], asked - out);
      else
        addRow(block, row, &marked[first], marked.data() + marked.size());
    }
    // Those of pairs offend in windows that are not marked, too.
    offences.forRows([&](int64_t row) {
      if (counts[static_cast<size_t>(row)] == asked) addRow(block, row, nullptr, nullptr);
    });
    for (int64_t w = 0; plan.realChannels > 0 && w < block.windows; w++)
      leaveOut(w * plan.channels, w * plan.channels + plan.realChannels);
  }

  /** Nobody is counted in these rows any more. */
  void leaveOut(int64_t first, int64_t end) {
    std::fill(totals.begin() + first, totals.begin() + end, 0.0);
    std::fill(counts.begin() + first, counts.begin() + end, 0);
  }

 private:
  const Plan &plan;
  const Offences &offences;
  double total = 0;
  int32_t count = 0;

  /** A row in which something is marked, from one of the marked groups on, or offends. */
  void addRow(const Block &block, int64_t row, const MarkedGroup *next, const MarkedGroup *end) {
    total = 0;
    count = 0;
    for (int64_t group = 0; group < plan.groups; group++) {
      const int64_t at = row * plan.groups + group;
      const uint32_t offending = offences.at(at).all;
      const bool isMarked = next != end && next->place == at;
      const uint32_t out = isMarked ? next->outside : 0, silent = isMarked ? next->silent : 0;
      if (isMarked) next++;
      // All within their fences, less those of them that offend, and any outside that do not.
      total += block.screen.totals[at];
      count += plan.askedMany[static_cast<size_t>(group)] - countOf(out);
      if (!areWhole(block, row, group, out)) leaveOutShort(block, row, group, out);
      addInputs(block, row, group, offending & ~out, -1);
      addInputs(block, row, group, out & ~offending & ~silent, 1);
    }
    put(row, total, count);
  }

  void put(int64_t row, double sum, int32_t many) {
    totals[static_cast<size_t>(row)] = sum;
    counts[static_cast<size_t>(row)] = many;
    means[static_cast<size_t>(row)] = sum / many;
  }

  /** Whether these came whole. Only those outside are asked: whoever did not is marked so. */
  bool areWhole(const Block &block, int64_t row, int64_t group, uint32_t bits) const {
    if (block.lost == nullptr) return true;
    const uint32_t *lost = block.lost + row * plan.inputs + group * GROUP;
    for (uint32_t left = bits; left != 0; left &= left - 1)
      if (lost[lowest(left)] != 0) return false;
    return true;
  }

  /** Those marked because they did not come whole were screened as if they had: some are in the total, and none is counted. */
  void leaveOutShort(const Block &block, int64_t row, int64_t group, uint32_t bits) {
    const Fence &fence = fenceOf(block, row);
    const int64_t first = row * plan.inputs + group * GROUP;
    for (uint32_t left = bits; left != 0; left &= left - 1) {
      const int64_t at = first + lowest(left);
      if (block.lost[at] == 0) continue;
      const double s1 = block.sums[2 * at], s2 = block.sums[2 * at + 1];
      const FenceEntry *entry = entryOf(fence, block.screen.tables, s1);
      if (entry == nullptr || !isWithin(*entry, s1, s2)) continue;
      total -= offsetBy(fence, *entry, s1, s2);
    }
  }

  /** To the row's total, or away from it. */
  void addInputs(const Block &block, int64_t row, int64_t group, uint32_t bits, int32_t sign) {
    if (bits == 0) return;
    const Fence &fence = fenceOf(block, row);
    const int64_t first = row * plan.inputs + group * GROUP;
    for (uint32_t left = bits; left != 0; left &= left - 1) {
      const int64_t at = first + lowest(left);
      if (block.lost != nullptr && block.lost[at] != 0) continue;
      const double s1 = block.sums[2 * at], s2 = block.sums[2 * at + 1];
      const FenceEntry *entry = entryOf(fence, block.screen.tables, s1);
      if (entry == nullptr) continue;
      const double off = offsetBy(fence, *entry, s1, s2);
      if (std::isnan(off)) continue;
      total += sign * off;
      count += sign;
    }
  }

  /** Of the row's window. */
  const Fence &fenceOf(const Block &block, int64_t row) const {
    return block.screen.heads[block.screen.places[4 * (row / plan.channels)]];
  }
};

}  // namespace judging
}  // namespace corella

// What is decided of a block, as lists for TypeScript: who offends and who is taken, boxes of what is taken (boxes.ts), and how
// much of it by window, channel and input (judging/summed.ts).
#pragma once
#include <algorithm>
#include <cstring>

#include "kurtosis/cpu/judging/offences.h"

namespace corella {
namespace judging {

/** A SpectraGap (boxes.ts), as six int32. */
struct TakenBox {
  int32_t firstChannel, endChannel, firstInput, endInput, firstSample, endSample;
};
static_assert(sizeof(TakenBox) == 6 * sizeof(int32_t), "native-judge.ts reads boxes of six int32");

/** A list that is written anew for each block, in room that was made before. */
template <class Element>
class List {
 public:
  void clear(int64_t most) {
    if (static_cast<int64_t>(room.size()) < most) room.resize(static_cast<size_t>(most));
    length = 0;
  }
  void add(const Element &one) { room[static_cast<size_t>(length++)] = one; }
  /** So many that whoever asks writes. */
  Element *grow(int64_t many) {
    Element *from = room.data() + length;
    length += many;
    return from;
  }
  void shorten(int64_t to) { length = to; }
  int64_t size() const { return length; }
  const Element *data() const { return room.data(); }
  Element &operator[](int64_t n) { return room[static_cast<size_t>(n)]; }

 private:
  std::vector<Element> room;
  int64_t length = 0;
};

/** Of some windows of a block. */
class Outcome {
 public:
  List<int32_t> offending, taken, common, everywhere;
  List<uint8_t> codes;
  List<TakenBox> boxes;
  /** Samples taken, [w from the first] and [c], and of windows in which the input itself offended, [a]. */
  std::vector<double> byWindow, byChannel, byInput;
  /** Of those taken, who offends above its limits and below. */
  int64_t above = 0, below = 0;

  explicit Outcome(const Plan &of) : plan(of) {}

  /**
   * Of windows [from, to), whose offenders are forgotten row by row. judged : [w][c], stations that can be judged;
   * dropped : [w], how many of a window's cannot; weakBursts ascend.
   */
  void decide(const Block &block, int64_t from, int64_t to, Offences &offences, const std::vector<int32_t> &judged,
              const std::vector<int64_t> &dropped, const std::vector<int32_t> &weakBursts) {
    clear(block, from, to, offences);
    for (int64_t w = from; w < to; w++) {
      const int64_t before = common.size(), first = w * plan.channels, end = first + plan.channels;
      int64_t stations = 0;
      offences.forRows(first, end, [&](int64_t row) {
        const int64_t many = stationsIn(offences, row);
        stations += many;
        if (2 * many > judged[static_cast<size_t>(row)]) common.add(static_cast<int32_t>(row));
      });
      const int64_t cells = plan.channels * plan.stationsAsked - dropped[static_cast<size_t>(w)];
      bool isKept = false;
      if (cells >= LEAST_CELLS && 2 * stations > cells) {
        everywhere.add(static_cast<int32_t>(w));
        isKept = plan.keepsBursts;
      } else if (std::binary_search(weakBursts.begin(), weakBursts.end(), static_cast<int32_t>(w))) {
        // Kept as it is: what single channels lose, they lose for themselves.
        everywhere.add(static_cast<int32_t>(w));
        common.shorten(before);
        for (int64_t row = first; row < end; row++) common.add(static_cast<int32_t>(row));
      }
      open.clear();
      offences.forRows(first, end, [&](int64_t row) {
        findGroups(offences, row);
        list(offences, row);
        if (!isKept) take(block, offences, w, row, byWindow[static_cast<size_t>(w - from)]);
        offences.forget(row);
      });
    }
  }

 private:
  /** Fewer cells than this are not everywhere. */
  static constexpr int64_t LEAST_CELLS = 8;
  const Plan &plan;
  /** Boxes of the last row and of this one, by their first input. */
  std::vector<int64_t> open, found;
  int64_t lastRow = -1;
  /** Groups of the row at hand in which any offends. */
  std::vector<int32_t> here;
  int64_t many = 0;

  void clear(const Block &block, int64_t from, int64_t to, const Offences &offences) {
    int64_t many = 0;
    offences.forRows(from * plan.channels, to * plan.channels, [&](int64_t row) { many += offences.countIn(row); });
    offending.clear(many);
    codes.clear(many);
    taken.clear(2 * many);
    boxes.clear(many);
    common.clear((to - from) * plan.channels);
    everywhere.clear(block.windows);
    byWindow.assign(static_cast<size_t>(to - from), 0);
    byChannel.assign(static_cast<size_t>(plan.channels), 0);
    byInput.assign(static_cast<size_t>(plan.inputs), 0);
    here.resize(static_cast<size_t>(plan.groups));
    above = below = 0;
  }

  int64_t stationsIn(Offences &offences, int64_t row) const {
    int64_t stations = 0;
    for (int64_t group = 0; group < plan.groups; group++) {
      const uint32_t bits = offences.at(row, group).all;
      stations += countOf(plan.isDual ? eitherOf(bits) : bits);
    }
    return stations;
  }

  /** Groups of a row in which any offends; added up instead of branched upon, since nobody foresees which. */
  void findGroups(Offences &offences, int64_t row) {
    many = 0;
    for (int32_t group = 0; group < plan.groups; group++) {
      here[static_cast<size_t>(many)] = group;
      many += offences.at(row, group).all != 0;
    }
  }

  /** Places of bits, ascending. */
  static void addPlaces(List<int32_t> &to, int64_t first, uint32_t bits) {
    const auto from = static_cast<int32_t>(first);
    if (bits == 0xffff) {
      int32_t *places = to.grow(GROUP);
      for (int32_t n = 0; n < GROUP; n++) places[n] = from + n;
      return;
    }
    for (uint32_t left = bits; left != 0; left &= left - 1) to.add(from + lowest(left));
  }

  /** A row's offenders. */
  void list(Offences &offences, int64_t row) {
    for (int64_t n = 0; n < many; n++) {
      const int64_t group = here[static_cast<size_t>(n)];
      const Offenders &bits = offences.at(row, group);
      addPlaces(offending, row * plan.inputs + group * GROUP, bits.all);
      const auto isSame = [&](uint16_t plane) { return plane == 0 || plane == bits.all; };
      if (isSame(bits.below) && isSame(bits.paired) && isSame(bits.together)) {
        const int32_t inputs = countOf(bits.all);
        std::memset(codes.grow(inputs), static_cast<int>(bits.codeOf(lowest(bits.all))), static_cast<size_t>(inputs));
      } else {
        for (uint32_t left = bits.all; left != 0; left &= left - 1)
          codes.add(static_cast<uint8_t>(bits.codeOf(lowest(left))));
      }
    }
  }

  /** All of a row that offend, and the other polarisation of each where stations go. */
  void take(const Block &block, Offences &offences, int64_t w, int64_t row, double &ofWindow) {
    const bool areWhole = plan.takesStations && plan.isDual;
    const int64_t length = block.edges[w + 1] - block.edges[w], c = row - w * plan.channels;
    int64_t samples = 0, next = 0;
    if (row != lastRow + 1) open.clear();
    lastRow = row;
    found.clear();
    /** Inputs that follow on each other. */
    int64_t from = -1, to = -1;
    const auto close = [&] {
      if (from >= 0) addBox(block, w, static_cast<int32_t>(c), from, to, next);
    };
    for (int64_t n = 0; n < many; n++) {
      const int64_t group = here[static_cast<size_t>(n)];
      const Offenders &mine = offences.at(row, group);
      const uint32_t either = eitherOf(mine.all), bits = areWhole ? either | either << 1 : mine.all;
      const int64_t first = row * plan.inputs + group * GROUP;
      addPlaces(taken, first, bits);
      samples += samplesOf(block, length, first, bits);
      addOffending(block, length, first, group, mine);
      for (uint32_t left = bits; left != 0;) {
        const int64_t begin = lowest(left), end = begin + lowest(~(left >> begin));
        if (group * GROUP + begin != to) {
          close();
          from = group * GROUP + begin;
        }
        to = group * GROUP + end;
        left &= ~uint32_t{0} << end;
      }
    }
    close();
    open.swap(found);
    ofWindow += static_cast<double>(samples);
    byChannel[static_cast<size_t>(c)] += static_cast<double>(samples);
  }

  static int64_t samplesOf(const Block &block, int64_t length, int64_t first, uint32_t bits) {
    int64_t samples = length * countOf(bits);
    if (block.lost == nullptr) return samples;
    for (uint32_t left = bits; left != 0; left &= left - 1) samples -= block.lost[first + lowest(left)];
    return samples;
  }

  void addOffending(const Block &block, int64_t length, int64_t first, int64_t group, const Offenders &bits) {
    below += countOf(bits.below);
    above += countOf(bits.all & ~static_cast<uint32_t>(bits.below));
    double *to = byInput.data() + group * GROUP;
    if (bits.all == 0xffff && block.lost == nullptr) {
      for (int64_t a = 0; a < GROUP; a++) to[a] += static_cast<double>(length);
      return;
    }
    for (uint32_t left = bits.all; left != 0; left &= left - 1) {
      const int a = lowest(left);
      to[a] += static_cast<double>(block.lost == nullptr ? length : length - block.lost[first + a]);
    }
  }

  /** The same inputs in neighbouring channels make one box. */
  void addBox(const Block &block, int64_t w, int32_t c, int64_t firstInput, int64_t endInput, int64_t &next) {
    while (next < static_cast<int64_t>(open.size()) && boxes[open[static_cast<size_t>(next)]].firstInput < firstInput)
      next++;
    if (next < static_cast<int64_t>(open.size())) {
      TakenBox &box = boxes[open[static_cast<size_t>(next)]];
      if (box.firstInput == firstInput && box.endInput == endInput) {
        box.endChannel = c + 1;
        found.push_back(open[static_cast<size_t>(next)]);
        return;
      }
    }
    found.push_back(boxes.size());
    boxes.add({c, c + 1, static_cast<int32_t>(firstInput), static_cast<int32_t>(endInput), block.edges[w],
               block.edges[w + 1]});
  }
};

}  // namespace judging
}  // namespace corella

// rounding: every step
// Judges blocks by spectral kurtosis as judge.ts does, bit for bit. Rows, [w][c], are shared out to threads as long as each is
// judged for itself; what is found is the same whoever found it.
#include "backend/cpu/context.h"
#include "kurtosis/cpu/judging/neighbours.h"
#include "kurtosis/cpu/judging/outcome.h"
#include "kurtosis/cpu/judging/together.h"

namespace corella {
namespace judging {
namespace {

/** What did not come: places in [w][c][a], ascending, and how many spectra each. */
struct Missing {
  const int32_t *places;
  const uint32_t *lost;
  int64_t count;
};

/** Its rooms are kept from block to block. */
class Judge {
 public:
  const Plan plan;
  LimitTables limits;
  std::vector<Wanted> wanted;
  /** Of windows one after the other, `decided` of them. */
  std::vector<Outcome> outcomes;
  int64_t decided = 0;
  int64_t unjudged = 0;

  /** With a pool that nobody else keeps busy, or without one. */
  Judge(Plan of, Pool *with)
      : plan(std::move(of)),
        pool(with),
        offences(plan),
        cells(plan, offences),
        marking(plan, limits, offences),
        neighbours(plan, limits, offences),
        together(plan, limits, offences, cells) {}

  /** Where limits are wanted nothing was judged, and the block is to be given once more. */
  void judge(Block block, const Missing &missing, double variance) {
    const int64_t rows = block.windows * plan.channels;
    check(block, missing);
    decided = 0;
    offences.clear(block.windows);
    cells.reserve(rows);
    judged.resize(std::max(judged.size(), static_cast<size_t>(rows)));
    block.lost = findLost(missing, rows * plan.inputs);
    marking.addMissing(block, missing.places, missing.count);
    judgeRows(block, rows);
    neighbours.judgePairs(block, marked, wanted);
    if (!wanted.empty()) return;
    neighbours.takeBetween(block.windows);
    const std::vector<int32_t> none, *weakBursts = &none;
    if (together.canJudge(block.windows)) {
      const Together::Nears before = together.near;
      cells.leaveOutMarked(block, marked);
      weakBursts = &together.judge(block, variance);
      wanted = together.wanted;
      if (!wanted.empty()) {
        together.near = before;
        return;
      }
    }
    neighbours.takeNeighbours(block.windows, judged);
    if (!plan.keepsBursts)
      for (const int32_t w : *weakBursts)
        for (int64_t c = 0; c < plan.channels; c++) offences.setOthers(w * plan.channels + c, TOGETHER + ABOVE);
    decide(block, *weakBursts);
  }

 private:
  /** Rows that a thread judges at a time: of so many groups, some ten microseconds. */
  static constexpr int64_t GROUPS_AT_ONCE = 4096;
  /** Some windows hold more than others. */
  static constexpr int64_t PARTS_OF_THREAD = 2;

  Pool *const pool;
  Offences offences;
  Cells cells;
  const Marking marking;
  Neighbours neighbours;
  Together together;
  std::vector<Found> found;
  std::vector<MarkedGroup> marked;
  std::vector<int32_t> judged;     // [w][c], stations that can be judged
  std::vector<int64_t> droppedIn;  // [w], how many cannot, of all channels
  std::vector<uint32_t> lost;      // [w][c][a], spectra that did not come
  std::vector<int32_t> lastPlaces;

  void check(const Block &block, const Missing &missing) const {
    require(block.windows >= 1, "there is no window");
    const int64_t cells = block.windows * plan.channels * plan.inputs;
    require(cells < int64_t{1} << 31, "more windows of channels and inputs than can be judged at once");
    for (int64_t n = 0; n < missing.count; n++) {
      require(missing.places[n] >= 0 && missing.places[n] < cells, "what is missing lies beyond the windows");
      require(n == 0 || missing.places[n] > missing.places[n - 1], "what is missing must ascend");
    }
  }

  /** Cleared by what was written. */
  const uint32_t *findLost(const Missing &missing, int64_t all) {
    for (const int32_t place : lastPlaces) lost[static_cast<size_t>(place)] = 0;
    lastPlaces.clear();
    if (missing.count == 0) return nullptr;
    if (static_cast<int64_t>(lost.size()) < all) lost.resize(static_cast<size_t>(all));
    lastPlaces.assign(missing.places, missing.places + missing.count);
    for (int64_t n = 0; n < missing.count; n++) lost[static_cast<size_t>(missing.places[n])] = missing.lost[n];
    return lost.data();
  }

  void judgeRows(const Block &block, int64_t rows) {
    const int64_t words = std::max<int64_t>(1, GROUPS_AT_ONCE / (ROWS_OF_WORD * plan.groups));
    const int64_t atOnce = words * ROWS_OF_WORD, parts = (rows + atOnce - 1) / atOnce;
    if (static_cast<int64_t>(found.size()) < parts) found.resize(static_cast<size_t>(parts));
    const auto part = [&](int64_t n, int) {
      const int64_t first = n * atOnce, end = std::min(rows, first + atOnce);
      std::fill(judged.begin() + first, judged.begin() + end, static_cast<int32_t>(plan.stationsAsked));
      found[static_cast<size_t>(n)].clear();
      marking.judgeRows(block, first, end, found[static_cast<size_t>(n)]);
      cells.addScreened(block, first, end);
    };
    share(parts, part);
    gather(block.windows, parts);
  }

  template <class Body>
  void share(int64_t parts, Body &&body) {
    if (pool != nullptr && parts > 1)
      pool->run(parts, body);
    else
      for (int64_t n = 0; n < parts; n++) body(n, 0);
  }

  void decide(const Block &block, const std::vector<int32_t> &weakBursts) {
    decided = pool == nullptr ? 1 : std::min<int64_t>(block.windows, PARTS_OF_THREAD * pool->threads());
    while (static_cast<int64_t>(outcomes.size()) < decided) outcomes.emplace_back(plan);
    share(decided, [&](int64_t n, int) {
      const int64_t from = n * block.windows / decided, to = (n + 1) * block.windows / decided;
      outcomes[static_cast<size_t>(n)].decide(block, from, to, offences, judged, droppedIn, weakBursts);
    });
    offences.forgetRows();
  }

  /** What the threads found, in the order of rows. */
  void gather(int64_t windows, int64_t parts) {
    marked.clear();
    wanted.clear();
    unjudged = 0;
    droppedIn.assign(static_cast<size_t>(windows), 0);
    for (int64_t n = 0; n < parts; n++) {
      const Found &one = found[static_cast<size_t>(n)];
      marked.insert(marked.end(), one.groups.begin(), one.groups.end());
      wanted.insert(wanted.end(), one.wanted.begin(), one.wanted.end());
      unjudged += one.unjudged;
      for (const Dropped &gone : one.dropped) {
        judged[static_cast<size_t>(gone.row)] -= gone.many;
        droppedIn[static_cast<size_t>(gone.row / plan.channels)] += gone.many;
      }
    }
  }
};

Curve readCurve(const double *&from) {
  Curve curve;
  curve.leastPower = *from++;
  curve.plainFrom = *from++;
  curve.plainTo = *from++;
  curve.firstOctave = *from++;
  const auto entries = static_cast<size_t>(*from++);
  curve.means.assign(from, from + entries);
  curve.spreads.assign(from + entries, from + 2 * entries);
  from += 2 * entries;
  return curve;
}

template <class Listed>
void copyOut(const Listed &from, char *&to) {
  const size_t bytes = static_cast<size_t>(from.size()) * sizeof *from.data();
  if (bytes > 0) std::memcpy(to, from.data(), bytes);
  to += bytes;
}

}  // namespace
}  // namespace judging
}  // namespace corella

using namespace corella;

// flaggedInputs : [a]; crowds : [inputs asked + 1]; curves : of complex and of real channels, each [least power, plain from,
// plain to, first octave, entries] and its means and spreads. `shares`: whether the context's threads help.
CORELLA_EXPORT int32_t corella_judging_open(char *error, void *context, int64_t channels, int64_t inputs,
                                            int64_t realChannels, int32_t polarisations, int32_t keepsBursts,
                                            int32_t takesStations, double sigmas, const uint8_t *flaggedInputs,
                                            const int32_t *crowds, const double *curves, int32_t shares, void **judge) {
  return withContext(error, context, [&](Context &open) {
    require(channels >= 1 && inputs >= 1, "a block has a size below 1");
    judging::Plan plan;
    plan.channels = channels;
    plan.inputs = inputs;
    plan.realChannels = realChannels;
    plan.isDual = polarisations == 2;
    plan.keepsBursts = keepsBursts != 0;
    plan.takesStations = takesStations != 0;
    plan.sigmas = sigmas;
    plan.flagged.assign(flaggedInputs, flaggedInputs + inputs);
    plan.complex = judging::readCurve(curves);
    plan.real = judging::readCurve(curves);
    plan.prepare();
    plan.crowds.assign(crowds, crowds + plan.inputsAsked + 1);
    Pool *pool = shares != 0 && open.pool.threads() > 1 ? &open.pool : nullptr;
    *judge = open.keep(std::make_unique<judging::Judge>(std::move(plan), pool));
  });
}

// sums : [w][c][a][S1, S2]; missing, lost : [n]; the screen as in kurtosis_screen.h, its marks are written to; counts : [wanted,
// offending, taken, common, everywhere, boxes, unjudged, above, below]. Where limits are wanted nothing else was counted.
CORELLA_EXPORT int32_t corella_judging_run(char *error, void *context, void *judge, const int32_t *edges,
                                           int64_t windows, double variance, const double *sums, const int32_t *missing,
                                           const uint32_t *lost, int64_t missingCount, int64_t fences,
                                           const double *heads, const double *tables, const int32_t *places,
                                           uint8_t *marks, uint8_t *groupMarks, double *totals, int32_t *counts) {
  return withContext(error, context, [&](Context &) {
    auto &mine = *static_cast<judging::Judge *>(judge);
    for (int64_t n = 0; n < 4 * windows; n++) require(places[n] >= 0 && places[n] < fences, "a window has no fence");
    const judging::Plan &plan = mine.plan;
    const Screen screen{reinterpret_cast<const Fence *>(heads),
                        reinterpret_cast<const FenceEntry *>(tables),
                        places,
                        plan.flagged.data(),
                        plan.realChannels,
                        marks,
                        groupMarks,
                        totals};
    mine.judge({edges, windows, sums, nullptr, screen}, {missing, lost, missingCount}, variance);
    int64_t all[] = {static_cast<int64_t>(mine.wanted.size()), 0, 0, 0, 0, 0, mine.unjudged, 0, 0};
    for (int64_t n = 0; n < mine.decided; n++) {
      const judging::Outcome &made = mine.outcomes[static_cast<size_t>(n)];
      const int64_t here[] = {0,
                              made.offending.size(),
                              made.taken.size(),
                              made.common.size(),
                              made.everywhere.size(),
                              made.boxes.size(),
                              0,
                              made.above,
                              made.below};
      for (size_t k = 0; k < std::size(all); k++) all[k] += here[k];
    }
    for (size_t k = 0; k < std::size(all); k++) counts[k] = static_cast<int32_t>(all[k]);
  });
}

// Which limits the last block lacked: places : [wanted][key, step].
CORELLA_EXPORT int32_t corella_judging_wanted(char *error, void *context, void *judge, int32_t *places) {
  return withContext(error, context, [&](Context &) {
    char *to = reinterpret_cast<char *>(places);
    judging::copyOut(static_cast<judging::Judge *>(judge)->wanted, to);
  });
}

// limits : [count][low, high] of places : [count][key, step].
CORELLA_EXPORT int32_t corella_judging_limits(char *error, void *context, void *judge, int64_t count,
                                              const int32_t *places, const double *limits) {
  return withContext(error, context, [&](Context &) {
    for (int64_t n = 0; n < count; n++) {
      require(places[2 * n] >= 0, "limits of fewer than no spectra");
      static_cast<judging::Judge *>(judge)->limits.add({places[2 * n], places[2 * n + 1]},
                                                       {limits[2 * n], limits[2 * n + 1]});
    }
  });
}

// All that was counted of the last block, one behind the other: byWindow : [w], byChannel : [c], byInput : [a] as float64, then
// offending, taken, common, everywhere and boxes : [n][6 numbers] as int32, then codes.
CORELLA_EXPORT int32_t corella_judging_lists(char *error, void *context, void *judge, uint8_t *lists) {
  return withContext(error, context, [&](Context &) {
    const auto &mine = *static_cast<judging::Judge *>(judge);
    const judging::Outcome *first = mine.outcomes.data(), *end = first + mine.decided;
    char *to = reinterpret_cast<char *>(lists);
    for (auto one = first; one < end; one++) judging::copyOut(one->byWindow, to);
    const auto addUp = [&](auto &&of) {
      auto *sums = reinterpret_cast<double *>(to);
      judging::copyOut(of(*first), to);
      for (auto one = first + 1; one < end; one++)
        for (size_t n = 0; n < of(*one).size(); n++) sums[n] += of(*one)[n];
    };
    addUp([](const judging::Outcome &one) -> const auto & { return one.byChannel; });
    addUp([](const judging::Outcome &one) -> const auto & { return one.byInput; });
    for (auto one = first; one < end; one++) judging::copyOut(one->offending, to);
    for (auto one = first; one < end; one++) judging::copyOut(one->taken, to);
    for (auto one = first; one < end; one++) judging::copyOut(one->common, to);
    for (auto one = first; one < end; one++) judging::copyOut(one->everywhere, to);
    for (auto one = first; one < end; one++) judging::copyOut(one->boxes, to);
    for (auto one = first; one < end; one++) judging::copyOut(one->codes, to);
  });
}

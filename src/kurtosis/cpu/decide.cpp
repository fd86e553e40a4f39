// rounding: every step
// Decides blocks by spectral kurtosis, by the rules of decide.ts and code for code the same: every sum and product is rounded as it
// is there, in the same order. Channels are shared out to threads; what is said of all of them is found in between.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "backend/cpu/context.h"

namespace corella {
namespace {

/** decision.ts */
enum : uint8_t { ABOVE = 1, BELOW = 2, SIDES = 3, WIDER = 4, KEPT = 8, UNTESTED = 16 };
enum : uint8_t { BURST = 1, OVERLOAD = 2 };
/** decide.ts */
constexpr double LEAST_OFFSET = 0.04, MAD_TO_SIGMA = 1.4826, CHANNELS_ALIKE = 1.5;
constexpr int64_t LEAST_CHANNELS = 8, LEAST_ROWS = 32, LEAST_CELLS = 8;
constexpr int32_t FILL = 3;
constexpr int64_t PARTS_PER_THREAD = 4;

/** As tables.ts packs them: float64 each. */
struct Head {
  double spectra, leastPower, firstKey, scale, entries, firstEntry;
};
struct Entry {
  double offset, perSpread, low, high;
};
struct Mean {
  double count, low, high;
};
static_assert(sizeof(Head) == 48 && sizeof(Entry) == 32 && sizeof(Mean) == 24, "tables.ts packs float64");

/** As in corella_kurtosis_decide. */
struct Sizes {
  int64_t channels, inputs, polarisations, realChannels, windows, lengths, steps;
  bool overInputs, keepsBursts;
};
struct Block {
  const uint8_t *flaggedInputs;
  const int32_t *edges;
  const double *sums;
  const uint32_t *lost;
  uint8_t *codes, *bursts;
};
struct Tables {
  const Head *heads;
  const Entry *entries;
  const int32_t *pairs, *byLength;
  const Mean *means;
  double sigma;
};
struct Given : Sizes, Block, Tables {};

uint8_t sideOf(double value, double low, double high) {
  return value > high ? uint8_t{ABOVE} : value < low ? uint8_t{BELOW} : uint8_t{0};
}
bool isFlagged(uint8_t code) { return (code & SIDES) != 0 && (code & KEPT) == 0; }
/** The upper of two middle values. */
double median(std::vector<double> &values) {
  const auto middle = values.begin() + static_cast<int64_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

class Decision {
 public:
  Decision(const Given &of, Pool *with)
      : given(of), pool(with), rows(of.windows * of.channels), room(static_cast<size_t>(4 * rows)) {
    for (int64_t a = 0; a < given.inputs; a++)
      if (given.flaggedInputs[a] == 0) used.push_back(a);
    std::memset(given.bursts, 0, static_cast<size_t>(given.windows));
  }

  void run() {
    share([&](int64_t c) { testInputs(c); });
    findMeans();
    share([&](int64_t c) {
      if (usesMeans && c >= given.realChannels) testMeans(c);
    });
    for (int64_t w = 0; w < given.windows; w++) findBurst(w);
    share([&](int64_t c) {
      if (!given.overInputs) testPairs(c);
      if (usesMeans && c >= given.realChannels) testRuns(c);
      fillChannel(c);
    });
  }

 private:
  struct Tested {
    double z, within;
    uint8_t code;
  };

  const Given &given;
  Pool *const pool;
  const int64_t rows;
  std::vector<double> room;
  std::vector<int64_t> used;
  /**
   * [w][c], of whole windows: their number, and z of all, clipped to their limits; the number within limits, and their
   * z.
   */
  double *const many = room.data(), *const clipped = many + rows, *const good = clipped + rows,
                *const total = good + rows;
  bool usesMeans = false;
  double bias = 0, inflation = 1;

  int64_t rowOf(int64_t w, int64_t c) const { return w * given.channels + c; }
  uint8_t *codesOf(int64_t row) const { return given.codes + row * given.inputs; }
  bool isBurst(int64_t w) const { return given.bursts[w] == BURST; }
  /** Most rows are noise, and have no code. */
  bool hasCodes(int64_t row) const {
    const uint8_t *codes = codesOf(row);
    uint8_t any = 0;
    for (int64_t a = 0; a < given.inputs; a++) any |= codes[a];
    return any != 0;
  }

  /** Neighbouring channels are processed together: their codes are in the same cache lines. */
  template <class Body>
  void share(Body &&body) {
    const int64_t parts = pool == nullptr ? 1 : std::min<int64_t>(given.channels, PARTS_PER_THREAD * pool->threads());
    const auto some = [&](int64_t part, int) {
      for (int64_t c = part * given.channels / parts; c < (part + 1) * given.channels / parts; c++) body(c);
    };
    if (pool != nullptr)
      pool->run(parts, some);
    else
      some(0, 0);
  }

  Tested test(int32_t table, double s1, double s2) const {
    const Head &head = given.heads[std::max(0, table)];
    const double power = s1 / head.spectra;
    if (table < 0 || !(power >= head.leastPower)) return {0, 0, UNTESTED};
    int64_t bits;
    std::memcpy(&bits, &power, sizeof bits);
    // The octave and a 32nd of it; powers are positive.
    const int64_t key = (bits >> 47) - static_cast<int64_t>(head.firstKey);
    const int64_t at = std::min(std::max<int64_t>(0, key), static_cast<int64_t>(head.entries) - 1);
    const Entry &entry = given.entries[static_cast<int64_t>(head.firstEntry) + at];
    const double z = ((head.scale * s2) / (s1 * s1) - entry.offset) * entry.perSpread;
    if (std::isnan(z)) return {0, 0, UNTESTED};
    return {z, std::min(entry.high, std::max(entry.low, z)), sideOf(z, entry.low, entry.high)};
  }

  const Mean &limitsOf(double count) const {
    int64_t step = 0;
    while (step + 1 < given.steps && given.means[step + 1].count <= count) step++;
    return given.means[step];
  }

  uint8_t sideOfMean(double sum, double count, double alike = 1) const {
    const Mean &limits = limitsOf(count / (inflation * alike));
    return sideOf(sum / count - bias, std::min(-LEAST_OFFSET, limits.low), std::max(LEAST_OFFSET, limits.high));
  }

  /** All inputs of a row that have no code yet. */
  void flagRow(int64_t row, uint8_t side) {
    uint8_t *codes = codesOf(row);
    for (const int64_t a : used)
      if ((codes[a] & SIDES) == 0) codes[a] |= side | WIDER;
  }

  void testInputs(int64_t c) {
    const int64_t kind = c < given.realChannels ? 1 : 0;
    for (int64_t w = 0; w < given.windows; w++) {
      const int64_t row = rowOf(w, c), length = given.edges[w + 1] - given.edges[w];
      uint8_t *codes = codesOf(row);
      std::memset(codes, 0, static_cast<size_t>(given.inputs));
      double sum = 0;
      for (const int64_t a : used) {
        const int64_t at = row * given.inputs + a, missing = given.lost == nullptr ? 0 : given.lost[at];
        const Tested made =
            test(given.byLength[kind * given.lengths + length - missing], given.sums[2 * at], given.sums[2 * at + 1]);
        codes[a] = made.code;
        if (missing > 0 || made.code == UNTESTED) continue;
        many[row]++;
        clipped[row] += made.within;
        sum += made.z;
        if (codes[a] != 0) continue;
        good[row]++;
        total[row] += made.z;
      }
      if (!given.overInputs || many[row] < 2) continue;
      for (const int64_t a : used) codes[a] &= UNTESTED;
      const Mean &limits = limitsOf(many[row]);
      const uint8_t side = sideOf(sum / many[row], limits.low, limits.high);
      if (side != 0) flagRow(row, side);
    }
  }

  void findMeans() {
    if (given.overInputs || given.channels - given.realChannels < LEAST_CHANNELS) return;
    std::vector<double> means, scatter;
    std::vector<int64_t> complexRows;
    for (int64_t row = 0; row < rows; row++)
      if (good[row] > 0 && row % given.channels >= given.realChannels) complexRows.push_back(row);
    usesMeans = static_cast<int64_t>(complexRows.size()) >= LEAST_ROWS;
    if (!usesMeans) return;
    for (const int64_t row : complexRows) means.push_back(total[row] / good[row]);
    bias = std::min(LEAST_OFFSET, median(means));
    for (const int64_t row : complexRows)
      scatter.push_back((std::abs(total[row] / good[row] - bias) * std::sqrt(good[row])) / given.sigma);
    const double spread = MAD_TO_SIGMA * median(scatter);
    inflation = std::max(1.0, spread * spread);
    for (int64_t w = 0; w < given.windows; w++) {
      double sum = 0, count = 0;
      for (int64_t row = rowOf(w, given.realChannels); row < rowOf(w + 1, 0); row++) {
        sum += total[row];
        count += good[row];
      }
      if (count > 0 && sideOfMean(sum, count, CHANNELS_ALIKE) == ABOVE) given.bursts[w] = BURST;
    }
  }

  void testMeans(int64_t c) {
    for (int64_t row = c; row < rows; row += given.channels) {
      const uint8_t side = many[row] < 2 ? uint8_t{0} : sideOfMean(clipped[row], many[row]);
      if (side == 0) continue;
      flagRow(row, side);
      good[row] = total[row] = 0;
    }
  }

  void findBurst(int64_t w) {
    const int64_t first = rowOf(w, 0), end = rowOf(w + 1, 0);
    int64_t tested[2] = {}, above[2] = {}, below[2] = {}, all[2] = {};
    for (const int64_t a : used) all[a & (given.polarisations - 1)]++;
    for (int64_t row = first; row < end; row++) {
      if (!hasCodes(row)) {
        for (int64_t p = 0; p < given.polarisations; p++) tested[p] += all[p];
        continue;
      }
      for (const int64_t a : used) {
        const uint8_t code = codesOf(row)[a];
        const int64_t p = a & (given.polarisations - 1);
        tested[p] += (code & UNTESTED) == 0;
        above[p] += (code & (ABOVE | UNTESTED)) == ABOVE;
        below[p] += (code & (BELOW | UNTESTED)) == BELOW;
      }
    }
    for (int64_t p = given.polarisations - 1; p >= 0; p--) {
      if (tested[p] < LEAST_CELLS) continue;
      if (2 * below[p] > tested[p] && given.bursts[w] == 0) given.bursts[w] = OVERLOAD;
      if (2 * above[p] > tested[p]) given.bursts[w] = BURST;
    }
    for (int64_t row = first; row < end && isBurst(w); row++) {
      good[row] = total[row] = 0;
      if (!given.keepsBursts) flagRow(row, ABOVE);
      for (const int64_t a : used) codesOf(row)[a] |= given.keepsBursts && (codesOf(row)[a] & ABOVE) != 0 ? KEPT : 0;
    }
  }

  void testPairs(int64_t c) {
    const double *sums = given.sums;
    for (int64_t w = 0; w + 1 < given.windows; w++) {
      if (isBurst(w) || isBurst(w + 1)) continue;
      const int32_t table = given.pairs[2 * w + (c < given.realChannels ? 1 : 0)];
      for (const int64_t a : used) {
        const int64_t x = rowOf(w, c) * given.inputs + a, y = rowOf(w + 1, c) * given.inputs + a;
        if (((given.codes[x] | given.codes[y]) & SIDES) != 0) continue;
        if (given.lost != nullptr && given.lost[x] + given.lost[y] > 0) continue;
        const uint8_t side = test(table, sums[2 * x] + sums[2 * y], sums[2 * x + 1] + sums[2 * y + 1]).code & SIDES;
        if (side == 0) continue;
        given.codes[x] |= side | WIDER;
        given.codes[y] |= side | WIDER;
      }
    }
  }

  void testRuns(int64_t c) {
    for (int64_t run = 2; run <= given.windows; run *= 2)
      for (int64_t from = 0; from < given.windows; from += run / 2) {
        const int64_t to = std::min(given.windows, from + run);
        double sum = 0, count = 0;
        for (int64_t w = from; w < to; w++) {
          sum += total[rowOf(w, c)];
          count += good[rowOf(w, c)];
        }
        const uint8_t side = count == 0 ? uint8_t{0} : sideOfMean(sum, count);
        for (int64_t w = from; w < to && side != 0; w++)
          if (!(given.keepsBursts && isBurst(w))) flagRow(rowOf(w, c), side);
      }
  }

  void fillChannel(int64_t c) {
    std::vector<uint8_t> any(static_cast<size_t>(given.inputs));
    for (int64_t row = c; row < rows; row += given.channels)
      if (hasCodes(row))
        for (int64_t a = 0; a < given.inputs; a++) any[static_cast<size_t>(a)] |= isFlagged(codesOf(row)[a]);
    for (const int64_t a : used)
      if (any[static_cast<size_t>(a)] != 0) fill(c, a);
  }

  void fill(int64_t c, int64_t a) {
    const auto code = [&](int64_t w) -> uint8_t & { return codesOf(rowOf(w, c))[a]; };
    std::vector<int64_t> counted, kept;
    for (int64_t w = 0; w < given.windows; w++)
      (isFlagged(code(w)) || !(given.keepsBursts && isBurst(w)) ? counted : kept).push_back(w);
    // Sums of 1 and −3: a window is flagged where some run around it has a sum of 0 or more, the maximum after it less
    // the minimum before.
    const size_t length = counted.size();
    std::vector<int32_t> sums(length + 1), most(length + 1);
    for (size_t n = 0; n < length; n++) sums[n + 1] = sums[n] + (isFlagged(code(counted[n])) ? 1 : -FILL);
    most[length] = sums[length];
    for (size_t n = length; n-- > 0;) most[n] = std::max(sums[n], most[n + 1]);
    int32_t least = 0;
    for (size_t n = 0; n < length; n++) {
      least = std::min(least, sums[n]);
      if (most[n + 1] >= least && !isFlagged(code(counted[n]))) code(counted[n]) |= ABOVE | WIDER;
    }
    for (const int64_t w : kept) {
      const auto after = std::upper_bound(counted.begin(), counted.end(), w);
      if (after != counted.end() && !isFlagged(code(*after))) continue;
      if (after != counted.begin() && !isFlagged(code(*(after - 1)))) continue;
      code(w) = static_cast<uint8_t>((code(w) & ~(SIDES | KEPT)) | BELOW | WIDER);
    }
  }
};

}  // namespace
}  // namespace corella

using namespace corella;

// options : [mean over inputs, keeps bursts, threads of the context help]; flaggedInputs : [a]; edges : [w + 1]; sums :
// [w][c][a][S1, S2]; lost : [w][c][a], `missing` numbers or none; tables as tables.ts has them. Writes codes : [w][c][a], bursts : [w].
CORELLA_EXPORT int32_t corella_kurtosis_decide(char *error, void *context, int64_t channels, int64_t inputs,
                                               int64_t polarisations, int64_t realChannels, const uint8_t *options,
                                               const uint8_t *flaggedInputs, const int32_t *edges, int64_t windows,
                                               const double *sums, const uint32_t *lost, int64_t missing,
                                               const double *heads, int64_t tables, const double *entries,
                                               const int32_t *pairs, const int32_t *byLength, int64_t lengths,
                                               const double *means, int64_t steps, double sigma, uint8_t *codes,
                                               uint8_t *bursts) {
  return withContext(error, context, [&](Context &open) {
    require(std::min({channels, inputs, windows, steps, tables}) >= 1, "a block has a size below 1");
    require(polarisations == 1 || polarisations == 2, "a station has one or two polarisations");
    for (int64_t n = 0; n < 2 * windows; n++) require(pairs[n] < tables, "a window has no table");
    for (int64_t n = 0; n < 2 * lengths; n++) require(byLength[n] < tables, "a length has no table");
    for (int64_t n = 0; n < windows; n++) require(edges[n + 1] - edges[n] < lengths, "a window is too long");
    require(missing == 0 || missing == windows * channels * inputs, "what is missing is of another block");
    const Given given{
        {channels, inputs, polarisations, realChannels, windows, lengths, steps, options[0] != 0, options[1] != 0},
        {flaggedInputs, edges, sums, missing > 0 ? lost : nullptr, codes, bursts},
        {reinterpret_cast<const Head *>(heads), reinterpret_cast<const Entry *>(entries), pairs, byLength,
         reinterpret_cast<const Mean *>(means), sigma}};
    Decision(given, options[2] != 0 && open.pool.threads() > 1 ? &open.pool : nullptr).run();
  });
}

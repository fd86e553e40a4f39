// The X-engine on threads: the order in which pairs of input blocks are added, the layout of sums, and their output.
#include <algorithm>
#include <cstdlib>
#include <memory>

#include "backend/cpu/context.h"
#include "correlate/cpu/correlate_kernels.h"

namespace corella {
namespace {

/** Pairs (I, J ≤ I) of input blocks, numbered like baselines. */
constexpr int64_t pairIndex(int64_t i, int64_t j) { return i * (i + 1) / 2 + j; }

/** Samples that fit in 32-bit sums: each adds at most 2 · 127² (8 bits) or 2 · 7² (4 bits). */
constexpr int64_t mostIn32Bits(SpectraType type) {
  return INT32_MAX / (type == SpectraType::ci4 ? 2 * 7 * 7 : 2 * 127 * 127);
}

/** Time blocks processed at once: a J side of 16 kB stays in the L1 cache while the I sides of a group pass. */
constexpr int64_t TIME_BLOCKS_AT_ONCE = 8;
/** Float samples processed at once: 16 kB a side, for the same reason. */
constexpr int64_t SAMPLES_AT_ONCE = 128;
/** I sides processed together; their panels, 16 kB each, stay in the L2 cache. */
constexpr int64_t MOST_GROUP = 8;

struct Correlator {
  Correlator(Context &context, SpectraType spectra, int64_t channelCount, int64_t stationCount, int64_t pols)
      : type(spectra),
        channels(channelCount),
        stations(stationCount),
        polarisations(pols),
        inputBlocks((stationCount * pols + TILE_INPUTS - 1) / TILE_INPUTS),
        pairs(pairIndex(inputBlocks, 0)),
        kernels(CORELLA_PICK_MATRIX(context.level, correlateKernels)),
        addFloatPair(CORELLA_PICK(context.level, addFloatPair)) {
    if (type == SpectraType::cf32) {
      addTotals(context);
    } else {
      sums = std::make_unique<ZeroedArray<int32_t>>(context.pool, sumCount());
      panelStride = TIME_BLOCKS_AT_ONCE * (MOST_GROUP * kernels.panelBytes + kernels.notesBytes);
      panels = alignedMemory(static_cast<size_t>(context.pool.threads() * panelStride));
    }
  }

  size_t sumCount() const { return static_cast<size_t>(channels * pairs * PAIR_SUMS); }
  void addTotals(Context &context) { totals = std::make_unique<ZeroedArray<double>>(context.pool, sumCount()); }

  void accumulate(Context &context, const SpectraLayout &layout, const void *block, int64_t samples);
  void finish(Context &context, const uint8_t *flags, double *visibilities);

  const SpectraType type;
  const int64_t channels, stations, polarisations, inputBlocks, pairs;

 private:
  template <class Body>
  void eachGroup(Context &context, Body &&body);
  void addIntegers(Context &context, const SpectraLayout &layout, const int8_t *block, int64_t first, int64_t end);
  void addFloats(Context &context, const SpectraLayout &layout, const float *block, int64_t samples);
  void promote(Context &context);

  const CorrelateKernels &kernels;
  const AddFloatPair addFloatPair;
  /** [c][pair][re, im][16 i][16 j]: 32-bit sums, and float64 sums they are moved to before they could overflow. */
  std::unique_ptr<ZeroedArray<int32_t>> sums;
  std::unique_ptr<ZeroedArray<double>> totals;
  int64_t inSums = 0;
  std::unique_ptr<void, void (*)(void *)> panels{nullptr, std::free};
  int64_t panelStride = 0;
};

void Correlator::accumulate(Context &context, const SpectraLayout &layout, const void *block, int64_t samples) {
  if (type == SpectraType::cf32) {
    addFloats(context, layout, static_cast<const float *>(block), samples);
    return;
  }
  for (int64_t first = 0; first < samples;) {
    // A whole number of tiles unless all the rest fits.
    int64_t take = std::min(samples - first, mostIn32Bits(type) - inSums);
    if (take < samples - first) take = take / TILE_SAMPLES * TILE_SAMPLES;
    if (take == 0) {
      promote(context);
      continue;
    }
    addIntegers(context, layout, static_cast<const int8_t *>(block), first / TILE_SAMPLES,
                SpectraLayout::timeBlocksOf(first + take));
    inSums += take;
    first += take;
  }
}

/**
 * Calls body(channel, first I, end I, worker) for every channel and group of rows, on all threads. Groups are as large
 * as suits the cache, and small enough to keep every thread busy to the end.
 */
template <class Body>
void Correlator::eachGroup(Context &context, Body &&body) {
  const int64_t wanted = 4 * context.pool.threads();
  int64_t group = MOST_GROUP;
  while (group > 1 && channels * ((inputBlocks + group - 1) / group) < wanted) group /= 2;
  const int64_t groups = (inputBlocks + group - 1) / group;
  context.pool.run(channels * groups, [&](int64_t index, int worker) {
    const int64_t firstI = (groups - 1 - index / channels) * group;  // the longest rows first
    body(index % channels, firstI, std::min(firstI + group, inputBlocks), worker);
  });
}

/** Sums of a pair are no longer in the cache since the last time blocks: they are prefetched one pair ahead. */
inline void prefetchSums(const int32_t *sums) {
  for (int64_t at = 0; at < PAIR_SUMS; at += 16) __builtin_prefetch(sums + at, 1);
}

/** Adds time blocks first…end−1. */
void Correlator::addIntegers(Context &context, const SpectraLayout &layout, const int8_t *block, int64_t first,
                             int64_t end) {
  eachGroup(context, [&](int64_t channel, int64_t firstI, int64_t endI, int worker) {
    const int8_t *spectra = block + channel * layout.channelBytes();
    int32_t *channelSums = sums->data() + channel * pairs * PAIR_SUMS;
    auto *panel = static_cast<char *>(panels.get()) + worker * panelStride;
    const int64_t panelBytes = TIME_BLOCKS_AT_ONCE * kernels.panelBytes;
    char *notes = panel + MOST_GROUP * panelBytes;
    kernels.enter();
    for (int64_t from = first; from < end; from += TIME_BLOCKS_AT_ONCE) {
      const int64_t blocks = std::min(TIME_BLOCKS_AT_ONCE, end - from);
      const auto tiles = [&](int64_t i) { return spectra + i * layout.inputBlockBytes() + from * TILE_BYTES; };
      for (int64_t i = firstI; i < endI; i++) kernels.prepareI(tiles(i), blocks, panel + (i - firstI) * panelBytes);
      for (int64_t j = 0; j < endI; j++) {
        kernels.prepareJ(tiles(j), blocks, notes);
        for (int64_t i = std::max(firstI, j); i < endI; i++) {
          const int64_t nextI = i + 1 < endI ? i + 1 : std::max(firstI, j + 1), nextJ = i + 1 < endI ? j : j + 1;
          if (nextJ < endI) prefetchSums(channelSums + pairIndex(nextI, nextJ) * PAIR_SUMS);
          kernels.addPair(tiles(i), panel + (i - firstI) * panelBytes, tiles(j), notes, blocks,
                          channelSums + pairIndex(i, j) * PAIR_SUMS);
        }
      }
    }
    kernels.leave();
  });
}

void Correlator::addFloats(Context &context, const SpectraLayout &layout, const float *block, int64_t samples) {
  const int64_t side = layout.inputBlockBytes() / 4;
  eachGroup(context, [&](int64_t channel, int64_t firstI, int64_t endI, int) {
    const float *spectra = block + channel * inputBlocks * side;
    double *channelSums = totals->data() + channel * pairs * PAIR_SUMS;
    for (int64_t from = 0; from < samples; from += SAMPLES_AT_ONCE) {
      const int64_t length = std::min(SAMPLES_AT_ONCE, samples - from);
      const float *now = spectra + from * FLOATS_PER_SAMPLE;
      for (int64_t j = 0; j < endI; j++) {
        for (int64_t i = std::max(firstI, j); i < endI; i++) {
          addFloatPair(now + i * side, now + j * side, length, channelSums + pairIndex(i, j) * PAIR_SUMS);
        }
      }
    }
  });
}

/** Adds the 32-bit sums to float64: integers below 2⁵³ are exact in it. */
void Correlator::promote(Context &context) {
  if (!totals) addTotals(context);
  context.pool.run(channels * pairs, [&](int64_t index, int) {
    int32_t *from = sums->data() + index * PAIR_SUMS;
    double *to = totals->data() + index * PAIR_SUMS;
    for (int64_t at = 0; at < PAIR_SUMS; at++) {
      to[at] += from[at];
      from[at] = 0;
    }
  });
  inSums = 0;
}

/** visibilities : [c][b][p_i][p_j], complex; zero where either input is flagged. All sums start again at zero. */
void Correlator::finish(Context &context, const uint8_t *flags, double *visibilities) {
  const int64_t products = polarisations * polarisations, baselines = pairIndex(stations, 0);
  context.pool.run(channels * stations, [&](int64_t index, int) {
    const int64_t channel = index / stations, stationI = index % stations;
    const int64_t first = channel * pairs * PAIR_SUMS;
    double *row = visibilities + (channel * baselines + pairIndex(stationI, 0)) * products * 2;
    for (int64_t p = 0; p < polarisations; p++) {
      const int64_t i = stationI * polarisations + p;
      for (int64_t j = 0; j < (stationI + 1) * polarisations; j++) {
        double *out = row + ((j / polarisations) * products + p * polarisations + j % polarisations) * 2;
        if (flags[i] != 0 || flags[j] != 0) {
          out[0] = out[1] = 0;
          continue;
        }
        // X·conj(Y) of one station is above the diagonal of inputs; blocks on the diagonal are full squares.
        const int64_t at = first + pairIndex(i / TILE_INPUTS, j / TILE_INPUTS) * PAIR_SUMS +
                           i % TILE_INPUTS * TILE_INPUTS + j % TILE_INPUTS;
        out[0] = (sums ? sums->data()[at] : 0) + (totals ? totals->data()[at] : 0);
        out[1] = (sums ? sums->data()[at + PAIR_VALUES] : 0) + (totals ? totals->data()[at + PAIR_VALUES] : 0);
      }
    }
  });
  if (sums) sums->zero(context.pool);
  if (totals) totals->zero(context.pool);
  inSums = 0;
}

}  // namespace
}  // namespace corella

using namespace corella;

CORELLA_EXPORT int32_t corella_correlator_open(char *error, void *context, int32_t type, int64_t channels,
                                               int64_t stations, int64_t polarisations, void **correlator) {
  return withContext(error, context, [&](Context &open) {
    require(type >= 0 && type <= 2, "no such type of spectra");
    require(channels >= 1 && stations >= 1, "a correlator has a size below 1");
    require(polarisations == 1 || polarisations == 2, "polarisations must be 1 or 2");
    *correlator = open.keep(
        std::make_unique<Correlator>(open, static_cast<SpectraType>(type), channels, stations, polarisations));
  });
}

// block : spectra of the correlator's type, channels and inputs (spectra.h).
CORELLA_EXPORT int32_t corella_correlator_accumulate(char *error, void *context, void *correlator, const void *block,
                                                     int64_t capacity, int64_t samples) {
  return withContext(error, context, [&](Context &open) {
    auto &engine = *static_cast<Correlator *>(correlator);
    require(samples >= 0 && samples <= capacity, "more samples than the block holds");
    const SpectraLayout layout{engine.type, engine.channels, engine.stations * engine.polarisations, capacity};
    engine.accumulate(open, layout, block, samples);
  });
}

// flags : [a]; visibilities : [c][b][p_i][p_j], complex.
CORELLA_EXPORT int32_t corella_correlator_finish(char *error, void *context, void *correlator, const uint8_t *flags,
                                                 double *visibilities) {
  return withContext(error, context,
                     [&](Context &open) { static_cast<Correlator *>(correlator)->finish(open, flags, visibilities); });
}

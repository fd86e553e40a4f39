// The F-engine on threads: tables made once, the stream's history, and which spectra of which inputs are made when.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <vector>

#include "backend/cpu/context.h"
#include "channelise/channelise_job.h"
#include "channelise/channelise_transform.h"

namespace corella {
namespace {

using Memory = std::unique_ptr<void, void (*)(void *)>;

int64_t roundUp(int64_t value, int64_t step) { return (value + step - 1) / step * step; }

int64_t scalarBytes(Scalar scalar) { return scalar == Scalar::i8 ? 1 : scalar == Scalar::i16 ? 2 : 4; }

struct Shape {
  Scalar scalar;
  bool real;
  SpectraType output;
  int64_t channels, taps, inputs;
};

struct Gap {
  int64_t firstInput, endInput, firstSpectrum, endSpectrum;
};

class Channeliser {
 public:
  /** taps : [τ][n], int16 for 8-bit samples, else float64; factors : [a][c], or one for all. */
  Channeliser(Context &context, const Shape &shape, const void *taps, const double *factors, int64_t factorCount);

  struct Step {
    const char *voltages;  // [a][t]
    int64_t samples, waiting, spectra;
    const Gap *gaps;
    int64_t gapCount;
    char *block;
    SpectraLayout layout;
  };
  /** Returns how many parts passed the rails. */
  int64_t run(Context &context, const Step &step);
  bool allFinite(Context &context, const float *voltages, int64_t samples) const;

  const Shape shape;

 private:
  void planLines();
  void arrangeTaps(const void *taps);
  void arrangeGains(const double *factors, int64_t factorCount);
  void appendToHistory(const Step &step, int64_t input);
  void keepHistory(const Step &step, int64_t input);
  float *workOf(int worker) const {
    return reinterpret_cast<float *>(static_cast<char *>(scratch.get()) + worker * scratchBytes);
  }
  char *stagesOf(int worker) const {
    return reinterpret_cast<char *>(workOf(worker) + workFloats * (job.chirp ? 2 : 1));
  }
  uint32_t missingLanes(const Step &step, int64_t input, int64_t first) const;
  /** Up to sixteen inputs of an input block, and the spectra from `first` on that a vector's lanes hold. */
  struct Unit {
    int64_t first, firstInput, inputs;
  };
  static constexpr int ROWS = MOST_LANES + MOST_TAPS + 1;
  void findRows(const Step &step, int64_t input, int64_t first, const char **rows) const;
  int64_t transformInput(const Step &step, const Unit &unit, int64_t slot, int worker);

  const ChanneliseKernel &kernel;
  const int64_t samplesPerSpectrum, sampleBytes;
  const int32_t points;
  ChanneliseJob job{};
  std::unique_ptr<TransformTables> transform;
  std::unique_ptr<ChirpTables> chirpTables;
  Chirp chirp{};
  std::vector<int32_t> binAt, channelAt;
  std::vector<float> untangle;
  std::vector<Line> lines;
  std::vector<Group> groups;
  Memory table{nullptr, std::free}, history{nullptr, std::free}, scratch{nullptr, std::free};
  std::vector<float> gains;  // [a][place], or [place] for all
  int64_t gainStride = 0, historyBytes = 0, workFloats = 0, scratchBytes = 0;
};

Channeliser::Channeliser(Context &context, const Shape &wanted, const void *taps, const double *factors,
                         int64_t factorCount)
    : shape(wanted),
      kernel(CORELLA_PICK(context.level, channeliseKernel)),
      samplesPerSpectrum(wanted.real ? 2 * wanted.channels : wanted.channels),
      sampleBytes(scalarBytes(wanted.scalar) * (wanted.real ? 1 : 2)),
      points(static_cast<int32_t>(wanted.channels)) {
  const int64_t pointBytes = 8 * kernel.lanes;
  const bool direct = hasSmallFactors(points);
  transform = std::make_unique<TransformTables>(direct ? points : ChirpTables::longerThan(points), pointBytes);
  job.scalar = shape.scalar;
  job.taps = static_cast<int32_t>(shape.taps);
  job.points = points;
  job.real = shape.real;
  job.output = shape.output;
  job.transform = transform->view();
  if (direct) {
    binAt.assign(job.transform.binAt, job.transform.binAt + points);
    job.places = job.transform.extent;
  } else {
    chirpTables = std::make_unique<ChirpTables>(points, job.transform);
    chirp = chirpTables->view();
    job.chirp = &chirp;
    for (int32_t k = 0; k < points; k++) binAt.push_back(k);
    job.places = roundUp(points, 4);
  }
  job.binAt = binAt.data();
  // Channels rise in frequency: for complex samples the negative ones come first.
  channelAt.assign(static_cast<size_t>(job.places), -1);
  for (int32_t k = 0; k < points; k++) {
    channelAt[static_cast<size_t>(binAt[static_cast<size_t>(k)])] = shape.real ? k : (k + points / 2) % points;
  }
  job.channel = channelAt.data();
  for (int32_t k = 0; k <= points / 2; k++) {
    const double angle = -3.14159265358979323846 * k / points;
    untangle.push_back(static_cast<float>(std::cos(angle)));
    untangle.push_back(static_cast<float>(std::sin(angle)));
  }
  job.untangle = untangle.data();
  planLines();
  arrangeTaps(taps);
  arrangeGains(factors, factorCount);

  // A stage's stride is no multiple of 4 kB, lest sixteen inputs' stages meet in one set of the first cache.
  const int64_t stage = job.places * kernel.lanes * (shape.output == SpectraType::cf32 ? 8 : 2);
  job.stageBytes = roundUp(stage, 4096) + 192;
  workFloats = job.transform.extent * 2 * kernel.lanes + 64;
  scratchBytes = roundUp(workFloats * 4 * (job.chirp ? 2 : 1) + TILE_INPUTS * job.stageBytes, 4096) + 64;
  scratch = alignedMemory(static_cast<size_t>(scratchBytes * context.pool.threads()));
  historyBytes = roundUp(shape.taps * samplesPerSpectrum * sampleBytes, 64);
  history = alignedMemory(static_cast<size_t>(historyBytes * shape.inputs));
  // Padding between legs is transformed with the rest: it must hold numbers.
  std::memset(scratch.get(), 0, static_cast<size_t>(scratchBytes * context.pool.threads()));
}

/** Filters what the first pass wants next: all its legs' lines of a few columns, before the next few columns'. */
void Channeliser::planLines() {
  const int32_t most = 2 * kernel.lanes;
  const int32_t *placeOf = job.transform.placeOf;
  const auto addLines = [&](int32_t first, int32_t end) {
    while (first < end) {
      int32_t count = 1;
      while (first + count < end && count < most && placeOf[first + count] == placeOf[first] + count) count++;
      lines.push_back({first, count, placeOf[first]});
      first += count;
    }
  };
  const Pass &pass = job.transform.passes[0];
  const bool byColumns = job.chirp == nullptr && pass.columns >= most;
  const int32_t step = byColumns ? most : pass.columns;
  for (int32_t column = 0; column < pass.columns; column += step) {
    const auto firstLine = static_cast<int32_t>(lines.size());
    const int32_t endColumn = std::min(column + step, pass.columns);
    if (byColumns) {
      for (int32_t leg = 0; leg < pass.radix; leg++) addLines(leg * pass.columns + column, leg * pass.columns + endColumn);
    } else {
      addLines(0, points);
    }
    groups.push_back({firstLine, static_cast<int32_t>(lines.size()), column, endColumn});
  }
  job.lines = lines.data();
  job.groups = groups.data();
  job.groupCount = static_cast<int32_t>(groups.size());
}

void Channeliser::arrangeTaps(const void *taps) {
  const bool bytes = shape.scalar == Scalar::i8;
  const int64_t perLane = bytes ? (shape.taps + 1) / 2 : shape.taps;
  job.tableLineBytes = 4 * perLane * kernel.lanes * 4;
  table = alignedMemory(lines.size() * static_cast<size_t>(job.tableLineBytes));
  const auto tapAt = [&](const auto *all, int64_t tap, int64_t point, int64_t scalar) {
    const int64_t sample = shape.real ? 2 * point + scalar % 2 : point;
    return tap < shape.taps ? all[tap * samplesPerSpectrum + sample] : 0;
  };
  for (size_t l = 0; l < lines.size(); l++) {
    char *line = static_cast<char *>(table.get()) + static_cast<int64_t>(l) * job.tableLineBytes;
    for (int32_t vector = 0; vector < 4; vector++) {
      for (int32_t lane = 0; lane < kernel.lanes; lane++) {
        const int32_t scalar = kernel.scalarOf(bytes, vector, lane), point = lines[l].first + scalar / 2;
        const bool exists = scalar / 2 < lines[l].points;
        for (int64_t n = 0; n < perLane; n++) {
          const int64_t at = (vector * perLane + n) * kernel.lanes + lane;
          if (bytes) {
            const auto *all = static_cast<const int16_t *>(taps);
            const auto low = static_cast<uint16_t>(exists ? tapAt(all, 2 * n, point, scalar) : 0);
            const auto high = static_cast<uint16_t>(exists ? tapAt(all, 2 * n + 1, point, scalar) : 0);
            reinterpret_cast<uint32_t *>(line)[at] = static_cast<uint32_t>(high) << 16 | low;
          } else {
            const auto *all = static_cast<const double *>(taps);
            reinterpret_cast<float *>(line)[at] = static_cast<float>(exists ? tapAt(all, n, point, scalar) : 0);
          }
        }
      }
    }
  }
  job.table = table.get();
}

void Channeliser::arrangeGains(const double *factors, int64_t factorCount) {
  gainStride = factorCount == 1 ? 0 : job.places;
  gains.assign(static_cast<size_t>(job.places * (factorCount == 1 ? 1 : shape.inputs)), 0.0f);
  // Real samples come out of `untangle` twice as large.
  const double share = shape.real ? 0.5 : 1;
  for (int64_t input = 0; input < (factorCount == 1 ? 1 : shape.inputs); input++) {
    for (int64_t place = 0; place < job.places; place++) {
      const int32_t channel = channelAt[static_cast<size_t>(place)];
      if (channel < 0) continue;
      const double factor = factorCount == 1 ? factors[0] : factors[input * shape.channels + channel];
      gains[static_cast<size_t>(input * job.places + place)] = static_cast<float>(factor * share);
    }
  }
}

/** Completes the spectrum's worth of samples that the history ends in the middle of. */
void Channeliser::appendToHistory(const Step &step, int64_t input) {
  const int64_t lacking = roundUp(step.waiting, samplesPerSpectrum) - step.waiting;
  std::memcpy(static_cast<char *>(history.get()) + input * historyBytes + step.waiting * sampleBytes,
              step.voltages + input * step.samples * sampleBytes,
              static_cast<size_t>(std::min(lacking, step.samples) * sampleBytes));
}

/** What the next spectrum's window begins with, and all that follows. */
void Channeliser::keepHistory(const Step &step, int64_t input) {
  char *kept = static_cast<char *>(history.get()) + input * historyBytes;
  const char *block = step.voltages + input * step.samples * sampleBytes;
  const int64_t used = step.spectra * samplesPerSpectrum;
  const int64_t old = std::max<int64_t>(step.waiting - used, 0), skipped = std::max<int64_t>(used - step.waiting, 0);
  std::memmove(kept, kept + std::min(used, step.waiting) * sampleBytes, static_cast<size_t>(old * sampleBytes));
  std::memcpy(kept + old * sampleBytes, block + skipped * sampleBytes,
              static_cast<size_t>((step.samples - skipped) * sampleBytes));
}

uint32_t Channeliser::missingLanes(const Step &step, int64_t input, int64_t first) const {
  uint32_t missing = 0;
  for (int64_t lane = 0; lane < kernel.lanes; lane++) {
    bool absent = first + lane >= step.spectra;
    for (int64_t g = 0; g < step.gapCount && !absent; g++) {
      const Gap &gap = step.gaps[g];
      absent = input >= gap.firstInput && input < gap.endInput && first + lane >= gap.firstSpectrum &&
               first + lane < gap.endSpectrum;
    }
    if (absent) missing |= uint32_t{1} << lane;
  }
  return missing;
}

void Channeliser::findRows(const Step &step, int64_t input, int64_t first, const char **rows) const {
  const char *old = static_cast<const char *>(history.get()) + input * historyBytes;
  const char *block = step.voltages + input * step.samples * sampleBytes;
  const int64_t last = step.spectra + shape.taps - 2;
  for (int64_t r = 0; r <= kernel.lanes + shape.taps; r++) {
    const int64_t sample = std::min(first + r, last) * samplesPerSpectrum;
    rows[r] = sample < step.waiting ? old + sample * sampleBytes : block + (sample - step.waiting) * sampleBytes;
  }
}

int64_t Channeliser::transformInput(const Step &step, const Unit &unit, int64_t slot, int worker) {
  const char *rows[ROWS], *next[ROWS];
  const int64_t input = unit.firstInput + slot;
  const bool more = slot + 1 < unit.inputs;
  findRows(step, input, unit.first, rows);
  if (more) findRows(step, input + 1, unit.first, next);
  float *work = workOf(worker);
  return kernel.transform(job, {rows, more ? next : nullptr, missingLanes(step, input, unit.first), gains.data() + input * gainStride, work,
                                work + workFloats, stagesOf(worker) + slot * job.stageBytes});
}

int64_t Channeliser::run(Context &context, const Step &step) {
  if (step.samples == 0) return 0;
  const int64_t chunks = (step.spectra + kernel.lanes - 1) / kernel.lanes;
  // Integer blocks end with whole tiles: zeros follow the last sample.
  const int64_t tiles = SpectraLayout::timeBlocksOf(step.spectra) * (TILE_SAMPLES / kernel.lanes);
  const int64_t turns = shape.output == SpectraType::cf32 ? chunks : tiles;
  const int64_t inputBlocks = step.layout.inputBlocks();
  std::atomic<int64_t> passed{0};
  if (step.spectra > 0) {
    context.pool.run(shape.inputs, [&](int64_t input, int) { appendToHistory(step, input); });
    context.pool.run(inputBlocks * turns, [&](int64_t index, int worker) {
      Unit unit{index / inputBlocks * kernel.lanes, index % inputBlocks * TILE_INPUTS, 0};
      if (unit.first < step.spectra) unit.inputs = std::min(TILE_INPUTS, shape.inputs - unit.firstInput);
      int64_t here = 0;
      for (int64_t slot = 0; slot < unit.inputs; slot++) here += transformInput(step, unit, slot, worker);
      passed += here;
      kernel.turn(job, stagesOf(worker), static_cast<int32_t>(unit.inputs), step.layout,
                  step.block + unit.firstInput / TILE_INPUTS * step.layout.inputBlockBytes(), unit.first, step.spectra);
    });
  }
  context.pool.run(shape.inputs, [&](int64_t input, int) { keepHistory(step, input); });
  return passed;
}

/** All exponent bits set is an infinity or not a number; whole numbers, so that the compiler may take many at once. */
bool Channeliser::allFinite(Context &context, const float *voltages, int64_t samples) const {
  constexpr uint32_t EXPONENT = 0x7f800000;
  const int64_t length = samples * (shape.real ? 1 : 2);
  std::atomic<bool> finite{true};
  context.pool.run(shape.inputs, [&](int64_t input, int) {
    uint32_t found = 0;
    for (int64_t n = input * length; n < (input + 1) * length; n++) {
      uint32_t bits;
      std::memcpy(&bits, voltages + n, 4);
      found |= (bits & EXPONENT) == EXPONENT ? 1 : 0;
    }
    if (found != 0) finite = false;
  });
  return finite;
}

}  // namespace
}  // namespace corella

using namespace corella;

// taps : [τ][n], int16 for 8-bit samples, else float64; factors : [a][c], or one for all.
CORELLA_EXPORT int32_t corella_channeliser_open(char *error, void *context, int32_t scalar, int32_t real,
                                                int32_t output, int64_t channels, int64_t taps, int64_t inputs,
                                                const void *tapValues, const double *factors, int64_t factorCount,
                                                void **channeliser) {
  return withContext(error, context, [&](Context &open) {
    require(scalar >= 0 && scalar <= 2 && output >= 0 && output <= 2, "no such type of samples");
    require(channels >= 2 && channels <= 1 << 20, "channels must be from 2 to 1048576");
    require(taps >= 1 && taps <= MOST_TAPS, "taps must be from 1 to 64");
    require(inputs >= 1, "a channeliser has a size below 1");
    require(factorCount == 1 || factorCount == inputs * channels, "gains must be one, or one for each input and channel");
    const Shape shape{static_cast<Scalar>(scalar), real != 0, static_cast<SpectraType>(output), channels, taps, inputs};
    *channeliser = open.keep(std::make_unique<Channeliser>(open, shape, tapValues, factors, factorCount));
  });
}

// voltages : [a][t]; gaps : [gap][first input, end input, first spectrum, end spectrum]; block as in spectra.h.
// `waiting` samples are in the history; *finite becomes 0, and nothing is done, where a float is not.
CORELLA_EXPORT int32_t corella_channeliser_run(char *error, void *context, void *channeliser, const void *voltages,
                                               int64_t samples, int64_t waiting, int64_t spectra, const int64_t *gaps,
                                               int64_t gapCount, void *block, int64_t capacity, int64_t *passed,
                                               int32_t *finite) {
  return withContext(error, context, [&](Context &open) {
    auto &engine = *static_cast<Channeliser *>(channeliser);
    const Shape &shape = engine.shape;
    const int64_t perSpectrum = shape.real ? 2 * shape.channels : shape.channels;
    require(samples >= 0 && waiting >= 0 && waiting < shape.taps * perSpectrum, "the history cannot be so long");
    require(spectra == std::max<int64_t>(0, (waiting + samples) / perSpectrum - shape.taps + 1),
            "these samples do not make so many spectra");
    require(spectra <= capacity, "more spectra than the block holds");
    *passed = 0;
    *finite = shape.scalar != Scalar::f32 || engine.allFinite(open, static_cast<const float *>(voltages), samples);
    if (*finite == 0) return;
    const Channeliser::Step step{static_cast<const char *>(voltages), samples, waiting, spectra,
                                 reinterpret_cast<const Gap *>(gaps), gapCount, static_cast<char *>(block),
                                 {shape.output, shape.channels, shape.inputs, capacity}};
    *passed = engine.run(open, step);
  });
}

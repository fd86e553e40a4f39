// The F-engine on threads: the stream's history, and the division of spectra and inputs into work.
#include <algorithm>
#include <atomic>
#include <memory>

#include "backend/cpu/spectra_powers.h"
#include "channelise/cpu/channelise_sharing.h"
#include "channelise/cpu/channelise_tables.h"

namespace corella {
namespace {

using Memory = std::unique_ptr<void, void (*)(void *)>;

int64_t roundUp(int64_t value, int64_t step) { return (value + step - 1) / step * step; }

/** With fewer units for each thread each is made in parts, so that a late thread delays less. */
constexpr int64_t LEAST_UNITS = 4;
constexpr int64_t PARTS = 4;
constexpr int64_t PART_INPUTS = TILE_INPUTS / PARTS;

struct Gap {
  int64_t firstInput, endInput, firstSpectrum, endSpectrum;
};

class Channeliser {
 public:
  /** taps : [τ][n], int16 for 8-bit samples, else float64; factors : [a][c], or one for all. */
  Channeliser(Context &context, const ChanneliseShape &shape, const void *taps, const double *factors,
              int64_t factorCount);

  struct Step {
    const char *voltages;  // [a][t]
    int64_t samples, waiting, spectra;
    const Gap *gaps;
    int64_t gapCount;
    const int32_t *shifts;  // [a], and turns : [a][TURN_NUMBERS]; null where nothing is delayed
    const double *turns;
    char *block;
    SpectraLayout layout;
    uint32_t *powers;  // as in spectra_powers.h; null where they are not wanted
  };
  /**
   * Whether a step of so many spectra computes powers too: each sixteen spectra belong to one thread, and there must be
   * enough for all.
   */
  bool makesPowers(Context &context, int64_t spectra) const {
    if (shape.output != SpectraType::cf32 && !kernel.sumsIntegers) return false;
    return kernel.lanes == POWER_SPECTRA || groupsOf(spectra) >= LEAST_UNITS * context.pool.threads();
  }
  /** Returns how many parts saturated. */
  int64_t run(Context &context, const Step &step);
  bool allFinite(Context &context, const float *voltages, int64_t samples) const;

  const ChanneliseShape shape;

 private:
  /** The opening of the input's first window. */
  int64_t openingOf(const Step &step, int64_t input) const {
    return step.shifts ? shape.mostDelay - step.shifts[input] : 0;
  }
  void appendToHistory(const Step &step, int64_t input);
  void keepHistory(const Step &step, int64_t input);
  /** Groups of sixteen spectra of an input block; integers end with whole tiles: zeros follow the last sample. */
  int64_t groupsOf(int64_t spectra) const {
    const int64_t whole = shape.output == SpectraType::cf32 ? POWER_SPECTRA : TILE_SAMPLES;
    return roundUp(spectra, whole) / POWER_SPECTRA * ((shape.inputs + TILE_INPUTS - 1) / TILE_INPUTS);
  }
  float *workOf(int worker) const {
    return reinterpret_cast<float *>(static_cast<char *>(scratch.get()) + worker * scratchBytes);
  }
  float *turnsOf(int worker) const { return workOf(worker) + workFloats * (job.chirp ? 2 : 1); }
  char *stagesOf(int stage) const { return reinterpret_cast<char *>(turnsOf(stage) + turnFloats); }
  uint32_t missingLanes(const Step &step, int64_t input, int64_t first) const;
  /** Up to sixteen inputs of an input block, and a vector of spectra from `first` on. */
  struct Unit {
    int64_t first, firstInput, inputs;
  };
  static constexpr int ROWS = MOST_LANES + MOST_TAPS + 3;
  void findRows(const Step &step, int64_t input, int64_t first, const char **rows) const;
  int64_t transformInput(const Step &step, const Unit &unit, int64_t slot, int worker, char *stages);
  void makeUnit(const Step &step, int64_t number, int worker);
  void makeGroup(const Step &step, int64_t number, int64_t units, int worker);
  void makePart(const Step &step, int64_t number, int64_t part, int worker);
  Unit unitOf(const Step &step, int64_t number) const;
  void carryAway(const Step &step, const Unit &unit, const char *stages) const;

  const ChanneliseKernel &kernel;
  const ChanneliseTables tables;
  const ChanneliseJob &job;
  const int64_t samplesPerSpectrum, sampleBytes, historyBytes, workFloats, turnFloats, scratchBytes;
  /**
   * [a] the first samples of the next spectrum's window, at most T·P, plus delays; with space for those of the run
   * after.
   */
  Memory history, nextHistory;
  /** For each thread, plus one for a shared unit: points to transform, and sixteen inputs' stages. */
  Memory scratch;
  SharedUnits shared;
  std::atomic<int64_t> passed{0};
};

Channeliser::Channeliser(Context &context, const ChanneliseShape &wanted, const void *taps, const double *factors,
                         int64_t factorCount)
    : shape(wanted),
      kernel(CORELLA_PICK_BYTES(context.level, channeliseKernel)),
      tables(kernel, shape, taps, factors, factorCount),
      job(tables.job()),
      samplesPerSpectrum(shape.samplesPerSpectrum()),
      sampleBytes(shape.sampleBytes()),
      historyBytes(
          roundUp((shape.taps * samplesPerSpectrum + (shape.tracked() ? 2 * shape.mostDelay + samplesPerSpectrum : 0)) *
                      sampleBytes,
                  64)),
      workFloats(job.transform.extent * 2 * kernel.lanes),
      turnFloats(shape.tracked() ? roundUp(turnTableFloats(job, kernel.lanes), 16) : 0),
      scratchBytes(roundUp((workFloats * (job.chirp ? 2 : 1) + turnFloats) * 4 + TILE_INPUTS * job.stageBytes, 4096) +
                   64),
      history(alignedMemory(static_cast<size_t>(historyBytes * shape.inputs))),
      nextHistory(alignedMemory(static_cast<size_t>(historyBytes * shape.inputs))),
      scratch(alignedMemory(static_cast<size_t>(scratchBytes * (context.pool.threads() + 1)))),
      shared(LEAST_UNITS * context.pool.threads(), context.pool.threads()) {
  // Padding between legs is transformed too: it must be finite.
  std::memset(scratch.get(), 0, static_cast<size_t>(scratchBytes * (context.pool.threads() + 1)));
}

/** Completes the spectrum's samples of which the history has only a part. */
void Channeliser::appendToHistory(const Step &step, int64_t input) {
  const int64_t old = std::max<int64_t>(step.waiting - openingOf(step, input), 0);
  const int64_t lacking = roundUp(old, samplesPerSpectrum) - old;
  std::memcpy(static_cast<char *>(history.get()) + input * historyBytes + step.waiting * sampleBytes,
              step.voltages + input * step.samples * sampleBytes,
              static_cast<size_t>(std::min(lacking, step.samples) * sampleBytes));
}

/** Stores the beginning of the next spectrum's window, and all after it. */
void Channeliser::keepHistory(const Step &step, int64_t input) {
  const char *before = static_cast<const char *>(history.get()) + input * historyBytes;
  char *kept = static_cast<char *>(nextHistory.get()) + input * historyBytes;
  const char *block = step.voltages + input * step.samples * sampleBytes;
  const int64_t used = step.spectra * samplesPerSpectrum;
  const int64_t old = std::max<int64_t>(step.waiting - used, 0), skipped = std::max<int64_t>(used - step.waiting, 0);
  std::memcpy(kept, before + std::min(used, step.waiting) * sampleBytes, static_cast<size_t>(old * sampleBytes));
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
  const int64_t last = step.spectra + shape.taps - 2, opening = openingOf(step, input);
  for (int64_t r = 0; r < kernel.lanes + shape.taps + 3; r++) {
    const int64_t sample = opening + std::min(first + r, last) * samplesPerSpectrum;
    rows[r] = sample < step.waiting ? old + sample * sampleBytes : block + (sample - step.waiting) * sampleBytes;
  }
}

int64_t Channeliser::transformInput(const Step &step, const Unit &unit, int64_t slot, int worker, char *stages) {
  const char *rows[ROWS], *next[ROWS];
  const int64_t input = unit.firstInput + slot;
  const bool more = slot + 1 < unit.inputs;
  findRows(step, input, unit.first, rows);
  if (more) findRows(step, input + 1, unit.first, next);
  float *work = workOf(worker);
  return kernel.transform(job, {rows, more ? next : nullptr, missingLanes(step, input, unit.first),
                                tables.gainsOf(input), work, work + workFloats, stages + slot * job.stageBytes,
                                step.turns ? step.turns + TURN_NUMBERS * input : nullptr, unit.first, turnsOf(worker)});
}

Channeliser::Unit Channeliser::unitOf(const Step &step, int64_t number) const {
  const int64_t inputBlocks = step.layout.inputBlocks();
  Unit unit{number / inputBlocks * kernel.lanes, number % inputBlocks * TILE_INPUTS, 0};
  if (unit.first < step.spectra) unit.inputs = std::min(TILE_INPUTS, shape.inputs - unit.firstInput);
  return unit;
}

void Channeliser::carryAway(const Step &step, const Unit &unit, const char *stages) const {
  const int64_t inputBlock = unit.firstInput / TILE_INPUTS;
  kernel.turn(job, stages, static_cast<int32_t>(unit.inputs), step.layout,
              step.block + inputBlock * step.layout.inputBlockBytes(), unit.first, step.spectra,
              step.powers ? step.powers + inputBlock * PowersLayout(step.layout).inputBlockWords() : nullptr);
}

void Channeliser::makeUnit(const Step &step, int64_t number, int worker) {
  const Unit unit = unitOf(step, number);
  char *stages = stagesOf(worker);
  int64_t here = 0;
  for (int64_t slot = 0; slot < unit.inputs; slot++) here += transformInput(step, unit, slot, worker, stages);
  passed += here;
  carryAway(step, unit, stages);
}

/** All units of sixteen spectra of an input block, one after the other: their powers are added up. */
void Channeliser::makeGroup(const Step &step, int64_t number, int64_t units, int worker) {
  const int64_t inputBlocks = step.layout.inputBlocks(), perGroup = POWER_SPECTRA / kernel.lanes;
  const int64_t first = number / inputBlocks * perGroup * inputBlocks + number % inputBlocks;
  for (int64_t n = 0; n < perGroup && first + n * inputBlocks < units; n++)
    makeUnit(step, first + n * inputBlocks, worker);
}

/** Some inputs of a unit. */
void Channeliser::makePart(const Step &step, int64_t number, int64_t part, int worker) {
  const Unit unit = unitOf(step, number);
  char *stages = stagesOf(shared.enter(number));
  int64_t here = 0;
  for (int64_t slot = part * PART_INPUTS; slot < std::min((part + 1) * PART_INPUTS, unit.inputs); slot++) {
    here += transformInput(step, unit, slot, worker, stages);
  }
  passed += here;
  if (!shared.leave(number)) return;
  carryAway(step, unit, stages);
  shared.giveBack(number);
}

int64_t Channeliser::run(Context &context, const Step &step) {
  if (step.samples == 0) return 0;
  const int64_t chunks = (step.spectra + kernel.lanes - 1) / kernel.lanes;
  // Integer blocks end with whole tiles: zeros follow the last sample.
  const int64_t tiles = SpectraLayout::timeBlocksOf(step.spectra) * (TILE_SAMPLES / kernel.lanes);
  const int64_t inputBlocks = step.layout.inputBlocks();
  const int64_t units = inputBlocks * (shape.output == SpectraType::cf32 ? chunks : tiles);
  if (step.spectra > 0 && (shape.tracked() || step.waiting % samplesPerSpectrum != 0)) {
    context.pool.run(shape.inputs, [&](int64_t input, int) { appendToHistory(step, input); });
  }
  const bool grouped = step.powers != nullptr && kernel.lanes < POWER_SPECTRA;
  const bool together = !grouped && units < LEAST_UNITS * context.pool.threads();
  if (together) shared.begin(units, PARTS);
  const int64_t made = together ? units * PARTS : grouped ? groupsOf(step.spectra) : units;
  passed = 0;
  // One run for all: the next block's history is written to other memory than this one reads.
  context.pool.run(made + inputBlocks, [&](int64_t index, int worker) {
    if (index >= made) {
      const int64_t first = (index - made) * TILE_INPUTS, end = std::min(first + TILE_INPUTS, shape.inputs);
      for (int64_t input = first; input < end; input++) keepHistory(step, input);
    } else if (together) {
      makePart(step, index / PARTS, index % PARTS, worker);
    } else if (grouped) {
      makeGroup(step, index, units, worker);
    } else {
      makeUnit(step, index, worker);
    }
  });
  std::swap(history, nextHistory);
  return passed;
}

/** All exponent bits set means infinity or NaN; tested as integers, so that the compiler can vectorise. */
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
                                                int64_t mostDelay, void **channeliser) {
  return withContext(error, context, [&](Context &open) {
    require(scalar >= 0 && scalar <= 2 && output >= 0 && output <= 2, "no such type of samples");
    require(channels >= 2 && channels <= 1 << 20, "channels must be from 2 to 1048576");
    require(taps >= 1 && taps <= MOST_TAPS, "taps must be from 1 to 256");
    require(inputs >= 1, "a channeliser has a size below 1");
    require(mostDelay >= -1 && mostDelay <= 1 << 30, "delays must be of 0 to 2^30 samples");
    require(factorCount == 1 || factorCount == inputs * channels, "gains must be one, or one an input and channel");
    const ChanneliseShape shape{
        static_cast<Scalar>(scalar), real != 0, static_cast<SpectraType>(output), channels, taps, inputs, mostDelay};
    *channeliser = open.keep(std::make_unique<Channeliser>(open, shape, tapValues, factors, factorCount));
  });
}

// voltages : [a][t]; gaps : [gap][first input, end input, first spectrum, end spectrum]; block as in spectra.h. shifts
// : [a] and turns : [a][4], where delays were planned; else they are ignored. `waiting` samples are in the history.
// powers as in spectra_powers.h, or null. flags : [all floats are finite, powers were made], 0 or 1 each; nothing is
// done if a float is not finite.
CORELLA_EXPORT int32_t corella_channeliser_run(char *error, void *context, void *channeliser, const void *voltages,
                                               int64_t samples, int64_t waiting, int64_t spectra, const int64_t *gaps,
                                               int64_t gapCount, const int32_t *shifts, const double *turns,
                                               void *block, int64_t capacity, void *powers, int64_t *passed,
                                               int32_t *flags) {
  return withContext(error, context, [&](Context &open) {
    auto &engine = *static_cast<Channeliser *>(channeliser);
    const ChanneliseShape &shape = engine.shape;
    const int64_t perSpectrum = shape.samplesPerSpectrum();
    const int64_t margin = shape.tracked() ? 2 * shape.mostDelay : 0;
    require(samples >= 0 && waiting >= 0 && waiting < shape.taps * perSpectrum + margin,
            "the history cannot be so long");
    for (int64_t a = 0; shape.tracked() && a < shape.inputs; a++)
      require(std::abs(int64_t{shifts[a]}) <= shape.mostDelay, "a delay is longer than was planned");
    const int64_t whole = std::max<int64_t>(waiting + samples - margin, 0) / perSpectrum;
    require(spectra == std::max<int64_t>(0, whole - shape.taps + 1), "these samples do not make so many spectra");
    require(spectra <= capacity, "more spectra than the block holds");
    *passed = 0;
    flags[1] = powers != nullptr && engine.makesPowers(open, spectra);
    flags[0] = shape.scalar != Scalar::f32 || engine.allFinite(open, static_cast<const float *>(voltages), samples);
    if (flags[0] == 0) return;
    const Channeliser::Step step{static_cast<const char *>(voltages),
                                 samples,
                                 waiting,
                                 spectra,
                                 reinterpret_cast<const Gap *>(gaps),
                                 gapCount,
                                 shape.tracked() ? shifts : nullptr,
                                 shape.tracked() ? turns : nullptr,
                                 static_cast<char *>(block),
                                 {shape.output, shape.channels, shape.inputs, capacity},
                                 flags[1] != 0 ? static_cast<uint32_t *>(powers) : nullptr};
    *passed = engine.run(open, step);
  });
}

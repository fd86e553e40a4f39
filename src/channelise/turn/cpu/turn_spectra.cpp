// Delays of channelised data, on threads: the phases of every channel and input, run of spectra by run.
#include <algorithm>

#include "backend/cpu/context.h"
#include "channelise/turn/cpu/turn_kernel.h"

namespace corella {
namespace {

struct Runs {
  const int32_t *edges;  // [run + 1]
  int64_t count;
  const double *coefficients;  // [run][a][d, d', p, p'], as in runs.ts
};
constexpr int64_t DELAY_NUMBERS = 4;

void check(const SpectraLayout &from, const SpectraLayout &to, const Runs &runs) {
  require(from.channels >= 1 && from.inputs >= 1 && from.capacity >= 1, "a block has a size below 1");
  require(from.type == SpectraType::ci8 || from.type == SpectraType::ci4 || from.type == SpectraType::cf32,
          "no such type of spectra");
  require(runs.count >= 1 && runs.edges[0] == 0, "runs must begin with the block");
  for (int64_t r = 0; r < runs.count; r++) require(runs.edges[r + 1] > runs.edges[r], "a run is empty");
  require(runs.edges[runs.count] <= from.capacity && runs.edges[runs.count] <= to.capacity,
          "a run is beyond the block");
}

void turn(Context &context, const SpectraLayout &from, const SpectraLayout &to, const char *block,
          const double *frequenciesHz, const Runs &runs, char *out) {
  const TurnKernel &kernel = CORELLA_PICK(context.level, turnKernel);
  const int64_t inputBlocks = from.inputBlocks();
  context.pool.run(from.channels * inputBlocks, [&](int64_t item, int) {
    const double frequencyHz = frequenciesHz[item / inputBlocks];
    const int64_t firstInput = item % inputBlocks * TILE_INPUTS;
    const int64_t inputs = std::min(TILE_INPUTS, from.inputs - firstInput);
    const char *at = block + item * from.inputBlockBytes();
    float *vectors = reinterpret_cast<float *>(out + item * to.inputBlockBytes());
    double turns[TILE_INPUTS] = {}, steps[TILE_INPUTS] = {};
    for (int64_t r = 0; r < runs.count; r++) {
      const double *coefficients = runs.coefficients + (r * from.inputs + firstInput) * DELAY_NUMBERS;
      for (int64_t input = 0; input < inputs; input++) {
        const double *delay = coefficients + input * DELAY_NUMBERS;
        turns[input] = delay[2] - frequencyHz * delay[0];
        steps[input] = delay[3] - frequencyHz * delay[1];
      }
      const int64_t first = runs.edges[r], end = runs.edges[r + 1];
      if (from.type == SpectraType::cf32)
        kernel.turnFloats(reinterpret_cast<const float *>(at), first, end, turns, steps, vectors);
      else
        kernel.turnIntegers(reinterpret_cast<const int8_t *>(at), first, end, turns, steps, vectors);
    }
  });
}

}  // namespace
}  // namespace corella

using namespace corella;

// block and out as in spectra.h, out of floats; frequenciesHz : [c]; edges : [run + 1]; coefficients : [run][a][d, d', p, p'].
CORELLA_EXPORT int32_t corella_turn_spectra(char *error, void *context, int32_t type, int64_t channels, int64_t inputs,
                                            int64_t capacity, int64_t outCapacity, const void *block,
                                            const double *frequenciesHz, const int32_t *edges, int64_t runs,
                                            const double *coefficients, void *out) {
  return withContext(error, context, [&](Context &open) {
    const SpectraLayout from{static_cast<SpectraType>(type), channels, inputs, capacity};
    const SpectraLayout to{SpectraType::cf32, channels, inputs, outCapacity};
    const Runs all{edges, runs, coefficients};
    check(from, to, all);
    turn(open, from, to, static_cast<const char *>(block), frequenciesHz, all, static_cast<char *>(out));
  });
}

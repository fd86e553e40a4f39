// Delays of inputs: the opening of each one's rows, and the part beyond whole samples, a phase for each channel and
// spectrum, linear in both.
//
// Rows open at any sample, and loads of several samples must be at multiples of OPENS_AT bytes. So a row is read from
// up to ROTATIONS - 1 samples before its opening, and the taps are shifted too: sample n of a spectrum is then at n +
// rotation, the last ones at the front of the next row. This rotates the transform's phases by whole steps a channel,
// which the delays' phases correct.
//
// Set by the plan besides shape.cuh: DELAYED (1: every launch has delays), OPENS_AT.
#pragma once
#include "shape.cuh"

constexpr int SAMPLE_SIZE = (REAL ? 1 : 2) * SAMPLE_BYTES, PERIOD = (REAL ? 2 : 1) * CHANNELS;

// delays : [a]. Phases are fractions of a turn times 2^64, so that whole turns are dropped and counting spectra costs
// no precision.
struct InputDelay {
  uint64_t phase, phaseStep;  // at the zero frequency: of spectrum 0, and the increment per spectrum
  float slope, slopeStep;     // turns a channel
  int opening;                // bytes of the row before spectrum 0's window
  int padding;
};
static_assert(sizeof(InputDelay) == 32, "as tables.ts writes it");

__device__ __forceinline__ int openingOf(const InputDelay *delays, unsigned input) {
  return __ldg(&delays[input].opening);
}
__device__ __forceinline__ int rotationOf(int opening) { return opening % OPENS_AT / SAMPLE_SIZE; }

// For one spectrum of one input: turns at the zero frequency, turns a channel, and the factor for APART channels.
struct Turn {
  float phase, slope;
  float2 step;
};

__device__ __forceinline__ float2 exactUnit(float turns) {
  float2 unit;
  sincospif(2 * turns, &unit.y, &unit.x);
  return unit;
}
// Within 2^-20, below the rounding of integers.
__device__ __forceinline__ float2 unitAt(float turns) {
  if constexpr (OUTPUT_FLOAT) return exactUnit(turns);
  const float angle = 6.2831853f * (turns - rintf(turns));
  return make_float2(__cosf(angle), __sinf(angle));
}

template <int APART>
__device__ __forceinline__ Turn turnOf(const InputDelay *delays, unsigned input, unsigned spectrum) {
  const InputDelay &own = delays[input];
  const int turns = (int)((__ldg(&own.phase) + spectrum * __ldg(&own.phaseStep)) >> 32);
  Turn turn;
  turn.phase = (float)turns * 0x1p-32f;
  turn.slope = fmaf((float)spectrum, __ldg(&own.slopeStep), __ldg(&own.slope)) +
               rotationOf(__ldg(&own.opening)) * (1.0f / PERIOD);
  turn.step = exactUnit(turn.slope * APART);
  return turn;
}

// Channels relative to the zero frequency: the upper half of a complex transform is negative.
__device__ __forceinline__ int fromZero(unsigned bin) {
  return REAL || bin < (CHANNELS + 1) / 2 ? (int)bin : (int)bin - CHANNELS;
}

// COUNT values whose phases are equally spaced: each is 2 cos(step) times the last less the one before. Errors grow
// with the square of their number, too much for floats.
template <int COUNT, class Get, class Put>
__device__ __forceinline__ void delayRun(Turn turn, int first, int offset, Get get, Put put) {
  float2 unit = unitAt(fmaf(turn.slope, (float)first, turn.phase));
  put(offset, times(get(offset), unit));
  if constexpr (COUNT > 1) {
    const float twice = 2 * turn.step.x;
    float2 before = unit;
    unit = times(unit, turn.step);
    put(offset + 1, times(get(offset + 1), unit));
#pragma unroll
    for (int k = 2; k < COUNT; ++k) {
      const float2 next = OUTPUT_FLOAT ? times(unit, turn.step)
                                       : make_float2(fmaf(twice, unit.x, -before.x), fmaf(twice, unit.y, -before.y));
      before = unit, unit = next;
      put(offset + k, times(get(offset + k), unit));
    }
  }
}

// Bins first + k APART, k < R: for complex samples the upper half of them is negative, two runs. Other cases are
// computed one by one.
template <int R, int APART, class Get, class Put>
__device__ __forceinline__ void delayBins(Turn turn, unsigned first, Get get, Put put) {
  if constexpr (REAL) {
    delayRun<R>(turn, (int)first, 0, get, put);
  } else if constexpr (R % 2 == 0 && APART * R == CHANNELS) {
    delayRun<R / 2>(turn, (int)first, 0, get, put);
    delayRun<R / 2>(turn, (int)first - CHANNELS / 2, R / 2, get, put);
  } else {
#pragma unroll
    for (int k = 0; k < R; ++k)
      put(k, times(get(k), unitAt(fmaf(turn.slope, (float)fromZero(first + k * APART), turn.phase))));
  }
}

// The same for parts in arrays of their own.
template <int R>
__device__ __forceinline__ void delayParts(Turn turn, unsigned first, float (&re)[R], float (&im)[R]) {
  delayBins<R, CHANNELS / R>(
      turn, first, [&](int k) { return make_float2(re[k], im[k]); },
      [&](int k, float2 value) { re[k] = value.x, im[k] = value.y; });
}

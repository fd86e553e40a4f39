// The layout of a block of spectra in native memory, for code that writes or reads it in place.
//
// Integers (ci8, and ci4 unpacked to bytes) are in tiles of 16 inputs × 64 samples, the shape that AMX multiplies and
// AVX-512 VNNI reads line by line:
//
//   [c][a / 16][t / 64][re, im][t / 4 mod 16][a mod 16][t mod 4]   int8
//
// One line of 64 bytes is four consecutive samples of 16 inputs. Floats are sixteen inputs to a vector:
//
//   [c][a / 16][t][re, im][a mod 16]                               float
//
// The strides come from the capacity; `samples` of it are in use. Code that fills a block also zeroes integer samples
// from `samples` up to the next multiple of 64; inputs past the last stay zero from the beginning.
#pragma once
#include "native.h"

namespace corella {

/** The numbers are part of the ABI (spectra.ts). */
enum class SpectraType : int32_t { ci8 = 0, ci4 = 1, cf32 = 2 };

constexpr int64_t TILE_INPUTS = 16;
constexpr int64_t TILE_SAMPLES = 64;
/** One plane, real or imaginary, of a tile. */
constexpr int64_t PLANE_BYTES = TILE_INPUTS * TILE_SAMPLES;
/** Both planes: the distance of a step along t / 64. */
constexpr int64_t TILE_BYTES = 2 * PLANE_BYTES;
/** Floats of one sample of sixteen inputs, real parts then imaginary. */
constexpr int64_t FLOATS_PER_SAMPLE = 2 * TILE_INPUTS;

struct SpectraLayout {
  SpectraType type;
  int64_t channels, inputs, capacity;

  constexpr int64_t inputBlocks() const { return (inputs + TILE_INPUTS - 1) / TILE_INPUTS; }
  constexpr int64_t timeBlocks() const { return timeBlocksOf(capacity); }
  static constexpr int64_t timeBlocksOf(int64_t samples) { return (samples + TILE_SAMPLES - 1) / TILE_SAMPLES; }
  /** The distance from one block of sixteen inputs to the next, and from a channel to the next. */
  constexpr int64_t inputBlockBytes() const {
    return type == SpectraType::cf32 ? capacity * FLOATS_PER_SAMPLE * 4 : timeBlocks() * TILE_BYTES;
  }
  constexpr int64_t channelBytes() const { return inputBlocks() * inputBlockBytes(); }
  constexpr int64_t sizeBytes() const { return channels * channelBytes(); }
};

/** The place of (a mod 16, t mod 64) within a plane. */
constexpr int64_t withinPlane(int64_t input, int64_t sample) {
  return sample / 4 * (TILE_INPUTS * 4) + input * 4 + sample % 4;
}

}  // namespace corella

// Sums of powers that code which fills a block of spectra may store beside it, sixteen spectra at a time:
//
//   [a / 16][c / 4][t / 16][c mod 4][S1, S2][a mod 16]   32 bits
//
// S1 and S2 are sums of |x|² and |x|⁴ over the block's spectra 16 g … 16 g + 15, of which those past the last are
// zeros. Of floats they are floats. Of integers they are whole numbers modulo 2³², which is enough: no part exceeds
// ±127, so that |x|² is within 127² of 127², and the squares of the differences sum to less than 2³² (squaresOf).
#pragma once
#include "backend/cpu/spectra.h"

namespace corella {

constexpr int64_t POWER_SPECTRA = 16;
constexpr int64_t POWER_CHANNELS = 4;
/** Words of a channel's S1 and S2, and of four channels'. */
constexpr int64_t POWER_WORDS = 2 * TILE_INPUTS;
constexpr int64_t POWER_CELL_WORDS = POWER_CHANNELS * POWER_WORDS;

struct PowersLayout {
  int64_t channels, inputs, capacity;

  constexpr explicit PowersLayout(const SpectraLayout &of)
      : channels(of.channels), inputs(of.inputs), capacity(of.capacity) {}
  constexpr int64_t quads() const { return (channels + POWER_CHANNELS - 1) / POWER_CHANNELS; }
  /** For whole tiles, and an odd number: channels' cells are in different sets of a cache. */
  constexpr int64_t groups() const {
    return SpectraLayout::timeBlocksOf(capacity) * (TILE_SAMPLES / POWER_SPECTRA) + 1;
  }
  constexpr int64_t quadWords() const { return groups() * POWER_CELL_WORDS; }
  constexpr int64_t inputBlockWords() const { return quads() * quadWords(); }
};

constexpr uint32_t MIDDLE_POWER = 127 * 127;
static_assert(uint64_t{POWER_SPECTRA} * MIDDLE_POWER * MIDDLE_POWER < uint64_t{1} << 32, "squares must fit 32 bits");

/** Σ(p − m)² over sixteen p, from Σp and Σp² modulo 2³². */
constexpr uint32_t offsetSquares(uint32_t s1, uint32_t s2) {
  return s2 - 2 * MIDDLE_POWER * s1 + static_cast<uint32_t>(POWER_SPECTRA) * MIDDLE_POWER * MIDDLE_POWER;
}
/** Σp² of `groups` times sixteen p, from Σp and all their Σ(p − m)². */
constexpr uint64_t squaresOf(uint64_t s1, uint64_t offset, uint64_t groups) {
  return offset + 2 * uint64_t{MIDDLE_POWER} * s1 - groups * POWER_SPECTRA * MIDDLE_POWER * MIDDLE_POWER;
}

}  // namespace corella

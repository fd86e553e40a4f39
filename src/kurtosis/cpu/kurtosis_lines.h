// How a tile's bytes are walked through (spectra.h).
#pragma once
#include "backend/cpu/spectra.h"

namespace corella {
namespace CORELLA_LEVEL {
namespace {

/** A line of a tile: four samples of sixteen inputs, real parts; the imaginary ones lie a plane further. */
constexpr int64_t LINE = 4 * TILE_INPUTS;

inline const int8_t *lineAt(const int8_t *tiles, int64_t line) {
  return tiles + line / TILE_INPUTS * TILE_BYTES + line % TILE_INPUTS * LINE;
}

/** From a line to the last of its tile, or to the end: lines of one tile follow on each other. */
inline int64_t linesOfTile(int64_t line, int64_t end) {
  const int64_t next = (line / TILE_INPUTS + 1) * TILE_INPUTS;
  return next < end ? next : end;
}

}  // namespace
}  // namespace CORELLA_LEVEL
}  // namespace corella

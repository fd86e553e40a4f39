// AMX: eight tile registers of 16 rows of 64 bytes. For sources compiled for its level.
#pragma once
#include <immintrin.h>

#include "native.h"

namespace corella {
namespace amx {
namespace {

/** Around every run of tile instructions on a thread. */
inline void enter() {
  struct alignas(64) {
    uint8_t palette = 1, startRow = 0, reserved[14] = {};
    uint16_t rowBytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
    uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
  } configuration;
  // GCC 12 does not know that the next instruction reads memory, and may drop the stores above.
  __asm__ volatile("" : : "r"(&configuration) : "memory");
  _tile_loadconfig(&configuration);
}

inline void leave() { _tile_release(); }

}  // namespace
}  // namespace amx
}  // namespace corella

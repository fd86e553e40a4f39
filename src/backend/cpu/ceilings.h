// The peak rates of this processor, by level: loops that only multiply, or only read.
#pragma once
#include "native.h"

namespace corella {

/** The numbers are part of the ABI (ceilings.ts). */
enum class Arithmetic : int32_t { integers = 0, floats = 1 };

struct Ceilings {
  /** Integer multiply-adds on small integers, by the best instruction of the level; returns operations done. */
  double (*integers)(int64_t repeats);
  /** The same in float32. */
  double (*floats)(int64_t repeats);
  /** Reads memory, a multiple of 512 bytes long, once; the result only keeps the loop from being optimised away. */
  uint64_t (*read)(const void *memory, int64_t sizeBytes);
};

CORELLA_DECLARE_MATRIX(const Ceilings, ceilings)

}  // namespace corella

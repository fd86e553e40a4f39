// The data that the once-compiled half of the channeliser (channelise.cpp) passes to the kernels of a level.
#pragma once
#include "backend/cpu/native.h"
#include "backend/cpu/spectra.h"

namespace corella {

/** The numbers are part of the ABI (cpu.ts). A real sample is one scalar, a complex one two. */
enum class Scalar : int32_t { i8 = 0, i16 = 1, f32 = 2 };

constexpr int MOST_TAPS = 256;
constexpr int MOST_LANES = 16;
/** The remaining phase of an input's delay: turns, turns a spectrum, turns a channel, those a spectrum (spectra.ts). */
constexpr int TURN_NUMBERS = 4;
/** Points that a last pass makes and rounds together. */
constexpr int MOST_LEGS = 16;
/** Radices up to this one are computed directly; a transform with a larger prime factor is a convolution. */
constexpr int MOST_RADIX = 31;
/** Floats after a table of twiddles, accessed with its last row by whole vectors. */
constexpr int TWIDDLE_PADDING = 32;

/** One pass of a transform of N = radix · columns points: `columns` butterflies. Places are counted in points. */
struct Pass {
  int32_t radix;
  int32_t columns;
  int64_t pitch;          // from one leg of a butterfly to the next
  const int32_t *column;  // [columns] the place of each butterfly's first leg
  const float *twiddles;  // [columns][cos, sin][radix − 1] of −2πij/N, and TWIDDLE_PADDING
  const float *circle;    // [radix] (cos, sin) of −2πm/radix
};

struct Transform {
  int32_t points;
  int32_t passCount;
  int64_t extent;  // points of memory, a multiple of 4; those without a sample are padding
  const Pass *passes;
  const int32_t *placeOf;  // [points] the place of sample n
  const int32_t *binAt;    // [points] the place of bin k
};

/** A transform of N points as a convolution, for N with a large prime factor (Bluestein). */
struct Chirp {
  const float *turn;      // [N] (cos, sin) of −πn²/N
  const float *spectrum;  // [extent] (cos, sin): transform of the conjugate chirp, over the longer transform's length
};

/** A line's worth of neighbouring points, filtered in one go. */
struct Line {
  int32_t first;   // point
  int32_t points;  // fewer than the kernel's line at an end
  int32_t place;
};

/** Lines that are filtered before the first pass processes their columns first…end−1. */
struct Group {
  int32_t firstLine, endLine, firstColumn, endColumn;
};

struct ChanneliseJob {
  Scalar scalar;
  int32_t taps;
  int32_t points;  // C: the length of the transform
  bool real;       // 2C real samples went in as C complex ones
  SpectraType output;
  Transform transform;
  const Chirp *chirp;      // or null
  const float *untangle;   // [C/2 + 1] (cos, sin) of −πk/C, for real samples
  const int32_t *binAt;    // [C] the final place of bin k of the C points
  int64_t places;          // that are rounded, a multiple of 4
  const int32_t *channel;  // [places] the channel at a place, −1 for none
  const Line *lines;
  const Group *groups;
  int32_t groupCount;
  bool bytesApart;    // whether taps of 8-bit samples are in the order of layOutByteTable
  const void *table;  // [line][4 vectors][taps, or pairs of taps][lanes], in the filter's order
  int64_t tableLineBytes;
  int64_t stageBytes;    // from one input's stage to the next
  int32_t zeroChannel;   // channel 0 of the delays' phases
  int32_t fineTurnBits;  // the phase of channel c is entry c mod 2^bits of a fine table plus c / 2^bits of a coarse one
  int32_t legs;          // points of a last pass that are rotated together, or 0: 4, 8 or 16, C / legs channels apart
  float gain;            // of every channel and input, or 0 where gains differ
};

/**
 * For a table of phase factors: two times the legs of a last pass, twiddles of the pass before, and two tables for
 * channels.
 */
constexpr int MOST_TURNED_TWIDDLES = MOST_LEGS * 2 * (MOST_RADIX - 1) + TWIDDLE_PADDING;
inline int64_t turnTableFloats(const ChanneliseJob &job, int32_t lanes) {
  const int64_t entries = 2 * MOST_LEGS + (int64_t{1} << job.fineTurnBits) + (job.points >> job.fineTurnBits) + 1;
  return entries * 2 * lanes + (MOST_TURNED_TWIDDLES + 15) / 16 * 16;
}

/** LANES spectra of one input. */
struct ChanneliseRows {
  const char *const *row;   // [LANES + T + 3] the beginning of each spectrum's samples; arbitrary past the last
  const char *const *next;  // the same for the next filter call, to be prefetched; or null
  uint32_t missing;         // bit l: spectrum l is missing, or past the end; it comes out as zeros
  const float *gains;       // [places], 0 where no channel is
  float *work;              // [extent] points
  float *more;              // [extent] points, for a convolution
  char *stage;              // rounded values before they are written to the block
  const double *turns;      // [TURN_NUMBERS] of this input; or null where nothing is delayed
  int64_t first;            // number of the first spectrum, from which `turns` counts
  float *turnTable;         // channelise_turns.h
};

struct ChanneliseKernel {
  int32_t lanes;
  /** Whether `turn` sums powers of integers; powers of floats it always does. */
  bool sumsIntegers;
  /** Bytes of a line's table of 16-bit taps, and how they are laid out there: tap : [τ][scalar of the line]; or null. */
  int64_t (*byteTableBytes)(int32_t taps, bool real);
  void (*layOutByteTable)(const int16_t *tap, int32_t taps, bool real, void *table);
  /** Which scalar of a line is in a lane of one of its four vectors while it is filtered. */
  int32_t (*scalarOf)(bool bytes, int32_t vector, int32_t lane);
  /** Filters, transforms and rounds into the stage; returns how many parts saturated. */
  int64_t (*transform)(const ChanneliseJob &job, const ChanneliseRows &rows);
  /**
   * Corner turn: from the stages of up to sixteen inputs to one input block, LANES samples from `first` on, of which
   * `samples` exist. With no inputs it writes zeros. Their powers are added to the input block's cells
   * (spectra_powers.h), or written there first, unless that is null; the thread that makes the first LANES of sixteen
   * samples makes the others next.
   */
  void (*turn)(const ChanneliseJob &job, const char *stages, int32_t inputs, const SpectraLayout &layout, char *block,
               int64_t first, int64_t samples, uint32_t *powers);
};

CORELLA_DECLARE_BYTES(const ChanneliseKernel, channeliseKernel)

}  // namespace corella

// Common to the tensor-core kernels: spectra by station are transposed to rows by time, and sums become voltages or
// powers.
//
// A warp multiplies 16 spectra by the columns of a tile over its stations. Columns are beams, the real and the imaginary part of
// each side by side, in two halves of COLUMNS: of two polarisations one for each, of one polarisation one beam after the other.
// Stations come in steps of 64, as panels of rows of 128 bytes under the 128-byte swizzle:
//   spectra : [station][64 spectra][re, im]      weights : [column][station][factor of re, factor of im]
// A sample is two bytes: transposed loads of 16-bit elements make fragments of (re, im) of consecutive stations, as in
// a row of weights. An accumulator pair is then (re, im) of a beam.
#pragma once
#include "beamform.cuh"

constexpr int STEP_STATIONS = 64, PANEL_ROW = 128;
constexpr int TILE_SPECTRA = 128;  // two panels of spectra
constexpr int SPECTRA_PANEL = STEP_STATIONS * PANEL_ROW, WEIGHT_PANEL = COLUMNS * PANEL_ROW;
constexpr int SPECTRA_BYTES = POLARISATIONS * 2 * SPECTRA_PANEL, STAGE_BYTES = SPECTRA_BYTES + 2 * WEIGHT_PANEL;
constexpr int STEPS = (STATIONS + STEP_STATIONS - 1) / STEP_STATIONS;
constexpr int HALF_BEAMS = COLUMNS / 2, TILE_BEAMS = POLARISATIONS == 2 ? HALF_BEAMS : COLUMNS;
constexpr int BEAM_TILES = (BEAMS + TILE_BEAMS - 1) / TILE_BEAMS;
constexpr int VALUES = COLUMNS / 8;  // beams of a lane in each half
static_assert(COLUMNS == 32 || COLUMNS == 64 || COLUMNS == 128, "see addLanes");

// Beams are innermost, so that blocks side by side read the same spectra.
struct Tile {
  int channel, spectrum, beam;
};
__device__ __forceinline__ Tile tileOf(const Work &work, int item) {
  const int tiles = (work.samples + TILE_SPECTRA - 1) / TILE_SPECTRA;
  const int beams = item % BEAM_TILES, rest = item / BEAM_TILES;
  return {rest / tiles, rest % tiles * TILE_SPECTRA, beams * TILE_BEAMS};
}
// First row of weights of a half, within those of its channel and polarisation.
__device__ __forceinline__ int columnOf(const Tile &tile, int half) {
  return 2 * tile.beam + (POLARISATIONS == 1 ? half * COLUMNS : 0);
}

// The place of this lane's row in a panel of spectra, for transposed loads of 16 spectra of 16 stations: first the two
// groups of eight spectra of stations 0 to 7, then those of stations 8 to 15.
__device__ __forceinline__ uint32_t fragmentOffset(int lane, int warp) {
  const int station = (lane >> 4) * 8 + (lane & 7), chunk = 2 * warp + (lane >> 3 & 1);
  return station * PANEL_ROW + ((chunk ^ (lane & 7)) * 16);
}
__device__ __forceinline__ void loadTransposed(uint32_t (&a)[4], uint32_t address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3])
               : "r"(address)
               : "memory");
}

// Sums of v over the eight lanes that have the same lane & 3: each lane keeps some of them. Which: firstKept and those after it.
template <int COUNT, int BIT>
__device__ __forceinline__ void addLanes(float *v, int lane) {
  if constexpr (BIT >= 4) {
    if constexpr (COUNT > 1) {
      const bool isUpper = lane & BIT;
#pragma unroll
      for (int n = 0; n < COUNT / 2; ++n) {
        const float kept = isUpper ? v[n + COUNT / 2] : v[n], given = isUpper ? v[n] : v[n + COUNT / 2];
        v[n] = kept + __shfl_xor_sync(0xFFFFFFFFu, given, BIT);
      }
      addLanes<COUNT / 2, BIT / 2>(v, lane);
    } else {
      v[0] += __shfl_xor_sync(0xFFFFFFFFu, v[0], BIT);
      addLanes<1, BIT / 2>(v, lane);
    }
  }
}
constexpr int KEPT = VALUES >= 8 ? VALUES / 8 : 1;
__device__ __forceinline__ int firstKept(int lane) {
  int first = 0;
  for (int bit = 16, half = VALUES / 2; half >= 1 && bit >= 4; bit >>= 1, half >>= 1)
    if (lane & bit) first += half;
  return first;
}

// One value for each spectrum and beam, `value(j, which)` for this lane's beams j of its two spectra, to its rows.
template <class Value>
__device__ __forceinline__ void storePlane(const Work &work, int channel, int first, int beam, int plane, Value value) {
  const int lane = threadIdx.x & 31, row = lane >> 2;
  if (isShort(work)) {
#pragma unroll
    for (int j = 0; j < VALUES; ++j)
#pragma unroll
      for (int which = 0; which < 2; ++which) {
        const int t = first + row + 8 * which, to = beam + 4 * j + (lane & 3);
        if (t < work.samples && to < BEAMS) partialsOf(work, channel, t, plane)[to] = value(j, which);
      }
    return;
  }
  const int cut = cutOf(work, first);
  for (int part = 0; part < (cut < SLICE ? 2 : 1); ++part) {
    const bool has0 = (row < cut) == (part == 0), has1 = (row + 8 < cut) == (part == 0);
    float v[VALUES];
#pragma unroll
    for (int j = 0; j < VALUES; ++j) v[j] = (has0 ? value(j, 0) : 0.0f) + (has1 ? value(j, 1) : 0.0f);
    addLanes<VALUES, 16>(v, lane);
    if (VALUES == 4 && (lane & 4) != 0) continue;  // has the same sums as the neighbouring lane
    float *to = partialsOf(work, channel, first / SLICE * 2 + part, plane);
#pragma unroll
    for (int n = 0; n < KEPT; ++n) {
      const int at = beam + 4 * (firstKept(lane) + n) + (lane & 3);
      if (at < BEAMS) to[at] = v[n];
    }
  }
}

// The sums of a warp's 16 spectra from `first` on: acc[half][4 j + 2 which + part].
template <class Sums>
__device__ __forceinline__ void storeSums(const Work &work, const Tile &tile, int first, const Sums &acc) {
  if (first >= work.samples) return;
  const int lane = threadIdx.x & 31;
  const auto voltage = [&](int half, int j, int which) {
    return Voltage<int>{acc[half][4 * j + 2 * which], acc[half][4 * j + 2 * which + 1]};
  };
  if (work.detection == VOLTAGES) {
#pragma unroll
    for (int half = 0; half < 2; ++half)
#pragma unroll
      for (int j = 0; j < VALUES; ++j)
#pragma unroll
        for (int which = 0; which < 2; ++which)
          storeVoltage(work, tile.channel,
                       tile.beam + (POLARISATIONS == 1 ? half * HALF_BEAMS : 0) + 4 * j + (lane & 3),
                       POLARISATIONS == 1 ? 0 : half, first + (lane >> 2) + 8 * which, voltage(half, j, which));
  } else if constexpr (POLARISATIONS == 1) {
#pragma unroll
    for (int half = 0; half < 2; ++half)
      storePlane(work, tile.channel, first, tile.beam + half * HALF_BEAMS, 0,
                 [&](int j, int which) { return powerOf(voltage(half, j, which)); });
  } else {
    for (int plane = 0; plane < work.detection; ++plane)
      storePlane(work, tile.channel, first, tile.beam, plane, [&](int j, int which) {
        return detected(work.detection, plane, voltage(0, j, which), voltage(1, j, which));
      });
  }
}

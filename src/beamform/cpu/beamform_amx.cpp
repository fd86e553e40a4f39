// levels: amx
// Tiles of 16 × 64 bytes: one instruction multiplies 16 beams by 16 spectra over 64 stations. A panel in
// AVX-512's layout is the second operand unchanged: a row of it is four stations of 16 spectra.
#include "backend/cpu/amx.h"
#include "beamform/cpu/beamform_turn.h"

namespace corella {
namespace amx {
namespace {

constexpr int64_t AMX_GROUP = 16, STEP_QUADS = 16;
constexpr int64_t STEP_BYTES = weightBytes(AMX_GROUP, STEP_QUADS);

/**
 * Re and Im of two vectors of 16 spectra, an accumulator each: the multiplier takes 16 cycles an instruction but its
 * latency is 52, so each is used once in four. Seven loads for eight products.
 */
void sum(const int8_t *panel, int64_t steps, const int8_t *weights, const int32_t *, int32_t *sums) {
  constexpr int64_t IMAGINARY = QUAD_BYTES / 2, VECTOR = 64, ROW = 4 * 2 * TILE_SAMPLES;
  for (int64_t first = 0; first < TILE_SAMPLES; first += 32) {
    const int8_t *x = panel + first * QUAD, *w = weights;
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
    for (int64_t step = 0; step < steps; step++, x += STEP_QUADS * QUAD_BYTES, w += STEP_BYTES) {
      _tile_loadd(4, w, 64);
      _tile_loadd(5, x, QUAD_BYTES);
      _tile_loadd(6, x + VECTOR, QUAD_BYTES);
      _tile_dpbssd(0, 4, 5);
      _tile_dpbssd(1, 4, 6);
      _tile_loadd(7, w + STEP_BYTES / 3, 64);
      _tile_dpbssd(2, 7, 5);
      _tile_dpbssd(3, 7, 6);
      _tile_loadd(7, w + 2 * STEP_BYTES / 3, 64);
      _tile_loadd(5, x + IMAGINARY, QUAD_BYTES);
      _tile_loadd(6, x + IMAGINARY + VECTOR, QUAD_BYTES);
      _tile_dpbssd(0, 7, 5);
      _tile_dpbssd(1, 7, 6);
      _tile_dpbssd(2, 4, 5);
      _tile_dpbssd(3, 4, 6);
    }
    int32_t *to = sums + first;
    _tile_stored(0, to, ROW);
    _tile_stored(1, to + 16, ROW);
    _tile_stored(2, to + TILE_SAMPLES, ROW);
    _tile_stored(3, to + TILE_SAMPLES + 16, ROW);
  }
  // Nor that the stores above write it.
  __asm__ volatile("" : : : "memory");
}

}  // namespace

extern const BeamKernel beamKernel = {AMX_GROUP, STEP_QUADS, QUAD_BYTES, false, turn<0>, sum, enter, leave};

}  // namespace amx
}  // namespace corella

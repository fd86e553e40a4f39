// The corner turn: cells [lane][fragment][slot] to [c][a][t], zeros where nothing came (turn.ts).
#include <cstring>
#include <vector>

#include "backend/cpu/context.h"

using namespace corella;

namespace {

/** In this order from TypeScript (native/turn.ts). */
struct Shape {
  int64_t lanes, fragments, slotsPerBlock, firstSlot, endSlot, cellBytes, inputs, samplesPerSlot;
  int64_t sizeC, sizeT, sizeA, stepC, stepT, stepA;  // steps in samples
  int64_t elements, bits, lowestFirst, tableEach;    // numbers of a byte in the table; 0: longer than a byte
};

/** Elements of a cell in the order they lie. */
template <class Element>
void decode(const Shape &shape, const uint8_t *cell, const Element *table, const int64_t *levels, Element *out) {
  const int64_t count = shape.sizeC * shape.sizeT * shape.sizeA * shape.elements;
  if (shape.tableEach == 1) {
    for (int64_t n = 0; n < count; n++) out[n] = table[cell[n]];
  } else if (shape.tableEach > 1) {
    const int64_t each = shape.tableEach;
    for (int64_t n = 0; n < count / each; n++)
      for (int64_t k = 0; k < each; k++) out[n * each + k] = table[cell[n] * each + k];
  } else {
    // levels : what is taken off a code, and the code from which that is a whole turn (two's complement)
    const int64_t mask = (int64_t(1) << shape.bits) - 1;
    for (int64_t n = 0; n < count; n++) {
      const int64_t first = n * shape.bits, at = first >> 3, shift = first & 7;
      int64_t word = 0;
      for (int64_t k = 0; k < 3; k++) {
        const int64_t byte = at + k < shape.cellBytes ? cell[at + k] : 0;
        word |= shape.lowestFirst ? byte << (8 * k) : byte << (8 * (2 - k));
      }
      const int64_t code = (shape.lowestFirst ? word >> shift : word >> (24 - shift - shape.bits)) & mask;
      out[n] = static_cast<Element>(code - (code >= levels[1] ? levels[0] : 0));
    }
  }
}

template <class Element>
void turn(const Shape &shape, const int64_t *boxes, const uint8_t *cells, const uint64_t *presence,
          const Element *table, const int64_t *levels, Element *target) {
  const int64_t rowWords = (shape.slotsPerBlock + 63) / 64, slots = shape.endSlot - shape.firstSlot;
  const int64_t samples = slots * shape.samplesPerSlot, channelsEach = shape.sizeC;
  // So many slots are decoded before they are written: lines of the target are touched a cache line at a time.
  constexpr int64_t TILE = 64;
  const int64_t numbers = shape.sizeC * shape.sizeT * shape.sizeA * shape.elements;
  std::vector<Element> tile(static_cast<size_t>(TILE * numbers));
  for (int64_t row = 0; row < shape.lanes * shape.fragments; row++) {
    const int64_t lane = row / shape.fragments, fragment = row % shape.fragments;
    const int64_t firstInput = boxes[2 * lane], firstChannel = boxes[2 * lane + 1] + fragment * channelsEach;
    for (int64_t from = 0; from < slots; from += TILE) {
      const int64_t many = slots - from < TILE ? slots - from : TILE;
      for (int64_t k = 0; k < many; k++) {
        const int64_t slot = shape.firstSlot + from + k;
        Element *out = tile.data() + k * numbers;
        if (presence[row * rowWords + (slot >> 6)] >> (slot & 63) & 1)
          decode(shape, cells + (row * shape.slotsPerBlock + slot) * shape.cellBytes, table, levels, out);
        else
          std::memset(out, 0, static_cast<size_t>(numbers) * sizeof(Element));
      }
      for (int64_t c = 0; c < shape.sizeC; c++)
        for (int64_t a = 0; a < shape.sizeA; a++) {
          Element *to =
              target + (((firstChannel + c) * shape.inputs + firstInput + a) * samples + from * shape.samplesPerSlot) *
                           shape.elements;
          const Element *line = tile.data() + (c * shape.stepC + a * shape.stepA) * shape.elements;
          for (int64_t k = 0; k < many; k++)
            for (int64_t t = 0; t < shape.sizeT; t++)
              for (int64_t part = 0; part < shape.elements; part++)
                *to++ = line[k * numbers + t * shape.stepT * shape.elements + part];
        }
    }
  }
}

}  // namespace

// bytes : of an element, 1, 2 or 4 (float). table : [byte][tableEach] elements. levels : see decode.
CORELLA_EXPORT int32_t corella_turn_cells(char *error, const int64_t *shape, const int64_t *boxes, int32_t bytes,
                                          const uint8_t *cells, const void *presence, const void *table,
                                          const int64_t *levels, void *target) {
  return guarded(error, [&] {
    Shape given;
    std::memcpy(&given, shape, sizeof given);
    const uint64_t *bits = static_cast<const uint64_t *>(presence);
    switch (bytes) {
      case 1:
        return turn(given, boxes, cells, bits, static_cast<const int8_t *>(table), levels,
                    static_cast<int8_t *>(target));
      case 2:
        return turn(given, boxes, cells, bits, static_cast<const int16_t *>(table), levels,
                    static_cast<int16_t *>(target));
      case 4:
        return turn(given, boxes, cells, bits, static_cast<const float *>(table), levels, static_cast<float *>(target));
      default: throw Refusal("elements have 1, 2 or 4 bytes");
    }
  });
}

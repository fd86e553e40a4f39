// The corner turn: cells [sender][fragment][slot] to [c][a][t], with zeros for missing packets (turn.ts).
#include <cstring>
#include <vector>

#include "backend/cpu/context.h"

using namespace corella;

namespace {

/** TypeScript passes these in this order (native/turn.ts). */
struct Shape {
  int64_t senders, fragments, slotsPerBlock, firstSlot, endSlot, cellBytes, inputs, samplesPerSlot;
  int64_t sizeC, sizeT, sizeA, stepC, stepT, stepA;  // steps in samples
  int64_t elements, bits, lowestFirst, tableEach;    // numbers per byte in the table; 0: a number is longer than a byte
  int64_t nibbles;                                   // 1: bytes are (re, im) of 4 bits; lowest level becomes the next
  int64_t firstSender, endSender;                    // range of this call: several calls share a block
};

/** The elements of a cell, in memory order. */
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
    // levels : the offset of a code, and the code from which it wraps (two's complement)
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

typedef uint8_t Bytes16 __attribute__((vector_size(16)));

/** −8 becomes −7, in either half of a byte. */
inline Bytes16 symmetricNibbles(Bytes16 x) {
  const Bytes16 high = (Bytes16)((x & 0xf0) == 0x80), low = (Bytes16)((x & 0x0f) == 0x08);
  return x | (high & 0x10) | (low & 0x01);
}

/** Transposes 16 rows of 16 bytes by four rounds of interleaving. */
inline void turn16(Bytes16 *rows) {
  constexpr Bytes16 firstHalf = {0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23};
  constexpr Bytes16 secondHalf = {8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31};
  Bytes16 next[16];
  for (int round = 0; round < 4; round++) {
    for (int k = 0; k < 8; k++) {
#if defined(__clang__)
      next[2 * k] =
          __builtin_shufflevector(rows[k], rows[k + 8], 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
      next[2 * k + 1] =
          __builtin_shufflevector(rows[k], rows[k + 8], 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
      static_cast<void>(firstHalf);
      static_cast<void>(secondHalf);
#else
      next[2 * k] = __builtin_shuffle(rows[k], rows[k + 8], firstHalf);
      next[2 * k + 1] = __builtin_shuffle(rows[k], rows[k + 8], secondHalf);
#endif
    }
    std::memcpy(rows, next, sizeof next);
  }
}

/** Whether a cell is one spectrum of nibbles, inputs side by side: the format of LWA F-engines. */
bool isSpectrumOfNibbles(const Shape &shape) {
  return shape.nibbles == 1 && shape.sizeT == 1 && shape.stepA == 1 && shape.stepC == shape.sizeA &&
         shape.sizeA % 16 == 0;
}

/** The same in tiles of 16 inputs × 16 spectra; each row of the target is written one cache line at a time. */
void turnNibbles(const Shape &shape, const int64_t *boxes, const uint8_t *cells, const uint64_t *presence,
                 uint8_t *target) {
  const int64_t rowWords = (shape.slotsPerBlock + 63) / 64, slots = shape.endSlot - shape.firstSlot;
  const std::vector<uint8_t> nothing(static_cast<size_t>(shape.cellBytes));
  constexpr int64_t LINE = 64;
  const uint8_t *spectra[LINE];
  for (int64_t row = shape.firstSender * shape.fragments; row < shape.endSender * shape.fragments; row++) {
    const int64_t sender = row / shape.fragments;
    const int64_t firstChannel = boxes[2 * sender + 1] + row % shape.fragments * shape.sizeC;
    for (int64_t line = 0; line < slots; line += LINE) {
      const int64_t many = slots - line < LINE ? slots - line : LINE;
      for (int64_t k = 0; k < LINE; k++) {
        const int64_t slot = shape.firstSlot + line + k;
        const bool there = k < many && (presence[row * rowWords + (slot >> 6)] >> (slot & 63) & 1);
        spectra[k] = there ? cells + (row * shape.slotsPerBlock + slot) * shape.cellBytes : nothing.data();
      }
      for (int64_t at = 0; at < shape.sizeC * shape.sizeA; at += 16) {
        const int64_t c = at / shape.sizeA, a = at % shape.sizeA;
        uint8_t *to = target + ((firstChannel + c) * shape.inputs + boxes[2 * sender] + a) * slots + line;
        for (int64_t from = 0; from < many; from += 16) {
          Bytes16 rows[16];
          for (int k = 0; k < 16; k++) {
            std::memcpy(&rows[k], spectra[from + k] + at, 16);
            rows[k] = symmetricNibbles(rows[k]);
          }
          turn16(rows);
          if (many - from >= 16) {
            for (int k = 0; k < 16; k++) std::memcpy(to + k * slots + from, &rows[k], 16);
          } else {
            for (int k = 0; k < 16; k++) std::memcpy(to + k * slots + from, &rows[k], static_cast<size_t>(many - from));
          }
        }
      }
    }
  }
}

template <class Element>
void turn(const Shape &shape, const int64_t *boxes, const uint8_t *cells, const uint64_t *presence,
          const Element *table, const int64_t *levels, Element *target) {
  const int64_t rowWords = (shape.slotsPerBlock + 63) / 64, slots = shape.endSlot - shape.firstSlot;
  const int64_t samples = slots * shape.samplesPerSlot, channelsEach = shape.sizeC;
  // Slots decoded before they are written, so that the target is written one cache line at a time.
  constexpr int64_t TILE = 64;
  const int64_t numbers = shape.sizeC * shape.sizeT * shape.sizeA * shape.elements;
  std::vector<Element> tile(static_cast<size_t>(TILE * numbers));
  for (int64_t row = shape.firstSender * shape.fragments; row < shape.endSender * shape.fragments; row++) {
    const int64_t sender = row / shape.fragments, fragment = row % shape.fragments;
    const int64_t firstInput = boxes[2 * sender], firstChannel = boxes[2 * sender + 1] + fragment * channelsEach;
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
    if (isSpectrumOfNibbles(given)) return turnNibbles(given, boxes, cells, bits, static_cast<uint8_t *>(target));
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

// levels: portable avx2 avx512
#include "spectra_pack.h"

#include <string.h>

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "samples are picked out of words, lowest byte first");

namespace corella {
namespace CORELLA_LEVEL {
namespace {

// Four samples at a time: a line of a tile holds four of each input. `first` of them exist, the rest are zeros.

/** Bytes 0, 2, 4, 6 of a word, side by side. */
inline uint32_t evenBytes(uint64_t word) {
  word &= 0x00ff00ff00ff00ffu;
  word = (word | word >> 8) & 0x0000ffff0000ffffu;
  return static_cast<uint32_t>(word | word >> 16);
}

/** The inverse: four bytes to 0, 2, 4, 6. */
inline uint64_t spreadBytes(uint32_t bytes) {
  uint64_t word = bytes;
  word = (word | word << 16) & 0x0000ffff0000ffffu;
  return (word | word << 8) & 0x00ff00ff00ff00ffu;
}

inline bool hasZeroByte(uint64_t word) { return ((word - 0x0101010101010101u) & ~word & 0x8080808080808080u) != 0; }

/** Four bits to eight, in each byte: 8 · 0x1e = 0xf0 puts the sign into the upper nibble. */
inline uint32_t extendNibbles(uint32_t nibbles) { return nibbles | (nibbles & 0x08080808u) * 0x1eu; }

template <int BYTES_PER_SAMPLE>
inline uint64_t loadQuad(const uint8_t *row, int64_t sample, int64_t samples) {
  uint64_t word = 0;
  const int64_t left = samples - sample;
  if (left >= 4) {
    memcpy(&word, row + sample * BYTES_PER_SAMPLE, 4 * BYTES_PER_SAMPLE);
  } else if (left > 0) {
    memcpy(&word, row + sample * BYTES_PER_SAMPLE, static_cast<size_t>(left * BYTES_PER_SAMPLE));
  }
  return word;
}

template <int BYTES_PER_SAMPLE>
inline void storeQuad(uint64_t word, uint8_t *row, int64_t sample, int64_t samples) {
  const int64_t left = samples - sample;
  if (left >= 4) {
    memcpy(row + sample * BYTES_PER_SAMPLE, &word, 4 * BYTES_PER_SAMPLE);
  } else if (left > 0) {
    memcpy(row + sample * BYTES_PER_SAMPLE, &word, static_cast<size_t>(left * BYTES_PER_SAMPLE));
  }
}

inline int8_t *lineOf(int8_t *tiles, int64_t input, int64_t sample) {
  return tiles + sample / TILE_SAMPLES * TILE_BYTES + withinPlane(input, sample % TILE_SAMPLES);
}

bool packCi8(const int8_t *rows, int64_t inputs, int64_t samples, int8_t *tiles) {
  bool broken = false;
  const int64_t padded = SpectraLayout::timeBlocksOf(samples) * TILE_SAMPLES;
  for (int64_t input = 0; input < inputs; input++) {
    const uint8_t *row = reinterpret_cast<const uint8_t *>(rows) + input * samples * 2;
    for (int64_t t = 0; t < padded; t += 4) {
      const uint64_t quad = loadQuad<2>(row, t, samples);
      broken |= hasZeroByte(quad ^ 0x8080808080808080u);
      const uint32_t re = evenBytes(quad), im = evenBytes(quad >> 8);
      int8_t *line = lineOf(tiles, input, t);
      memcpy(line, &re, 4);
      memcpy(line + PLANE_BYTES, &im, 4);
    }
  }
  return broken;
}

bool packCi4(const uint8_t *rows, int64_t inputs, int64_t samples, int8_t *tiles) {
  bool broken = false;
  const int64_t padded = SpectraLayout::timeBlocksOf(samples) * TILE_SAMPLES;
  for (int64_t input = 0; input < inputs; input++) {
    const uint8_t *row = rows + input * samples;
    for (int64_t t = 0; t < padded; t += 4) {
      const uint32_t quad = static_cast<uint32_t>(loadQuad<1>(row, t, samples));
      const uint32_t high = quad >> 4 & 0x0f0f0f0fu, low = quad & 0x0f0f0f0fu;
      broken |= hasZeroByte((static_cast<uint64_t>(high) << 32 | low) ^ 0x0808080808080808u);
      const uint32_t re = extendNibbles(high), im = extendNibbles(low);
      int8_t *line = lineOf(tiles, input, t);
      memcpy(line, &re, 4);
      memcpy(line + PLANE_BYTES, &im, 4);
    }
  }
  return broken;
}

void unpackCi8(const int8_t *tiles, int64_t inputs, int64_t samples, int8_t *rows) {
  for (int64_t input = 0; input < inputs; input++) {
    uint8_t *row = reinterpret_cast<uint8_t *>(rows) + input * samples * 2;
    for (int64_t t = 0; t < samples; t += 4) {
      uint32_t re = 0, im = 0;
      const int8_t *line = lineOf(const_cast<int8_t *>(tiles), input, t);
      memcpy(&re, line, 4);
      memcpy(&im, line + PLANE_BYTES, 4);
      storeQuad<2>(spreadBytes(re) | spreadBytes(im) << 8, row, t, samples);
    }
  }
}

void unpackCi4(const int8_t *tiles, int64_t inputs, int64_t samples, uint8_t *rows) {
  for (int64_t input = 0; input < inputs; input++) {
    uint8_t *row = rows + input * samples;
    for (int64_t t = 0; t < samples; t += 4) {
      uint32_t re = 0, im = 0;
      const int8_t *line = lineOf(const_cast<int8_t *>(tiles), input, t);
      memcpy(&re, line, 4);
      memcpy(&im, line + PLANE_BYTES, 4);
      storeQuad<1>((re & 0x0f0f0f0fu) << 4 | (im & 0x0f0f0f0fu), row, t, samples);
    }
  }
}

/** x − x is 0 for every finite number and NaN for the others; the sum keeps a NaN. */
bool packCf32(const float *rows, int64_t inputs, int64_t samples, float *vectors) {
  float sentinel = 0;
  for (int64_t input = 0; input < inputs; input++) {
    const float *row = rows + input * samples * 2;
    float *to = vectors + input;
    for (int64_t t = 0; t < samples; t++) {
      const float re = row[2 * t], im = row[2 * t + 1];
      to[t * FLOATS_PER_SAMPLE] = re;
      to[t * FLOATS_PER_SAMPLE + TILE_INPUTS] = im;
      sentinel += (re - re) + (im - im);
    }
  }
  return sentinel != 0;
}

void unpackCf32(const float *vectors, int64_t inputs, int64_t samples, float *rows) {
  for (int64_t input = 0; input < inputs; input++) {
    float *row = rows + input * samples * 2;
    const float *from = vectors + input;
    for (int64_t t = 0; t < samples; t++) {
      row[2 * t] = from[t * FLOATS_PER_SAMPLE];
      row[2 * t + 1] = from[t * FLOATS_PER_SAMPLE + TILE_INPUTS];
    }
  }
}

}  // namespace

extern const SpectraPacking spectraPacking = {packCi8, packCi4, packCf32, unpackCi8, unpackCi4, unpackCf32};

}  // namespace CORELLA_LEVEL
}  // namespace corella

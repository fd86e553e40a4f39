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

/** The place of a line of one input in a block of tiles. */
inline int64_t lineAt(int64_t input, int64_t sample) {
  return sample / TILE_SAMPLES * TILE_BYTES + withinPlane(input, sample % TILE_SAMPLES);
}

/** Rows of bytes, two a sample, or of nibbles. */
template <int BYTES_PER_SAMPLE>
bool packIntegers(const void *rows, int64_t inputs, int64_t samples, void *tiles) {
  bool broken = false;
  const int64_t padded = SpectraLayout::timeBlocksOf(samples) * TILE_SAMPLES;
  for (int64_t input = 0; input < inputs; input++) {
    const uint8_t *row = static_cast<const uint8_t *>(rows) + input * samples * BYTES_PER_SAMPLE;
    for (int64_t t = 0; t < padded; t += 4) {
      const uint64_t quad = loadQuad<BYTES_PER_SAMPLE>(row, t, samples);
      uint32_t re, im;
      if constexpr (BYTES_PER_SAMPLE == 2) {
        broken |= hasZeroByte(quad ^ 0x8080808080808080u);
        re = evenBytes(quad);
        im = evenBytes(quad >> 8);
      } else {
        const auto high = static_cast<uint32_t>(quad >> 4 & 0x0f0f0f0fu),
                   low = static_cast<uint32_t>(quad & 0x0f0f0f0fu);
        broken |= hasZeroByte((static_cast<uint64_t>(high) << 32 | low) ^ 0x0808080808080808u);
        re = extendNibbles(high);
        im = extendNibbles(low);
      }
      int8_t *line = static_cast<int8_t *>(tiles) + lineAt(input, t);
      memcpy(line, &re, 4);
      memcpy(line + PLANE_BYTES, &im, 4);
    }
  }
  return broken;
}

template <int BYTES_PER_SAMPLE>
void unpackIntegers(const void *tiles, int64_t inputs, int64_t samples, void *rows) {
  for (int64_t input = 0; input < inputs; input++) {
    uint8_t *row = static_cast<uint8_t *>(rows) + input * samples * BYTES_PER_SAMPLE;
    for (int64_t t = 0; t < samples; t += 4) {
      uint32_t re = 0, im = 0;
      const int8_t *line = static_cast<const int8_t *>(tiles) + lineAt(input, t);
      memcpy(&re, line, 4);
      memcpy(&im, line + PLANE_BYTES, 4);
      const uint64_t quad =
          BYTES_PER_SAMPLE == 2 ? spreadBytes(re) | spreadBytes(im) << 8 : (re & 0x0f0f0f0fu) << 4 | (im & 0x0f0f0f0fu);
      storeQuad<BYTES_PER_SAMPLE>(quad, row, t, samples);
    }
  }
}

/** x − x is 0 for every finite number and NaN for the others; the sum keeps a NaN. */
bool packCf32(const void *rows, int64_t inputs, int64_t samples, void *vectors) {
  float sentinel = 0;
  for (int64_t input = 0; input < inputs; input++) {
    const float *row = static_cast<const float *>(rows) + input * samples * 2;
    float *to = static_cast<float *>(vectors) + input;
    for (int64_t t = 0; t < samples; t++) {
      const float re = row[2 * t], im = row[2 * t + 1];
      to[t * FLOATS_PER_SAMPLE] = re;
      to[t * FLOATS_PER_SAMPLE + TILE_INPUTS] = im;
      sentinel += (re - re) + (im - im);
    }
  }
  return sentinel != 0;
}

void unpackCf32(const void *vectors, int64_t inputs, int64_t samples, void *rows) {
  for (int64_t input = 0; input < inputs; input++) {
    float *row = static_cast<float *>(rows) + input * samples * 2;
    const float *from = static_cast<const float *>(vectors) + input;
    for (int64_t t = 0; t < samples; t++) {
      row[2 * t] = from[t * FLOATS_PER_SAMPLE];
      row[2 * t + 1] = from[t * FLOATS_PER_SAMPLE + TILE_INPUTS];
    }
  }
}

}  // namespace

extern const SpectraPacking spectraPacking = {{packIntegers<2>, packIntegers<1>, packCf32},
                                              {unpackIntegers<2>, unpackIntegers<1>, unpackCf32}};

}  // namespace CORELLA_LEVEL
}  // namespace corella

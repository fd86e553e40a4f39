// VDIF frames, bare or after VTP's sequence number: packets/vdif/vdif.ts.
#pragma once
#include "parts.h"

namespace corella::receive {

// numbers: headerBytes, framesPerSecond, log2Channels, parts, bits
inline ParseResult parseFrame(const Stream &stream, const uint8_t *at, int64_t bytes, int64_t before, Packet &out) {
  if (bytes < 16) return ParseResult::invalid;
  const uint32_t w0 = le32(at), w1 = le32(at + 4), w2 = le32(at + 8), w3 = le32(at + 12);
  const int64_t headerBytes = w0 >> 30 & 1 ? 16 : 32, frameBytes = int64_t(w2 & 0xffffff) * 8;
  if (frameBytes != bytes || frameBytes <= headerBytes) return ParseResult::invalid;
  if (headerBytes != stream.numbers[0] || bytes - headerBytes != stream.cellBytes) return ParseResult::invalid;
  if ((w2 >> 24 & 31) != stream.numbers[2] || (w3 >> 31) + 1 != stream.numbers[3] ||
      (w3 >> 26 & 31) + 1 != stream.numbers[4])
    return ParseResult::invalid;
  const int64_t seconds = w0 & 0x3fffffff, frame = w1 & 0xffffff, framesPerSecond = stream.numbers[1];
  if (w0 >> 31 || frame >= framesPerSecond) return ParseResult::invalid;
  const int64_t source = int64_t(w3 & 0xffff) * 1024 + (w3 >> 16 & 0x3ff);
  // At most 2³⁰ · 2²⁴: a plan's frame rate is below 2³³ anyway, so this fits 63 bits.
  return placed(stream, source, 0, static_cast<uint64_t>(seconds) * static_cast<uint64_t>(framesPerSecond) + frame,
                w1 >> 24 & 63, before + headerBytes, out);
}

inline ParseResult parseVdif(const Stream &stream, const uint8_t *at, int64_t bytes, Packet &out) {
  return parseFrame(stream, at, bytes, 0, out);
}

inline ParseResult parseVdifVtp(const Stream &stream, const uint8_t *at, int64_t bytes, Packet &out) {
  return bytes < 8 ? ParseResult::invalid : parseFrame(stream, at + 8, bytes - 8, 8, out);
}

/** Half-years since 2000. */
constexpr int64_t vdifEpoch(int64_t half) {
  const int64_t years = half / 2, days = 10957 + 365 * years + (years + 3) / 4;
  return 86400 * (days + (half % 2 == 0 ? 0 : 181 + (years % 4 == 0 ? 1 : 0)));
}

inline constexpr Parser vdif = {"vdif", 2, 5, parseVdif, vdifEpoch};
inline constexpr Parser vdifVtp = {"vdif-vtp", 3, 5, parseVdifVtp, vdifEpoch};

}  // namespace corella::receive

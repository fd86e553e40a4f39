// MWA receivers: packets/mwa.ts.
#pragma once
#include "parts.h"

namespace corella::receive {

// numbers: code, coarseChannel, packetsPerSecond
inline ParseResult parseMwa(const Stream &stream, const uint8_t *at, int64_t bytes, Packet &out) {
  if (bytes != 16 + 4096) return ParseResult::invalid;
  if (at[0] != stream.numbers[0] || at[1] != stream.numbers[1]) return ParseResult::invalid;
  const int64_t packet = be16(at + 8);
  if (packet >= stream.numbers[2]) return ParseResult::invalid;
  const uint64_t tick = uint64_t(be32(at + 4)) * static_cast<uint64_t>(stream.numbers[2]) + packet;
  return placed(stream, be16(at + 2), 0, tick, 0, 16, out);
}

/** Ticks count from the beginning of GPS time. */
constexpr int64_t mwaEpoch(int64_t) { return 315964800; }

inline constexpr Parser mwa = {"mwa", 4, 3, parseMwa, mwaEpoch};

}  // namespace corella::receive

// OVRO-LWA and LWA-NA F-engines: packets/snap2.ts.
#pragma once
#include "parts.h"

namespace corella::receive {

// numbers: signals, channels, firstChannel
inline ParseResult parseSnap2(const Stream &stream, const uint8_t *at, int64_t bytes, Packet &out) {
  if (bytes < 32) return ParseResult::invalid;
  const int64_t signals = be16(at + 12), channels = be16(at + 16), sync = be32(at + 8);
  if (signals * channels == 0 || bytes != 32 + signals * channels || sync == 0) return ParseResult::invalid;
  if (signals != stream.numbers[0] || channels != stream.numbers[1]) return ParseResult::invalid;
  const int64_t fragment = fragmentOf(stream, be32(at + 24), stream.numbers[2], channels);
  if (fragment < 0) return ParseResult::invalid;
  return placed(stream, be32(at + 28), fragment, be64(at), sync, 32, out);
}

/** The sync time is in Unix seconds. */
constexpr int64_t snap2Epoch(int64_t sync) { return sync; }

inline constexpr Parser snap2 = {"snap2", 5, 3, parseSnap2, snap2Epoch};

}  // namespace corella::receive

// LWA-SV F-engines: packets/chips.ts.
#pragma once
#include "parts.h"

namespace corella::receive {

// numbers: channels, firstChannel, sequenceFrom
inline ParseResult parseChips(const Stream &stream, const uint8_t *at, int64_t bytes, Packet &out) {
  if (bytes < 16) return ParseResult::invalid;
  const int64_t channels = at[2];
  if (channels == 0 || bytes != 16 + 32 * channels || channels != stream.numbers[0]) return ParseResult::invalid;
  const int64_t fragment = fragmentOf(stream, be16(at + 6), stream.numbers[1], channels);
  const uint64_t sequence = be64(at + 8), from = static_cast<uint64_t>(stream.numbers[2]);
  if (fragment < 0 || sequence < from) return ParseResult::invalid;
  return placed(stream, at[0], fragment, sequence - from, 0, 16, out);
}

inline constexpr Parser chips = {"chips", 6, 3, parseChips, nullptr};

}  // namespace corella::receive

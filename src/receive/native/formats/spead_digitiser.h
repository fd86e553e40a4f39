// MeerKAT digitisers: packets/spead/digitiser.ts.
#pragma once
#include "spead_heaps.h"

namespace corella::receive {

// numbers: heapBytes
inline ParseResult parseSpeadDigitiser(const Stream &stream, const uint8_t *at, int64_t bytes, Packet &out) {
  SpeadItems items;
  int64_t start = 0;
  const ParseResult result = parseSpead(stream, at, bytes, {0x3101, 0x3300}, items, start);
  if (result != ParseResult::placed) return result;
  return placed(stream, items.source, items.offset / stream.cellBytes, static_cast<uint64_t>(items.timestamp), 0, start,
                out);
}

inline constexpr Parser speadDigitiser = {"spead-digitiser", 1, 1, parseSpeadDigitiser, nullptr};

}  // namespace corella::receive

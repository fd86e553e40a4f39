// MeerKAT F-engines: packets/spead/feng.ts.
#pragma once
#include "spead_heaps.h"

namespace corella::receive {

// numbers: heapBytes, packetsPerHeap, firstChannel, channelsPerHeap
inline ParseResult parseSpeadFeng(const Stream &stream, const uint8_t *at, int64_t bytes, Packet &out) {
  SpeadItems items;
  int64_t start = 0;
  const ParseResult result = parseSpead(stream, at, bytes, {0x4101, 0x4300}, items, start);
  if (result != ParseResult::placed) return result;
  const int64_t packetsPerHeap = stream.numbers[1], channelsPerHeap = stream.numbers[3];
  const int64_t beyond = items.frequency - stream.numbers[2];
  if (items.frequency < 0 || beyond < 0 || beyond % channelsPerHeap != 0) return ParseResult::invalid;
  const int64_t heap = beyond / channelsPerHeap;
  if (heap >= stream.fragments || heap * packetsPerHeap >= stream.fragments) return ParseResult::invalid;
  return placed(stream, items.source, heap * packetsPerHeap + items.offset / stream.cellBytes,
                static_cast<uint64_t>(items.timestamp), 0, start, out);
}

inline constexpr Parser speadFeng = {"spead-feng", 0, 4, parseSpeadFeng, nullptr};

}  // namespace corella::receive

// A packet of a SPEAD heap: the part common to both kinds of heaps (packets/spead/data-heap.ts).
#pragma once
#include "parts.h"

namespace corella::receive {

struct SpeadIds {
  uint32_t source, samples;
};

/** The last of repeated items counts; −1 if an item is absent. */
struct SpeadItems {
  int64_t heap = -1, heapBytes = -1, offset = -1, payload = -1, timestamp = -1, source = -1, frequency = -1,
          samplesAt = -1;
  bool control = false;
};

inline constexpr uint32_t FREQUENCY = 0x4103;

inline ParseResult parseSpead(const Stream &stream, const uint8_t *at, int64_t bytes, SpeadIds ids, SpeadItems &items,
                              int64_t &start) {
  if (bytes < 8 || be32(at) != 0x53040206 || be16(at + 4) != 0) return ParseResult::invalid;
  const int64_t count = be16(at + 6);
  start = 8 + 8 * count;
  if (start > bytes) return ParseResult::invalid;
  for (int64_t n = 0; n < count; n++) {
    const uint64_t word = be64(at + 8 + 8 * n);
    const bool immediate = word >> 63 != 0;
    const uint32_t id = static_cast<uint32_t>(word >> 48 & 0x7fff);
    const int64_t value = static_cast<int64_t>(word & 0xffffffffffff);
    if (id == 0x0005 || id == 0x0006) items.control = true;
    if (!immediate) {
      if (id == ids.samples) items.samplesAt = value;
      continue;
    }
    if (id == 0x0001) items.heap = value;
    if (id == 0x0002) items.heapBytes = value;
    if (id == 0x0003) items.offset = value;
    if (id == 0x0004) items.payload = value;
    if (id == 0x1600) items.timestamp = value;
    if (id == ids.source) items.source = value;
    if (id == FREQUENCY) items.frequency = value;
  }
  if (items.heap < 0 || items.offset < 0 || items.payload < 0) return ParseResult::invalid;
  if (start + items.payload != bytes) return ParseResult::invalid;
  if (items.heapBytes >= 0 && items.offset + items.payload > items.heapBytes) return ParseResult::invalid;
  const bool dataHeap = items.heapBytes == stream.numbers[0];
  if (items.timestamp < 0 || items.source < 0) {
    return items.control || !dataHeap ? ParseResult::control : ParseResult::invalid;
  }
  if (!dataHeap || items.samplesAt != 0) return ParseResult::invalid;
  if (items.payload != stream.cellBytes || items.offset % stream.cellBytes != 0) return ParseResult::invalid;
  return ParseResult::placed;
}

}  // namespace corella::receive

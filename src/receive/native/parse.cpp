// Every packet format's parser: the same verdicts as packets/*.ts, which scripts/fuzz-packets.js compares.
#include <cstring>

#include "stream.h"

namespace corella::receive {
namespace {

inline uint16_t be16(const uint8_t *at) { return static_cast<uint16_t>(at[0] << 8 | at[1]); }
inline uint32_t be32(const uint8_t *at) { return uint32_t(be16(at)) << 16 | be16(at + 2); }
inline uint64_t be64(const uint8_t *at) { return uint64_t(be32(at)) << 32 | be32(at + 4); }
inline uint32_t le32(const uint8_t *at) {
  return uint32_t(at[0]) | uint32_t(at[1]) << 8 | uint32_t(at[2]) << 16 | uint32_t(at[3]) << 24;
}

/** The lane of a source and its tick, checked last and alike by all formats. */
Verdict placed(const Stream &stream, int64_t source, int64_t fragment, uint64_t tick, int64_t epoch, int64_t payloadAt,
               Packet &out) {
  if (tick > static_cast<uint64_t>(INT64_MAX)) return Verdict::invalid;
  const int32_t lane = stream.laneOf(source);
  if (lane < 0) return Verdict::unknownSource;
  if (static_cast<int64_t>(tick) % stream.ticksPerSlot != 0) return Verdict::misaligned;
  out = {static_cast<int64_t>(tick), lane, static_cast<int32_t>(fragment), epoch, static_cast<int32_t>(payloadAt)};
  return Verdict::placed;
}

struct SpeadIds {
  uint32_t source, samples;
};

/** Where an item comes twice the last counts; −1 where it does not come. */
struct SpeadItems {
  int64_t heap = -1, heapBytes = -1, offset = -1, payload = -1, timestamp = -1, source = -1, frequency = -1,
          samplesAt = -1;
  bool control = false;
};

constexpr uint32_t FREQUENCY = 0x4103;

Verdict parseSpead(const Stream &stream, const uint8_t *at, int64_t bytes, SpeadIds ids, SpeadItems &items,
                   int64_t &start) {
  if (bytes < 8 || be32(at) != 0x53040206 || be16(at + 4) != 0) return Verdict::invalid;
  const int64_t count = be16(at + 6);
  start = 8 + 8 * count;
  if (start > bytes) return Verdict::invalid;
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
  if (items.heap < 0 || items.offset < 0 || items.payload < 0) return Verdict::invalid;
  if (start + items.payload != bytes) return Verdict::invalid;
  if (items.heapBytes >= 0 && items.offset + items.payload > items.heapBytes) return Verdict::invalid;
  const bool dataHeap = items.heapBytes == stream.numbers[0];
  if (items.timestamp < 0 || items.source < 0) {
    return items.control || !dataHeap ? Verdict::control : Verdict::invalid;
  }
  if (!dataHeap || items.samplesAt != 0) return Verdict::invalid;
  if (items.payload != stream.cellBytes || items.offset % stream.cellBytes != 0) return Verdict::invalid;
  return Verdict::placed;
}

// numbers: heapBytes, packetsPerHeap, firstChannel, channelsPerHeap
Verdict speadFeng(const Stream &stream, const uint8_t *at, int64_t bytes, Packet &out) {
  SpeadItems items;
  int64_t start = 0;
  const Verdict verdict = parseSpead(stream, at, bytes, {0x4101, 0x4300}, items, start);
  if (verdict != Verdict::placed) return verdict;
  const int64_t packetsPerHeap = stream.numbers[1], channelsPerHeap = stream.numbers[3];
  const int64_t beyond = items.frequency - stream.numbers[2];
  if (items.frequency < 0 || beyond < 0 || beyond % channelsPerHeap != 0) return Verdict::invalid;
  const int64_t heap = beyond / channelsPerHeap;
  if (heap >= stream.fragments || heap * packetsPerHeap >= stream.fragments) return Verdict::invalid;
  return placed(stream, items.source, heap * packetsPerHeap + items.offset / stream.cellBytes,
                static_cast<uint64_t>(items.timestamp), 0, start, out);
}

// numbers: heapBytes
Verdict speadDigitiser(const Stream &stream, const uint8_t *at, int64_t bytes, Packet &out) {
  SpeadItems items;
  int64_t start = 0;
  const Verdict verdict = parseSpead(stream, at, bytes, {0x3101, 0x3300}, items, start);
  if (verdict != Verdict::placed) return verdict;
  return placed(stream, items.source, items.offset / stream.cellBytes, static_cast<uint64_t>(items.timestamp), 0, start,
                out);
}

/** Which fragment begins with a channel; −1 where none does. */
int64_t fragmentOf(const Stream &stream, int64_t channel, int64_t firstChannel, int64_t channels) {
  const int64_t beyond = channel - firstChannel;
  if (beyond < 0 || beyond % channels != 0 || beyond / channels >= stream.fragments) return -1;
  return beyond / channels;
}

// numbers: channels, firstChannel, sequenceFrom
Verdict chips(const Stream &stream, const uint8_t *at, int64_t bytes, Packet &out) {
  if (bytes < 16) return Verdict::invalid;
  const int64_t channels = at[2];
  if (channels == 0 || bytes != 16 + 32 * channels || channels != stream.numbers[0]) return Verdict::invalid;
  const int64_t fragment = fragmentOf(stream, be16(at + 6), stream.numbers[1], channels);
  const uint64_t sequence = be64(at + 8), from = static_cast<uint64_t>(stream.numbers[2]);
  if (fragment < 0 || sequence < from) return Verdict::invalid;
  return placed(stream, at[0], fragment, sequence - from, 0, 16, out);
}

// numbers: signals, channels, firstChannel
Verdict snap2(const Stream &stream, const uint8_t *at, int64_t bytes, Packet &out) {
  if (bytes < 32) return Verdict::invalid;
  const int64_t signals = be16(at + 12), channels = be16(at + 16), sync = be32(at + 8);
  if (signals * channels == 0 || bytes != 32 + signals * channels || sync == 0) return Verdict::invalid;
  if (signals != stream.numbers[0] || channels != stream.numbers[1]) return Verdict::invalid;
  const int64_t fragment = fragmentOf(stream, be32(at + 24), stream.numbers[2], channels);
  if (fragment < 0) return Verdict::invalid;
  return placed(stream, be32(at + 28), fragment, be64(at), sync, 32, out);
}

// numbers: headerBytes, framesPerSecond, log2Channels, parts, bits
Verdict vdif(const Stream &stream, const uint8_t *at, int64_t bytes, int64_t before, Packet &out) {
  if (bytes < 16) return Verdict::invalid;
  const uint32_t w0 = le32(at), w1 = le32(at + 4), w2 = le32(at + 8), w3 = le32(at + 12);
  const int64_t headerBytes = w0 >> 30 & 1 ? 16 : 32, frameBytes = int64_t(w2 & 0xffffff) * 8;
  if (frameBytes != bytes || frameBytes <= headerBytes) return Verdict::invalid;
  if (headerBytes != stream.numbers[0] || bytes - headerBytes != stream.cellBytes) return Verdict::invalid;
  if ((w2 >> 24 & 31) != stream.numbers[2] || (w3 >> 31) + 1 != stream.numbers[3] ||
      (w3 >> 26 & 31) + 1 != stream.numbers[4])
    return Verdict::invalid;
  const int64_t seconds = w0 & 0x3fffffff, frame = w1 & 0xffffff, framesPerSecond = stream.numbers[1];
  if (w0 >> 31 || frame >= framesPerSecond) return Verdict::invalid;
  const int64_t source = int64_t(w3 & 0xffff) * 1024 + (w3 >> 16 & 0x3ff);
  // At most 2³⁰ · 2²⁴: a plan's frames a second are below 2³³ anyway, so that this stays in 63 bits.
  return placed(stream, source, 0, static_cast<uint64_t>(seconds) * static_cast<uint64_t>(framesPerSecond) + frame,
                w1 >> 24 & 63, before + headerBytes, out);
}

// numbers: code, coarseChannel, packetsPerSecond
Verdict mwa(const Stream &stream, const uint8_t *at, int64_t bytes, Packet &out) {
  if (bytes != 16 + 4096) return Verdict::invalid;
  if (at[0] != stream.numbers[0] || at[1] != stream.numbers[1]) return Verdict::invalid;
  const int64_t packet = be16(at + 8);
  if (packet >= stream.numbers[2]) return Verdict::invalid;
  const uint64_t tick = uint64_t(be32(at + 4)) * static_cast<uint64_t>(stream.numbers[2]) + packet;
  return placed(stream, be16(at + 2), 0, tick, 0, 16, out);
}

}  // namespace

Verdict parse(const Stream &stream, const uint8_t *datagram, int64_t bytes, Packet &out) {
  switch (stream.format) {
    case Format::speadFeng: return speadFeng(stream, datagram, bytes, out);
    case Format::speadDigitiser: return speadDigitiser(stream, datagram, bytes, out);
    case Format::chips: return chips(stream, datagram, bytes, out);
    case Format::snap2: return snap2(stream, datagram, bytes, out);
    case Format::vdif: return vdif(stream, datagram, bytes, 0, out);
    case Format::vdifVtp: return bytes < 8 ? Verdict::invalid : vdif(stream, datagram + 8, bytes - 8, 8, out);
    case Format::mwa: return mwa(stream, datagram, bytes, out);
  }
  return Verdict::invalid;
}

}  // namespace corella::receive

// Shared by the packet parsers: bytes in either order, the fragment of a channel, the final checks.
#pragma once
#include "../stream.h"

namespace corella::receive {

inline uint16_t be16(const uint8_t *at) { return static_cast<uint16_t>(at[0] << 8 | at[1]); }
inline uint32_t be32(const uint8_t *at) { return uint32_t(be16(at)) << 16 | be16(at + 2); }
inline uint64_t be64(const uint8_t *at) { return uint64_t(be32(at)) << 32 | be32(at + 4); }
inline uint32_t le32(const uint8_t *at) {
  return uint32_t(at[0]) | uint32_t(at[1]) << 8 | uint32_t(at[2]) << 16 | uint32_t(at[3]) << 24;
}

/** The source and its tick, checked last, in the same way for all formats. */
inline ParseResult placed(const Stream &stream, int64_t source, int64_t fragment, uint64_t tick, int64_t epoch,
                          int64_t payloadAt, Packet &out) {
  if (tick > static_cast<uint64_t>(INT64_MAX)) return ParseResult::invalid;
  const int32_t sender = stream.senderOf(source);
  if (sender < 0) return ParseResult::unknownSource;
  if (static_cast<int64_t>(tick) % stream.ticksPerSlot != 0) return ParseResult::misaligned;
  out = {static_cast<int64_t>(tick), sender, static_cast<int32_t>(fragment), epoch, static_cast<int32_t>(payloadAt)};
  return ParseResult::placed;
}

/** The fragment that begins with a channel; −1 if there is none. */
inline int64_t fragmentOf(const Stream &stream, int64_t channel, int64_t firstChannel, int64_t channels) {
  const int64_t beyond = channel - firstChannel;
  if (beyond < 0 || beyond % channels != 0 || beyond / channels >= stream.fragments) return -1;
  return beyond / channels;
}

}  // namespace corella::receive

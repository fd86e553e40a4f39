// A stream's plan as numbers (packets/parse-result.ts), and a parser's result for one datagram.
#pragma once
#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace corella::receive {

/** Numbers of packets/parse-result.ts. */
enum class ParseResult : int32_t { placed = 0, control = 1, invalid = 2, unknownSource = 3, misaligned = 4 };

struct Packet {
  int64_t tick = 0;  // as sent: not yet unwrapped
  int32_t sender = 0;
  int32_t fragment = 0;
  int64_t epoch = 0;  // what tick 0 means, if the packet carries it
  int32_t payloadAt = 0;
};

struct Stream;

/** A packet format; each file of formats/ has one. */
struct Parser {
  const char *name;
  int32_t code;     // of packets/registry.ts
  int32_t numbers;  // how many format-specific numbers a stream has
  /** Never reads outside the datagram, whatever its bytes. */
  ParseResult (*parse)(const Stream &stream, const uint8_t *datagram, int64_t bytes, Packet &out);
  /** Unix seconds of a packet's epoch field; null if packets have none. */
  int64_t (*epochUnixSeconds)(int64_t epoch);
};

struct Stream {
  const Parser &parser;
  int32_t senders, fragments, cellBytes, wrapBits;
  int64_t ticksPerSlot;
  std::vector<int64_t> numbers;  // format-specific, in the order of its `numbers`

  Stream(const Parser &format, int32_t senderCount, int32_t fragmentCount, int32_t bytes, int32_t bits, int64_t ticks,
         std::vector<int64_t> own, const int64_t *sources)
      : parser(format),
        senders(senderCount),
        fragments(fragmentCount),
        cellBytes(bytes),
        wrapBits(bits),
        ticksPerSlot(ticks),
        numbers(std::move(own)) {
    for (int32_t sender = 0; sender < senders; sender++) bySource.emplace_back(sources[sender], sender);
    std::sort(bySource.begin(), bySource.end());
    // Most senders are numbered from 0 or 1: a direct table.
    if (!bySource.empty() && bySource.back().first < 4096) {
      direct.assign(static_cast<size_t>(bySource.back().first) + 1, -1);
      for (const auto &[source, sender] : bySource) direct[static_cast<size_t>(source)] = sender;
    }
  }

  /** −1 if the plan has no such sender. */
  int32_t senderOf(int64_t source) const {
    if (!direct.empty()) {
      return source >= 0 && source < static_cast<int64_t>(direct.size()) ? direct[static_cast<size_t>(source)] : -1;
    }
    const auto found = std::lower_bound(bySource.begin(), bySource.end(), std::make_pair(source, int32_t(0)));
    return found != bySource.end() && found->first == source ? found->second : -1;
  }

 private:
  std::vector<std::pair<int64_t, int32_t>> bySource;
  std::vector<int32_t> direct;
};

}  // namespace corella::receive

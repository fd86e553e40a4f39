// Functions called from TypeScript (native-ring.ts): a ring, its socket, its blocks, and single parsers for the fuzzer.
#include <memory>

#include "formats/registry.h"
#include "socket.h"

using namespace corella;
using namespace corella::receive;

namespace {

Ring &ringAt(void *ring) {
  require(ring != nullptr, "the ring is closed");
  return *static_cast<Ring *>(ring);
}

// plan : format, senders, fragments, cellBytes, wrapBits, ticksPerSlot, count of numbers
Stream streamFrom(const int64_t *plan, const int64_t *numbers, const int64_t *sources) {
  const Parser *format = parserNumbered(plan[0]);
  require(format != nullptr, "no such packet format");
  require(plan[6] == format->numbers, "another count of numbers than the packet format has");
  require(plan[1] > 0 && plan[2] > 0 && plan[3] > 0 && plan[5] > 0, "a size of the stream is not above 0");
  return Stream(*format, static_cast<int32_t>(plan[1]), static_cast<int32_t>(plan[2]), static_cast<int32_t>(plan[3]),
                static_cast<int32_t>(plan[4]), plan[5], std::vector<int64_t>(numbers, numbers + plan[6]), sources);
}

}  // namespace

// settings : slotsPerBlock, blocks, window, skipTicks, flushMs, activePackets
CORELLA_EXPORT int32_t corella_ring_open(char *error, const int64_t *plan, const int64_t *numbers,
                                         const int64_t *sources, const int64_t *settings, double tickRateHz,
                                         const int64_t *cells, const int64_t *presence, void **ring) {
  return guarded(error, [&] {
    const Settings given = {static_cast<int32_t>(settings[0]),
                            static_cast<int32_t>(settings[1]),
                            static_cast<int32_t>(settings[2]),
                            settings[3],
                            static_cast<int32_t>(settings[4]),
                            settings[5],
                            tickRateHz};
    require(given.slotsPerBlock > 0 && given.window >= 3 && given.blocks >= given.window + 2,
            "a window of 3 or more and two blocks beyond it are needed");
    *ring = new Ring(streamFrom(plan, numbers, sources), given, cells, presence);
  });
}

// Waits for the receive thread, so it is called off the event loop.
CORELLA_EXPORT int32_t corella_ring_close(char *error, void *ring) {
  return guarded(error, [&] { delete &ringAt(ring); });
}

CORELLA_EXPORT int32_t corella_ring_feed(char *error, void *ring, const uint8_t *datagram, int64_t bytes,
                                         int64_t unixNs, int32_t *outcome) {
  return guarded(error, [&] { *outcome = static_cast<int32_t>(ringAt(ring).feed(datagram, bytes, unixNs)); });
}

CORELLA_EXPORT int32_t corella_ring_flush(char *error, void *ring) {
  return guarded(error, [&] { ringAt(ring).flush(); });
}

// block : see ReadyBlock. state: 1 a block was taken, 0 none is ready, −1 no more will come.
CORELLA_EXPORT int32_t corella_ring_take(char *error, void *ring, int64_t *block, int32_t *state) {
  return guarded(error, [&] {
    Ring &open = ringAt(ring);
    // Read before taking: blocks that the thread delivered before it ended are then seen.
    const bool ended = open.ended();
    ReadyBlock next{};
    *state = open.take(next) ? 1 : ended ? -1 : 0;
    if (*state != 1) return;
    const int64_t values[] = {next.index,   next.startTick, next.session,      next.epoch,
                              next.skipped, next.missing,   next.arrivedUnixNs};
    std::memcpy(block, values, sizeof values);
  });
}

CORELLA_EXPORT int32_t corella_ring_release(char *error, void *ring, int64_t index) {
  return guarded(error, [&] { ringAt(ring).release(index); });
}

// facts : free blocks, CPU nanoseconds of the thread, datagrams dropped by the kernel (−1: not reported)
CORELLA_EXPORT int32_t corella_ring_account(char *error, void *ring, int64_t *totals, int64_t *senders,
                                            int64_t *facts) {
  return guarded(error, [&] {
    Ring &open = ringAt(ring);
    open.account(totals, senders);
    facts[0] = open.freeBlocks();
    facts[1] = open.threadNs();
    const int64_t atEnd = open.dropsAtEnd();
    const int64_t drops = atEnd >= 0 ? atEnd : droppedByKernel(open.socketFd());
    facts[2] = drops < 0 ? drops : drops - open.dropsBefore;
  });
}

// asked : port, receive buffer in bytes. given : descriptor, port, receive buffer.
CORELLA_EXPORT int32_t corella_socket_open(char *error, const char *address, const char *group, const int64_t *asked,
                                           int64_t *given) {
  return guarded(error, [&] {
    SocketGiven got;
    given[0] = openSocket({address, group, static_cast<int32_t>(asked[0]), static_cast<int32_t>(asked[1])}, got);
    given[1] = got.port;
    given[2] = got.receiveBufferBytes;
  });
}

CORELLA_EXPORT int32_t corella_socket_close(char *error, int32_t descriptor) {
  return guarded(error, [&] { closeSocket(descriptor); });
}

// limits : datagrams, milliseconds, bytes. found : datagrams, when the first was read. Called off the event loop.
CORELLA_EXPORT int32_t corella_socket_survey(char *error, int32_t descriptor, const int64_t *limits, uint8_t *bytes,
                                             int64_t *lengths, int64_t *found) {
  return guarded(error, [&] {
    Survey into = {bytes, limits[2], lengths, limits[0]};
    survey(descriptor, limits[1], into);
    found[0] = into.count;
    found[1] = into.firstNs;
  });
}

// asked : descriptor, which the ring owns from here on; receive buffer in bytes; coalesce, discard waiting datagrams (1
// or 0); core (−1: any). given : receive buffer, coalesced, discarded and dropped by the kernel until now.
CORELLA_EXPORT int32_t corella_ring_listen(char *error, void *ring, const int64_t *asked, int64_t *given) {
  return guarded(error, [&] {
    Ring &open = ringAt(ring);
    require(open.socketFd() < 0, "the ring listens already");
    const int socket = static_cast<int>(asked[0]);
    given[0] = sizeBuffer(socket, static_cast<int32_t>(asked[1]));
    given[2] = 0;
    if (asked[3] != 0) {
      const int64_t discarded = discard(socket);
      open.dropsBefore = std::max<int64_t>(0, droppedByKernel(socket));
      given[2] = discarded + open.dropsBefore;
    }
    const bool coalesced = asked[2] != 0 && coalesce(socket);
    given[1] = coalesced ? 1 : 0;
    startListening(open, socket, coalesced, static_cast<int32_t>(asked[4]));
  });
}

CORELLA_EXPORT int32_t corella_ring_stop(char *error, void *ring) {
  return guarded(error, [&] { ringAt(ring).stop(); });
}

CORELLA_EXPORT int32_t corella_ring_wake(char *error, void *ring, int32_t *descriptor) {
  return guarded(error, [&] { *descriptor = ringAt(ring).openWake(); });
}

// Fails with the reason if the thread ended by itself.
CORELLA_EXPORT int32_t corella_ring_trouble(char *error, void *ring) {
  return guarded(error, [&] {
    const std::string why = ringAt(ring).trouble();
    if (!why.empty()) throw Refusal(why);
  });
}

// result : code, tick, sender, fragment, session, payloadAt (packets/parse-result.ts)
CORELLA_EXPORT int32_t corella_parse_packet(char *error, const int64_t *plan, const int64_t *numbers,
                                            const int64_t *sources, const uint8_t *datagram, int64_t bytes,
                                            int64_t *result) {
  return guarded(error, [&] {
    // On the heap with the exact length: a sanitizer detects reads past the end.
    std::unique_ptr<uint8_t[]> copy(new uint8_t[static_cast<size_t>(bytes)]);
    if (bytes > 0) std::memcpy(copy.get(), datagram, static_cast<size_t>(bytes));
    Packet packet;
    const Stream stream = streamFrom(plan, numbers, sources);
    const ParseResult code = stream.parser.parse(stream, copy.get(), bytes, packet);
    const int64_t values[] = {
        static_cast<int64_t>(code), packet.tick, packet.sender, packet.fragment, packet.epoch, packet.payloadAt};
    std::memcpy(result, values, sizeof values);
  });
}

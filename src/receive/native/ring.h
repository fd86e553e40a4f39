// The receive ring: the rules of reference.ts, in C++. One thread places packets; one consumer takes blocks and
// releases them. Placing a packet allocates nothing, and locks only when a block begins or ends.
#pragma once
#include <atomic>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "jumps.h"
#include "sender_clocks.h"
#include "stream.h"

namespace corella::receive {

/** In the order of `outcomes` in ring.ts. */
enum class Outcome : int32_t {
  placed,
  duplicate,
  late,
  early,
  otherEpoch,
  misaligned,
  unknownSource,
  invalid,
  control,
  ringFull
};
constexpr int OUTCOMES = 10;

/** Counters of a whole ring; outcomes follow them. */
enum Total : int32_t { PACKETS, BYTES, BLOCKS, SKIPPED_BLOCKS, MISSING_CELLS, RESYNCS, REFUSED_RESYNCS, TOTALS };
/** Counters of a source, after its outcomes. */
enum SenderNumber : int32_t { SENDER_MISSING = OUTCOMES, SENDER_NEWEST, SENDER_OTHER_CLOCKS, SENDER_NUMBERS };

struct Settings {
  int32_t slotsPerBlock, blocks, window;
  int64_t skipTicks;
  int32_t flushMs;
  int64_t activePackets;
  /** 0 if unknown. */
  double tickRateHz;
};

/** The description of a block for the consumer: int64 each, in this order (native-ring.ts). */
struct ReadyBlock {
  int64_t index, startTick, session, epoch, skipped, missing, arrivedUnixNs;
};

class Ring {
 public:
  Ring(Stream plan, Settings settings, const int64_t *cellAddresses, const int64_t *presenceAddresses);
  ~Ring();
  Ring(const Ring &) = delete;
  Ring &operator=(const Ring &) = delete;

  Outcome feed(const uint8_t *datagram, int64_t bytes, int64_t unixNs);
  /** A datagram longer than any of this plan, read only in part. */
  void feedCut(int64_t bytes);
  /** Delivers the open blocks. Called by the thread that feeds. */
  void flush();

  /** From any thread. */
  bool take(ReadyBlock &block);
  void release(int64_t index);
  int64_t freeBlocks();
  void account(int64_t *totals, int64_t *senders) const;

  /** Receives on a socket, on its own thread, until stopped; then delivers the open blocks. */
  void listen(int socket, bool coalesced, int32_t core);
  void stop() { stopping.store(true); }
  /** Whether the thread has ended, so that no more blocks come. */
  bool ended() const { return finished.load(); }
  std::string trouble();
  /** One byte is sent there per block and at the end. Owned by the caller; requested before listening; −1: none. */
  int openWake();
  int socketFd() const { return fd; }
  /** Datagrams that the kernel dropped before this ring listened do not count. */
  int64_t dropsBefore = 0;
  /** The socket's drops when the thread ended; −1 before. The socket is not read after that. */
  int64_t dropsAtEnd() const { return finalDrops.load(); }
  int64_t threadNs() const { return cpuNs.load(std::memory_order_relaxed); }

  const Stream stream;
  const Settings plan;

 private:
  struct Open {
    int64_t number = 0, index = -1, placed = 0, arrivedUnixNs = 0;
  };
  using Counter = std::atomic<int64_t>;
  /** Only one thread writes, so no locked instruction is needed. */
  static void add(Counter &counter, int64_t by = 1) {
    counter.store(counter.load(std::memory_order_relaxed) + by, std::memory_order_relaxed);
  }
  Outcome place(const Packet &packet, const uint8_t *payload, int64_t unixNs);
  /** False if the packet's time is outside the calendar. */
  bool follow(const Packet &packet, int64_t unixNs, Moment &moment);
  void moveTo(Moment median, int64_t unixNs);
  void goOn(int64_t tick);
  void resynchronise(Moment to, int64_t unixNs);
  void advance(int64_t wanted);
  void startAt(int64_t number);
  void handOn(Open &block);
  void handOnAll();
  void skip(int64_t blocks);
  int64_t takeMemory();
  void notify();
  void receive(bool coalesced);
  int64_t windowFor(int64_t number) const { return std::max<int64_t>(0, number - (plan.window - 2)); }
  int64_t masked(int64_t tick) const {
    return stream.wrapBits < 64 ? tick & ((int64_t(1) << stream.wrapBits) - 1) : tick;
  }

  const int64_t cells, blockTicks, rowWords;
  std::vector<uint8_t *> cellMemory;
  std::vector<uint64_t *> presenceMemory;
  SenderClocks clocks;
  Jumps jumps;
  std::vector<Counter> totals, outcomes, senderNumbers;

  std::vector<Open> open;  // consecutive blocks from `first`; empty before the first packet
  int64_t first = 0;
  Moment head;
  int64_t floor = NEVER;
  int64_t session = 0, skipped = 0;
  bool handedOn = false;

  std::mutex guard;
  std::vector<int64_t> free;
  std::deque<ReadyBlock> ready;
  std::string problem;
  int wake[2] = {-1, -1};
  int fd = -1;
  std::thread thread;
  std::atomic<bool> stopping{false}, finished{false};
  std::atomic<int64_t> finalDrops{-1};
  Counter cpuNs{0};
};

}  // namespace corella::receive

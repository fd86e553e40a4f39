// The receive ring under a sanitizer: packets by a loopback socket, with loss, doubles and restarts, while one thread
// takes blocks and gives them back and another reads the counters. Every cell must hold what was sent for it.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include "receive/native/ring.h"
#include "receive/native/socket.h"

using namespace corella::receive;

namespace {

constexpr int SENDERS = 4, SLOTS = 100, ROOM = 8, CHANNELS = 2, CELL = 32 * CHANNELS;
constexpr int64_t PACKETS_SENT = 60000;

uint8_t payloadByte(int sender, int64_t tick) { return static_cast<uint8_t>(1 + (tick * 7 + sender) % 250); }

void send(int socket, int sender, int64_t tick) {
  uint8_t packet[16 + CELL] = {};
  packet[0] = static_cast<uint8_t>(sender + 1);
  packet[2] = CHANNELS;
  const uint64_t sequence = static_cast<uint64_t>(tick) + 1;
  for (int k = 0; k < 8; k++) packet[8 + k] = static_cast<uint8_t>(sequence >> (56 - 8 * k));
  std::memset(packet + 16, payloadByte(sender, tick), CELL);
  static_cast<void>(!::send(socket, packet, sizeof packet, 0));
}

void fail(const char *what) {
  std::fprintf(stderr, "ring stress: %s\n", what);
  std::exit(1);
}

}  // namespace

int main() {
  const int64_t sources[] = {1, 2, 3, 4};
  std::vector<std::vector<uint8_t>> cells(ROOM, std::vector<uint8_t>(size_t(SENDERS) * SLOTS * CELL, 0xaa));
  std::vector<std::vector<uint64_t>> bits(ROOM, std::vector<uint64_t>(size_t(SENDERS) * 2));
  std::vector<int64_t> cellsAt, bitsAt;
  for (int n = 0; n < ROOM; n++) {
    cellsAt.push_back(reinterpret_cast<int64_t>(cells[size_t(n)].data()));
    bitsAt.push_back(reinterpret_cast<int64_t>(bits[size_t(n)].data()));
  }
  Ring ring(Stream(Format::chips, SENDERS, 1, CELL, 64, 1, {CHANNELS, 0, 1}, sources),
            Settings{SLOTS, ROOM, 3, 100000, 100, SENDERS * SLOTS / 2, 0}, cellsAt.data(), bitsAt.data());
  const int wake = ring.openWake();
  SocketGiven given;
  const int receiver = openSocket({"127.0.0.1", "", 0, 1 << 22}, given);
  ring.listen(receiver, coalesce(receiver), -1);

  std::atomic<bool> done{false};
  std::thread watcher([&] {
    int64_t totals[TOTALS + OUTCOMES], senders[SENDERS * SENDER_NUMBERS];
    while (!done.load()) {
      ring.account(totals, senders);
      static_cast<void>(ring.freeBlocks());
      static_cast<void>(droppedByKernel(ring.socketFd()));
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  });
  int64_t taken = 0, present = 0;
  std::thread consumer([&] {
    for (;;) {
      const bool ended = ring.ended();
      ReadyBlock block{};
      if (!ring.take(block)) {
        if (ended) break;
        pollfd one = {wake, POLLIN, 0};
        poll(&one, 1, 100);
        char bytes[64];
        static_cast<void>(!recv(wake, bytes, sizeof bytes, MSG_DONTWAIT));
        continue;
      }
      taken++;
      for (int sender = 0; sender < SENDERS; sender++)
        for (int slot = 0; slot < SLOTS; slot++) {
          const bool there = bits[size_t(block.index)][size_t(sender * 2 + (slot >> 6))] >> (slot & 63) & 1;
          const uint8_t *cell = cells[size_t(block.index)].data() + (sender * SLOTS + slot) * CELL;
          const uint8_t expected = there ? payloadByte(sender, block.startTick + slot) : 0;
          present += there;
          if (cell[0] != expected || cell[CELL - 1] != expected) fail("a cell holds what was not sent for it");
        }
      ring.release(block.index);
    }
  });

  const int descriptor = socket(AF_INET, SOCK_DGRAM, 0);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<uint16_t>(given.port));
  inet_pton(AF_INET, "127.0.0.1", &to.sin_addr);
  if (connect(descriptor, reinterpret_cast<sockaddr *>(&to), sizeof to) != 0) fail("no way to the socket");
  int64_t tick = 500000;
  for (int64_t n = 0; n < PACKETS_SENT; n += SENDERS, tick++) {
    if (n == PACKETS_SENT / 2) tick = 7;  // every board restarts
    for (int sender = 0; sender < SENDERS; sender++) {
      if ((n + sender) % 97 != 0) send(descriptor, sender, tick);
      if ((n + sender) % 89 == 0) send(descriptor, sender, tick);
    }
    if (n % 256 == 0) std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  close(descriptor);
  // Until what was sent is read: the thread looks at the clock every 20 ms.
  std::this_thread::sleep_for(std::chrono::milliseconds(60));
  ring.stop();
  consumer.join();
  done.store(true);
  watcher.join();
  int64_t totals[TOTALS + OUTCOMES], senders[SENDERS * SENDER_NUMBERS], sum = 0;
  ring.account(totals, senders);
  for (int n = 0; n < OUTCOMES; n++) sum += totals[TOTALS + n];
  if (sum != totals[PACKETS]) fail("a packet has no outcome, or two");
  if (totals[TOTALS] != present) fail("what was placed is not what was handed on");
  if (totals[TOTALS] + totals[MISSING_CELLS] != (totals[BLOCKS] + totals[SKIPPED_BLOCKS]) * SENDERS * SLOTS)
    fail("placed and missing are not all cells");
  if (totals[BLOCKS] != taken || taken == 0) fail("blocks were lost");
  close(wake);
  std::printf("ring: %lld packets, %lld blocks, %lld resyncs, account whole\n", (long long)totals[PACKETS],
              (long long)taken, (long long)totals[RESYNCS]);
  return 0;
}

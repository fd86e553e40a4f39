// The paced sender under a sanitizer: packets of a slot by three threads and sockets, turn after turn, while a receiver
// checks that each comes with its own clock and cell, once.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

extern "C" int32_t corella_sender_pace(char *error, const int32_t *descriptors, uint8_t *datagrams, const uint8_t *left,
                                       const uint64_t *bases, const int64_t *fields, const int64_t *sizes,
                                       double slotNs, int64_t *totals);

namespace {

constexpr int SOCKETS = 3, PACKETS = 8, SLOTS = 50, TURNS = 20, EACH = 40;
constexpr int64_t SLOT_NS = 200000;

void fail(const char *what) {
  std::fprintf(stderr, "pace stress: %s\n", what);
  std::exit(1);
}

uint8_t cellByte(int slot, int packet) { return static_cast<uint8_t>(1 + (slot * 13 + packet) % 250); }

}  // namespace

int main() {
  const int receiver = socket(AF_INET, SOCK_DGRAM, 0);
  const int room = 1 << 22;
  setsockopt(receiver, SOL_SOCKET, SO_RCVBUF, &room, sizeof room);
  const timeval timeout = {5, 0};
  setsockopt(receiver, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
  sockaddr_in to = {};
  to.sin_family = AF_INET;
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof to;
  if (bind(receiver, reinterpret_cast<sockaddr *>(&to), length) != 0 ||
      getsockname(receiver, reinterpret_cast<sockaddr *>(&to), &length) != 0)
    fail("no receiver");
  int32_t senders[SOCKETS];
  for (int32_t &sender : senders) {
    sender = socket(AF_INET, SOCK_DGRAM, 0);
    if (connect(sender, reinterpret_cast<sockaddr *>(&to), length) != 0) fail("no sender");
  }

  // A packet: its number, its tick in eight bytes, the highest first, and a cell; packet 3 of slot 7 is never sent.
  std::vector<uint8_t> datagrams(size_t(SLOTS) * PACKETS * EACH);
  std::vector<uint8_t> left(size_t(SLOTS) * PACKETS);
  for (int slot = 0; slot < SLOTS; slot++) {
    for (int packet = 0; packet < PACKETS; packet++) {
      uint8_t *one = datagrams.data() + (size_t(slot) * PACKETS + size_t(packet)) * EACH;
      one[0] = static_cast<uint8_t>(packet);
      std::memset(one + 9, cellByte(slot, packet), EACH - 9);
    }
  }
  left[7 * PACKETS + 3] = 1;
  const std::vector<uint64_t> bases(PACKETS, 0);
  const int64_t field[6] = {1, 8, 1, 1, 0, 1};

  constexpr int64_t WANTED = int64_t(TURNS) * (SLOTS * PACKETS - 1);
  std::vector<uint8_t> seen(size_t(TURNS) * SLOTS * PACKETS);
  std::thread listening([&] {
    uint8_t packet[EACH + 1];
    for (int64_t n = 0; n < WANTED; n++) {
      if (recv(receiver, packet, sizeof packet, 0) != EACH) fail("a packet never came, or is of another length");
      uint64_t tick = 0;
      for (int k = 0; k < 8; k++) tick = tick << 8 | packet[1 + k];
      if (tick >= TURNS * SLOTS || packet[0] >= PACKETS) fail("a packet that nobody sent");
      if (seen[tick * PACKETS + packet[0]]++ != 0) fail("a packet came twice");
      for (int k = 9; k < EACH; k++)
        if (packet[k] != cellByte(static_cast<int>(tick % SLOTS), packet[0])) fail("a cell of another packet");
    }
  });
  int64_t sent = 0;
  for (int turn = 0; turn < TURNS; turn++) {
    timespec now = {};
    clock_gettime(CLOCK_MONOTONIC, &now);
    const int64_t start = int64_t(now.tv_sec) * 1000000000 + now.tv_nsec;
    // Every other turn as fast as may be.
    const double pace = turn % 2 == 0 ? double(SLOT_NS) : 0;
    const int64_t sizes[11] = {EACH, PACKETS, 0, SLOTS, int64_t(turn) * SLOTS, 1, 64, start, SOCKETS, 1, turn % 4 < 2};
    char error[1024] = {};
    int64_t totals[2] = {};
    if (corella_sender_pace(error, senders, datagrams.data(), left.data(), bases.data(), field, sizes, pace, totals) !=
        0)
      fail(error);
    sent += totals[0];
  }
  listening.join();
  if (sent != WANTED) fail("the sender counted otherwise");
  for (const int sender : senders) close(sender);
  close(receiver);
  std::printf("pace: %lld packets, each once\n", static_cast<long long>(sent));
}

// Sends many datagrams per call (sendmmsg), and with segmentation offload many per message: as they are, or packed once
// and paced. Packets are then sent at a fixed rate any number of times: before each pass only the header fields that
// depend on the clock are set (packets/tick-fields.ts). Several threads share the senders of a slot, each with its own
// socket.
#include "socket.h"

#if defined(__linux__)
#ifndef UDP_SEGMENT
#define UDP_SEGMENT 103
#endif

using namespace corella;
using namespace corella::receive;

namespace {

/** The longest wake-up interval: bursts of a millisecond cost little and fit any receive buffer. */
constexpr int64_t QUANTUM_NS = 1000000;
constexpr size_t MESSAGES = 64;
constexpr size_t WAITING = 960;
/** The largest batch the kernel accepts as one: bytes of the joined datagrams, and their number. */
constexpr int64_t MOST_BYTES = 65000;
constexpr int64_t MOST_SEGMENTS = 64;

void sleepUntil(int64_t ns) {
  const timespec until = {static_cast<time_t>(ns / 1000000000), static_cast<long>(ns % 1000000000)};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr) == EINTR) {}
}

struct Field {
  int64_t at, bytes, big, divide, modulo, times;
};

struct Turn {
  uint8_t *datagrams;     // [slot][packet][each]
  const uint8_t *left;    // [slot][packet], 1: not sent; may be null
  const uint64_t *bases;  // [packet][field]
  std::vector<Field> fields;
  int64_t each, perSlot, fromSlot, slots;
  int64_t firstTick, ticksPerSlot, startNs;
  uint64_t tickMask;
  double slotNs;

  void stamp(uint8_t *datagram, int64_t packet, int64_t slot) const {
    const uint64_t tick = static_cast<uint64_t>(firstTick + slot * ticksPerSlot) & tickMask;
    const uint64_t *base = bases + packet * static_cast<int64_t>(fields.size());
    for (const Field &field : fields) {
      uint64_t value = tick / static_cast<uint64_t>(field.divide);
      if (field.modulo != 0) value %= static_cast<uint64_t>(field.modulo);
      value = *base++ + value * static_cast<uint64_t>(field.times);
      for (int64_t k = 0; k < field.bytes; k++) {
        datagram[field.at + (field.big != 0 ? field.bytes - 1 - k : k)] = static_cast<uint8_t>(value >> (8 * k));
      }
    }
  }
  int64_t dueNs(int64_t slot) const { return startNs + static_cast<int64_t>(static_cast<double>(slot) * slotNs); }
};

/** One socket's share: packets waiting to be passed to the kernel together. */
class Batch {
 public:
  Batch(int socket, int64_t bytes, bool offload) : fd(socket), each(bytes), messages(MESSAGES), vectors(WAITING) {
    segments = offload ? std::max<int64_t>(1, std::min(MOST_SEGMENTS, MOST_BYTES / each)) : 1;
    if (segments > 1 && !segment(each)) segments = 1;
    waiting.reserve(WAITING);
  }
  ~Batch() { segment(0); }

  void add(const uint8_t *datagram) {
    waiting.push_back(datagram);
    if (waiting.size() == WAITING) flush();
  }

  void flush() {
    size_t sent = 0;
    while (sent < waiting.size()) {
      size_t filled = 0, at = sent;
      for (; filled < MESSAGES && at < waiting.size(); filled++) {
        const size_t many = std::min(static_cast<size_t>(segments), waiting.size() - at);
        for (size_t n = 0; n < many; n++)
          vectors[at + n] = {const_cast<uint8_t *>(waiting[at + n]), static_cast<size_t>(each)};
        messages[filled] = {};
        messages[filled].msg_hdr.msg_iov = &vectors[at];
        messages[filled].msg_hdr.msg_iovlen = many;
        at += many;
      }
      const int got = sendmmsg(fd, messages.data(), static_cast<unsigned>(filled), 0);
      if (got < 0) {
        // No listener, or no buffer space yet: not an error of the sender.
        if (errno == EINTR || errno == EAGAIN || errno == ENOBUFS || errno == ECONNREFUSED) continue;
        // This interface cannot join datagrams: send them one by one.
        if (segments > 1 && (errno == EINVAL || errno == EMSGSIZE || errno == EIO || errno == EOPNOTSUPP)) {
          segment(0);
          segments = 1;
          continue;
        }
        refuse("datagrams cannot be sent");
      }
      for (int n = 0; n < got; n++) sent += messages[static_cast<size_t>(n)].msg_hdr.msg_iovlen;
    }
    total += static_cast<int64_t>(waiting.size());
    waiting.clear();
  }

  int64_t total = 0;

 private:
  bool segment(int64_t bytes) const {
    const int value = static_cast<int>(bytes);
    return setsockopt(fd, SOL_UDP, UDP_SEGMENT, &value, sizeof value) == 0;
  }
  int fd;
  int64_t each, segments;
  std::vector<mmsghdr> messages;
  std::vector<iovec> vectors;
  std::vector<const uint8_t *> waiting;
};

struct Share {
  int64_t firstPacket, endPacket;
  int64_t sent = 0, behindNs = 0;
  std::string fault;
};

void sendShare(const Turn &turn, int fd, bool offload, Share &share) {
  Batch batch(fd, turn.each, offload);
  int64_t reached = turn.startNs - 1;
  for (int64_t slot = 0; slot < turn.slots; slot++) {
    if (turn.slotNs > 0 && turn.dueNs(slot) > reached) {
      batch.flush();
      const int64_t now = nowNs();
      share.behindNs = std::max(share.behindNs, now - turn.dueNs(slot));
      reached = std::max(turn.dueNs(slot), reached + QUANTUM_NS);
      if (reached > now) {
        sleepUntil(reached);
      } else {
        reached = now;
      }
    }
    const int64_t first = (turn.fromSlot + slot) * turn.perSlot;
    for (int64_t packet = share.firstPacket; packet < share.endPacket; packet++) {
      if (turn.left != nullptr && turn.left[first + packet] != 0) continue;
      uint8_t *datagram = turn.datagrams + (first + packet) * turn.each;
      turn.stamp(datagram, packet, slot);
      batch.add(datagram);
    }
  }
  batch.flush();
  share.sent = batch.total;
}

}  // namespace

// asked : port, send buffer in bytes, hop limit of multicast datagrams
CORELLA_EXPORT int32_t corella_sender_open(char *error, const char *address, const char *interface,
                                           const int64_t *asked, int32_t *descriptor) {
  return guarded(error, [&] {
    const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0) refuse("no socket");
    const int bytes = static_cast<int>(asked[1]), hops = static_cast<int>(asked[2]);
    if (setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &bytes, sizeof bytes) != 0)
      setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
    setsockopt(fd, IPPROTO_IP, IP_MULTICAST_TTL, &hops, sizeof hops);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<uint16_t>(asked[0]));
    try {
      const in_addr by = addressOf(interface);
      setsockopt(fd, IPPROTO_IP, IP_MULTICAST_IF, &by, sizeof by);
      to.sin_addr = addressOf(address);
      if (connect(fd, reinterpret_cast<sockaddr *>(&to), sizeof to) != 0) refuse("no way there");
    } catch (...) {
      close(fd);
      throw;
    }
    *descriptor = fd;
  });
}

// datagrams : [count][each]. Returns when the kernel has accepted them all, so it is called off the event loop.
CORELLA_EXPORT int32_t corella_sender_send(char *error, int32_t descriptor, const uint8_t *datagrams, int64_t each,
                                           int64_t count, int32_t offload) {
  return guarded(error, [&] {
    require(each > 0 && count >= 0, "a size is not above 0");
    Batch batch(descriptor, each, offload != 0);
    for (int64_t n = 0; n < count; n++) batch.add(datagrams + n * each);
    batch.flush();
  });
}

// sizes : each, packets a slot, first slot, slots, first tick, ticks a slot, bits of the clock, start in ns of
//         CLOCK_MONOTONIC, sockets, fields, offload. totals : packets sent, most nanoseconds behind. Returns when the
//         last slot was sent, so it is called off the event loop.
CORELLA_EXPORT int32_t corella_sender_pace(char *error, const int32_t *descriptors, uint8_t *datagrams,
                                           const uint8_t *left, const uint64_t *bases, const int64_t *fields,
                                           const int64_t *sizes, double slotNs, int64_t *totals) {
  return guarded(error, [&] {
    Turn turn{datagrams, left,     bases,    {},       sizes[0], sizes[1], sizes[2],
              sizes[3],  sizes[4], sizes[5], sizes[7], 0,        slotNs};
    turn.tickMask = sizes[6] >= 64 ? ~uint64_t(0) : (uint64_t(1) << sizes[6]) - 1;
    const int64_t sockets = sizes[8];
    require(turn.each > 0 && turn.perSlot > 0 && turn.slots >= 0 && sockets > 0, "a size is not above 0");
    for (int64_t n = 0; n < sizes[9]; n++) {
      const int64_t *one = fields + 6 * n;
      turn.fields.push_back({one[0], one[1], one[2], one[3], one[4], one[5]});
      require(one[3] > 0 && one[0] >= 0 && one[1] <= 8 && one[0] + one[1] <= turn.each, "a field is outside");
    }
    std::vector<Share> shares;
    for (int64_t n = 0; n < sockets; n++) {
      shares.push_back({n * turn.perSlot / sockets, (n + 1) * turn.perSlot / sockets, 0, 0, {}});
    }
    const auto work = [&](size_t n) {
      try {
        sendShare(turn, descriptors[n], sizes[10] != 0, shares[n]);
      } catch (const std::exception &why) {
        shares[n].fault = why.what();
      }
    };
    std::vector<std::thread> threads;
    for (size_t n = 1; n < shares.size(); n++) threads.emplace_back(work, n);
    work(0);
    for (std::thread &thread : threads) thread.join();
    totals[0] = totals[1] = 0;
    for (const Share &share : shares) {
      if (!share.fault.empty()) throw Refusal(share.fault);
      totals[0] += share.sent;
      totals[1] = std::max(totals[1], share.behindNs);
    }
  });
}

CORELLA_EXPORT int32_t corella_sender_close(char *error, int32_t descriptor) {
  return guarded(error, [&] { close(descriptor); });
}
#endif

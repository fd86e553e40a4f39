#include "socket.h"

#if defined(__linux__)
#ifndef UDP_GRO
#define UDP_GRO 104
#endif
#ifndef SO_MEMINFO
#define SO_MEMINFO 55
#endif

namespace corella::receive {
namespace {

/** Closed by the destructor unless kept. */
struct Descriptor {
  int fd;
  ~Descriptor() {
    if (fd >= 0) close(fd);
  }
  int keep() {
    const int kept = fd;
    fd = -1;
    return kept;
  }
};

}  // namespace

int openSocket(const SocketAsked &asked, SocketGiven &given) {
  Descriptor socket{::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
  if (socket.fd < 0) refuse("no socket");
  const int one = 1;
  const auto set = [&](int level, int name, const auto &value) {
    return setsockopt(socket.fd, level, name, &value, sizeof value) == 0;
  };
  // The longest wait of a call before it checks for a stop and for silent senders.
  set(SOL_SOCKET, SO_RCVTIMEO, timeval{0, 20000});
  given.receiveBufferBytes = sizeBuffer(socket.fd, asked.receiveBufferBytes);
  const bool joins = asked.group[0] != 0;
  // Every socket gets a copy of a multicast datagram. A unicast datagram would go only to the last socket bound.
  if (joins) set(SOL_SOCKET, SO_REUSEADDR, one);
  sockaddr_in where{};
  where.sin_family = AF_INET;
  where.sin_port = htons(static_cast<uint16_t>(asked.port));
  where.sin_addr = addressOf(joins ? asked.group : asked.address);
  if (bind(socket.fd, reinterpret_cast<sockaddr *>(&where), sizeof where) != 0) {
    const std::string name = std::string(joins ? asked.group : asked.address) + ":" + std::to_string(asked.port);
    if (errno == EADDRINUSE) throw Refusal(name + " is in use by another program");
    refuse(name + " cannot be bound");
  }
  if (joins) {
    ip_mreq join{};
    join.imr_multiaddr = addressOf(asked.group);
    join.imr_interface = addressOf(asked.address);
    if (!set(IPPROTO_IP, IP_ADD_MEMBERSHIP, join))
      refuse(std::string(asked.group) + " cannot be joined on " + asked.address);
  }
  socklen_t length = sizeof where;
  if (getsockname(socket.fd, reinterpret_cast<sockaddr *>(&where), &length) != 0) refuse("no port");
  given.port = ntohs(where.sin_port);
  return socket.keep();
}

void closeSocket(int socket) { close(socket); }

int32_t sizeBuffer(int socket, int32_t bytes) {
  // Forcing needs CAP_NET_ADMIN; without it the kernel silently limits the size to net.core.rmem_max.
  if (setsockopt(socket, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof bytes) != 0)
    setsockopt(socket, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
  int given = 0;
  socklen_t length = sizeof given;
  if (getsockopt(socket, SOL_SOCKET, SO_RCVBUF, &given, &length) != 0) refuse("no receive buffer");
  return given / 2;  // the kernel doubles the requested size
}

void survey(int socket, int64_t milliseconds, Survey &into) {
  constexpr int64_t MOST_BYTES = 65536;
  const int64_t endNs = nowNs() + milliseconds * 1000000;
  int64_t used = 0;
  while (into.count < into.most && used + MOST_BYTES <= into.capacity && nowNs() < endNs) {
    // Returns after 20 ms without data (SO_RCVTIMEO).
    const ssize_t length = recv(socket, into.bytes + used, size_t(MOST_BYTES), 0);
    if (length < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR) refuse("nothing can be received");
    if (length < 0) continue;
    if (into.count == 0) into.firstNs = nowNs();
    into.lengths[into.count++] = length;
    used += length;
  }
}

int64_t discard(int socket) {
  constexpr unsigned BATCH = 64;
  std::vector<mmsghdr> messages(BATCH);
  int64_t count = 0;
  // If a socket fills faster than it is read, stop here: its contents are received.
  for (const int64_t endNs = nowNs() + 1000000000; nowNs() < endNs;) {
    std::fill(messages.begin(), messages.end(), mmsghdr{});
    const int got = recvmmsg(socket, messages.data(), BATCH, MSG_DONTWAIT, nullptr);
    if (got <= 0) return count;
    count += got;
  }
  return count;
}

bool coalesce(int socket) {
  const int one = 1;
  return setsockopt(socket, SOL_UDP, UDP_GRO, &one, sizeof one) == 0;
}

void startListening(Ring &ring, int socket, bool coalesced, int32_t core) { ring.listen(socket, coalesced, core); }

int64_t droppedByKernel(int socket) {
  uint32_t numbers[16] = {};
  socklen_t length = sizeof numbers;
  if (socket < 0 || getsockopt(socket, SOL_SOCKET, SO_MEMINFO, numbers, &length) != 0) return -1;
  constexpr size_t DROPS = 8;  // SK_MEMINFO_DROPS
  return length > DROPS * sizeof numbers[0] ? int64_t(numbers[DROPS]) : -1;
}

}  // namespace corella::receive
#else
namespace corella::receive {

int openSocket(const SocketAsked &, SocketGiven &) { throw Refusal("the native ring listens on Linux alone"); }
void closeSocket(int) {}
int32_t sizeBuffer(int, int32_t) { return 0; }
void survey(int, int64_t, Survey &) {}
int64_t discard(int) { return 0; }
bool coalesce(int) { return false; }
void startListening(Ring &, int, bool, int32_t) {}
int64_t droppedByKernel(int) { return -1; }

}  // namespace corella::receive
#endif

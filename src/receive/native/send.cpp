// Sends many datagrams per call (sendmmsg), and with segmentation offload many per message: for benchmarks, and for
// rates that a script cannot reach.
#include <cstdint>

#include "backend/cpu/context.h"

#if defined(__linux__)
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <vector>

#ifndef UDP_SEGMENT
#define UDP_SEGMENT 103
#endif

using namespace corella;

namespace {

constexpr int64_t BATCH = 64;
constexpr int64_t MOST_BYTES = 65000;

[[noreturn]] void refuse(const std::string &what) { throw Refusal(what + ": " + std::strerror(errno)); }

in_addr addressOf(const char *text) {
  in_addr address{};
  if (inet_pton(AF_INET, text, &address) != 1) throw Refusal(std::string(text) + " is no IPv4 address");
  return address;
}

/** The number of datagrams that the kernel accepts as one, where supported. */
int64_t segmentsFor(int fd, int64_t each, bool offload) {
  const int bytes = offload ? static_cast<int>(each) : 0;
  if (setsockopt(fd, SOL_UDP, UDP_SEGMENT, &bytes, sizeof bytes) != 0 || !offload) return 1;
  const int64_t fit = MOST_BYTES / each;
  return fit < 1 ? 1 : fit > BATCH ? BATCH : fit;
}

int64_t sendAll(int fd, const uint8_t *datagrams, int64_t each, int64_t count, int64_t segments) {
  std::vector<mmsghdr> messages(BATCH);
  std::vector<iovec> vectors(BATCH);
  int64_t sent = 0;
  while (sent < count) {
    size_t filled = 0;
    for (int64_t at = sent; filled < BATCH && at < count; at += segments, filled++) {
      const int64_t many = count - at < segments ? count - at : segments;
      vectors[filled] = {const_cast<uint8_t *>(datagrams) + at * each, static_cast<size_t>(many * each)};
      messages[filled] = {};
      messages[filled].msg_hdr.msg_iov = &vectors[filled];
      messages[filled].msg_hdr.msg_iovlen = 1;
    }
    const int got = sendmmsg(fd, messages.data(), static_cast<unsigned>(filled), 0);
    if (got < 0 && (errno == EINTR || errno == EAGAIN || errno == ENOBUFS || errno == ECONNREFUSED)) continue;
    if (got < 0) refuse("datagrams cannot be sent");
    for (int n = 0; n < got; n++) sent += static_cast<int64_t>(vectors[static_cast<size_t>(n)].iov_len) / each;
  }
  return sent;
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
    sendAll(descriptor, datagrams, each, count, segmentsFor(descriptor, each, offload != 0));
  });
}

CORELLA_EXPORT int32_t corella_sender_close(char *error, int32_t descriptor) {
  return guarded(error, [&] { close(descriptor); });
}
#endif

// The receive thread: recvmmsg reads many datagrams per call, and with GRO several per buffer.
#include "socket.h"

#if defined(__linux__)
#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>

#ifndef UDP_GRO
#define UDP_GRO 104
#endif

namespace corella::receive {
namespace {

constexpr int BATCH = 64;
constexpr int RECEIVE_NICE = -10;
/** One datagram, or as many as the kernel joins into one buffer. */
constexpr size_t MOST_BYTES = 65536;

/** The length of each joined datagram; the last may be shorter. */
int64_t segmentBytes(msghdr &message, int64_t bytes) {
  for (cmsghdr *c = CMSG_FIRSTHDR(&message); c != nullptr; c = CMSG_NXTHDR(&message, c)) {
    if (c->cmsg_level != SOL_UDP || c->cmsg_type != UDP_GRO) continue;
    int value;
    std::memcpy(&value, CMSG_DATA(c), sizeof value);
    return value > 0 ? value : bytes;
  }
  return bytes;
}

}  // namespace

void Ring::listen(int socket, bool coalesced, int32_t core) {
  fd = socket;
  thread = std::thread([this, coalesced, core] {
    pthread_setname_np(pthread_self(), "corella-receive");
    // Higher priority where permitted: a packet that waits too long is lost.
    setpriority(PRIO_PROCESS, 0, RECEIVE_NICE);
    if (core >= 0) {
      cpu_set_t set;
      CPU_ZERO(&set);
      CPU_SET(static_cast<size_t>(core), &set);
      pthread_setaffinity_np(pthread_self(), sizeof set, &set);
    }
    receive(coalesced);
    finalDrops.store(droppedByKernel(fd));
    flush();
    cpuNs.store(nowNs(CLOCK_THREAD_CPUTIME_ID), std::memory_order_relaxed);
    finished.store(true);
    notify();
  });
}

void Ring::receive(bool coalesced) {
  struct Control {
    alignas(cmsghdr) char bytes[CMSG_SPACE(sizeof(int))];
  };
  // Whole pages for each of the plan's datagrams; a longer datagram is truncated, and therefore refused.
  const size_t each = coalesced ? MOST_BYTES : (static_cast<size_t>(stream.cellBytes) + 1024 + 4095) / 4096 * 4096;
  std::vector<uint8_t> buffers(BATCH * each);
  std::vector<mmsghdr> messages(BATCH);
  std::vector<iovec> vectors(BATCH);
  std::vector<Control> controls(BATCH);
  int64_t quietSince = nowNs(), calls = 0;
  while (!stopping.load(std::memory_order_relaxed)) {
    for (size_t n = 0; n < BATCH; n++) {
      vectors[n] = {buffers.data() + n * each, each};
      messages[n] = {};
      messages[n].msg_hdr.msg_iov = &vectors[n];
      messages[n].msg_hdr.msg_iovlen = 1;
      if (coalesced) {
        messages[n].msg_hdr.msg_control = controls[n].bytes;
        messages[n].msg_hdr.msg_controllen = sizeof controls[n].bytes;
      }
    }
    // Returns with what is available, or after the socket's timeout (SO_RCVTIMEO).
    const int got = recvmmsg(fd, messages.data(), BATCH, MSG_WAITFORONE, nullptr);
    if (got <= 0) {
      if (got < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR) {
        std::lock_guard<std::mutex> lock(guard);
        problem = std::strerror(errno);
        return;
      }
      const int64_t now = nowNs();
      if (now - quietSince > int64_t(plan.flushMs) * 1000000) {
        flush();
        quietSince = now;
      }
      cpuNs.store(nowNs(CLOCK_THREAD_CPUTIME_ID), std::memory_order_relaxed);
      continue;
    }
    quietSince = nowNs();
    const int64_t unixNs = nowNs(CLOCK_REALTIME);
    for (size_t n = 0; n < static_cast<size_t>(got); n++) {
      const uint8_t *bytes = static_cast<const uint8_t *>(vectors[n].iov_base);
      const int64_t length = messages[n].msg_len;
      const int64_t segment = coalesced ? segmentBytes(messages[n].msg_hdr, length) : length;
      if (messages[n].msg_hdr.msg_flags & MSG_TRUNC) {
        feedCut(length);
        continue;
      }
      if (length == 0) feed(bytes, 0, unixNs);
      for (int64_t at = 0; at < length; at += segment) feed(bytes + at, std::min(segment, length - at), unixNs);
    }
    if ((++calls & 255) == 0) cpuNs.store(nowNs(CLOCK_THREAD_CPUTIME_ID), std::memory_order_relaxed);
  }
}

}  // namespace corella::receive
#endif

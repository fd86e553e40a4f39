// A UDP socket: the requested settings and those the kernel granted.
#pragma once
#if defined(__linux__)
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#endif

#include <cerrno>
#include <cstdint>
#include <cstring>

#include "backend/cpu/context.h"
#include "ring.h"

namespace corella::receive {

#if defined(__linux__)
/** With the system's reason. */
[[noreturn]] inline void refuse(const std::string &what) { throw Refusal(what + ": " + std::strerror(errno)); }

inline in_addr addressOf(const char *text) {
  in_addr address{};
  if (inet_pton(AF_INET, text, &address) != 1) throw Refusal(std::string(text) + " is no IPv4 address");
  return address;
}

inline int64_t nowNs(clockid_t clock = CLOCK_MONOTONIC) {
  timespec now{};
  clock_gettime(clock, &now);
  return int64_t(now.tv_sec) * 1000000000 + now.tv_nsec;
}
#endif

struct SocketAsked {
  /** The address to bind, or the interface that joins the group. */
  const char *address;
  /** Empty if there is none. */
  const char *group;
  int32_t port, receiveBufferBytes;
};

struct SocketGiven {
  int32_t port = 0, receiveBufferBytes = 0;
};

/** Throws Refusal. */
int openSocket(const SocketAsked &asked, SocketGiven &given);
void closeSocket(int socket);
/** Requests a buffer and returns the size that the kernel granted. */
int32_t sizeBuffer(int socket, int32_t bytes);

struct Survey {
  /** Datagrams, back to back. */
  uint8_t *bytes;
  int64_t capacity;
  int64_t *lengths;
  int64_t most;
  int64_t count = 0;
  /** When the first was read, on the monotonic clock. */
  int64_t firstNs = 0;
};
/** Reads until it has the requested number, the memory is full, or the time is over. */
void survey(int socket, int64_t milliseconds, Survey &into);
/** Reads and counts everything waiting in the socket. */
int64_t discard(int socket);
/** Several datagrams per read; false if the kernel does not support it. */
bool coalesce(int socket);
void startListening(Ring &ring, int socket, bool coalesced, int32_t core);
/** Since the socket was opened; −1 if the kernel does not report it. */
int64_t droppedByKernel(int socket);

}  // namespace corella::receive

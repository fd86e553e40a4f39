// A UDP socket as it is asked for, and as the kernel gave it.
#pragma once
#include <cstdint>

#include "ring.h"

namespace corella::receive {

struct SocketAsked {
  /** To bind, or the interface that joins the group. */
  const char *address;
  /** Empty where there is none. */
  const char *group;
  int32_t port, receiveBufferBytes;
};

struct SocketGiven {
  int32_t port = 0, receiveBufferBytes = 0;
};

/** Throws Refusal. */
int openSocket(const SocketAsked &asked, SocketGiven &given);
void closeSocket(int socket);
/** Asks for a buffer, and returns what the kernel gave. */
int32_t sizeBuffer(int socket, int32_t bytes);

struct Survey {
  /** Datagrams, end to end. */
  uint8_t *bytes;
  int64_t capacity;
  int64_t *lengths;
  int64_t most;
  int64_t count = 0;
  /** When the first was read, of the monotonic clock. */
  int64_t firstNs = 0;
};
/** Reads until there are as many as asked for, or no more fit, or the time is over. */
void survey(int socket, int64_t milliseconds, Survey &into);
/** Reads and counts all that waits in the socket. */
int64_t discard(int socket);
/** Several datagrams a read; false where the kernel cannot. */
bool coalesce(int socket);
void startListening(Ring &ring, int socket, bool coalesced, int32_t core);
/** Of the socket since it was opened; −1 where the kernel does not say. */
int64_t droppedByKernel(int socket);

}  // namespace corella::receive

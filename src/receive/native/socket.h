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
  bool coalesce;
};

struct SocketGiven {
  int32_t port = 0, receiveBufferBytes = 0;
  bool coalesced = false;
};

/** Throws Refusal. */
int openSocket(const SocketAsked &asked, SocketGiven &given);
void startListening(Ring &ring, int socket, bool coalesced, int32_t core);
/** Of the socket since it was opened; −1 where the kernel does not say. */
int64_t droppedByKernel(int socket);

}  // namespace corella::receive

#include "ring.h"

#include <cstring>
#if !defined(_WIN32)
#include <sys/socket.h>
#include <unistd.h>
#endif

namespace corella::receive {

/** A saturating sum of two ticks. */
static int64_t saturated(int64_t tick, int64_t more) { return tick > INT64_MAX - more ? INT64_MAX : tick + more; }

Ring::Ring(Stream named, Settings settings, const int64_t *cellAddresses, const int64_t *presenceAddresses)
    : stream(std::move(named)),
      plan(settings),
      cells(int64_t(stream.senders) * stream.fragments * settings.slotsPerBlock),
      blockTicks(settings.slotsPerBlock * stream.ticksPerSlot),
      rowWords((settings.slotsPerBlock + 63) / 64),
      clocks(stream.senders, blockTicks, settings.activePackets),
      jumps(stream.parser, settings.tickRateHz, blockTicks, settings.skipTicks, settings.window, cells),
      totals(TOTALS),
      outcomes(OUTCOMES),
      senderNumbers(static_cast<size_t>(stream.senders) * SENDER_NUMBERS) {
  for (int32_t n = 0; n < plan.blocks; n++) {
    cellMemory.push_back(reinterpret_cast<uint8_t *>(cellAddresses[n]));
    presenceMemory.push_back(reinterpret_cast<uint64_t *>(presenceAddresses[n]));
  }
  for (int32_t n = plan.blocks; n-- > 0;) free.push_back(n);
  for (int32_t sender = 0; sender < stream.senders; sender++)
    senderNumbers[size_t(sender) * SENDER_NUMBERS + SENDER_NEWEST] = NEVER;
}

int Ring::openWake() {
#if !defined(_WIN32)
  if (wake[0] < 0 && socketpair(AF_UNIX, SOCK_STREAM, 0, wake) != 0) wake[0] = wake[1] = -1;
#endif
  return wake[0];
}

Ring::~Ring() {
  stop();
  if (thread.joinable()) thread.join();
#if !defined(_WIN32)
  if (fd >= 0) close(fd);
  if (wake[1] >= 0) close(wake[1]);
#endif
}

Outcome Ring::feed(const uint8_t *datagram, int64_t bytes, int64_t unixNs) {
  add(totals[PACKETS]);
  add(totals[BYTES], bytes);
  Packet packet;
  Outcome outcome = Outcome::invalid;
  bool hasSender = false;
  switch (stream.parser.parse(stream, datagram, bytes, packet)) {
    case ParseResult::placed:
      outcome = place(packet, datagram + packet.payloadAt, unixNs);
      hasSender = true;
      break;
    case ParseResult::control: outcome = Outcome::control; break;
    case ParseResult::invalid: outcome = Outcome::invalid; break;
    case ParseResult::unknownSource: outcome = Outcome::unknownSource; break;
    case ParseResult::misaligned: outcome = Outcome::misaligned; break;
  }
  add(outcomes[static_cast<size_t>(outcome)]);
  if (hasSender) add(senderNumbers[size_t(packet.sender) * SENDER_NUMBERS + static_cast<size_t>(outcome)]);
  return outcome;
}

void Ring::feedCut(int64_t bytes) {
  add(totals[PACKETS]);
  add(totals[BYTES], bytes);
  add(outcomes[static_cast<size_t>(Outcome::invalid)]);
}

Outcome Ring::place(const Packet &packet, const uint8_t *payload, int64_t unixNs) {
  Moment moment;
  if (!follow(packet, unixNs, moment)) return Outcome::invalid;
  if (moment.epoch != head.epoch) return Outcome::otherEpoch;
  const int64_t number = floorDivide(moment.tick, blockTicks);
  if (number < first) return Outcome::late;
  if (number - first >= plan.window) return Outcome::early;
  jumps.came(unixNs);
  Open &block = open[static_cast<size_t>(number - first)];
  const int64_t row = int64_t(packet.sender) * stream.fragments + packet.fragment;
  const int64_t slot = moment.tick % blockTicks / stream.ticksPerSlot;
  const int64_t word = row * rowWords + (slot >> 6);
  const uint64_t bit = uint64_t(1) << (slot & 63);
  if (block.index >= 0 && presenceMemory[size_t(block.index)][word] & bit) return Outcome::duplicate;
  // The consumer may have released a block since the last attempt.
  if (block.index < 0) block.index = takeMemory();
  if (block.index < 0) return Outcome::ringFull;
  if (block.placed++ == 0) block.arrivedUnixNs = unixNs;
  jumps.filled(block.placed);
  presenceMemory[size_t(block.index)][word] |= bit;
  std::memcpy(cellMemory[size_t(block.index)] + (row * plan.slotsPerBlock + slot) * stream.cellBytes, payload,
              size_t(stream.cellBytes));
  Counter &newest = senderNumbers[size_t(packet.sender) * SENDER_NUMBERS + SENDER_NEWEST];
  if (moment.tick > newest.load(std::memory_order_relaxed)) newest.store(moment.tick, std::memory_order_relaxed);
  return Outcome::placed;
}

bool Ring::follow(const Packet &packet, int64_t unixNs, Moment &moment) {
  moment = {packet.tick, packet.epoch};
  if (!jumps.isDated(moment)) return false;
  if (open.empty()) {
    head = moment;
    clocks.believe(packet.sender, head);
    startAt(windowFor(packet.tick / blockTicks));
    return true;
  }
  if (stream.wrapBits < 64) {
    const int64_t turn = int64_t(1) << stream.wrapBits, ahead = (packet.tick - head.tick) & (turn - 1);
    moment.tick = head.tick + (ahead >= turn / 2 ? ahead - turn : ahead);
  }
  const bool isMoved = clocks.follow(packet.sender, moment);
  if (clocks.isOtherClock) add(senderNumbers[size_t(packet.sender) * SENDER_NUMBERS + SENDER_OTHER_CLOCKS]);
  if (!isMoved) return true;
  const int64_t before = session;
  Moment median = head;
  clocks.median(head.epoch, median);
  moveTo(median, unixNs);
  if (session != before) moment.tick = masked(moment.tick);
  return true;
}

void Ring::moveTo(Moment median, int64_t unixNs) {
  const int64_t number = floorDivide(median.tick, blockTicks);
  const bool isSameEpoch = median.epoch == head.epoch;
  // The senders resume in a block that the timeout closed.
  if (isSameEpoch && number < first && floor != NEVER && number >= floor - plan.window) return;
  if (isSameEpoch && number >= first && median.tick - head.tick <= plan.skipTicks) return goOn(median.tick);
  const int64_t width = plan.window * blockTicks;
  const bool isLeft = clocks.areElsewhere(head.epoch, head.tick - width, saturated(head.tick, width));
  if (jumps.areFollowed(median, head, unixNs, isLeft)) return resynchronise(median, unixNs);
  totals[REFUSED_RESYNCS].store(jumps.refused, std::memory_order_relaxed);
  // The sources still in the running stream determine its position.
  const int64_t own = clocks.medianBetween(head.epoch, first * blockTicks, saturated(head.tick, plan.skipTicks));
  if (own != NEVER) goOn(own);
}

void Ring::goOn(int64_t tick) {
  head.tick = std::max(head.tick, tick);
  advance(windowFor(floorDivide(tick, blockTicks)));
}

void Ring::startAt(int64_t number) {
  first = number;
  open.assign(static_cast<size_t>(plan.window), Open{});
  for (size_t n = 0; n < open.size(); n++) open[n].number = number + static_cast<int64_t>(n);
}

void Ring::resynchronise(Moment to, int64_t unixNs) {
  handOnAll();
  jumps.resynchronised(head, unixNs);
  session++;
  add(totals[RESYNCS]);
  skipped = 0;
  handedOn = false;
  floor = NEVER;
  if (stream.wrapBits < 64) clocks.fold((int64_t(1) << stream.wrapBits) - 1);
  head = {masked(to.tick), to.epoch};
  startAt(windowFor(head.tick / blockTicks));
}

void Ring::flush() {
  if (open.empty()) return;
  handOnAll();
  floor = first;
  clocks.forget();
  startAt(first);
}

void Ring::advance(int64_t wanted) {
  if (wanted <= first) return;
  floor = NEVER;
  while (first < wanted) {
    handOn(open.front());
    first++;
    if (wanted - first > plan.window) {  // far ahead: unsent blocks are counted without a loop over them
      for (size_t n = 1; n < open.size(); n++) handOn(open[n]);
      skip(wanted - first - (plan.window - 1));
      startAt(wanted);
      return;
    }
    std::rotate(open.begin(), open.begin() + 1, open.end());
    open.back() = Open{};
    open.back().number = first + plan.window - 1;
  }
}

/** Up to the last block with any packet; the blocks after it have not begun and are not losses. */
void Ring::handOnAll() {
  size_t begun = open.size();
  while (begun > 0 && open[begun - 1].placed == 0) begun--;
  for (size_t n = 0; n < begun; n++) handOn(open[n]);
  first += static_cast<int64_t>(begun);
}

void Ring::skip(int64_t blocks) {
  skipped += blocks;
  add(totals[SKIPPED_BLOCKS], blocks);
  add(totals[MISSING_CELLS], blocks * cells);
  for (int32_t sender = 0; sender < stream.senders; sender++)
    add(senderNumbers[size_t(sender) * SENDER_NUMBERS + SENDER_MISSING], blocks * (cells / stream.senders));
}

void Ring::handOn(Open &block) {
  if (block.index < 0) {
    if (handedOn) skip(1);
    return;
  }
  const int64_t missing = cells - block.placed;
  for (int32_t sender = 0; missing > 0 && sender < stream.senders; sender++) {
    int64_t missed = 0;
    for (int64_t row = int64_t(sender) * stream.fragments; row < int64_t(sender + 1) * stream.fragments; row++) {
      const uint64_t *bits = presenceMemory[size_t(block.index)] + row * rowWords;
      uint8_t *start = cellMemory[size_t(block.index)] + row * plan.slotsPerBlock * stream.cellBytes;
      for (int64_t slot = 0; slot < plan.slotsPerBlock; slot++) {
        if (bits[slot >> 6] >> (slot & 63) & 1) continue;
        std::memset(start + slot * stream.cellBytes, 0, size_t(stream.cellBytes));
        missed++;
      }
    }
    add(senderNumbers[size_t(sender) * SENDER_NUMBERS + SENDER_MISSING], missed);
  }
  add(totals[MISSING_CELLS], missing);
  add(totals[BLOCKS]);
  const ReadyBlock next = {block.index, block.number * blockTicks, session, head.epoch, skipped,
                           missing,     block.arrivedUnixNs};
  skipped = 0;
  handedOn = true;
  {
    std::lock_guard<std::mutex> lock(guard);
    ready.push_back(next);
  }
  block.index = -1;
  block.placed = 0;
  notify();
}

void Ring::notify() {
#if defined(MSG_NOSIGNAL)
  // A full pipe already wakes the reader.
  const char one = 1;
  if (wake[1] >= 0) static_cast<void>(!send(wake[1], &one, 1, MSG_DONTWAIT | MSG_NOSIGNAL));
#endif
}

int64_t Ring::takeMemory() {
  int64_t index;
  {
    std::lock_guard<std::mutex> lock(guard);
    if (free.empty()) return -1;
    index = free.back();
    free.pop_back();
  }
  std::memset(presenceMemory[size_t(index)], 0, size_t(stream.senders) * stream.fragments * rowWords * 8);
  return index;
}

bool Ring::take(ReadyBlock &next) {
  std::lock_guard<std::mutex> lock(guard);
  if (ready.empty()) return false;
  next = ready.front();
  ready.pop_front();
  return true;
}

void Ring::release(int64_t index) {
  std::lock_guard<std::mutex> lock(guard);
  free.push_back(index);
}

int64_t Ring::freeBlocks() {
  std::lock_guard<std::mutex> lock(guard);
  return static_cast<int64_t>(free.size());
}

std::string Ring::trouble() {
  std::lock_guard<std::mutex> lock(guard);
  return problem;
}

void Ring::account(int64_t *all, int64_t *senders) const {
  for (int n = 0; n < TOTALS; n++) all[n] = totals[size_t(n)].load(std::memory_order_relaxed);
  for (int n = 0; n < OUTCOMES; n++) all[TOTALS + n] = outcomes[size_t(n)].load(std::memory_order_relaxed);
  for (size_t n = 0; n < senderNumbers.size(); n++) senders[n] = senderNumbers[n].load(std::memory_order_relaxed);
}

}  // namespace corella::receive

// The channeliser for 8-bit complex voltages and 4096 channels, a whole spectrum in one block: one read, one write, for
// cards whose blocks have 227 KB of shared memory and a copy engine (Hopper).
//
//   n = 256 n1 + 16 m1 + m0    k = k1 + 16 k2 + 256 k3    (all 0..15)
//
// A persistent block processes tiles of four spectra of one input, four tiles to a unit. Two groups of eight warps take
// the even and the odd spectra; a thread holds two of them at 16 points, first over n1, then m1, then m0:
// 1. The copy engine loads rows into a ring, where they are transposed, two times of a channel side by side. The
//    filter is exact: a pair of times meets two 16-bit taps in dp2a, re and im from the same word.
// 2. 16 points over n1, an exchange of the group, 16 over m1, an exchange within the warp, 16 over m0. One spectrum is in
//    the exchange while the other is processed: half the memory, and no idle waiting.
// 3. Gain, rounding and saturation. Writes of less than 32 bytes cost several times the bandwidth, so results
//    are kept in scratch memory until all 16 spectra of a unit are done; then a quarter of them is written with each
//    tile of the next unit. The copy engine does both: stores by threads would block their registers. L2 is asked to
//    keep scratch in preference to streamed data, and to discard it after use.
//
// Delayed inputs open anywhere (delays.cuh), and the copy engine takes 16 bytes from multiples of 16. So the samples of
// a row are shifted by up to seven places, each with its own tap, and those past the row's end are at the front of the
// next row: the windows of these few columns open one row later.
//
// Neighbouring blocks process neighbouring units: a line of the output is written by four of them at about the same
// time.
//
// Set by the plan besides shape.cuh and rounding.cuh: ONE_FACTOR (1: the same for all channels and inputs), POWERS (1:
// powers are summed too, powers.cuh), KEPT (of the 16 columns whose taps a thread needs, those in shared memory; the
// others come from L2 for every tile), AHEAD (columns whose taps are prefetched).
#include "butterflies.cuh"
#include "delays.cuh"
#include "hopper.cuh"
#include "long.cuh"
#include "rounding.cuh"
#include "shape.cuh"
#include "shared.cuh"

extern "C" __global__ void __launch_bounds__(THREADS, 1)
    channeliseLong(const __grid_constant__ TensorMap map, const __grid_constant__ LongWork work) {
  extern __shared__ __align__(128) unsigned char shared[];
  const uint32_t exchange = ptx::sharedAddress(shared), ring = exchange + EXCHANGE_BYTES, kept = ring + RING_BYTES;
  float4 *allTurns = (float4 *)(shared + EXCHANGE_BYTES + RING_BYTES + KEPT_BYTES);
  const uint32_t barriers = ptx::sharedAddress(allTurns + 64);
  [[maybe_unused]] const uint32_t unitTurns = barriers + BARRIER_BYTES;  // DELAYED: [side], in the layout of keepTurns

  const int tid = threadIdx.x, warp = __shfl_sync(0xFFFFFFFFu, tid >> 5, 0);
  const int m = tid & 255, odd = warp >> 3;  // filter: the thread's column, and its first spectrum: odd and odd + 2
  const int k1 = m >> 4, index = m & 15;     // after it: row of the group's exchange, and place in it
  const uint32_t ringReady = barriers, filtered = barriers + 8, arrived = barriers + 16;
  const uint32_t free = barriers + 24 + 32 * odd, givenA = free + 8, takenA = free + 16, givenB = free + 24;
  if (tid < 11) ptx::barrierInit(barriers + 8 * tid, tid < 2 ? THREADS : tid == 2 ? 1 : GROUP);
  if (tid < 64) allTurns[tid] = work.turns[tid];
  for (int e = tid; e < KEPT * EIGHTS * 256; e += THREADS) store16(kept + e * 16, work.taps[e]);

  const int unitsEach = (work.spectra + UNIT - 1) / UNIT, units = work.inputs * unitsEach, stride = (int)gridDim.x;
  if ((int)blockIdx.x >= units) return;
  const int lastRow = work.spectra + TAPS - 2;
  auto inputOf = [&](int unit) { return unit / unitsEach; };
  auto firstOf = [&](int unit) { return unit % unitsEach * UNIT; };

  // Four rows of input are in a slot unchanged until each warp transposes 512 bytes of them, 16 bytes of eight channels
  // to a lane: [channel / 2 % 4][channel / 8][channel % 2], words of {re, re, im, im}. Rows are then shifted against
  // each other, so that neighbouring channels are in different banks.
  const int columnAt = (m >> 1 & 3) * ROW_BYTES + ((m >> 3) * 16 ^ (m >> 1 & 3) * 32) + (m & 1) * 8;
  auto slotAfter = [](int slot, int steps) { return slot + steps < QUADS ? slot + steps : slot + steps - QUADS; };
  auto openingAt = [&](int side) { return DELAYED ? keptOpening(unitTurns + side * UNIT_TURN_BYTES) : 0; };
  auto rowsAt = [&](int input, int opening, int firstRow) {
    return work.voltages + input * work.pitchBytes + ((int64_t)firstRow * ROW_BYTES + opening / OPENS_AT * OPENS_AT);
  };
  // Bytes of so many rows, including the part of the last one at the front of the next.
  auto bytesOf = [&](int rows, int firstRow) {
    const int left = lastRow + 1 - firstRow;
    if (left < 0) return 0;
    return min(rows * ROW_BYTES, left * ROW_BYTES + (DELAYED ? OPENS_AT : 0));
  };
  // Rows past the last one are not loaded: they only affect unused spectra.
  auto fetch = [&](int slot, int input, int opening, int firstRow) {
    const int bytes = bytesOf(4, firstRow);
    if (bytes <= 0) return;
    ptx::barrierExpectMore(arrived, bytes);
    ptx::copyBytes(ring + slot * QUAD_BYTES, rowsAt(input, opening, firstRow), bytes, arrived, ptx::evictFirst());
  };
  auto prefetch = [&](int input, int opening, int firstRow, int rows) {  // prefetch into L2
    const int bytes = bytesOf(rows, firstRow);
    if (bytes > 0) ptx::prefetchBytes(rowsAt(input, opening, firstRow), bytes, ptx::evictFirst());
  };
  auto turn = [&](int slot) {
    const int at = hidden(16 * tid);
    const uint32_t rows = ring + slot * QUAD_BYTES;
    uint4 w[4];
#pragma unroll
    for (int r = 0; r < 4; ++r) w[r] = load16(rows + r * ROW_BYTES + at);
    __syncwarp();
#pragma unroll
    for (int c = 0; c < 4; ++c) {  // two channels each
      const uint32_t w0 = part(w[0], c), w1 = part(w[1], c), w2 = part(w[2], c), w3 = part(w[3], c);
      store16(rows + c * ROW_BYTES + (at ^ c * 32),
              make_uint4(__byte_perm(w0, w1, 0x5140), __byte_perm(w2, w3, 0x5140), __byte_perm(w0, w1, 0x7362),
                         __byte_perm(w2, w3, 0x7362)));
    }
  };

  // [odd][k1][row][column], columns permuted by rows: neighbouring rows and columns are in different banks.
  const uint32_t give = exchange + odd * (EXCHANGE_BYTES / 2) + k1 * 128 + (index ^ k1) * 8;
  const int column = tid / 16 * 2048 + index * 8, row = column + index * 128;
  auto take = [&](float(&re)[16], float(&im)[16]) {
    const int at = hidden(column);
#pragma unroll
    for (int n = 0; n < 16; ++n) load8(re[reversed<16>(n)], im[reversed<16>(n)], exchange + (at ^ n * 8) + n * 128);
  };
  auto exchangeInWarp = [&](float(&re)[16], float(&im)[16]) {
    const int down = hidden(column), along = hidden(row);
#pragma unroll
    for (int k = 0; k < 16; ++k) store8(exchange + (down ^ k * 8) + k * 128, re[k], im[k]);
    __syncwarp();
#pragma unroll
    for (int n = 0; n < 16; ++n) load8(re[reversed<16>(n)], im[reversed<16>(n)], exchange + (along ^ n * 8));
    __syncwarp();
  };
  const float4 *turns = allTurns + k1 * 4, *lastTurns = work.lastTurns + m;

  // A warp's own rows of the exchange are its stage: half for results to scratch, half for those to the output.
  const uint32_t stage = exchange + warp * STAGE_BYTES;
  auto scratch = [&](int side, int tile) {
    return work.scratch + (((int)blockIdx.x * 2 + side) * EACH + tile) * (4 * THREADS);
  };
  // A warp writes both groups' results for 16 channels, k1 = warp: two lanes to a channel, 16 bytes of its 32 each.
  auto heldAt = [&](int side, int quarter, int i) {
    const int t = hidden(tid);
    return scratch(side, 2 * (t & 1) + i / 2) + (t >> 6) * 128 + i % 2 * (8 * 128) + quarter * 32 + (t >> 5 & 1) * 16 +
           (t >> 1 & 15);
  };
  auto ask = [&](uint4(&held)[4], int side, int quarter) {
#pragma unroll
    for (int i = 0; i < 4; ++i) held[i] = loadScratch(heldAt(side, quarter, i));
  };
  auto write = [&](const uint4(&held)[4], int side, int input, int first, int quarter) {
    const uint32_t to = stage + STAGE_BYTES / 2 + (hidden(tid) & 31) * 16;
    [[maybe_unused]] PowerCell halves[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const uint32_t even0 = part(held[0], i), odd0 = part(held[1], i), even1 = part(held[2], i),
                     odd1 = part(held[3], i);
      const uint4 eight = make_uint4(__byte_perm(even0, odd0, 0x5410), __byte_perm(even0, odd0, 0x7632),
                                     __byte_perm(even1, odd1, 0x5410), __byte_perm(even1, odd1, 0x7632));
      store16(to + i * 512, eight);
      if (POWERS) halves[i] = powersOf(eight);
    }
    ptx::showToCopies();
    __syncwarp();
    // Eight lanes have read a line; the last quarter's lines are about to be overwritten.
    if (quarter != 3 && (hidden(tid) >> 1 & 7) == 0)
#pragma unroll
      for (int i = 0; i < 4; ++i) discardLine(heldAt(side, quarter, i));
    // Channels are ordered from the middle of the transform: the upper half comes first.
    if (ptx::elected())
      ptx::storeBox(&map, stage + STAGE_BYTES / 2, first, input, warp, 16 * (4 * quarter ^ 8), ptx::evictFirst());
    if (POWERS) addPowers(halves, hidden(tid) & 31, cellsOf(work, input, first, warp, quarter), asTheyLie);
  };

  auto giveUp = [&] {  // once the copy engine has read the stage
    if (ptx::elected()) ptx::storesRead();
    ptx::warpArrive(free);
  };

  int unit = (int)blockIdx.x, input = inputOf(unit), first = firstOf(unit);
  int lastInput = 0, lastFirst = 0;  // of the unit that is being written
  ptx::barrierInitFence();
  __syncthreads();
  if (warp == 0 && ptx::elected()) {
    const int opening = DELAYED ? openingOf(work.delays, input) : 0;
#pragma unroll 1
    for (int s = 0; s < QUADS; ++s) fetch(s, input, opening, first + 4 * s);
    ptx::barrierArrive(arrived);
    prefetch(input, opening, first + 4 * QUADS, 4);
  }
#if DELAYED
  // For each unit by one warp, while the unit before it is made; barriers in between make them visible to all.
  auto keep = [&](int ofUnit, int side) {
    keepTurns(work, inputOf(ofUnit), firstOf(ofUnit), hidden(tid) & 31, unitTurns + side * UNIT_TURN_BYTES);
  };
  if (warp == GROUP / 32) keep(unit, 0);
#endif
  ptx::barrierWait(arrived, 0);
#pragma unroll 1
  for (int s = 0; s < QUADS; ++s) turn(s);
  ptx::showToCopies();
  __syncthreads();
  uint4 held[4];
  for (int step = 0;; ++step) {
    const int tile = step % EACH, slot = step % QUADS, side = step / EACH & 1;
    const uint32_t phase = step & 1;
    const bool last = tile == EACH - 1;

    // The tap of a sample shifts with it; the first columns use the last ones of the n1 before, 0 those of 15.
    const int rotation = rotationOf(openingAt(side));
    const bool wraps = DELAYED && m < rotation;
    const int tapAt = DELAYED ? (m - rotation & 255) - (wraps ? EIGHTS * 256 : 0) : m;
    auto aroundAt = [&](int n1) { return n1 == 0 && wraps ? 16 * EIGHTS * 4096 : 0; };
    uint4 far[AHEAD][EIGHTS];
    const unsigned char *farTaps = (const unsigned char *)(work.taps + hidden(tapAt));
    auto askTaps = [&](int n1) {
      if (n1 >= KEPT && n1 < 16)
#pragma unroll
        for (int e = 0; e < EIGHTS; ++e)
          far[n1 % AHEAD][e] = loadTaps(farTaps + (n1 * EIGHTS + e) * 4096 + aroundAt(n1));
    };
    auto keptTaps = [&](int n1, int e) {
      if (KEPT < 16 && n1 == 0 && wraps) return loadTaps(farTaps + e * 4096 + aroundAt(0));
      return load16(kept + tapAt * 16 + (n1 * EIGHTS + e) * 4096 + aroundAt(n1));
    };
#pragma unroll
    for (int n1 = 0; n1 < AHEAD; ++n1) askTaps(n1);
    uint32_t quads[QUADS];
#pragma unroll
    for (int s = 0; s < QUADS; ++s) quads[s] = ring + slotAfter(slot, s) * QUAD_BYTES + columnAt;
    const uint32_t shift = odd ? 0x6341 : 0x3210;  // windows that open at an odd row take pairs shifted by one time

    float re[2][16], im[2][16];
#pragma unroll
    for (int n1 = 0; n1 < 16; ++n1) {
      if (n1 == WRITE_AT && step > EACH) write(held, side ^ 1, lastInput, lastFirst, (tile + 3) % 4);
      if (n1 == FREE_AT && step) giveUp();
      uint4 taps[EIGHTS];
#pragma unroll
      for (int e = 0; e < EIGHTS; ++e) taps[e] = n1 < KEPT ? keptTaps(n1, e) : far[n1 % AHEAD][e];
      uint32_t pairs[2 * QUADS + 1];
      pairs[2 * QUADS] = 0;
#pragma unroll
      for (int s = 0; s < QUADS; ++s) {
        const uint2 quad = load8(quads[s] + n1 * 512);
        pairs[2 * s] = quad.x, pairs[2 * s + 1] = quad.y;
      }
      uint32_t opened = shift;
      if (DELAYED && n1 == 0) {
        if (wraps) opened = shift ^ 0x3210 ^ 0x6341;
        if (wraps && odd)
#pragma unroll
          for (int p = 0; p < 2 * QUADS; ++p) pairs[p] = pairs[p + 1];
      }
      uint32_t x[PAIRS + 1];
#pragma unroll
      for (int p = 0; p <= PAIRS; ++p)  // past the last row taps are zero
        x[p] = __byte_perm(pairs[min(p, 2 * QUADS)], pairs[min(p + 1, 2 * QUADS)], opened);
      int sums[2][2] = {};
#pragma unroll
      for (int p = 0; p < PAIRS; ++p)
#pragma unroll
        for (int t = 0; t < 2; ++t) {
          const int two = (int)part(taps[p / 4], p % 4);
          sums[t][0] = __dp2a_lo(two, (int)x[p + t], sums[t][0]);
          sums[t][1] = __dp2a_hi(two, (int)x[p + t], sums[t][1]);
        }
#pragma unroll
      for (int t = 0; t < 2; ++t) {
        re[t][reversed<16>(n1)] = __int2float_rn(sums[t][0]);
        im[t][reversed<16>(n1)] = __int2float_rn(sums[t][1]);
      }
      askTaps(n1 + AHEAD);
    }
    ptx::warpArrive(filtered);

    transform(re[0], im[0]);
    if (step) {
      if (FREE_AT == 16) giveUp();
      ptx::barrierWait(free, phase ^ 1);
    }
#pragma unroll
    for (int k = 0; k < 16; ++k) store8(give + k * 2048, re[0][k], im[0][k]);
    ptx::warpArrive(givenA);
    transform(re[1], im[1]);
#if DELAYED
    if (warp == GROUP / 32 && tile == 1 && unit + stride < units) keep(unit + stride, side ^ 1);
#endif
    if (warp == 0) {
      // The oldest slot is free once every warp is past its filter; after a unit's last tile all of them are.
      ptx::barrierWait(filtered, phase);
      if (ptx::elected()) {
        if (!last) {
          const int opening = openingAt(side);
          fetch(slot, input, opening, first + 4 * QUADS);
          if (tile < EACH - 2)
            prefetch(input, opening, first + 4 * QUADS + 4, 4);
          else if (unit + stride < units)
            prefetch(inputOf(unit + stride), openingAt(side ^ 1), firstOf(unit + stride), 4 * QUADS);
        } else if (unit + stride < units) {
          const int nextInput = inputOf(unit + stride), nextFirst = firstOf(unit + stride);
          const int nextOpening = openingAt(side ^ 1);
#pragma unroll 1
          for (int s = 0; s < QUADS; ++s) fetch(slotAfter(slot, s + 1), nextInput, nextOpening, nextFirst + 4 * s);
          prefetch(nextInput, nextOpening, nextFirst + 4 * QUADS, 4);
        }
        ptx::barrierArrive(arrived);
      }
      __syncwarp();
    }
    ptx::barrierWait(givenA, phase);
    take(re[0], im[0]);
    ptx::warpArrive(takenA);
    turnedTransform(re[0], im[0], turns);
    ptx::barrierWait(takenA, phase);
#pragma unroll
    for (int k = 0; k < 16; ++k) store8(give + k * 2048, re[1][k], im[1][k]);
    ptx::warpArrive(givenB);

    ptx::barrierWait(givenB, phase);
    take(re[1], im[1]);
    __syncwarp();
    exchangeInWarp(re[0], im[0]);
    turnedTransform(re[1], im[1], turns);
    exchangeInWarp(re[1], im[1]);
    float4 lastTurn[4];
#pragma unroll
    for (int j = 0; j < 4; ++j) lastTurn[j] = __ldg(lastTurns + j * 256);
    turnedTransform(re[0], im[0], lastTurn);
    [[maybe_unused]] auto delay = [&](int t) {
      const uint32_t turns = unitTurns + side * UNIT_TURN_BYTES;
      delayParts(keptTurn(turns, tile * TILE + odd + 2 * t), k1 + 16 * index, re[t], im[t]);
    };
    if (DELAYED) delay(0);  // before the wait for rows
    ptx::barrierWait(arrived, phase ^ 1);
    if (last)
#pragma unroll 1
      for (int s = 1; s < QUADS; ++s) turn(slotAfter(slot, s));
    turn(slot);
    if (ptx::elected()) ptx::storesDone();  // also: the last tile's results are in scratch
    ptx::warpArrive(ringReady);
    turnedTransform(re[1], im[1], lastTurn);
    if (DELAYED) delay(1);

    if (work.missing != nullptr || first + TILE > work.spectra) {
#pragma unroll
      for (int t = 0; t < 2; ++t) {
        const int spectrum = first + odd + 2 * t;
        if (spectrum >= work.spectra ||
            (work.missing != nullptr && work.missing[(int64_t)input * work.spectra + spectrum])) {
#pragma unroll
          for (int k = 0; k < 16; ++k) re[t][k] = im[t][k] = 0;
        }
      }
    }
    const uint32_t results = stage + (hidden(tid) & 31) * 16;
    Rounding rounding;
    int saturated = 0;
    auto roundAll = [&](bool clamped) {
      auto rounded = [&](float value, float factor) {
        const uint32_t bits = Rounding::round(value, factor);
        return clamped ? Rounding::clamped(bits, saturated) : bits;
      };
#pragma unroll
      for (int quarter = 0; quarter < 4; ++quarter) {
#if ONE_FACTOR
        const float factors[4] = {work.factor, work.factor, work.factor, work.factor};
#else
        const float4 four = __ldg(work.factors + ((int64_t)input * 256 + m) * 4 + quarter);
        const float factors[4] = {four.x, four.y, four.z, four.w};
#endif
        uint32_t words[4];
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          const int k = 4 * quarter + i;
          words[i] = rounding.pack(rounded(re[0][k], factors[i]), rounded(im[0][k], factors[i]),
                                   rounded(re[1][k], factors[i]), rounded(im[1][k], factors[i]));
        }
        store16(results + quarter * 512, make_uint4(words[0], words[1], words[2], words[3]));
      }
    };
    roundAll(false);
    if (__any_sync(0xFFFFFFFFu, rounding.beyond())) {  // rare, so it may be slow
      roundAll(true);
      if (saturated > 0) atomicAdd(work.saturated, (unsigned long long)saturated);
    }
    ptx::showToCopies();
    if (last) ptx::orderWithCopies();  // lines discarded, of which the next unit writes the first
    __syncwarp();
    if (ptx::elected()) ptx::storeBytes(scratch(side, tile) + warp * 128, stage, STAGE_BYTES / 2);

    ptx::barrierWait(ringReady, phase);
    if (step >= EACH) {
      if (tile == 0) lastInput = inputOf(unit - stride), lastFirst = firstOf(unit - stride);
      ask(held, side ^ 1, tile);  // of the unit before this one, whose last results were stored before the barrier
    }
    first += TILE;
    if (last) {
      unit += stride;
      if (unit >= units) break;
      input = inputOf(unit), first = firstOf(unit);
    }
  }
  // The last quarter of the unit before the last, and all of the last.
  const int done = (unit - (int)blockIdx.x) / stride;
  if (ptx::elected()) ptx::storesDone();
  __syncthreads();
  if (done > 1) write(held, 0, lastInput, lastFirst, 3);
#pragma unroll 1
  for (int quarter = 0; quarter < 4; ++quarter) {
    ask(held, done - 1 & 1, quarter);
    if (ptx::elected()) ptx::storesRead();
    __syncwarp();
    write(held, done - 1 & 1, inputOf(unit - stride), firstOf(unit - stride), quarter);
  }
  ptx::storesDone();
}

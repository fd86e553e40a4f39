// Filter, transform, gain, rounding and corner turn, for any number of channels with prime factors up to 13.
//
// PASS 0: a block holds whole spectra, TILE of them at a time: one read, one write. Where a spectrum is too long, N *
// OTHER points are transformed as a matrix: n = n1 OTHER + n2, k = k1 + N k2. PASS 1 filters GROUP columns n2,
// transforms over n1, multiplies by the twiddles of n2 k1 and leaves the matrix in scratch; PASS 2 takes GROUP rows k1,
// transforms over n2 and finishes.
//
// In shared memory a tile is [n][g][t]: the spectra of a tile side by side, so that a warp works on neighbours. Levels
// work in place, digit by digit, with one barrier between them; the last one knows its bins. Integers are stored in
// rows of SPAN spectra, whole sectors of 32 bytes: they are kept in shared memory, as bytes, until all SPAN / TILE
// tiles of a row are done. Twiddles are kept there too, if they fit (TURNS_KEPT).
//
// Set by the plan besides shape.cuh: PASS, N (points of this pass), OTHER (those of the other pass, 1 for PASS 0),
// TILE, SPAN, GROUP (1 for PASS 0), THREADS, BLOCKS (to a multiprocessor), TURNS_KEPT, POWERS (1: powers are summed
// too, powers.cuh), R0 .. R6 (radices whose product is N; 1 where there are fewer).
#include "filter.cuh"
#include "finish.cuh"
#include "rows.cuh"
#include "transform.cuh"

constexpr int COLUMNS = N * OTHER;
constexpr int LEVELS = R1 == 1 ? 1 : R2 == 1 ? 2 : R3 == 1 ? 3 : R4 == 1 ? 4 : R5 == 1 ? 5 : R6 == 1 ? 6 : 7;
constexpr bool UNFOLDS = PASS == 0 && FOLDED && REAL;
constexpr bool STAGED = PASS != 1 && !OUTPUT_FLOAT;
static_assert(R0 * R1 * R2 * R3 * R4 * R5 * R6 == N, "the radices make up the transform");
static_assert(!POWERS || OUTPUT_FLOAT || SPAN == GROUP_SPECTRA, "two threads have a row of sixteen");
static_assert(!FLOAT_POWERS || (!UNFOLDS && TILE >= 4 && SPAN <= GROUP_SPECTRA), "windows are whole rows of output");
static_assert(THREADS % TILE == 0 && SPAN % TILE == 0 && SPAN >= 2 && SPAN <= 64, "tiles end where rows of output end");

__host__ __device__ constexpr int radix(int level) {
  return level == 0 ? R0 : level == 1 ? R1 : level == 2 ? R2 : level == 3 ? R3 : level == 4 ? R4 : level == 5 ? R5 : R6;
}
// The number of points combined by the earlier levels, and the start of a level's twiddles in their table.
__host__ __device__ constexpr int before(int level) { return level == 0 ? 1 : before(level - 1) * radix(level - 1); }
__host__ __device__ constexpr int even(int n) { return (n + 1) / 2 * 2; }
__host__ __device__ constexpr int twiddlesBefore(int level) {
  return level <= 1 ? 0 : twiddlesBefore(level - 1) + before(level - 1) * even(radix(level - 1));
}

constexpr int ROWS_AT = TILE_ELEMENTS / 2,
              TURNS_AT = ROWS_AT + (STAGED ? (N * GROUP * SPAN + 7) / 8 : 0);  // in 16 bytes

// The work of a block: one row of SPAN spectra of one input, TILE of them at a time; in two passes, GROUP columns or
// rows.
struct Place {
  unsigned input, firstSpectrum, sub, group;
  float2 *scratch;
  bool there;  // the spectrum of this thread is needed, and not missing
#if DELAYED
  int opening;  // of the input's row, in bytes
  Turn turn;    // of this thread's spectrum
#endif
};

// The digits of a position, slowest first, are those of a bin, fastest first.
template <int LEVEL>
__device__ __forceinline__ unsigned binOf(unsigned position) {
  if constexpr (LEVEL == 0)
    return position;
  else
    return binOf<LEVEL - 1>(position / radix(LEVEL)) + before(LEVEL) * (position % radix(LEVEL));
}
template <int LEVEL>
__device__ __forceinline__ unsigned positionOf(unsigned bin) {
  if constexpr (LEVEL == 0)
    return bin;
  else
    return positionOf<LEVEL - 1>(bin % before(LEVEL)) * radix(LEVEL) + bin / before(LEVEL);
}

__device__ __forceinline__ unsigned channelOf(unsigned bin) {
  return REAL ? bin : bin + (bin < (CHANNELS + 1) / 2 ? CHANNELS / 2 : -((CHANNELS + 1) / 2));
}

// Finishes bins first + k STEP of this thread's spectrum; `powers` of floats, where they are summed.
template <int R, int STEP>
__device__ __forceinline__ void emit(const Work &work, const Place &at, const float2 (&made)[R], unsigned first,
                                     unsigned g, int &saturated, float (&powers)[R]) {
  const unsigned t = threadIdx.x % TILE;
  if (PASS != 0 && at.group + g >= OTHER) return;
#if DELAYED && PASS != 1
  float2 x[R];
  delayBins<R, STEP * OTHER>(
      at.turn, first * OTHER + at.group + g, [&](int k) { return made[k]; },
      [&](int k, float2 value) { x[k] = value; });
#else
  const auto &x = made;
#endif
  if constexpr (PASS == 1) {
    const unsigned n2 = at.group + g;
    float2 *to = at.scratch + ((int64_t)first * OTHER + n2) * SPAN + at.sub * TILE + t;
#pragma unroll
    for (int k = 0; k < R; ++k) {
      const float2 turn = __ldg(work.longTwiddles + n2 * (first + k * STEP));
      to[(int64_t)k * STEP * OTHER * SPAN] = times(x[k], turn);
    }
  } else if constexpr (OUTPUT_FLOAT) {
    const unsigned spectrum = at.firstSpectrum + at.sub * TILE + t;
    if (!FLOAT_POWERS && spectrum >= work.spectra) return;
    const int64_t channelBytes = work.inputs * work.outPitchBytes;
    int8_t *out = work.out + at.input * work.outPitchBytes + (int64_t)spectrum * 8;
    float2 values[R];
#pragma unroll
    for (int k = 0; k < R; ++k) {
      const unsigned channel = channelOf((first + k * STEP) * OTHER + at.group + g);
      if (REAL && channel >= CHANNELS) continue;  // the upper half of a real transform mirrors the lower
      const float factor = factorOf(work, at.input, channel);
      values[k] = at.there ? make_float2(x[k].x * factor, x[k].y * factor) : make_float2(0, 0);
      if (FLOAT_POWERS) powers[k] = fmaf(values[k].x, values[k].x, values[k].y * values[k].y);
    }
    if (spectrum < work.spectra) {
#pragma unroll
      for (int k = 0; k < R; ++k) {
        const unsigned channel = channelOf((first + k * STEP) * OTHER + at.group + g);
        if (!REAL || channel < CHANNELS) *(float2 *)(out + channel * channelBytes) = values[k];
      }
    }
  } else {
    uint16_t *rows = (uint16_t *)(memory + ROWS_AT) + stagedRow(first * GROUP + g) * SPAN + at.sub * TILE + t;
    float factors[R];
    uint16_t rounded[R];
#pragma unroll
    for (int k = 0; k < R; ++k) {
      const unsigned channel = channelOf((first + k * STEP) * OTHER + at.group + g);
      // Missing spectra become zero; so does a real transform's upper half, which is not used.
      const bool asked = at.there && (!REAL || channel < CHANNELS);
      factors[k] = asked ? factorOf(work, at.input, channel) : 0.0f;
    }
    roundAll(x, factors, rounded, saturated);
#pragma unroll
    for (int k = 0; k < R; ++k) rows[k * STEP * GROUP * SPAN] = rounded[k];
  }
}

// One level: a butterfly combines RADIX points AFTER apart, multiplied by their twiddles.
template <int LEVEL>
__device__ __forceinline__ void level(const Work &work, const Place &at, int &saturated) {
  constexpr int R = radix(LEVEL), AFTER = N / before(LEVEL) / R, APART = AFTER * GROUP, LAST = LEVEL == LEVELS - 1;
  constexpr int BUTTERFLIES = N / R * GROUP * TILE;
  float2 *tile = (float2 *)memory;
  const unsigned t = threadIdx.x % TILE;
#pragma unroll 1
  for (unsigned i = threadIdx.x; i < BUTTERFLIES; i += THREADS) {
    const unsigned rest = i / TILE, digits = rest / APART, row = rest + digits * ((R - 1) * APART);
    const unsigned first = placeOf(row) + t, second = placeOf(row + APART) + t;
    auto place = [&](int k) { return pointOf<R, APART>(row, first, second, k); };
    float2 x[R];
    if constexpr (PASS == 2 && LEVEL == 0) {
      const unsigned g = row % GROUP;
      const float2 *from = at.scratch + ((int64_t)(at.group + g) * N + row / GROUP) * SPAN + at.sub * TILE + t;
#pragma unroll
      for (int k = 0; k < R; ++k) x[k] = at.group + g < OTHER ? from[k * AFTER * SPAN] : make_float2(0, 0);
    } else {
#pragma unroll
      for (int k = 0; k < R; ++k) x[k] = tile[place(k)];
    }
    if constexpr (LEVEL > 0) {
      const float4 *turns = (TURNS_KEPT ? memory + TURNS_AT : (const float4 *)work.twiddles) +
                            (twiddlesBefore(LEVEL) + digits * even(R)) / 2;
#pragma unroll
      for (int k = 0; k < R; k += 2) {
        const float4 two = TURNS_KEPT ? turns[k / 2] : __ldg(turns + k / 2);
        if (k > 0) x[k] = times(x[k], make_float2(two.x, two.y));
        if (k + 1 < R) x[k + 1] = times(x[k + 1], make_float2(two.z, two.w));
      }
    }
    Transform<R>::run(x);
    if constexpr (LAST && !UNFOLDS) {
      float powers[R];
      emit<R, N / R>(work, at, x, binOf < LEVELS - 2 < 0 ? 0 : LEVELS - 2 > (digits), rest % GROUP, saturated, powers);
      if constexpr (FLOAT_POWERS) {
        // In place of the row's points: all of its lanes have read them.
        float *mine = powersAt(row) + t;
        __syncwarp(((1u << TILE) - 1) << (threadIdx.x % 32 / TILE * TILE));
#pragma unroll
        for (int k = 0; k < R; ++k)
          (R % ROWS_PER_GAP == 0 ? mine + 2 * placeOf(k) : powersAt(row + k) + t)[0] = powers[k];
      }
    } else {
#pragma unroll
      for (int k = 0; k < R; ++k) tile[place(k)] = x[k];
    }
  }
  __syncthreads();
  if constexpr (!LAST) level<LEVEL + 1>(work, at, saturated);
}

constexpr int TOGETHER = TILE < 8 ? TILE : 8;  // spectra a thread filters together
constexpr bool PAIRS = SAMPLE_BYTES == 1 && FOLDED && (PASS == 0 ? N % 2 == 0 : OTHER % 2 == 0 && GROUP % 2 == 0);
constexpr int TAPS_FILLED = (TAPS + CHUNK - 1) / CHUNK * CHUNK;
constexpr int UNIT = PAIRS ? 2 : 1;  // columns a thread filters side by side
static_assert(!DELAYED || PASS == 2 || OPENS_AT == (PAIRS ? 4 : 1), "words are read from multiples of their size");

template <bool INSIDE>
__device__ __forceinline__ void filterTile(const Work &work, const Place &at) {
  constexpr int UNITS = N * GROUP / UNIT;
  float2 *tile = (float2 *)memory;
  const Sample *voltages = (const Sample *)((const int8_t *)work.voltages + at.input * work.pitchBytes);
  const int lastRow = work.spectra + TAPS - 2;
  const int firstSpectrum = at.firstSpectrum + at.sub * TILE;
  const Tap *taps = work.taps;
#if DELAYED
  const int rotation = rotationOf(at.opening);
  voltages = (const Sample *)((const int8_t *)voltages + at.opening - rotation * SAMPLE_SIZE);
  taps += (int64_t)rotation * (TAPS_FILLED / 2 * COLUMNS * TAPS_PER_COLUMN);
#endif
#pragma unroll 1
  for (unsigned i = threadIdx.x; i < UNITS * (TILE / TOGETHER); i += THREADS) {
    const unsigned unit = i % UNITS * UNIT, t = i / UNITS * TOGETHER;
    const unsigned column = PASS == 1 ? unit / GROUP * OTHER + at.group + unit % GROUP : unit;
    const bool inside = PASS != 1 || at.group + unit % GROUP < OTHER;
    Sum re[UNIT][TOGETHER] = {}, im[UNIT][TOGETHER] = {};
    if (inside) {
#if SAMPLE_BYTES == 1
      if constexpr (PAIRS) {
#if DELAYED
        const unsigned int selector = selectorOf(column, rotation * SAMPLE_SIZE);
        const int last = lastRow + (column == 0);  // the first word of one row more
#else
        const unsigned int selector = 0;
        const int last = lastRow;
#endif
        filterColumnPair<TOGETHER, COLUMNS, INSIDE>(voltages, column, firstSpectrum + t, last, taps, selector, re, im);
      } else
#endif
        filterColumn<TOGETHER, COLUMNS, INSIDE>(voltages, column, firstSpectrum + t, lastRow, taps, re[0], im[0]);
    }
#pragma unroll
    for (int c = 0; c < UNIT; ++c) {
      float2 *to = tile + placeOf(unit + c) + t;
      if constexpr (TOGETHER % 2 == 0) {
#pragma unroll
        for (int m = 0; m < TOGETHER; m += 2)
          *(float4 *)(to + m) = make_float4((float)re[c][m], (float)im[c][m], (float)re[c][m + 1], (float)im[c][m + 1]);
      } else {
        to[0] = make_float2((float)re[c][0], (float)im[c][0]);
      }
    }
  }
  __syncthreads();
}

// Separates two real transforms in one: X[k] = (Z[k] + conj Z[N-k]) / 2 - i e^(-pi i k / N) (Z[k] - conj Z[N-k]) / 2.
__device__ __forceinline__ float2 unfolded(float2 z, float2 mirrored, float2 turn) {
  const float2 even = make_float2(0.5f * (z.x + mirrored.x), 0.5f * (z.y - mirrored.y));
  const float2 odd = make_float2(0.5f * (z.y + mirrored.y), -0.5f * (z.x - mirrored.x));
  const float2 turnedOdd = times(odd, turn);
  return make_float2(even.x + turnedOdd.x, even.y + turnedOdd.y);
}

// Bins k and N - k of each spectrum, of the same two points.
__device__ __forceinline__ void unfoldTile(const Work &work, const Place &at, int &saturated) {
  const float2 *tile = (const float2 *)memory;
  const unsigned t = threadIdx.x % TILE;
#pragma unroll 1
  for (unsigned i = threadIdx.x; i < (N / 2 + 1) * TILE; i += THREADS) {
    const unsigned k = i / TILE, mirror = k == 0 ? 0 : N - k;
    const float2 z = tile[placeOf(positionOf<LEVELS - 1>(k)) + t];
    const float2 mirrored = tile[placeOf(positionOf<LEVELS - 1>(mirror)) + t];
    const float2 turn = __ldg(work.longTwiddles + k);
    const float2 one[1] = {unfolded(z, mirrored, turn)};
    float none[1];
    emit<1, 0>(work, at, one, k, 0, saturated, none);
    if (k == mirror || 2 * k == N) continue;
    const float2 other[1] = {unfolded(mirrored, z, make_float2(-turn.x, turn.y))};
    emit<1, 0>(work, at, other, mirror, 0, saturated, none);
  }
  __syncthreads();
}

// Writes rows of SPAN spectra to their channels, up to 16 bytes a thread, whole sectors side by side.
__device__ __forceinline__ void sendRows(const Work &work, const Place &at) {
#if SPAN >= 8
  using Part = uint4;
#elif SPAN == 4
  using Part = uint2;
#else
  using Part = unsigned int;
#endif
  constexpr int VALUES = sizeof(Part) / 2, PARTS = SPAN / VALUES;
  const Part *rows = (const Part *)(memory + ROWS_AT);
  const int64_t channelBytes = work.inputs * work.outPitchBytes;
  const unsigned spectrum = at.firstSpectrum + threadIdx.x % PARTS * VALUES;
  int8_t *out = work.out + at.input * work.outPitchBytes + (int64_t)spectrum * 2;
  // The channel of a thread's part; none where it is not used.
  constexpr unsigned NONE = ~0u;
  auto channelFor = [&](unsigned i) {
    if (i >= N * GROUP * PARTS) return NONE;
    const unsigned row = stagedRow(i / PARTS), g = row % GROUP, channel = channelOf(row / GROUP * OTHER + at.group + g);
    return (PASS == 2 && at.group + g >= OTHER) || (REAL && channel >= CHANNELS) ? NONE : channel;
  };
#if POWERS && !OUTPUT_FLOAT
  // Values past the last spectrum are zero.
  const int64_t cell = cellOf(work.powers, at.firstSpectrum / GROUP_SPECTRA);
  PowerCell *cells = work.powers.sums + (cell * work.inputs + at.input) * CHANNELS;
  const bool isOdd = threadIdx.x & 1;
#pragma unroll
  for (unsigned first = 0; first < N * GROUP * PARTS; first += 2 * THREADS) {
    PowerCell halves[2];
    unsigned channels[2];
#pragma unroll
    for (int n = 0; n < 2; ++n) {
      const unsigned i = first + n * THREADS + threadIdx.x;
      channels[n] = channelFor(i);
      const Part part = channels[n] == NONE ? Part{} : rows[i];
      if (channels[n] != NONE && spectrum < work.spectra) *(Part *)(out + channels[n] * channelBytes) = part;
      halves[n] = powersOf(part);
    }
    const PowerCell sum = exchanged(halves[0], halves[1], isOdd);
    const unsigned channel = isOdd ? channels[1] : channels[0];
    if (channel != NONE) atomicAdd(cells + channel, sum);
  }
#else
  if (spectrum >= work.spectra) return;
#pragma unroll 4
  for (unsigned i = threadIdx.x; i < N * GROUP * PARTS; i += THREADS) {
    const unsigned channel = channelFor(i);
    if (channel != NONE) *(Part *)(out + channel * channelBytes) = rows[i];
  }
#endif
}

// The rows of SPAN spectra at `at.firstSpectrum`, all of a spectrum or GROUP of its columns or rows.
__device__ __forceinline__ void makeRows(const Work &work, Place &at, int &saturated, RowPowers &powers) {
#pragma unroll 1
  for (at.sub = 0; at.sub < SPAN / TILE; ++at.sub) {
    const unsigned first = at.firstSpectrum + at.sub * TILE;
    at.there = isThere(work, at.input, first + threadIdx.x % TILE);
    if constexpr (PASS != 2) {
      // Taps are padded with zeros, for which rows are read too; delayed inputs read one row more.
      if (first + TILE + TAPS_FILLED - TAPS + DELAYED <= work.spectra)
        filterTile<true>(work, at);
      else
        filterTile<false>(work, at);
    }
#if DELAYED && PASS != 1
    at.turn = turnOf<COLUMNS / LAST_RADIX>(work.delays, at.input, first + threadIdx.x % TILE);
#endif
    level<0>(work, at, saturated);
    if constexpr (UNFOLDS) unfoldTile(work, at, saturated);
    if constexpr (FLOAT_POWERS) powers.add();
  }
  if constexpr (STAGED) sendRows(work, at);
  if constexpr (PASS == 2 && LEVELS == 1) __syncthreads();  // else there are barriers between these rows and the next
}

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS) channelise(const __grid_constant__ Work work) {
  int saturated = 0;
  for (unsigned i = threadIdx.x; TURNS_KEPT && i < twiddlesBefore(LEVELS) / 2; i += THREADS)
    memory[TURNS_AT + i] = ((const float4 *)work.twiddles)[i];
  Place at;
  // Neighbouring blocks process neighbouring rows, so that lines of output fill up at once and rows that are read again
  // are in the cache.
#if POWERS && OUTPUT_FLOAT
  at.group = 0;
  const int cells = work.powers.last + 1;
  for (int64_t n = blockIdx.x; n < (int64_t)work.inputs * cells; n += gridDim.x) {
    const int cell = (int)(n % cells), window = cell / STRIPES;
    const int end = cell + STRIPES < cells ? windowStart(work.powers, window + 1, work.spectra) : work.spectra;
    at.input = (unsigned)(n / cells);
    at.firstSpectrum = windowStart(work.powers, window, work.spectra) + cell % STRIPES * SPAN;
#if DELAYED
    at.opening = openingOf(work.delays, at.input);
#endif
    RowPowers powers;
#pragma unroll 1
    for (; at.firstSpectrum < end; at.firstSpectrum += STRIPES * SPAN) makeRows(work, at, saturated, powers);
    powers.store((float2 *)work.powers.sums + ((int64_t)cell * work.inputs + at.input) * CHANNELS);
  }
#else
  constexpr int GROUPS = PASS == 0 ? 1 : (OTHER + GROUP - 1) / GROUP;
  const int spans = (work.spectra + SPAN - 1) / SPAN;
  const int64_t all = (int64_t)work.items * GROUPS;
  RowPowers none;
  for (int64_t n = blockIdx.x; n < all; n += gridDim.x) {
    const int slot = (int)(n / GROUPS), item = work.firstItem + slot;
    at.group = (int)(n % GROUPS) * GROUP;
    at.input = item / spans, at.firstSpectrum = item % spans * SPAN;
    at.scratch = work.scratch + (int64_t)slot * COLUMNS * SPAN;
#if DELAYED
    at.opening = openingOf(work.delays, at.input);
#endif
    makeRows(work, at, saturated, none);
  }
#endif
  if (STAGED) addSaturated(saturated, work.saturated);
}

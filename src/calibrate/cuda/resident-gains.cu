// What comes before and after StEFCal's iterations where gains stay on the card, in float64: the steps of solve.ts.
#include "resident.cuh"

// Stations as bits, 16 a word, of a warp's solve.
struct Sets {
  uint16_t stays[TILES];
  uint16_t reached[2][TILES];  // by a way of an even number of pairs, and of an odd one
  uint16_t asked[2][TILES];    // whose pairs were followed
  uint16_t seen[TILES], main[TILES];
};

// All that pairs join to a station that stays, into `reached` (groups.ts); bits : [s][tile]. A warp.
__device__ __forceinline__ void reachFrom(int seed, const Bits *bits, Sets &sets) {
  const int lane = threadIdx.x % 32;
  for (int t = lane; t < TILES; t += 32)
    for (int way = 0; way < 2; ++way)
      sets.asked[way][t] = 0, sets.reached[way][t] = way == 0 && t == seed / TILE ? 1 << seed % TILE : 0;
  __syncwarp();
  for (bool any = true; any;) {
    any = false;
    for (int n = 0; n < 2 * TILES; ++n) {
      const int way = n / TILES, tile = n % TILES;
      for (;;) {
        const int next = __ffs(sets.reached[way][tile] & ~sets.asked[way][tile]) - 1;
        if (next < 0) break;
        any = true;
        __syncwarp();
        if (lane == 0) sets.asked[way][tile] |= 1 << next;
        bool isAll = true;
        for (int t = lane; t < TILES; t += 32) {
          const Bits b = bits[((int64_t)tile * TILE + next) * TILES + t];
          sets.reached[1 - way][t] |= (b.modelled | b.own) & sets.stays[t];
          isAll &= sets.reached[0][t] == sets.stays[t] && sets.reached[1][t] == sets.stays[t];
        }
        __syncwarp();
        // Where most pairs are there all are reached after a few stations.
        if (__all_sync(0xFFFFFFFFu, isAll)) return;
      }
    }
  }
}

// The largest group that determines itself, else the largest, into `main`; the first of equals. How many stations it has, less
// than 0 where it does not determine itself. A warp.
__device__ __forceinline__ int mainGroup(const Bits *bits, Sets &sets) {
  const int lane = threadIdx.x % 32;
  int most = 0;
  bool isHeld = false;
  for (int t = lane; t < TILES; t += 32) sets.seen[t] = 0;
  __syncwarp();
  for (int tile = 0; tile < TILES; ++tile)
    for (;;) {
      const int next = __ffs(sets.stays[tile] & ~sets.seen[tile]) - 1;
      if (next < 0) break;
      __syncwarp();
      reachFrom(tile * TILE + next, bits, sets);
      int count = 0;
      bool isOdd = false;
      for (int t = lane; t < TILES; t += 32) {
        const uint16_t all = sets.reached[0][t] | sets.reached[1][t];
        count += __popc(all), isOdd |= (sets.reached[0][t] & sets.reached[1][t]) != 0;
        sets.seen[t] |= all;
      }
      count = (int)__reduce_add_sync(0xFFFFFFFFu, count), isOdd = __any_sync(0xFFFFFFFFu, isOdd);
      if (isOdd == isHeld ? count > most : isOdd) {
        most = count, isHeld = isOdd;
        for (int t = lane; t < TILES; t += 32) sets.main[t] = sets.reached[0][t] | sets.reached[1][t];
      }
      __syncwarp();
    }
  return isHeld ? most : -most;
}

// Takes out stations that nothing determines, one after the other as solve.ts does, until those that stay determine each
// other; then all that no pair leads to from the main group. reasons : [k][s] and good : [k], how many stay; of all solves. A warp for each solve, four to a block.
extern "C" __global__ void __launch_bounds__(128)
    dropStations(const Bits *bits, const uint8_t *flags, const unsigned long long *faults, uint8_t *reasons, int *good,
                 int firstSolve, int solves) {
  constexpr int AHEAD = 4;  // rows read at a time
  __shared__ Sets all[4];
  const int lane = threadIdx.x % 32, k = blockIdx.x * 4 + threadIdx.x / 32, p = (firstSolve + k) % POLARISATIONS;
  if (k >= solves) return;
  Sets &sets = all[threadIdx.x / 32];
  uint16_t *stays = sets.stays;
  const Bits *own = bits + (int64_t)k * STATIONS * TILES;
  uint8_t *why = reasons + (int64_t)(firstSolve + k) * STATIONS;
  for (int t = lane; t < TILES; t += 32)
    stays[t] = (uint16_t)(STATIONS - t * TILE >= TILE ? 0xFFFF : (1 << STATIONS % TILE) - 1);
  for (int s = lane; s < STATIONS; s += 32) why[s] = KEPT;
  __syncwarp();
  int left = STATIONS;
  for (;;) {
    for (bool changed = true; changed;) {
      changed = false;
      for (int i = 0; i < STATIONS;) {
        uint8_t reason[AHEAD];
#pragma unroll
        for (int n = 0; n < AHEAD; ++n) {
          const int row = min(i + n, STATIONS - 1);
          bool used = false, modelled = false, signals = false;
          for (int t = lane; t < TILES; t += 32) {
            const Bits b = own[(int64_t)row * TILES + t];
            used |= (b.used & stays[t]) != 0, modelled |= (b.modelled & stays[t]) != 0,
                signals |= (b.signals & stays[t]) != 0;
          }
          const bool isOut = !(stays[row / TILE] >> row % TILE & 1);
          reason[n] = isOut                                ? KEPT
                      : flags[row * POLARISATIONS + p]     ? FLAGGED
                      : !__any_sync(0xFFFFFFFFu, used)     ? NO_BASELINES
                      : !__any_sync(0xFFFFFFFFu, modelled) ? NO_MODEL
                      : !__any_sync(0xFFFFFFFFu, signals)  ? NO_SIGNAL
                                                           : KEPT;
        }
        // The first to go changes what holds for those after it: they are looked at again.
        int gone = -1;
        uint8_t itsReason = KEPT;
#pragma unroll
        for (int n = AHEAD - 1; n >= 0; --n)
          if (i + n < STATIONS && reason[n] != KEPT) gone = i + n, itsReason = reason[n];
        if (gone >= 0) {
          __syncwarp();
          if (lane == 0) why[gone] = itsReason, stays[gone / TILE] &= ~(1 << gone % TILE);
          __syncwarp();
          --left;
          changed = true;
        }
        i = gone >= 0 ? gone + 1 : i + AHEAD;
      }
    }
    const int kept = mainGroup(own, sets);
    if (abs(kept) < left) {
      for (int s = lane; s < STATIONS; s += 32)
        if (stays[s / TILE] >> s % TILE & 1 & ~(sets.main[s / TILE] >> s % TILE)) why[s] = APART;
      __syncwarp();
      for (int t = lane; t < TILES; t += 32) stays[t] = sets.main[t];
      __syncwarp();
      left = abs(kept);
      continue;
    }
    if (kept < 0 && left >= 3) {
      for (int s = lane; s < STATIONS; s += 32)
        if (stays[s / TILE] >> s % TILE & 1) why[s] = OPEN;
      left = 0;
    }
    break;
  }
  if (lane == 0) good[firstSolve + k] = faults[firstSolve + k] == NO_FAULT ? left : 0;
}

__device__ __forceinline__ double sumBlock(double value, double *scratch) {
  __syncthreads();
  scratch[threadIdx.x] = value;
  for (int half = THREADS / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) scratch[threadIdx.x] += scratch[threadIdx.x + half];
  }
  __syncthreads();
  return scratch[0];
}
__device__ __forceinline__ double mostInBlock(double value, double *scratch) {
  __syncthreads();
  scratch[threadIdx.x] = value;
  for (int half = THREADS / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) scratch[threadIdx.x] = fmax(scratch[threadIdx.x], scratch[threadIdx.x + half]);
  }
  __syncthreads();
  return scratch[0];
}

// The weights of stations left out become 0; what the first guess and the scales are made of.
// parts : [k][CHUNKS][sum w|R||M|, sum w|M|^2, most w|M|^2]. Grid: (CHUNKS, solves).
extern "C" __global__ void __launch_bounds__(THREADS)
    weighPairs(const double2 *data, const double2 *model, double *weights, const uint8_t *reasons, double *parts,
               int firstSolve) {
  __shared__ double scratch[THREADS];
  const int k = blockIdx.y;
  const uint8_t *why = reasons + (int64_t)(firstSolve + k) * STATIONS;
  double product = 0, power = 0, most = 0;
  for (int64_t b = (int64_t)blockIdx.x * THREADS + threadIdx.x; b < BASELINES; b += CHUNKS * THREADS) {
    const int64_t e = k * BASELINES + b;
    const double w = weights[e];
    if (w == 0) continue;
    int64_t i, j;
    stationsOf(b, i, j);
    if (why[i] != KEPT || why[j] != KEPT) {
      weights[e] = 0;
      continue;
    }
    const double2 r = data[e], m = model[e];
    const double square = m.x * m.x + m.y * m.y;
    product += w * sqrt((r.x * r.x + r.y * r.y) * square);
    power += w * square;
    most = fmax(most, w * square);
  }
  double *to = parts + ((int64_t)k * CHUNKS + blockIdx.x) * 3;
  product = sumBlock(product, scratch), power = sumBlock(power, scratch), most = mostInBlock(most, scratch);
  if (threadIdx.x == 0) to[0] = product, to[1] = power, to[2] = most;
}

// scales : [k][2] as makeMatrices takes them; sizes : [k] of all solves, what the gains are divided by while they iterate;
// first : [k][s], 1 where a station stays. One block for each solve.
extern "C" __global__ void __launch_bounds__(THREADS)
    firstGuess(const double *parts, const uint8_t *reasons, const int *good, double *scales, double *sizes,
               float2 *first, int firstSolve) {
  const int k = blockIdx.x;
  double product = 0, power = 0, most = 0;
  for (int n = 0; n < CHUNKS; ++n) {
    const double *part = parts + ((int64_t)k * CHUNKS + n) * 3;
    product += part[0], power += part[1], most = fmax(most, part[2]);
  }
  const bool isSolvable = good[firstSolve + k] >= 3;
  const double square = product / power;
  if (threadIdx.x == 0) {
    sizes[firstSolve + k] = isSolvable ? sqrt(square) : 0;
    scales[2 * k] = isSolvable ? 1 / (square * most) : 0, scales[2 * k + 1] = isSolvable ? 1 / most : 0;
  }
  for (int s = threadIdx.x; s < STATIONS; s += THREADS)
    first[(int64_t)k * STATIONS + s] =
        make_float2(isSolvable && reasons[(int64_t)(firstSolve + k) * STATIONS + s] == KEPT ? 1.0f : 0.0f, 0.0f);
}

// parts : [k of all solves][CHUNKS][sum w|R - g M g*|^2, sum w|R|^2]. gains : [k][s], divided by sizes. Grid: (CHUNKS, solves).
extern "C" __global__ void __launch_bounds__(THREADS)
    missPairs(const double2 *data, const double2 *model, const double *weights, const float2 *gains,
              const double *sizes, double *parts, int firstSolve) {
  __shared__ double scratch[THREADS];
  const int k = blockIdx.y, solve = firstSolve + k;
  const double square = sizes[solve] * sizes[solve];
  double missed = 0, total = 0;
  for (int64_t b = (int64_t)blockIdx.x * THREADS + threadIdx.x; b < BASELINES; b += CHUNKS * THREADS) {
    const int64_t e = k * BASELINES + b;
    const double w = weights[e];
    if (w == 0) continue;
    int64_t i, j;
    stationsOf(b, i, j);
    const float2 gi = gains[(int64_t)solve * STATIONS + i], gj = gains[(int64_t)solve * STATIONS + j];
    const double re = square * ((double)gi.x * gj.x + (double)gi.y * gj.y);
    const double im = square * ((double)gi.y * gj.x - (double)gi.x * gj.y);
    const double2 r = data[e], m = model[e];
    const double x = r.x - (re * m.x - im * m.y), y = r.y - (re * m.y + im * m.x);
    missed += w * (x * x + y * y), total += w * (r.x * r.x + r.y * r.y);
  }
  double *to = parts + ((int64_t)solve * CHUNKS + blockIdx.x) * 2;
  missed = sumBlock(missed, scratch), total = sumBlock(total, scratch);
  if (threadIdx.x == 0) to[0] = missed, to[1] = total;
}

// The first station that every solvable solve keeps, from `wanted` on where one is named and no further; -1: there is none.
// One block.
extern "C" __global__ void __launch_bounds__(THREADS)
    chooseReference(const uint8_t *reasons, const int *good, int *reference, int solves, int wanted) {
  __shared__ int least;
  if (threadIdx.x == 0) least = STATIONS;
  __syncthreads();
  for (int s = threadIdx.x; s < STATIONS; s += THREADS) {
    if (wanted >= 0 && s != wanted) continue;
    bool everywhere = true;
    for (int k = 0; k < solves; ++k) everywhere &= good[k] < 3 || reasons[(int64_t)k * STATIONS + s] == KEPT;
    if (everywhere) atomicMin(&least, s);
  }
  __syncthreads();
  if (threadIdx.x == 0) *reference = least < STATIONS ? least : -1;
}

struct Handed {
  const float2 *gains, *before;   // [k][s], divided by sizes
  const double *sizes;            // [k]
  const double *missed;           // [k][CHUNKS][2]
  const uint8_t *reasons;         // [k][s]
  const int *good, *reference;    // [k]; one
  double2 *turned, *factors;      // [c][a]
  uint8_t *solved;                // [c][a]
  double *lastChange, *residual;  // [k]
};

// The gains as they are, turned so that the reference's is real and positive, and 1 / gain; 0 where nothing is known.
// One block for each of all solves.
extern "C" __global__ void __launch_bounds__(THREADS) handGains(const __grid_constant__ Handed to) {
  __shared__ double scratch[THREADS];
  const int k = blockIdx.x, c = k / POLARISATIONS, p = k % POLARISATIONS;
  const float2 *gains = to.gains + (int64_t)k * STATIONS, *before = to.before + (int64_t)k * STATIONS;
  const int reference = *to.reference;
  const float2 turn = reference < 0 ? make_float2(0, 0) : gains[reference];
  const double size = sqrt((double)turn.x * turn.x + (double)turn.y * turn.y), times = to.sizes[k];
  const bool isSolved = to.good[k] >= 3 && size > 0 && isfinite(size);
  double changed = 0, whole = 0;
  for (int s = threadIdx.x; s < STATIONS; s += THREADS) {
    const float2 g = gains[s], b = before[s];
    changed += ((double)g.x - b.x) * ((double)g.x - b.x) + ((double)g.y - b.y) * ((double)g.y - b.y);
    whole += (double)g.x * g.x + (double)g.y * g.y;
    const bool isKnown = isSolved && to.reasons[(int64_t)k * STATIONS + s] == KEPT;
    const double x = times / size * ((double)g.x * turn.x + (double)g.y * turn.y);
    const double y = s == reference ? 0 : times / size * ((double)g.y * turn.x - (double)g.x * turn.y);
    const double power = x * x + y * y;
    const int64_t a = ((int64_t)c * STATIONS + s) * POLARISATIONS + p;
    to.turned[a] = isKnown ? make_double2(x, y) : make_double2(0, 0);
    to.factors[a] = isKnown && power > 0 ? make_double2(x / power, -y / power) : make_double2(0, 0);
    to.solved[a] = isKnown;
  }
  changed = sumBlock(changed, scratch), whole = sumBlock(whole, scratch);
  if (threadIdx.x > 0) return;
  to.lastChange[k] = sqrt(changed / whole);
  double missed = 0, total = 0;
  for (int n = 0; n < CHUNKS; ++n)
    missed += to.missed[2 * ((int64_t)k * CHUNKS + n)], total += to.missed[2 * ((int64_t)k * CHUNKS + n) + 1];
  to.residual[k] = sqrt(missed / total);
}

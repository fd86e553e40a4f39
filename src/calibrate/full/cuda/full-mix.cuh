// The start of the next step of a solve, and whether it is done (full/accelerate.ts).
//
//   gains, next : [k][8 stations] float64. A solve that is done keeps `gains`, which its sums are of; `next` is its result
//   history     : [k][slot of MIXED_STEPS][moved, rest][8 stations]; lasts : [k][2][8 stations], the last step's result and rest
//
// Set by the plan: THREADS (of a block), SWITCH_BELOW, FAR, and the numbers of full/accelerate.ts and full/common.ts.
#pragma once
#include "integers.cuh"

constexpr int WARPS = THREADS / 32;
// Why a solve is done, or RUNNING. PAUSED: the correction of its steps is to be fitted, then the step is repeated.
constexpr int RUNNING = 0, LAST = 1, SETTLED = 2, PAUSED = 3;

struct MixState {
  double leastChange;
  double gram[MIXED_STEPS][MIXED_STEPS];
  // The correction of steps in common (full/common.ts): times right; the size of the last; at which iteration it was
  // fitted, 0 for never; how many of FIT_BELOW are passed; whether the change was below LATE_BELOW then.
  double amends[8][8];
  double amended;
  int count, newest, hasLast, fitted, fits, late;
};

struct MixWork {
  double *gains, *next, *history, *lasts;
  MixState *states;                // [k]
  int *done, *exact, *iterations;  // [k], each solve's own count
  double *changes;
  const double *sums, *scales, *units;  // full-common.cu
  double tolerance;                     // below 0: exactly `most` iterations, every even one averaged
  int stations, most, form, unused;
};

// Sums COUNT numbers over the block; every thread has the totals.
template <int COUNT>
__device__ __forceinline__ void sumBlock(double (&v)[COUNT], double (*parts)[WARPS]) {
#pragma unroll
  for (int e = 0; e < COUNT; ++e)
#pragma unroll
    for (int lanes = 16; lanes >= 1; lanes /= 2) v[e] += __shfl_xor_sync(0xFFFFFFFFu, v[e], lanes);
  __syncthreads();
  if (threadIdx.x % 32 == 0) {
#pragma unroll
    for (int e = 0; e < COUNT; ++e) parts[e][threadIdx.x / 32] = v[e];
  }
  __syncthreads();
#pragma unroll
  for (int e = 0; e < COUNT; ++e) {
    v[e] = 0;
    for (int w = 0; w < WARPS; ++w) v[e] += parts[e][w];
  }
}

// Newest first.
__device__ __forceinline__ int slotOf(const MixState &state, int age) {
  return (state.newest + MIXED_STEPS - age) % MIXED_STEPS;
}

// Factors by slot, of the least rest, by Cholesky; 0 for a dependent difference.
__device__ void solveMix(MixState &state, const double (&products)[2 * MIXED_STEPS], double *factors) {
  double lower[MIXED_STEPS][MIXED_STEPS], byAge[MIXED_STEPS];
  for (int age = 0; age < state.count; ++age) {
    const int slot = slotOf(state, age);
    state.gram[state.newest][slot] = state.gram[slot][state.newest] = products[slot];
  }
  for (int k = 0; k < state.count; ++k) {
    for (int n = 0; n <= k; ++n) {
      const double whole = state.gram[slotOf(state, k)][slotOf(state, n)];
      double sum = whole;
      for (int m = 0; m < n; ++m) sum -= lower[k][m] * lower[n][m];
      if (n < k)
        lower[k][n] = lower[n][n] > 0 ? sum / lower[n][n] : 0;
      else
        lower[k][k] = sum > LEAST_OWN * whole ? sqrt(sum) : 0;
    }
    double sum = products[MIXED_STEPS + slotOf(state, k)];
    for (int m = 0; m < k; ++m) sum -= lower[k][m] * byAge[m];
    byAge[k] = lower[k][k] > 0 ? sum / lower[k][k] : 0;
  }
  for (int k = 0; k < MIXED_STEPS; ++k) factors[k] = 0;
  for (int k = state.count - 1; k >= 0; --k) {
    for (int m = k + 1; m < state.count; ++m) byAge[k] -= lower[m][k] * byAge[m];
    byAge[k] = lower[k][k] > 0 ? byAge[k] / lower[k][k] : 0;
    factors[slotOf(state, k)] = byAge[k];
  }
}

// sum += a b or a^H b, 2 x 2 complex, rows first
template <bool TURNED>
__device__ __forceinline__ void addProduct(double (&sum)[8], const double *a, const double *b, double scale) {
#pragma unroll
  for (int r = 0; r < 2; ++r)
#pragma unroll
    for (int c = 0; c < 2; ++c)
#pragma unroll
      for (int k = 0; k < 2; ++k) {
        const int at = TURNED ? 4 * k + 2 * r : 4 * r + 2 * k;
        const double p = scale * a[at], q = TURNED ? -scale * a[at + 1] : scale * a[at + 1];
        const double s = b[4 * k + 2 * c], t = b[4 * k + 2 * c + 1];
        sum[4 * r + 2 * c] += p * s - q * t, sum[4 * r + 2 * c + 1] += p * t + q * s;
      }
}

// next + G u of every station; the size of u.
__device__ double amend(const MixWork &work, int64_t k, const MixState &state, double (*parts)[WARPS]) {
  const double unit = work.units[k], ofData = work.scales[2 * k], ofModel = work.scales[2 * k + 1];
  const double perData = unit * unit / (ofData * ofModel), perModel = unit * unit * unit * unit / (ofModel * ofModel);
  double right[8] = {}, u[8], size = 0;
  for (int s = threadIdx.x; s < work.stations; s += THREADS) {
    // G^H N - H D
    const double *g = work.gains + (k * work.stations + s) * 8, *n = work.sums + (k * work.stations + s) * 12;
    const double d[8] = {n[8], 0, n[10], n[11], n[10], -n[11], n[9], 0};
    double h[8] = {};
    addProduct<true>(h, g, g, 1);
    addProduct<true>(right, g, n, perData);
    addProduct<false>(right, h, d, -perModel);
  }
  sumBlock(right, parts);
#pragma unroll
  for (int m = 0; m < 8; ++m) {
    u[m] = 0;
    for (int n = 0; n < 8; ++n) u[m] += state.amends[m][n] * right[n];
    size += u[m] * u[m];
  }
  size = sqrt(size);
  const double shorter = size > LONGEST_AMENDS ? LONGEST_AMENDS / size : 1;
  for (int s = threadIdx.x; s < work.stations; s += THREADS) {
    double more[8] = {};
    addProduct<false>(more, work.gains + (k * work.stations + s) * 8, u, shorter);
    for (int n = 0; n < 8; ++n) work.next[(k * work.stations + s) * 8 + n] += more[n];
  }
  __syncthreads();
  return size;
}

// The length of a step, over the size of its result.
__device__ __forceinline__ double changeOf(const double *gains, double *next, int length, bool average,
                                           double (*parts)[WARPS]) {
  double moves[2] = {0, 0};
  for (int n = threadIdx.x; n < length; n += THREADS) {
    const double was = gains[n];
    double now = next[n];
    if (average) next[n] = now = 0.5 * (now + was);
    moves[0] += (now - was) * (now - was), moves[1] += now * now;
  }
  sumBlock(moves, parts);
  return sqrt(moves[0] / moves[1]);
}

// From the gains and the result of a step to the next gains of solve k, by all threads of a block; returns why it is
// done, or RUNNING.
__device__ int mixSolve(const MixWork &work, int64_t k) {
  const int length = 8 * work.stations;
  double *gains = work.gains + k * length, *next = work.next + k * length;
  double *history = work.history + k * MIXED_STEPS * 2 * length, *lasts = work.lasts + k * 2 * length;
  __shared__ double parts[2 * MIXED_STEPS][WARPS];
  __shared__ MixState state;
  __shared__ double factors[MIXED_STEPS];
  const int made = work.iterations[k] + 1;
  const bool fixed = work.tolerance < 0, even = made % 2 == 0, last = made >= work.most;
  __syncthreads();
  if (threadIdx.x == 0) state = work.states[k];
  double change = changeOf(gains, next, length, fixed && even, parts);
  if (!fixed && work.form != 0) {
    const bool far = state.amended > FIT_AGAIN_ABOVE,
               fitting = state.fits < 2 && change < (state.fits == 0 ? FIT_BELOW_0 : FIT_BELOW_1);
    const bool again = state.fitted > 0 && !state.late && made >= state.fitted + FIT_AGAIN_AFTER;
    if (state.fitted != made && (far || fitting || again)) {
      if (threadIdx.x == 0) work.done[k] = PAUSED;
      return PAUSED;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
      if (state.fits == 0 && change < FIT_BELOW_0) state.fits = 1;
      if (state.fits == 1 && change < FIT_BELOW_1) state.fits = 2;
      if (state.fitted == made) state.late = change < LATE_BELOW;
      if (far) state.count = state.hasLast = 0, state.leastChange = FAR;
    }
    __syncthreads();
    if (state.fitted > 0) {
      const double size = amend(work, k, state, parts);
      if (threadIdx.x == 0) state.amended = size;
      change = changeOf(gains, next, length, false, parts);
    }
  }
  const bool settled = !fixed && change < work.tolerance;
  if (threadIdx.x == 0) {
    work.iterations[k] = made;
    work.changes[k] = change;
    if (change < SWITCH_BELOW) work.exact[k] = 1;
    if (settled || last) work.done[k] = settled ? SETTLED : LAST;
    work.states[k] = state;
  }
  if (settled || last) return settled ? SETTLED : LAST;
  if (fixed) {
    for (int n = threadIdx.x; n < length; n += THREADS) gains[n] = next[n];
    return RUNNING;
  }
  if (threadIdx.x == 0) {
    if (change > FORGET_ABOVE * state.leastChange) state.count = state.hasLast = 0, state.leastChange = FAR;
    if (change < MIX_BELOW) state.leastChange = fmin(state.leastChange, change);
  }
  __syncthreads();
  if (!(change < MIX_BELOW)) {
    for (int n = threadIdx.x; n < length; n += THREADS) gains[n] = even ? 0.5 * (next[n] + gains[n]) : next[n];
    if (threadIdx.x == 0) work.states[k] = state;
    return RUNNING;
  }
  const bool first = !state.hasLast;
  __syncthreads();
  if (threadIdx.x == 0) {
    if (first) {
      state.hasLast = 1;
    } else {
      state.newest = (state.newest + 1) % MIXED_STEPS;
      state.count = min(state.count + 1, MIXED_STEPS);
    }
  }
  __syncthreads();
  const int newest = state.newest, count = state.count;
  double products[2 * MIXED_STEPS] = {};
  for (int n = threadIdx.x; n < length; n += THREADS) {
    const double now = next[n], rest = now - gains[n];
    if (!first) {
      const double moved = now - lasts[n], own = rest - lasts[length + n];
      history[2 * newest * length + n] = moved, history[(2 * newest + 1) * length + n] = own;
#pragma unroll
      for (int slot = 0; slot < MIXED_STEPS; ++slot) {
        const bool kept = (newest + MIXED_STEPS - slot) % MIXED_STEPS < count;
        const double other = slot == newest ? own : kept ? history[(2 * slot + 1) * length + n] : 0;
        products[slot] += other * own, products[MIXED_STEPS + slot] += other * rest;
      }
    }
    lasts[n] = now, lasts[length + n] = rest;
  }
  sumBlock(products, parts);
  if (threadIdx.x == 0) {
    solveMix(state, products, factors);
    work.states[k] = state;
  }
  __syncthreads();
  for (int n = threadIdx.x; n < length; n += THREADS) {
    double to = next[n];
#pragma unroll
    for (int slot = 0; slot < MIXED_STEPS; ++slot)
      if (factors[slot] != 0) to -= factors[slot] * history[2 * slot * length + n];
    gains[n] = to;
  }
  return RUNNING;
}

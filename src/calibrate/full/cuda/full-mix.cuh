// Where the next step of a solve begins, and whether it is done (full/accelerate.ts).
//
//   gains, next : [k][8 stations] float64. A solve that is done keeps `gains`, which its sums are of; `next` is its result
//   history     : [k][slot of MIXED_STEPS][moved, rest][8 stations]; lasts : [k][2][8 stations], the last step's result and rest
//
// Set by the plan: THREADS (of a block), MIXED_STEPS, MIX_BELOW, FORGET_ABOVE, LEAST_OWN, FAR, SWITCH_BELOW.
#pragma once
#include "integers.cuh"

constexpr int WARPS = THREADS / 32;
// Why a solve is done; RUNNING is none of it.
constexpr int RUNNING = 0, LAST = 1, SETTLED = 2;

struct MixState {
  double leastChange;
  double gram[MIXED_STEPS][MIXED_STEPS];
  int count, newest, hasLast, unused;
};

struct MixWork {
  double *gains, *next, *history, *lasts;
  MixState *states;                // [k]
  int *done, *exact, *iterations;  // [k], each solve's own count
  double *changes;
  double tolerance;  // below 0: exactly `most` iterations, every even one averaged
  int stations, most;
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

// Youngest first.
__device__ __forceinline__ int slotOf(const MixState &state, int age) {
  return (state.newest + MIXED_STEPS - age) % MIXED_STEPS;
}

// Factors by slot, of the least rest, by Cholesky; 0 for what says nothing of its own.
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

// From the gains and the result of a step to the next gains of solve k, by all threads of a block; why it is done, if it is.
__device__ int mixSolve(const MixWork &work, int64_t k) {
  const int length = 8 * work.stations;
  double *gains = work.gains + k * length, *next = work.next + k * length;
  double *history = work.history + k * MIXED_STEPS * 2 * length, *lasts = work.lasts + k * 2 * length;
  __shared__ double parts[2 * MIXED_STEPS][WARPS];
  __shared__ MixState state;
  __shared__ double factors[MIXED_STEPS];
  const int made = work.iterations[k] + 1;
  const bool fixed = work.tolerance < 0, even = made % 2 == 0, last = made >= work.most;
  double moves[2] = {0, 0};
  for (int n = threadIdx.x; n < length; n += THREADS) {
    const double was = gains[n];
    double now = next[n];
    if (fixed && even) next[n] = now = 0.5 * (now + was);
    moves[0] += (now - was) * (now - was), moves[1] += now * now;
  }
  sumBlock(moves, parts);
  const double change = sqrt(moves[0] / moves[1]);
  const bool settled = !fixed && change < work.tolerance;
  if (threadIdx.x == 0) {
    work.iterations[k] = made;
    work.changes[k] = change;
    if (change < SWITCH_BELOW) work.exact[k] = 1;
    if (settled || last) work.done[k] = settled ? SETTLED : LAST;
  }
  if (settled || last) return settled ? SETTLED : LAST;
  if (fixed) {
    for (int n = threadIdx.x; n < length; n += THREADS) gains[n] = next[n];
    return RUNNING;
  }
  if (threadIdx.x == 0) {
    state = work.states[k];
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

// After each step of full polarisation from memory: one block a solve, for all of it is a few numbers a station.
#include "full-mix.cuh"

// Grid: solves.
extern "C" __global__ void __launch_bounds__(THREADS) fullMix(const __grid_constant__ MixWork work) {
  if (work.done[blockIdx.x] == RUNNING) mixSolve(work, blockIdx.x);
}

// Solves whose stations turn together: G (1 + u); what was learnt is forgotten, and they go on.
// turns : [k][8]; turned : [k], 1 for those. Grid: solves.
extern "C" __global__ void __launch_bounds__(THREADS)
    fullTurn(double *gains, const double *turns, const int *turned, MixState *states, int *done, int stations) {
  const int64_t k = blockIdx.x;
  if (!turned[k]) return;
  const double *u = turns + 8 * k;
  for (int row = threadIdx.x; row < 2 * stations; row += THREADS) {
    double *g = gains + (k * 2 * stations + row) * 4;
    const double a = g[0], b = g[1], c = g[2], d = g[3];
    g[0] = a * u[0] - b * u[1] + c * u[4] - d * u[5], g[1] = a * u[1] + b * u[0] + c * u[5] + d * u[4];
    g[2] = a * u[2] - b * u[3] + c * u[6] - d * u[7], g[3] = a * u[3] + b * u[2] + c * u[7] + d * u[6];
  }
  if (threadIdx.x == 0) {
    states[k].count = states[k].hasLast = 0, states[k].leastChange = FAR;
    done[k] = RUNNING;
  }
}

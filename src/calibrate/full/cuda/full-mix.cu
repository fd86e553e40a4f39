// After each step of full polarisation from memory: one block a solve, since there are only a few numbers a station.
#include "full-mix.cuh"

// Grid: solves.
extern "C" __global__ void __launch_bounds__(THREADS) fullMix(const __grid_constant__ MixWork work) {
  if (work.done[blockIdx.x] == RUNNING) mixSolve(work, blockIdx.x);
}

// Solves that continue: with their correction fitted anew, and for those with a common step G (1 + u) as well. turns :
// [k][8]; amends : [k][64]; how : [k], 0 not at all, 1 the former, 2 both. Grid: solves.
extern "C" __global__ void __launch_bounds__(THREADS)
    fullResume(double *gains, const double *turns, const double *amends, const int *how, const int *iterations,
               MixState *states, int *done, int stations, int form) {
  const int64_t k = blockIdx.x;
  if (how[k] == 0) return;
  const double *u = turns + 8 * k;
  for (int row = threadIdx.x; how[k] == 2 && row < 2 * stations; row += THREADS) {
    double *g = gains + (k * 2 * stations + row) * 4;
    const double a = g[0], b = g[1], c = g[2], d = g[3];
    g[0] = a * u[0] - b * u[1] + c * u[4] - d * u[5], g[1] = a * u[1] + b * u[0] + c * u[5] + d * u[4];
    g[2] = a * u[2] - b * u[3] + c * u[6] - d * u[7], g[3] = a * u[3] + b * u[2] + c * u[7] + d * u[6];
  }
  MixState &state = states[k];
  for (int n = threadIdx.x; n < 64; n += THREADS) state.amends[n / 8][n % 8] = amends[64 * k + n];
  if (threadIdx.x > 0) return;
  // Fitted for the iteration that is repeated, or was the last.
  if (form != 0) state.fitted = how[k] == 1 ? iterations[k] + 1 : iterations[k];
  if (how[k] == 2) state.count = state.hasLast = 0, state.leastChange = FAR;
  done[k] = RUNNING;
}

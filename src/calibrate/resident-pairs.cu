// R, M and their weights, made on the card of visibilities and sources, in float64: fillSolve of solve.ts and model.ts.
#include "resident.cuh"

// e^(+2 pi i f r.s / c) of each station. stationsM : [s][3]; directions : [q][3]; wavesPerM : [c], f / c;
// phasors : [c in group][q][s]. Grid-stride.
extern "C" __global__ void __launch_bounds__(THREADS)
    fillPhasors(const double *stationsM, const double *directions, const double *wavesPerM, double2 *phasors,
                int firstChannel, int channels, int sources) {
  const int64_t stride = (int64_t)gridDim.x * THREADS;
  for (int64_t e = (int64_t)blockIdx.x * THREADS + threadIdx.x; e < (int64_t)channels * sources * STATIONS; e += stride) {
    const int s = e % STATIONS, q = e / STATIONS % sources, c = e / STATIONS / sources;
    const double *r = stationsM + 3 * s, *d = directions + 3 * q;
    const double waves = wavesPerM[firstChannel + c] * (r[0] * d[0] + r[1] * d[1] + r[2] * d[2]);
    sincospi(2 * waves, &phasors[e].y, &phasors[e].x);
  }
}

struct Pairs {
  const double2 *visibilities;  // [c][b][pi][pj], sums over samples, all channels
  const double *counts;         // [c][b], all channels
  const uint8_t *usedBaselines;  // [b]
  const uint8_t *flags;         // [a]
  const double2 *phasors;       // [c in group][q][s]
  const double *fluxes;         // [c][q][p], all channels
  double2 *data, *model;        // [k][b]
  double *weights;              // [k][b]
  Bits *bits;                   // [k][s][tile]
  unsigned long long *faults;   // [k], of all solves
  int firstChannel, sources;
};

// R = V / count, M = sum of the sources, w = count; all 0 where a pair takes no part. A block makes 16 x 16 pairs.
// Grid: (TILES (TILES + 1) / 2, channels of the group).
extern "C" __global__ void __launch_bounds__(THREADS) fillPairs(const __grid_constant__ Pairs to) {
  __shared__ double2 rows[TILE][TILE], columns[TILE][TILE];  // [q][station]
  __shared__ unsigned rowBits[POLARISATIONS][3][TILE], columnBits[POLARISATIONS][3][TILE];
  int64_t ti, tj;
  stationsOf(blockIdx.x, ti, tj);
  const int y = threadIdx.x / TILE, x = threadIdx.x % TILE;
  const int i = (int)ti * TILE + y, j = (int)tj * TILE + x, c = to.firstChannel + blockIdx.y;
  for (int n = threadIdx.x; n < POLARISATIONS * 3 * TILE; n += THREADS) (&rowBits[0][0][0])[n] = (&columnBits[0][0][0])[n] = 0;
  double2 model[POLARISATIONS];
  for (int p = 0; p < POLARISATIONS; ++p) model[p] = make_double2(0, 0);
  for (int first = 0; first < to.sources; first += TILE) {
    __syncthreads();
    const int64_t from = ((int64_t)blockIdx.y * to.sources + first + y) * STATIONS;
    const bool there = first + y < to.sources;
    rows[y][x] = there && ti * TILE + x < STATIONS ? to.phasors[from + ti * TILE + x] : make_double2(0, 0);
    columns[y][x] = there && tj * TILE + x < STATIONS ? to.phasors[from + tj * TILE + x] : make_double2(0, 0);
    __syncthreads();
    for (int q = 0; q < min(TILE, to.sources - first); ++q) {
      const double2 a = rows[q][y], b = columns[q][x];
      const double re = a.x * b.x + a.y * b.y, im = a.y * b.x - a.x * b.y;
      const double *jy = to.fluxes + ((int64_t)c * to.sources + first + q) * POLARISATIONS;
      for (int p = 0; p < POLARISATIONS; ++p) model[p].x += jy[p] * re, model[p].y += jy[p] * im;
    }
  }
  __syncthreads();
  if (i < STATIONS && j <= i) {
    const int64_t b = (int64_t)i * (i + 1) / 2 + j;
    const double count = to.counts[c * BASELINES + b];
    const bool counts = count >= 0 && isfinite(count);
    for (int p = 0; p < POLARISATIONS; ++p) {
      const int64_t solve = (int64_t)c * POLARISATIONS + p, k = (int64_t)blockIdx.y * POLARISATIONS + p;
      const double2 sum = to.visibilities[((c * BASELINES + b) * POLARISATIONS + p) * POLARISATIONS + p];
      const double2 mean = make_double2(sum.x / count, sum.y / count), m = model[p];
      const bool takesPart = counts && count > 0 && to.usedBaselines[b] && !to.flags[i * POLARISATIONS + p] &&
                             !to.flags[j * POLARISATIONS + p];
      const bool sane = isfinite(mean.x) && isfinite(mean.y), modelled = isfinite(m.x) && isfinite(m.y);
      if (!counts) atomicMin(to.faults + solve, 4ull * b + BAD_COUNT);
      else if (takesPart && !sane) atomicMin(to.faults + solve, 4ull * b + BAD_VISIBILITY);
      else if (takesPart && !modelled) atomicMin(to.faults + solve, 4ull * b + BAD_MODEL);
      const bool good = takesPart && sane && modelled;
      to.data[k * BASELINES + b] = good ? mean : make_double2(0, 0);
      to.model[k * BASELINES + b] = good ? m : make_double2(0, 0);
      to.weights[k * BASELINES + b] = good ? count : 0;
      if (!good || i == j) continue;
      const bool is[3] = {true, m.x != 0 || m.y != 0, mean.x != 0 || mean.y != 0};
      for (int n = 0; n < 3; ++n)
        if (is[n]) {
          atomicOr(&rowBits[p][n][y], 1u << x);
          atomicOr(ti == tj ? &rowBits[p][n][x] : &columnBits[p][n][x], 1u << y);
        }
    }
  }
  __syncthreads();
  for (int n = threadIdx.x; n < POLARISATIONS * 2 * TILE; n += THREADS) {
    const int station = n % TILE, isColumn = n / TILE % 2, p = n / TILE / 2;
    const int64_t s = (isColumn ? tj : ti) * TILE + station, neighbours = isColumn ? ti : tj;
    if (s >= STATIONS || (isColumn && ti == tj)) continue;
    auto &from = isColumn ? columnBits[p] : rowBits[p];
    to.bits[(((int64_t)blockIdx.y * POLARISATIONS + p) * STATIONS + s) * TILES + neighbours] =
        Bits{(uint16_t)from[0][station], (uint16_t)from[1][station], (uint16_t)from[2][station], 0};
  }
}

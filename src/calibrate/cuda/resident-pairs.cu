// R, M and their weights, made on the card of visibilities and sources, in float64: fillSolve of solve.ts and model.ts.
#include "resident.cuh"

// e^(+2 pi i f r.s / c) of each station. stationsM : [s][3]; directions : [q][3]; wavesPerM : [c], f / c;
// phasors : [c in group][q][s]. Grid-stride.
extern "C" __global__ void __launch_bounds__(THREADS)
    fillPhasors(const double *stationsM, const double *directions, const double *wavesPerM, double2 *phasors,
                int firstChannel, int channels, int sources) {
  const int64_t stride = (int64_t)gridDim.x * THREADS;
  for (int64_t e = (int64_t)blockIdx.x * THREADS + threadIdx.x; e < (int64_t)channels * sources * STATIONS;
       e += stride) {
    const int s = e % STATIONS, q = e / STATIONS % sources, c = e / STATIONS / sources;
    const double *r = stationsM + 3 * s, *d = directions + 3 * q;
    const double waves = wavesPerM[firstChannel + c] * (r[0] * d[0] + r[1] * d[1] + r[2] * d[2]);
    sincospi(2 * waves, &phasors[e].y, &phasors[e].x);
  }
}

struct Pairs {
  const double2 *visibilities;   // [c][b][pi][pj], sums over samples, all channels
  const double *counts;          // [c][b], all channels
  const uint8_t *usedBaselines;  // [b]
  const uint8_t *flags;          // [a]
  const double2 *phasors;        // [c in group][q][s]
  const double *fluxes;          // [c][q][p], all channels
  double2 *data, *model;         // [k][b]
  double *weights;               // [k][b]
  Bits *bits;                    // [k][s][tile]
  unsigned long long *faults;    // [k], of all solves
  int firstChannel, sources;
};

// R = V / count, M = sum of the sources, w = count; all 0 where a pair takes no part. A block makes 16 x 16 pairs.
// Grid: (TILES (TILES + 1) / 2, channels of the group).
extern "C" __global__ void __launch_bounds__(THREADS) fillPairs(const __grid_constant__ Pairs to) {
  constexpr int KINDS = 4;                                   // of Bits
  __shared__ double2 rows[TILE][TILE], columns[TILE][TILE];  // [q][station]
  __shared__ uint16_t rowBits[POLARISATIONS][KINDS][TILE];
  int64_t ti, tj;
  stationsOf(blockIdx.x, ti, tj);
  const int y = threadIdx.x / TILE, x = threadIdx.x % TILE;
  const int i = (int)ti * TILE + y, j = (int)tj * TILE + x, c = to.firstChannel + blockIdx.y;
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
  const bool isPair = i < STATIONS && j <= i;
  const int64_t b = isPair ? (int64_t)i * (i + 1) / 2 + j : 0;
  const double count = isPair ? to.counts[c * BASELINES + b] : 0;
  const bool isCount = count >= 0 && isfinite(count);
  for (int p = 0; p < POLARISATIONS; ++p) {
    bool is[KINDS] = {false, false, false, false};  // used, modelled, heard, own
    if (isPair) {
      const int64_t solve = (int64_t)c * POLARISATIONS + p, k = (int64_t)blockIdx.y * POLARISATIONS + p;
      const double2 sum = to.visibilities[((c * BASELINES + b) * POLARISATIONS + p) * POLARISATIONS + p];
      const double2 mean = make_double2(sum.x / count, sum.y / count), m = model[p];
      const bool takesPart = isCount && count > 0 && to.usedBaselines[b] && !to.flags[i * POLARISATIONS + p] &&
                             !to.flags[j * POLARISATIONS + p];
      const bool isHeard = isfinite(mean.x) && isfinite(mean.y), isModelled = isfinite(m.x) && isfinite(m.y);
      if (!isCount)
        atomicMin(to.faults + solve, 4ull * b + BAD_COUNT);
      else if (takesPart && !isHeard)
        atomicMin(to.faults + solve, 4ull * b + BAD_VISIBILITY);
      else if (takesPart && !isModelled)
        atomicMin(to.faults + solve, 4ull * b + BAD_MODEL);
      const bool good = takesPart && isHeard && isModelled;
      to.data[k * BASELINES + b] = good ? mean : make_double2(0, 0);
      to.model[k * BASELINES + b] = good ? m : make_double2(0, 0);
      to.weights[k * BASELINES + b] = good ? count : 0;
      is[0] = good && i != j;
      is[1] = is[0] && (m.x != 0 || m.y != 0), is[2] = is[0] && (mean.x != 0 || mean.y != 0);
      is[3] = good && i == j && (m.x != 0 || m.y != 0);
    }
    for (int n = 0; n < KINDS; ++n) {
      const unsigned two = __ballot_sync(0xFFFFFFFFu, is[n]);  // a warp has two rows
      if (x == 0) rowBits[p][n][y] = (uint16_t)(two >> TILE * (y % 2));
    }
  }
  __syncthreads();
  // A station's neighbours are the columns of its row and the rows of its column.
  for (int n = threadIdx.x; n < POLARISATIONS * 2 * TILE; n += THREADS) {
    const int station = n % TILE, isColumn = n / TILE % 2, p = n / TILE / 2;
    const int64_t s = (isColumn ? tj : ti) * TILE + station;
    if (s >= STATIONS || (isColumn && ti == tj)) continue;
    uint16_t found[KINDS];
    for (int kind = 0; kind < KINDS; ++kind) {
      unsigned column = 0;
      for (int row = 0; row < TILE; ++row) column |= (rowBits[p][kind][row] >> station & 1u) << row;
      const unsigned row = rowBits[p][kind][station];
      found[kind] = (uint16_t)(ti == tj ? row | column : isColumn ? column : row);
    }
    to.bits[(((int64_t)blockIdx.y * POLARISATIONS + p) * STATIONS + s) * TILES + (isColumn ? ti : tj)] =
        Bits{found[0], found[1], found[2], found[3]};
  }
}

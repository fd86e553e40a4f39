// Visibilities in the order in which they are gridded: tile by tile, and within a tile by groups of first planes.
//
//   placeVisibilities -> scanChunks, scanTotals, addTotals -> scatterVisibilities -> makePieces
//
// A counting sort: the order within a bin is whatever atomics make it, so the last bits of a float32 sum may differ from
// run to run. Set by the plan: as wide.cuh.
#include "place.cuh"

constexpr uint32_t LEFT_OUT = 0xFFFFFFFFu;

// keys : [row][c]; counts : [bin], zeroed before. Grid-stride.
extern "C" __global__ void placeVisibilities(const __grid_constant__ Shape shape, const __grid_constant__ Rows rows,
                                             uint32_t *keys, uint32_t *counts) {
  const int64_t stride = (int64_t)gridDim.x * blockDim.x;
  for (int64_t at = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; at < rows.count; at += stride) {
    uint32_t key = LEFT_OUT;
    if (rows.weights[at] > 0) {
      const Place place = placeOf(shape, rows, at);
      const uint32_t tile = place.v.cell / TILE * TILES + place.u.cell / TILE;
      key = tile * rows.groups + (uint32_t)((int64_t)place.w.cell * rows.groups / rows.firstPlanes);
      atomicAdd(counts + key, 1u);
    }
    keys[at] = key;
  }
}

constexpr int SCAN_THREADS = 256, SCAN_EACH = 16, SCAN_CHUNK = SCAN_THREADS * SCAN_EACH;

// The sum of the values of all threads before this one, and of all of them. Every thread of the block calls it.
__device__ __forceinline__ uint32_t before(uint32_t value, uint32_t *sums, uint32_t &total) {
  sums[threadIdx.x] = value;
  __syncthreads();
  for (int step = 1; step < SCAN_THREADS; step *= 2) {
    const uint32_t add = threadIdx.x >= (unsigned)step ? sums[threadIdx.x - step] : 0;
    __syncthreads();
    sums[threadIdx.x] += add;
    __syncthreads();
  }
  const uint32_t sum = sums[threadIdx.x];
  total = sums[SCAN_THREADS - 1];
  __syncthreads();
  return sum - value;
}

// counts : [bin] become sums of all before, within chunks; totals : [chunk].
extern "C" __global__ void __launch_bounds__(SCAN_THREADS)
    scanChunks(uint32_t *counts, int64_t bins, uint32_t *totals) {
  __shared__ uint32_t sums[SCAN_THREADS];
  const int64_t first = (int64_t)blockIdx.x * SCAN_CHUNK + threadIdx.x * SCAN_EACH;
  uint32_t own[SCAN_EACH], sum = 0, total;
  for (int k = 0; k < SCAN_EACH; ++k) {
    own[k] = sum;
    sum += first + k < bins ? counts[first + k] : 0;
  }
  const uint32_t start = before(sum, sums, total);
  for (int k = 0; k < SCAN_EACH; ++k)
    if (first + k < bins) counts[first + k] = start + own[k];
  if (threadIdx.x == 0) totals[blockIdx.x] = total;
}
// One block.
extern "C" __global__ void __launch_bounds__(SCAN_THREADS) scanTotals(uint32_t *totals, int chunks) {
  __shared__ uint32_t sums[SCAN_THREADS];
  uint32_t carry = 0;
  for (int first = 0; first < chunks; first += SCAN_THREADS) {
    const int at = first + threadIdx.x;
    const uint32_t value = at < chunks ? totals[at] : 0;
    uint32_t total;
    const uint32_t start = before(value, sums, total);
    if (at < chunks) totals[at] = carry + start;
    carry += total;
  }
}
extern "C" __global__ void __launch_bounds__(SCAN_THREADS)
    addTotals(uint32_t *counts, int64_t bins, const uint32_t *totals) {
  for (int k = 0; k < SCAN_EACH; ++k) {
    const int64_t at = (int64_t)blockIdx.x * SCAN_CHUNK + k * SCAN_THREADS + threadIdx.x;
    if (at < bins) counts[at] += totals[blockIdx.x];
  }
}

// starts : [bin], advanced to the ends of the bins; records : [place]. Grid-stride.
extern "C" __global__ void scatterVisibilities(const __grid_constant__ Shape shape, const __grid_constant__ Rows rows,
                                               const uint32_t *keys, uint32_t *starts, Record *records) {
  const int64_t stride = (int64_t)gridDim.x * blockDim.x;
  for (int64_t at = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; at < rows.count; at += stride) {
    const uint32_t key = keys[at];
    if (key == LEFT_OUT) continue;
    const Place place = placeOf(shape, rows, at);
    const Real weight = rows.weights[at];
    Real2 value = pairOf(weight, 0);
    if (rows.values) {
      const Real2 given = rows.values[at];
      value = pairOf(weight * given.x, place.isTurned ? weight * given.y : -weight * given.y);
    }
    const double turn = place.wLambda * shape.middle;
    double sine, cosine;
    sincospi(2 * (turn - rint(turn)), &sine, &cosine);
    value = times(value, pairOf((Real)cosine, (Real)sine));
    Record record;
    record.u = (Real)place.u.t;
    record.v = (Real)place.v.t;
    record.w = (Real)place.w.t;
    record.re = value.x;
    record.im = value.y;
    record.at = (uint32_t)(place.u.cell % TILE) | (uint32_t)(place.v.cell % TILE) << 4 | (uint32_t)place.w.cell << 8;
    records[atomicAdd(starts + key, 1u)] = record;
  }
}

// ends : [bin]; pieces : [n], pieceCount zeroed before. A thread for each tile.
extern "C" __global__ void makePieces(const uint32_t *ends, int groups, uint32_t most, Piece *pieces,
                                      uint32_t *pieceCount) {
  const uint32_t tile = blockIdx.x * blockDim.x + threadIdx.x;
  if (tile >= (uint32_t)TILES * TILES) return;
  const uint32_t first = tile == 0 ? 0 : ends[(int64_t)tile * groups - 1], end = ends[(int64_t)(tile + 1) * groups - 1];
  if (first == end) return;
  const uint32_t parts = (end - first + most - 1) / most;
  const uint32_t to = atomicAdd(pieceCount, parts);
  for (uint32_t part = 0; part < parts; ++part) {
    Piece piece;
    piece.first = first + part * most;
    piece.count = min(most, end - piece.first);
    piece.tile = tile;
    piece.unused = 0;
    pieces[to + part] = piece;
  }
}

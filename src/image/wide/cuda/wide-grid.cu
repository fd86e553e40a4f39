// Sorted visibilities to planes of w, and planes to visibilities.
//
// gridPieces: a block takes a piece of one tile's records and holds the tile's patch in shared memory, a ring of
// planes. Of WW consecutive planes each has its own place in the ring, so each warp owns a place: every warp processes
// every visibility, no two write the same word, and a block needs no atomics. Taps are made once for the whole block,
// BATCH visibilities at a time. A finished plane is added to the grid atomically, since tiles overlap.
//
// degridRows: a warp for each visibility, the cells of its kernel dealt to its lanes. Neighbouring channels read the same
// cells, from the nearest cache.
//
// Set by the plan: as wide.cuh, DEGREE and W_DEGREE of the taps' polynomials, SLOTS (ring places of a block).
#include "place.cuh"

constexpr int REACH = TILE + W - 1;  // cells on a side of a patch
constexpr int PITCH = REACH + 1;
constexpr int PATCH = REACH * PITCH;
constexpr int BATCH = 64;
constexpr int CELLS_EACH = (W * W + 31) / 32;

// [power][tap]
struct Taps {
  Real uv[(DEGREE + 1) * W];
  Real w[(W_DEGREE + 1) * WW];
};

__device__ __forceinline__ Real uvTap(const Taps &taps, int tap, Real t) {
  Real value = taps.uv[DEGREE * W + tap];
#pragma unroll
  for (int power = DEGREE - 1; power >= 0; --power) value = value * t + taps.uv[power * W + tap];
  return value;
}
__device__ __forceinline__ Real wTap(const Taps &taps, int tap, Real t) {
  Real value = taps.w[W_DEGREE * WW + tap];
#pragma unroll
  for (int power = W_DEGREE - 1; power >= 0; --power) value = value * t + taps.w[power * WW + tap];
  return value;
}

__device__ __forceinline__ void addTo(Real2 *cell, Real2 value) {
#if !DOUBLE && defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  atomicAdd(cell, value);
#else
  atomicAdd(&cell->x, value.x);
  atomicAdd(&cell->y, value.y);
#endif
}

// planes : [plane from firstPlane to endPlane - 1][v][u]; touched : [plane][row of tiles], 1 where anything was added. Grid: (most pieces there could be, groups of SLOTS places).
// Threads: 32 for each slot. Shared memory: SHARED_BYTES of cuda/plan.ts.
extern "C" __global__ void __launch_bounds__(32 * SLOTS)
    gridPieces(const Taps *givenTaps, const Record *records, const Piece *pieces, const uint32_t *pieceCount,
               int firstPlane, int endPlane, Real2 *planes, uint8_t *touched) {
  extern __shared__ double shared[];
  Real2 *const patches = reinterpret_cast<Real2 *>(shared);           // [slot][row][u]
  Real2 *const values = patches + SLOTS * PATCH;                      // [visibility][slot], times the tap along w
  Real *const ku = reinterpret_cast<Real *>(values + BATCH * SLOTS);  // [visibility][tap]
  Real *const kv = ku + BATCH * W;
  uint32_t *const places = reinterpret_cast<uint32_t *>(kv + BATCH * W);
  Taps &taps = *reinterpret_cast<Taps *>(places + BATCH);
  if (blockIdx.x >= *pieceCount) return;
  const Piece piece = pieces[blockIdx.x];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, slot = blockIdx.y * SLOTS + warp;
  for (int k = threadIdx.x; k < (int)(sizeof(Taps) / sizeof(Real)); k += 32 * SLOTS)
    reinterpret_cast<Real *>(&taps)[k] = reinterpret_cast<const Real *>(givenTaps)[k];
  Real2 *const mine = patches + warp * PATCH;
  for (int k = lane; k < PATCH; k += 32) mine[k] = pairOf(0, 0);
  int columns[CELLS_EACH], rows[CELLS_EACH];
#pragma unroll
  for (int k = 0; k < CELLS_EACH; ++k) {
    const int cell = lane + 32 * k < W * W ? lane + 32 * k : 0;
    columns[k] = cell % W;
    rows[k] = cell / W;
  }
  int plane = -1;
  const auto flush = [&]() {
    Real2 *grid = planes + (int64_t)(plane - firstPlane) * SIDE * SIDE;
    // A patch extends at most into the next row of tiles.
    if (lane < 2) touched[(int64_t)(plane - firstPlane) * TILES + (piece.tile / TILES + lane) % TILES] = 1;
    for (int k = lane; k < REACH * REACH; k += 32) {
      const int row = k / REACH, column = k - row * REACH;
      const Real2 value = mine[row * PITCH + column];
      if (value.x == 0 && value.y == 0) continue;
      int v = piece.tile / TILES * TILE + row, u = piece.tile % TILES * TILE + column;
      if (v >= SIDE) v -= SIDE;
      if (u >= SIDE) u -= SIDE;
      addTo(grid + (int64_t)v * SIDE + u, value);
      mine[row * PITCH + column] = pairOf(0, 0);
    }
    __syncwarp();
  };
  for (uint32_t done = 0; done < piece.count; done += BATCH) {
    const int count = min(BATCH, (int)(piece.count - done));
    __syncthreads();
    for (int item = threadIdx.x; item < count * (2 * W + SLOTS); item += 32 * SLOTS) {
      const int n = item / (2 * W + SLOTS), part = item - n * (2 * W + SLOTS);
      const Record record = records[piece.first + done + n];
      if (part < W) {
        ku[n * W + part] = uvTap(taps, part, record.u);
      } else if (part < 2 * W) {
        kv[n * W + part - W] = uvTap(taps, part - W, record.v);
      } else {
        const int first = record.at >> 8, place = blockIdx.y * SLOTS + part - 2 * W;
        // the plane from `first` on that uses this place
        const int tap = (place - first % WW + WW) % WW;
        const Real by = place < WW ? wTap(taps, tap, record.w) : 0;
        values[n * SLOTS + part - 2 * W] = pairOf(record.re * by, record.im * by);
        if (part == 2 * W) places[n] = (record.at & 15) + (record.at >> 4 & 15) * PITCH + (uint32_t)first * 1024;
      }
    }
    __syncthreads();
    if (slot >= WW) continue;
    for (int n = 0; n < count; ++n) {
      const uint32_t place = places[n];
      const int first = place / 1024, now = first + (slot - first % WW + WW) % WW;
      if (now < firstPlane || now >= endPlane) continue;
      if (now != plane) {
        if (plane >= 0) flush();
        plane = now;
      }
      const Real2 value = values[n * SLOTS + warp];
      Real2 *const corner = mine + place % 1024;
#pragma unroll
      for (int k = 0; k < CELLS_EACH; ++k) {
        if (lane + 32 * k >= W * W) continue;
        const Real by = ku[n * W + columns[k]] * kv[n * W + rows[k]];
        Real2 *const cell = corner + rows[k] * PITCH + columns[k];
        const Real2 before = *cell;
        *cell = pairOf(before.x + value.x * by, before.y + value.y * by);
      }
      __syncwarp();
    }
  }
  if (plane >= 0) flush();
}

// out : [row][c] complex += the values from planes firstPlane to endPlane - 1. rows.values and rows.weights are not
// read. Grid-stride over visibilities, a warp each.
extern "C" __global__ void degridRows(const __grid_constant__ Shape shape, const __grid_constant__ Rows rows,
                                      const Taps *taps, const Real2 *planes, int firstPlane, int endPlane, Real2 *out) {
  const int lane = threadIdx.x % 32;
  const int64_t stride = (int64_t)gridDim.x * blockDim.x / 32;
  for (int64_t at = ((int64_t)blockIdx.x * blockDim.x + threadIdx.x) / 32; at < rows.count; at += stride) {
    const Place place = placeOf(shape, rows, at);
    const int first = place.w.cell;
    if (first >= endPlane || first + WW <= firstPlane) continue;
    const int uvLane = lane < W ? lane : 0, wLane = lane < WW ? lane : 0;
    const Real u = uvTap(*taps, uvLane, (Real)place.u.t), v = uvTap(*taps, uvLane, (Real)place.v.t);
    const Real w = wTap(*taps, wLane, (Real)place.w.t);
    Real2 sum = pairOf(0, 0);
#pragma unroll
    for (int k = 0; k < CELLS_EACH; ++k) {
      const int cell = lane + 32 * k, inside = cell < W * W ? cell : 0;
      const Real ku = __shfl_sync(0xFFFFFFFF, u, inside % W), kv = __shfl_sync(0xFFFFFFFF, v, inside / W);
      const Real by = cell < W * W ? ku * kv : 0;
      int row = place.v.cell + inside / W, column = place.u.cell + inside % W;
      if (row >= SIDE) row -= SIDE;
      if (column >= SIDE) column -= SIDE;
      for (int p = 0; p < WW; ++p) {
        const Real kw = __shfl_sync(0xFFFFFFFF, w, p);
        if (first + p < firstPlane || first + p >= endPlane) continue;
        const Real2 value = planes[((int64_t)(first + p - firstPlane) * SIDE + row) * SIDE + column];
        sum = pairOf(sum.x + value.x * (by * kw), sum.y + value.y * (by * kw));
      }
    }
    for (int step = 16; step > 0; step /= 2) {
      sum.x += __shfl_xor_sync(0xFFFFFFFF, sum.x, step);
      sum.y += __shfl_xor_sync(0xFFFFFFFF, sum.y, step);
    }
    if (lane != 0) continue;
    const double turn = place.wLambda * shape.middle;
    double sine, cosine;
    sincospi(2 * (turn - rint(turn)), &sine, &cosine);
    const Real2 value = times(sum, pairOf((Real)cosine, (Real)-sine));
    out[at] = out[at] + pairOf(value.x, place.isTurned ? value.y : -value.y);
  }
}

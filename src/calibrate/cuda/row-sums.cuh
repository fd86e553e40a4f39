// Sums over the lanes of a warp, many at once: adding up n numbers one by one would take 5 n shuffles, which share one
// pipe with the loads; halving the numbers with the lanes takes about n.
#pragma once

struct RowSum {
  float x, y, d;
};

__device__ __forceinline__ float sumWarp(float value) {
#pragma unroll
  for (int lanes = 16; lanes >= 1; lanes >>= 1) value += __shfl_xor_sync(0xFFFFFFFFu, value, lanes);
  return value;
}

// Sums VALUES numbers over the 32 lanes; a lane ends with the total of number `index`, where it is `valid`.
template <int VALUES, class Real>
__device__ __forceinline__ Real sumLanes(Real (&v)[VALUES], int lane, int &index, bool &valid) {
  index = 0;
  int n = VALUES, real = VALUES;  // real: those of this lane that are not padding
#pragma unroll
  for (int lanes = 16; lanes >= 1; lanes >>= 1) {
    if (n == 1) {
      v[0] += __shfl_xor_sync(0xFFFFFFFFu, v[0], lanes);
      continue;
    }
    const int half = (n + 1) / 2;
    const bool upper = lane & lanes;
#pragma unroll
    for (int i = 0; i < VALUES; ++i)
      if (i < half) {
        const Real low = v[i], high = i + half < n ? v[i + half < VALUES ? i + half : 0] : (Real)0;
        v[i] = (upper ? high : low) + __shfl_xor_sync(0xFFFFFFFFu, upper ? low : high, lanes);
      }
    index += upper ? half : 0;
    real = upper ? real - half : min(real, half);
    n = half;
  }
  valid = real > 0;
  return v[0];
}
// Which lanes have the totals of `first` and the two after it, five bits each; arbitrary lanes past the last.
template <int VALUES>
__device__ __forceinline__ uint32_t totalLanes(int first) {
  uint32_t sources = 0;
#pragma unroll
  for (int i = 0; i < 3; ++i) {
    int value = first + i, n = VALUES;
#pragma unroll
    for (int lanes = 16; lanes >= 1; lanes >>= 1) {
      const int half = (n + 1) / 2;
      if (n > 1 && value >= half) sources |= lanes << 5 * i, value -= half;
      n = half;
    }
  }
  return sources;
}
// How many lanes share one total of `sumLanes`.
__host__ __device__ constexpr int sharing(int values) {
  int n = values, lanes = 1;
  for (int step = 0; step < 5; ++step) {
    if (n == 1)
      lanes *= 2;
    else
      n = (n + 1) / 2;
  }
  return lanes;
}

// Where COUNT is a power of two, and slot r of a lane holds row r ^ (lane COUNT / 32): every halving keeps the lower
// slots and sends the upper ones in every lane, and needs no selection. Depth first: few sums are live at a time, with
// shuffles between products. A lane ends with the totals of row lane COUNT / 32.
template <int COUNT, int SLOT, int STEP, class Sum>
__device__ __forceinline__ RowSum sumTree(const Sum &sum) {
  if constexpr (STEP == COUNT) {
    return sum(SLOT);
  } else {
    RowSum a = sumTree<COUNT, SLOT, 2 * STEP>(sum);
    const RowSum b = sumTree<COUNT, SLOT + STEP, 2 * STEP>(sum);
    constexpr int LANES = 32 * STEP / COUNT;
    a.x += __shfl_xor_sync(0xFFFFFFFFu, b.x, LANES);
    a.y += __shfl_xor_sync(0xFFFFFFFFu, b.y, LANES);
    a.d += __shfl_xor_sync(0xFFFFFFFFu, b.d, LANES);
    return a;
  }
}

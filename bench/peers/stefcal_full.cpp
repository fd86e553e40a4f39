// libraries:
// package: g++
// StEFCal as one would write it down: full matrices A and B in float32, rows shared out over threads, dot products in
// vectors as wide as the processor's. What the calibrate kernel is measured against; same batch in, same gains out.
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <thread>
#include <vector>

namespace {

#if defined(__AVX512F__)
#define VECTORS "AVX-512"
constexpr int64_t LANES = 16;
#elif defined(__AVX2__)
#define VECTORS "AVX2"
constexpr int64_t LANES = 8;
#elif defined(__aarch64__)
#define VECTORS "NEON"
constexpr int64_t LANES = 4;
#else
#define VECTORS "vectors of 16 bytes"
constexpr int64_t LANES = 4;
#endif
typedef float Floats __attribute__((vector_size(4 * LANES)));

const Floats &vectorAt(const float *from) { return *reinterpret_cast<const Floats *>(from); }

float totalOf(const Floats &vector) {
  float sum = 0;
  for (int64_t lane = 0; lane < LANES; lane++) sum += vector[lane];
  return sum;
}

void lookAgain() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

struct Barrier {
  explicit Barrier(int threads) : expected(threads) {}
  void wait() {
    const unsigned mine = phase.load();
    if (++come == expected) {
      come = 0;
      phase = mine + 1;
      return;
    }
    for (int look = 0; phase.load() == mine; look++) {
      if (look < 256)
        lookAgain();
      else
        std::this_thread::yield();
    }
  }
  const int expected;
  std::atomic<int> come{0};
  std::atomic<unsigned> phase{0};
};

float *aligned(size_t floats) { return static_cast<float *>(std::aligned_alloc(64, (floats * 4 + 63) / 64 * 64)); }

}  // namespace

static void solve(int64_t stations, const double *data, const double *model, const double *weights, double *gains,
                  int64_t iterations, int32_t threads) {
  const int64_t stride = (stations + 15) / 16 * 16;
  float *aRe = aligned(stations * stride), *aIm = aligned(stations * stride), *b = aligned(stations * stride);
  float *gRe = aligned(stride), *gIm = aligned(stride), *power = aligned(stride);
  float *nextRe = aligned(stride), *nextIm = aligned(stride);
  for (int64_t s = 0; s < stride; s++) {
    gRe[s] = s < stations ? static_cast<float>(gains[2 * s]) : 0;
    gIm[s] = s < stations ? static_cast<float>(gains[2 * s + 1]) : 0;
    power[s] = gRe[s] * gRe[s] + gIm[s] * gIm[s];
  }
  Barrier barrier(threads);
  const auto work = [&](int thread) {
    const int64_t first = stations * thread / threads, end = stations * (thread + 1) / threads;
    for (int64_t i = first; i < end; i++) {
      for (int64_t j = stations; j < stride; j++) aRe[i * stride + j] = aIm[i * stride + j] = b[i * stride + j] = 0;
      for (int64_t j = 0; j < stations; j++) {
        const int64_t at = i * stride + j;
        const int64_t from = i >= j ? i * (i + 1) / 2 + j : j * (j + 1) / 2 + i;
        const double dRe = data[2 * from], dIm = data[2 * from + 1], mRe = model[2 * from], mIm = model[2 * from + 1];
        const double im = weights[from] * (dIm * mRe - dRe * mIm);
        aRe[at] = static_cast<float>(weights[from] * (dRe * mRe + dIm * mIm));
        aIm[at] = static_cast<float>(i >= j ? im : -im);
        b[at] = static_cast<float>(weights[from] * (mRe * mRe + mIm * mIm));
      }
    }
    for (int64_t iteration = 1; iteration <= iterations; iteration++) {
      barrier.wait();
      for (int64_t i = first; i < end; i++) {
        Floats re = {}, im = {}, re2 = {}, im2 = {}, sum = {};
        for (int64_t j = 0; j < stride; j += LANES) {
          const Floats ar = vectorAt(aRe + i * stride + j), ai = vectorAt(aIm + i * stride + j);
          const Floats xr = vectorAt(gRe + j), xi = vectorAt(gIm + j);
          re += ar * xr;
          re2 += ai * xi;
          im += ar * xi;
          im2 += ai * xr;
          sum += vectorAt(b + i * stride + j) * vectorAt(power + j);
        }
        const float denominator = totalOf(sum);
        nextRe[i] = denominator == 0 ? gRe[i] : totalOf(re - re2) / denominator;
        nextIm[i] = denominator == 0 ? gIm[i] : totalOf(im + im2) / denominator;
      }
      barrier.wait();
      for (int64_t i = first; i < end; i++) {
        gRe[i] = iteration % 2 == 0 ? (nextRe[i] + gRe[i]) / 2 : nextRe[i];
        gIm[i] = iteration % 2 == 0 ? (nextIm[i] + gIm[i]) / 2 : nextIm[i];
        power[i] = gRe[i] * gRe[i] + gIm[i] * gIm[i];
      }
    }
  };
  std::vector<std::thread> others;
  for (int thread = 1; thread < threads; thread++) others.emplace_back(work, thread);
  work(0);
  for (auto &other : others) other.join();
  for (int64_t s = 0; s < stations; s++) {
    gains[2 * s] = gRe[s];
    gains[2 * s + 1] = gIm[s];
  }
  for (float *array : {aRe, aIm, b, gRe, gIm, power, nextRe, nextIm}) std::free(array);
}

extern "C" const char *peer_stefcal_vectors() { return VECTORS; }

// data, model : [k][b] complex, weights : [k][b], gains : [k][s] complex, in and out; `iterations` of them, every
// even one averaged with the one before. All threads work on one solve after the other.
extern "C" void peer_stefcal_full(int64_t solves, int64_t stations, const double *data, const double *model,
                                  const double *weights, double *gains, int64_t iterations, int32_t threads) {
  const int64_t baselines = stations * (stations + 1) / 2;
  for (int64_t k = 0; k < solves; k++) {
    solve(stations, data + 2 * k * baselines, model + 2 * k * baselines, weights + k * baselines,
          gains + 2 * k * stations, iterations, threads);
  }
}

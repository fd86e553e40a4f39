// libraries: fftw3f
// package: libfftw3-dev
// The F-engine's filter and transform by a loop that the compiler makes vectors of, and FFTW in single precision. It
// stops there: no rounding, no corner turn, and its results stay in a buffer that never leaves the cache.
#include <fftw3.h>

#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

namespace {

struct Engine {
  int64_t channels, taps;
  std::vector<float> weights;  // [τ][n][re, im], each twice, so that the loop runs over plain numbers
  std::vector<fftwf_complex *> buffers;
  fftwf_plan plan;
};

/** A known number of taps keeps the sum in a register. */
template <int T>
void filter(const int8_t *__restrict samples, const float *__restrict weights, float *__restrict sums, int64_t row) {
  for (int64_t n = 0; n < row; n++) {
    float sum = 0;
#pragma GCC unroll 64
    for (int t = 0; t < T; t++) sum += weights[t * row + n] * samples[t * row + n];
    sums[n] = sum;
  }
}

void filterAny(const int8_t *__restrict samples, const float *__restrict weights, float *__restrict sums, int64_t row,
               int64_t taps) {
  for (int64_t n = 0; n < row; n++) sums[n] = weights[n] * samples[n];
  for (int64_t t = 1; t < taps; t++) {
    for (int64_t n = 0; n < row; n++) sums[n] += weights[t * row + n] * samples[t * row + n];
  }
}

void filterOne(const Engine &engine, const int8_t *samples, float *sums) {
  const int64_t row = 2 * engine.channels;
  switch (engine.taps) {
    case 4: return filter<4>(samples, engine.weights.data(), sums, row);
    case 8: return filter<8>(samples, engine.weights.data(), sums, row);
    case 16: return filter<16>(samples, engine.weights.data(), sums, row);
    default: return filterAny(samples, engine.weights.data(), sums, row, engine.taps);
  }
}

}  // namespace

// Names its own instruction sets: Debian 12 says "fftw-3.3.10-sse2-avx", which knows neither AVX2 nor AVX-512.
extern "C" const char *peer_fftw_version() { return fftwf_version; }

// taps : [τ][n]
extern "C" void *peer_fftw_open(int64_t channels, int64_t taps, const double *values, int32_t threads) {
  auto *engine = new Engine{channels, taps, {}, {}, nullptr};
  for (int64_t n = 0; n < taps * channels; n++) engine->weights.insert(engine->weights.end(), 2, float(values[n]));
  for (int32_t t = 0; t < threads; t++) {
    engine->buffers.push_back(static_cast<fftwf_complex *>(fftwf_malloc(sizeof(fftwf_complex) * size_t(channels))));
    std::memset(engine->buffers.back(), 0, sizeof(fftwf_complex) * size_t(channels));
  }
  fftwf_set_timelimit(3);  // seconds; enough for the patient search up to some thousand points
  engine->plan = fftwf_plan_dft_1d(int(channels), engine->buffers[0], engine->buffers[0], FFTW_FORWARD, FFTW_PATIENT);
  return engine;
}

// voltages : [a][t] int8 pairs, `samples` of each input
extern "C" void peer_fftw_run(void *handle, const int8_t *voltages, int64_t inputs, int64_t samples) {
  const Engine &engine = *static_cast<Engine *>(handle);
  const int64_t spectra = samples / engine.channels - engine.taps + 1, threads = int64_t(engine.buffers.size());
  const auto share = [&](int64_t thread) {
    fftwf_complex *buffer = engine.buffers[size_t(thread)];
    for (int64_t input = inputs * thread / threads; input < inputs * (thread + 1) / threads; input++) {
      for (int64_t k = 0; k < spectra; k++) {
        filterOne(engine, voltages + 2 * (input * samples + k * engine.channels), reinterpret_cast<float *>(buffer));
        fftwf_execute_dft(engine.plan, buffer, buffer);
      }
    }
  };
  std::vector<std::thread> others;
  for (int64_t thread = 1; thread < threads; thread++) others.emplace_back(share, thread);
  share(0);
  for (auto &other : others) other.join();
}

extern "C" void peer_fftw_close(void *handle) {
  auto *engine = static_cast<Engine *>(handle);
  for (auto *buffer : engine->buffers) fftwf_free(buffer);
  fftwf_destroy_plan(engine->plan);
  delete engine;
}

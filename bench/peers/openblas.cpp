// libraries: openblas
// package: libopenblas-dev
// The X-engine by OpenBLAS: bytes to floats, then the Hermitian rank-k update cherk. What a good programmer gets
// from a good library.
#include <cblas.h>

#include <cstdint>
#include <thread>
#include <vector>

extern "C" void peer_openblas_threads(int32_t threads) { openblas_set_num_threads(threads); }

extern "C" const char *peer_openblas_core() { return openblas_get_corename(); }

// spectra : [c][a][t] int8 pairs; floats : room for one channel per thread; sums : [c][a][a'] complex float, lower
// triangle, added to.
extern "C" void peer_openblas_correlate(int64_t channels, int64_t inputs, int64_t samples, int32_t threads,
                                        const int8_t *spectra, float *floats, float *sums) {
  const int64_t values = inputs * samples * 2;
  for (int64_t channel = 0; channel < channels; channel++) {
    const int8_t *from = spectra + channel * values;
    const auto convert = [&](int64_t first, int64_t end) {
      for (int64_t n = first; n < end; n++) floats[n] = from[n];
    };
    std::vector<std::thread> others;
    for (int32_t t = 1; t < threads; t++) {
      others.emplace_back(convert, values * t / threads, values * (t + 1) / threads);
    }
    convert(0, values / threads);
    for (auto &other : others) other.join();
    cblas_cherk(CblasRowMajor, CblasLower, CblasNoTrans, static_cast<int>(inputs), static_cast<int>(samples), 1.0f,
                floats, static_cast<int>(samples), 1.0f, sums + channel * inputs * inputs * 2,
                static_cast<int>(inputs));
  }
}

// Beams by OpenBLAS: bytes to floats, the matrix product cgemm, and the powers of its voltages. spectra : [c][a][t] int8
// pairs; weights : [c][b][a] complex; floats, voltages : room for one channel; powers : [b][c], written.
extern "C" void peer_openblas_beams(int64_t channels, int64_t beams, int64_t inputs, int64_t samples, int32_t threads,
                                    const int8_t *spectra, const float *weights, float *floats, float *voltages,
                                    double *powers) {
  const int64_t values = inputs * samples * 2;
  const float one[2] = {1.0f, 0.0f}, none[2] = {0.0f, 0.0f};
  const auto onThreads = [&](int64_t many, const auto &work) {
    std::vector<std::thread> others;
    for (int32_t t = 1; t < threads; t++) others.emplace_back(work, many * t / threads, many * (t + 1) / threads);
    work(0, many / threads);
    for (auto &other : others) other.join();
  };
  for (int64_t channel = 0; channel < channels; channel++) {
    const int8_t *from = spectra + channel * values;
    onThreads(values, [&](int64_t first, int64_t end) {
      for (int64_t n = first; n < end; n++) floats[n] = from[n];
    });
    cblas_cgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, static_cast<int>(beams), static_cast<int>(samples),
                static_cast<int>(inputs), one, weights + channel * beams * inputs * 2, static_cast<int>(inputs), floats,
                static_cast<int>(samples), none, voltages, static_cast<int>(samples));
    onThreads(beams, [&](int64_t first, int64_t end) {
      for (int64_t beam = first; beam < end; beam++) {
        const float *row = voltages + beam * samples * 2;
        double sum = 0;
        for (int64_t n = 0; n < samples * 2; n++) sum += static_cast<double>(row[n] * row[n]);
        powers[beam * channels + channel] = sum;
      }
    });
  }
}

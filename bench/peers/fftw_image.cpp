// libraries: fftw3f
// package: libfftw3-dev
// The dense road to a direct image: FFTW's two-dimensional transform of the whole n × n grid, single precision,
// then the square of the field added up. No gridding, one polarisation. Debian's FFTW knows AVX2, not AVX-512.
#include <fftw3.h>

#include <cstdint>
#include <cstring>
#include <mutex>
#include <thread>
#include <vector>

namespace {

/** FFTW plans are not to be made by two threads at once. */
std::mutex planning;

struct Worker {
  fftwf_complex *grid, *field;
  float *sums;
  fftwf_plan plan;
};

struct Peer {
  int64_t pixels;
  std::vector<Worker> workers;
};

}  // namespace

extern "C" void *peer_fftw_image_open(int64_t pixels, int32_t threads) {
  std::lock_guard<std::mutex> lock(planning);
  auto *peer = new Peer{pixels, {}};
  const size_t cells = static_cast<size_t>(pixels * pixels);
  for (int32_t thread = 0; thread < threads; thread++) {
    Worker worker{fftwf_alloc_complex(cells), fftwf_alloc_complex(cells), fftwf_alloc_real(cells), nullptr};
    const int side = static_cast<int>(pixels);
    worker.plan = fftwf_plan_dft_2d(side, side, worker.grid, worker.field, FFTW_FORWARD, FFTW_MEASURE);
    for (size_t at = 0; at < cells; at++) {
      worker.grid[at][0] = static_cast<float>(at % 17) - 8;
      worker.grid[at][1] = static_cast<float>(at % 13) - 6;
    }
    std::memset(worker.sums, 0, cells * sizeof(float));
    peer->workers.push_back(worker);
  }
  return peer;
}

// Makes this many fields, shared out over the threads.
extern "C" void peer_fftw_image_run(void *handle, int64_t fields) {
  auto &peer = *static_cast<Peer *>(handle);
  const int64_t threads = static_cast<int64_t>(peer.workers.size());
  const auto work = [&](int64_t thread) {
    const Worker &worker = peer.workers[static_cast<size_t>(thread)];
    const int64_t count = fields * (thread + 1) / threads - fields * thread / threads;
    for (int64_t n = 0; n < count; n++) {
      fftwf_execute(worker.plan);
      const float *field = worker.field[0];
      float *__restrict sums = worker.sums;
      for (int64_t at = 0; at < peer.pixels * peer.pixels; at++) {
        sums[at] += field[2 * at] * field[2 * at] + field[2 * at + 1] * field[2 * at + 1];
      }
    }
  };
  std::vector<std::thread> others;
  for (int64_t thread = 1; thread < threads; thread++) others.emplace_back(work, thread);
  work(0);
  for (auto &other : others) other.join();
}

extern "C" void peer_fftw_image_close(void *handle) {
  std::lock_guard<std::mutex> lock(planning);
  auto *peer = static_cast<Peer *>(handle);
  for (const Worker &worker : peer->workers) {
    fftwf_destroy_plan(worker.plan);
    fftwf_free(worker.grid);
    fftwf_free(worker.field);
    fftwf_free(worker.sums);
  }
  delete peer;
}

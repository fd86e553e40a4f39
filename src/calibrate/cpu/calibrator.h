// Runs a batch of independent solves of any kind on the threads.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "backend/cpu/context.h"

namespace corella {

/**
 * Pointers into a batch, one solve after the other, and the stopping rule: tolerance < 0 runs all `most` iterations.
 */
struct SolveBatch {
  int64_t solves, stations;
  const double *data, *model, *weights;
  double *gains;
  int64_t most;
  double tolerance;
  int32_t *iterationsRun;
  double *lastChange;
};

/** Keeps the memory of its solves from one batch to the next; from SHARED stations on a solve uses all threads. */
template <typename Solve, typename Kernels, int64_t SHARED>
class Calibrator {
 public:
  Calibrator(Context &context, const Kernels &level, int64_t stationCount)
      : stations(stationCount), kernels(level), alone(static_cast<size_t>(context.pool.threads())) {
    require(stations >= 1 && stations <= 65535, "stations must be from 1 to 65535");
  }

  /** A solve to each thread while there are enough of them; remaining long ones are shared by all threads. */
  template <class Batch = SolveBatch>
  void run(Context &context, const Batch &batch) {
    require(batch.solves >= 0 && batch.most >= 0, "a batch has a size below 0");
    const int threads = context.pool.threads();
    const int64_t leftOver = stations >= SHARED ? batch.solves % threads : 0;
    context.pool.run(batch.solves - leftOver, [&](int64_t solve, int worker) {
      auto &mine = alone[static_cast<size_t>(worker)];
      if (!mine) mine = std::make_unique<Solve>(kernels, stations, 1);
      mine->run(batch, solve, 0);
    });
    if (leftOver == 0) return;
    if (!shared) shared = std::make_unique<Solve>(kernels, stations, threads);
    context.pool.together([&](int worker) {
      for (int64_t solve = batch.solves - leftOver; solve < batch.solves; solve++) shared->run(batch, solve, worker);
    });
  }

  const int64_t stations;

 private:
  const Kernels &kernels;
  std::vector<std::unique_ptr<Solve>> alone;
  std::unique_ptr<Solve> shared;
};

}  // namespace corella

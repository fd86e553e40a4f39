// The pool under load, for a sanitizer to watch: short runs and long ones, several callers, exceptions, and pools that
// come and go. Every index must be done exactly once, and none after its run has returned.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <thread>
#include <vector>

#include "backend/cpu/pool.h"

using corella::Barrier;
using corella::Pool;

namespace {

void expect(bool good, const char *what) {
  if (good) return;
  std::fprintf(stderr, "pool: %s\n", what);
  std::exit(1);
}

/** Counts live in plain memory: the pool itself must order them. */
void countAll(Pool &pool, int64_t count, int most) {
  std::vector<int> done(static_cast<size_t>(count));
  std::vector<int> byWorker(static_cast<size_t>(pool.threads()));
  auto body = [&](int64_t index, int worker) {
    done[static_cast<size_t>(index)]++;
    byWorker[static_cast<size_t>(worker)]++;
  };
  Pool::Started run = pool.start(count, most, body);
  pool.wait(run);
  int64_t total = 0;
  for (const int times : done) expect(times == 1, "an index was not done once");
  for (const int times : byWorker) total += times;
  expect(total == count, "workers overlapped");
}

void throwSometimes(Pool &pool, int64_t count, int64_t bad) {
  std::atomic<int64_t> begun{0};
  try {
    pool.run(count, [&](int64_t index, int) {
      begun++;
      if (index >= bad) throw std::runtime_error("as it should");
    });
    expect(bad >= count, "an exception was lost");
  } catch (const std::runtime_error &) {
    expect(bad < count, "an exception came from nowhere");
  }
  const int64_t atReturn = begun;
  std::this_thread::yield();
  expect(begun == atReturn, "a run went on after its end");
}

void meet(Pool &pool) {
  const int threads = pool.threads();
  Barrier barrier(threads);
  std::vector<int> seen(static_cast<size_t>(threads));
  pool.together([&](int worker) {
    for (int round = 0; round < 20; round++) {
      seen[static_cast<size_t>(worker)] = round;
      barrier.wait();
      for (const int other : seen) expect(other == round, "a barrier let one through");
      barrier.wait();
    }
  });
}

/** A run that comes while another is under way begins when nothing of that is left to begin, on threads that are free by then. */
void keepOrder(Pool &pool) {
  const int64_t count = 4 * pool.threads();
  std::atomic<int64_t> begun{0};
  std::atomic<bool> isFirstHere{false}, isSecondDone{false};
  std::thread first([&] {
    pool.run(count, [&](int64_t index, int) {
      begun++;
      isFirstHere = true;
      // The last index is held until the other run is over, where another thread can do that one.
      while (index == count - 1 && pool.threads() > 1 && !isSecondDone) std::this_thread::yield();
    });
  });
  while (!isFirstHere) std::this_thread::yield();
  pool.run(count, [&](int64_t, int) { expect(begun == count, "a run began before the one that came first"); });
  isSecondDone = true;
  first.join();
}

/** Two runs of one caller, who waits for the last first, and for one of them twice. */
void startTwo(Pool &pool, int64_t count) {
  std::vector<int> done(static_cast<size_t>(2 * count));
  auto first = [&](int64_t index, int) { done[static_cast<size_t>(index)]++; };
  auto second = [&](int64_t index, int) { done[static_cast<size_t>(count + index)]++; };
  Pool::Started one = pool.start(count, 1, first), two = pool.start(count, pool.threads(), second);
  pool.wait(two);
  pool.wait(one);
  pool.wait(one);
  for (const int times : done) expect(times == 1, "what was started was not done once");
}

/** Far more than are begun before another run comes. */
constexpr int64_t ENDLESS = int64_t{1} << 26;

/** All but `most` threads leave a run to another that comes. */
void leaveSome(Pool &pool, int most) {
  std::atomic<bool> isFirstHere{false}, isSecondDone{false};
  std::thread first([&] {
    auto body = [&](int64_t index, int) {
      isFirstHere = true;
      expect(index + 1 < ENDLESS, "no thread left for another run");
      if (isSecondDone) throw std::runtime_error("as it should");
    };
    Pool::Started run = pool.start(ENDLESS, most, body);
    try {
      pool.wait(run);
    } catch (const std::runtime_error &) {}
  });
  while (!isFirstHere) std::this_thread::yield();
  std::vector<int> byWorker(static_cast<size_t>(pool.threads()));
  pool.run(200, [&](int64_t, int worker) {
    byWorker[static_cast<size_t>(worker)]++;
    std::this_thread::yield();
  });
  isSecondDone = true;
  first.join();
  int came = 0;
  for (const int times : byWorker) came += times > 0 ? 1 : 0;
  expect(came >= 1 && came <= pool.threads() - most, "more threads left than may");
}

}  // namespace

int main() {
  for (const int threads : {1, 2, 3, 8}) {
    Pool pool(threads);
    for (int round = 0; round < 1500; round++) {
      countAll(pool, 1 + round % 37, threads);
      if (round % 5 == 0) throwSometimes(pool, 1 + round % 23, round % 29);
      if (round % 100 == 0) meet(pool);
    }
    std::vector<std::thread> callers;
    for (int caller = 0; caller < 3; caller++) {
      callers.emplace_back([&] {
        for (int round = 0; round < 200; round++) {
          countAll(pool, 1 + round % 9, 1 + round % threads);
          if (round % 7 == 0) throwSometimes(pool, 1 + round % 23, round % 29);
          if (round % 3 == 0) startTwo(pool, round % 11);
          if (round % 50 == 0) meet(pool);
        }
      });
    }
    for (auto &caller : callers) caller.join();
    keepOrder(pool);
    for (int most = 1; most < threads; most++) leaveSome(pool, most);
  }
  for (int round = 0; round < 200; round++) {
    Pool pool(round % 2 == 0 ? 3 : 6);
    countAll(pool, round % 4 + 1, 1);
  }
  std::puts("the pool holds");
  return 0;
}

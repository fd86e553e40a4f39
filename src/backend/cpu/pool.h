// Threads that share out the numbers 0…count−1. Each backend has a pool of its own: two backends compete for
// cores as two programs would, and can never wait for each other.
#pragma once
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <type_traits>
#include <vector>

namespace corella {

class Pool {
  struct Run;

 public:
  using Started = std::shared_ptr<Run>;

  explicit Pool(int threads);
  ~Pool();
  Pool(const Pool &) = delete;
  Pool &operator=(const Pool &) = delete;

  int threads() const { return static_cast<int>(workers.size()); }

  /**
   * Calls body(index, worker) once for every index below count, on the pool's threads, lowest indices first,
   * and returns when all are done, whether or not every thread has come. `worker` is below threads(): no two calls
   * with the same one overlap, so it can choose a scratch buffer. The caller only waits: its stack may be small. Runs of several
   * callers are begun in the order in which they came, each when nothing of those before is left to begin: no thread sleeps in
   * between, and whoever shares memory with another caller's run waits for it first. The first exception thrown by a body ends the
   * run and is thrown again here.
   */
  template <class Body>
  void run(int64_t count, Body &&body) {
    Started run = start(count, threads(), body);
    wait(run);
  }

  /**
   * The first half of it, which returns at once. The body stays where it is until the run was waited for. Of what waits for memory
   * rather than for a processor `most` may be few: while a later run has something left to begin, all other threads leave this
   * one for it.
   */
  template <class Body>
  Started start(int64_t count, int most, Body &body) {
    return startErased(
        count, [](void *erased, int64_t index, int worker) { (*static_cast<Body *>(erased))(index, worker); },
        const_cast<void *>(static_cast<const void *>(&body)), Sharing::indices, most);
  }
  /** The second; nothing, where nothing was started or it was waited for before. */
  void wait(Started &run);

  /**
   * Calls body(worker) once on every thread, all at the same time, so that they may wait for each other (Barrier).
   * The body must not throw: the others would wait for ever.
   */
  template <class Body>
  void together(Body &&body) {
    using Plain = std::remove_reference_t<Body>;
    Started run = startErased(
        threads(), [](void *erased, int64_t, int worker) { (*static_cast<Plain *>(erased))(worker); },
        const_cast<void *>(static_cast<const void *>(&body)), Sharing::oneEach, threads());
    wait(run);
  }

 private:
  using Erased = void (*)(void *body, int64_t index, int worker);
  enum class Sharing { indices, oneEach };
  /** A thread that comes late finds nothing left in it, and never looks at its body. */
  struct Run {
    Erased call;
    void *body;
    int64_t count;
    Sharing sharing;
    int most;  // threads, where another run waits
    uint64_t number;
    std::atomic<int64_t> next{0}, done{0};
    std::atomic<int> workers{0};  // those that came, less those that left
    std::exception_ptr thrown;
    std::condition_variable finished;
  };
  Started startErased(int64_t count, Erased call, void *body, Sharing sharing, int most);
  void work(int worker);
  /** For a run after the last that is known, for some ten microseconds. */
  void lookAround(uint64_t known) const;
  void share(Run &run, int worker);
  void finish(Run &run, int64_t indices);
  /** Whether this thread leaves the run to others: a later one has something left to begin, and enough stay. */
  bool leaves(Run &run);

  /** The first in the queue that came after the one with this number, and has something left to begin; or none. */
  std::shared_ptr<Run> after(uint64_t number) const;

  /** Threads look for new work before they sleep. */
  const bool looksAround;
  std::mutex guard;
  std::condition_variable wake;
  std::atomic<uint64_t> last{0};  // number of the run that came last; the first has 1
  bool closing = false;
  std::deque<std::shared_ptr<Run>> queue;  // in the order of their numbers, until all of each is done
  std::vector<std::thread> workers;
};

/** Where threads that run together wait until all have come. */
class Barrier {
 public:
  explicit Barrier(int threads) : expected(threads) {}
  void wait();

 private:
  const int expected;
  std::atomic<int> come{0};
  std::atomic<uint32_t> phase{0};
};

/** Cores this process may really use: affinity and the control group's quota, at least 1. */
int usableCores();

}  // namespace corella

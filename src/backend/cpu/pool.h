// Threads that share out the numbers 0…count−1. Each backend has a pool of its own: two backends compete for cores like
// two programs, and never wait for each other.
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
   * Calls body(index, worker) once for every index below count, on the pool's threads, lowest indices first, and
   * returns when all are done, even if some threads have not started. `worker` is below threads(): no two calls with
   * the same one overlap, so it can choose a scratch buffer. The caller only waits: its stack may be small. Runs of
   * several callers are begun in order, each when nothing of those before is left to begin: no thread sleeps in
   * between, and a caller that shares memory with another's run must wait for it first. The first exception thrown by a
   * body ends the run and is thrown again here.
   */
  template <class Body>
  void run(int64_t count, Body &&body) {
    Started run = start(count, threads(), body);
    wait(run);
  }

  /**
   * The first half of it, which returns at once. The body must stay in place until the run was waited for. For
   * memory-bound work `most` may be small: while a later run has something left to begin, all other threads leave this
   * one for it.
   */
  template <class Body>
  Started start(int64_t count, int most, Body &body) {
    return startErased(
        count, [](void *erased, int64_t index, int worker) { (*static_cast<Body *>(erased))(index, worker); },
        const_cast<void *>(static_cast<const void *>(&body)), Sharing::indices, most);
  }
  /** The second half; does nothing if nothing was started or it was waited for before. */
  void wait(Started &run);

  /**
   * Calls body(worker) once on every thread, all at the same time, so that they may wait for each other (Barrier). The
   * body must not throw, or the others would wait for ever.
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
  /** A thread that comes late finds nothing left in it, and does not access its body. */
  struct Run {
    Erased call;
    void *body;
    int64_t count;
    Sharing sharing;
    int most;  // threads, if another run waits
    uint64_t number;
    std::atomic<int64_t> next{0}, done{0};
    std::atomic<int> workers{0};  // threads that joined, less those that left
    std::exception_ptr thrown;
    std::condition_variable finished;
  };
  Started startErased(int64_t count, Erased call, void *body, Sharing sharing, int most);
  void work(int worker);
  /** Polls for a run after the last known one, for some ten microseconds. */
  void lookAround(uint64_t known) const;
  void share(Run &run, int worker);
  void finish(Run &run, int64_t indices);
  /** Whether this thread leaves the run to others: a later one has something left to begin, and enough threads stay. */
  bool leaves(Run &run);

  /** The first run in the queue after the one with this number that has something left to begin; or null. */
  std::shared_ptr<Run> after(uint64_t number) const;

  /** Threads poll for new work before they sleep. */
  const bool looksAround;
  std::mutex guard;
  std::condition_variable wake;
  std::atomic<uint64_t> last{0};  // number of the latest run; the first has 1
  bool closing = false;
  std::deque<std::shared_ptr<Run>> queue;  // in the order of their numbers, until all of each is done
  std::vector<std::thread> workers;
};

/** Where threads that run together wait for each other. */
class Barrier {
 public:
  explicit Barrier(int threads) : expected(threads) {}
  void wait();

 private:
  const int expected;
  std::atomic<int> come{0};
  std::atomic<uint32_t> phase{0};
};

/** Usable cores of this process: by affinity and the control group's quota, at least 1. */
int usableCores();

}  // namespace corella

#include "pool.h"

#include <algorithm>
#include <cstdio>
#if defined(__linux__)
#include <sched.h>
#endif

namespace corella {

namespace {

/** With so few threads waking is fast enough: they do not poll before they sleep. */
constexpr int FEW_THREADS = 4;

inline void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

}  // namespace

Pool::Pool(int threads) : looksAround(threads > FEW_THREADS) {
  workers.reserve(static_cast<size_t>(threads));
  try {
    for (int worker = 0; worker < threads; worker++) workers.emplace_back([this, worker] { work(worker); });
  } catch (...) {
    // Threads already started must end before the members they use are destroyed.
    {
      std::lock_guard<std::mutex> lock(guard);
      closing = true;
    }
    wake.notify_all();
    for (auto &started : workers) started.join();
    throw;
  }
}

Pool::~Pool() {
  {
    std::lock_guard<std::mutex> lock(guard);
    closing = true;
  }
  wake.notify_all();
  for (auto &worker : workers) worker.join();
}

Pool::Started Pool::startErased(int64_t count, Erased call, void *body, Sharing sharing, int most) {
  if (count <= 0) return nullptr;
  const auto run = std::make_shared<Run>();
  run->call = call;
  run->body = body;
  run->count = count;
  run->sharing = sharing;
  run->most = most;
  std::lock_guard<std::mutex> lock(guard);
  run->number = ++last;
  queue.push_back(run);
  // Only as many as have work: waking one costs as much as a small piece of work.
  if (count < threads()) {
    for (int64_t n = 0; n < count; n++) wake.notify_one();
  } else {
    wake.notify_all();
  }
  return run;
}

void Pool::wait(Started &started) {
  if (started == nullptr) return;
  const Started run = std::move(started);
  started = nullptr;
  std::unique_lock<std::mutex> lock(guard);
  run->finished.wait(lock, [&] { return run->done == run->count; });
  queue.erase(std::find(queue.begin(), queue.end(), run));
  if (run->thrown) std::rethrow_exception(run->thrown);
}

void Pool::lookAround(uint64_t known) const {
  /** Polls for some microseconds, then yields for as long as waking takes, so that others can use the core. */
  constexpr int LOOKS = 100, YIELDS = 300;
  for (int look = 0; look < LOOKS + YIELDS && last.load(std::memory_order_acquire) == known; look++) {
    if (look < LOOKS)
      pause();
    else
      std::this_thread::yield();
  }
}

std::shared_ptr<Pool::Run> Pool::after(uint64_t number) const {
  for (const auto &run : queue)
    if (run->number > number && (run->sharing == Sharing::oneEach || run->next < run->count)) return run;
  return nullptr;
}

void Pool::work(int worker) {
  uint64_t seen = 0;
  std::unique_lock<std::mutex> lock(guard);
  for (;;) {
    std::shared_ptr<Run> run;
    if (looksAround && after(seen) == nullptr && !closing) {
      const uint64_t known = last;
      lock.unlock();
      lookAround(known);
      lock.lock();
    }
    wake.wait(lock, [&] { return closing || (run = after(seen)) != nullptr; });
    if (closing) return;
    seen = run->number;
    lock.unlock();
    share(*run, worker);
    lock.lock();
  }
}

void Pool::finish(Run &run, int64_t indices) {
  if (run.done.fetch_add(indices, std::memory_order_acq_rel) + indices < run.count) return;
  std::lock_guard<std::mutex> lock(guard);  // a waiting thread has either not tested yet or sleeps already
  run.finished.notify_one();
}

bool Pool::leaves(Run &run) {
  if (run.workers.load(std::memory_order_relaxed) <= run.most || last.load(std::memory_order_acquire) == run.number)
    return false;
  {
    std::lock_guard<std::mutex> lock(guard);
    if (after(run.number) == nullptr) return false;
  }
  if (run.workers.fetch_sub(1) > run.most) return true;
  run.workers++;
  return false;
}

void Pool::share(Run &run, int worker) {
  if (run.sharing == Sharing::oneEach) {
    run.call(run.body, worker, worker);
    finish(run, 1);
    return;
  }
  run.workers++;
  for (int64_t index = run.next++; index < run.count; index = leaves(run) ? run.count : run.next++) {
    int64_t ended = 1;
    try {
      run.call(run.body, index, worker);
    } catch (...) {
      // Calls not yet begun are skipped.
      ended += std::max<int64_t>(0, run.count - run.next.exchange(run.count));
      std::lock_guard<std::mutex> lock(guard);
      if (!run.thrown) run.thrown = std::current_exception();
    }
    finish(run, ended);
  }
}

void Barrier::wait() {
  /** Polls for some ten microseconds; a thread that has not come by then has lost its core, and may need this one. */
  constexpr int LOOKS = 256;
  const uint32_t mine = phase.load(std::memory_order_acquire);
  if (come.fetch_add(1, std::memory_order_acq_rel) + 1 == expected) {
    come.store(0, std::memory_order_relaxed);
    phase.store(mine + 1, std::memory_order_release);
    return;
  }
  for (int look = 0; phase.load(std::memory_order_acquire) == mine; look++) {
    if (look >= LOOKS) {
      std::this_thread::yield();
    } else {
      pause();
    }
  }
}

namespace {

/** The control group's CPU quota in cores, or 0 where there is none. */
int quotaCores() {
  double quota = 0, period = 0;
  if (FILE *v2 = std::fopen("/sys/fs/cgroup/cpu.max", "r")) {
    const int read = std::fscanf(v2, "%lf %lf", &quota, &period);  // "max 100000" reads nothing
    std::fclose(v2);
    return read == 2 && period > 0 ? static_cast<int>((quota + period - 1) / period) : 0;
  }
  const auto number = [](const char *path) {
    double value = 0;
    FILE *file = std::fopen(path, "r");
    if (file == nullptr) return 0.0;
    if (std::fscanf(file, "%lf", &value) != 1) value = 0;
    std::fclose(file);
    return value;
  };
  quota = number("/sys/fs/cgroup/cpu/cpu.cfs_quota_us");
  period = number("/sys/fs/cgroup/cpu/cpu.cfs_period_us");
  return quota > 0 && period > 0 ? static_cast<int>((quota + period - 1) / period) : 0;
}

}  // namespace

int usableCores() {
  int cores = static_cast<int>(std::thread::hardware_concurrency());
#if defined(__linux__)
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) cores = CPU_COUNT(&set);
#endif
  const int quota = quotaCores();
  return std::max(1, quota > 0 ? std::min(cores, quota) : cores);
}

}  // namespace corella

// Units of work that several threads make together, each a part; the last thread writes the whole.
#pragma once
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

namespace corella {

/**
 * Lends each unit a stage from the arrival of its first thread until it is written. Parts are begun in order, so of all
 * units begun at most one is waiting for further threads, and every other has one at work: one stage more than there
 * are threads is enough.
 */
class SharedUnits {
 public:
  SharedUnits(int64_t mostUnits, int threads) : units(static_cast<size_t>(mostUnits)) {
    for (int stage = threads; stage >= 0; stage--) free.push_back(stage);
  }

  /** No unit may be in progress. */
  void begin(int64_t count, int parts) {
    for (int64_t unit = 0; unit < count; unit++) units[static_cast<size_t>(unit)] = {NONE, parts};
  }

  /** The unit's stage. */
  int enter(int64_t unit) {
    std::lock_guard<std::mutex> lock(guard);
    Unit &mine = units[static_cast<size_t>(unit)];
    if (mine.stage == NONE) {
      mine.stage = free.back();
      free.pop_back();
    }
    return mine.stage;
  }

  /** Whether this was the last part; then the other threads' writes are visible. */
  bool leave(int64_t unit) {
    std::lock_guard<std::mutex> lock(guard);
    return --units[static_cast<size_t>(unit)].left == 0;
  }

  void giveBack(int64_t unit) {
    std::lock_guard<std::mutex> lock(guard);
    free.push_back(units[static_cast<size_t>(unit)].stage);
  }

 private:
  static constexpr int NONE = -1;
  struct Unit {
    int stage, left;
  };
  std::mutex guard;
  std::vector<Unit> units;
  std::vector<int> free;
};

}  // namespace corella

// Units of work that several threads make together, each a part; the last of them carries the whole away.
#pragma once
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

namespace corella {

/**
 * Lends each unit a stage from when its first thread comes until it is carried away. Parts are begun in order, so of all
 * units begun at most one is waiting for threads yet to come, and every other has one at work: a stage more than there
 * are threads is enough.
 */
class SharedUnits {
 public:
  SharedUnits(int64_t mostUnits, int threads) : units(static_cast<size_t>(mostUnits)) {
    for (int stage = threads; stage >= 0; stage--) free.push_back(stage);
  }

  /** No unit may be under way. */
  void begin(int64_t count, int parts) {
    for (int64_t unit = 0; unit < count; unit++) units[static_cast<size_t>(unit)] = {NONE, parts};
  }

  /** Which stage the unit has. */
  int enter(int64_t unit) {
    std::lock_guard<std::mutex> lock(guard);
    Unit &mine = units[static_cast<size_t>(unit)];
    if (mine.stage == NONE) {
      mine.stage = free.back();
      free.pop_back();
    }
    return mine.stage;
  }

  /** Whether this was the last part; then all that others wrote is there to be read. */
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

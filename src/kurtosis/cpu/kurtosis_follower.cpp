// Sums of a block's powers that threads begin by themselves, as soon as the block is filled (follower.h).
#include <memory>
#include <mutex>
#include <vector>

#include "backend/cpu/follower.h"
#include "kurtosis/cpu/kurtosis_sums.h"

namespace corella {
namespace {

class SumsFollower final : public Follower {
 public:
  SumsFollower(Context &of, const SpectraLayout &blockLayout, const char *blockMemory, int64_t real,
               const uint8_t *flaggedInputs)
      : context(of),
        layout(blockLayout),
        block(blockMemory),
        realChannels(real),
        flags(flaggedInputs, flaggedInputs + blockLayout.inputs) {}
  ~SumsFollower() override { context.pool.wait(run); }

  /** What is to be summed from now on, and where to; all but that is copied. */
  struct Expected {
    Windows windows;
    double *sums;
    const Fence *heads;
    int64_t fences;
    const FenceEntry *tables;
    int64_t entries;
    const int32_t *places;
    uint8_t *marks, *groupMarks;
    double *totals;
  };
  void expect(const Expected &asked) {
    const std::lock_guard<std::mutex> lock(guard);
    context.pool.wait(run);
    check(layout, asked.windows);
    checkFences(asked.places, asked.windows.count, asked.fences);
    const int64_t windows = asked.windows.count;
    edges.assign(asked.windows.edges, asked.windows.edges + windows + 1);
    heads.assign(asked.heads, asked.heads + asked.fences);
    tables.assign(asked.tables, asked.tables + asked.entries);
    places.assign(asked.places, asked.places + (asked.fences > 0 ? 4 * windows : 0));
    const Fence *all = asked.fences > 0 ? heads.data() : nullptr;
    screen = {all,          tables.data(), places.data(),    flags.data(),
              realChannels, asked.marks,   asked.groupMarks, asked.totals};
    sums = asked.sums;
  }

  void wait() override {
    const std::lock_guard<std::mutex> lock(guard);
    context.pool.wait(run);
  }

  bool begin(const void *powers, int64_t spectra) override {
    const std::lock_guard<std::mutex> lock(guard);
    if (edges.empty() || spectra != edges.back()) return false;
    const Windows windows{edges.data(), static_cast<int64_t>(edges.size()) - 1};
    work = std::make_unique<PowerSums>(context, Source{layout, block, static_cast<const uint32_t *>(powers)}, windows,
                                       screen, sums);
    run = work->start(context.pool);
    return true;
  }

 private:
  Context &context;
  const SpectraLayout layout;
  const char *const block;
  const int64_t realChannels;
  const std::vector<uint8_t> flags;  // [a]
  std::vector<int32_t> edges, places;
  std::vector<Fence> heads;
  std::vector<FenceEntry> tables;
  Screen screen{};
  double *sums = nullptr;
  std::unique_ptr<PowerSums> work;
  /** Whoever judges the block and whoever closes it may wait at the same time: neither goes on before it is done. */
  std::mutex guard;
  Pool::Started run;
};

}  // namespace
}  // namespace corella

using namespace corella;

// For a block as in spectra.h, which outlives it.
CORELLA_EXPORT int32_t corella_kurtosis_follower_open(char *error, void *context, int32_t type, int64_t channels,
                                                      int64_t inputs, int64_t capacity, const void *block,
                                                      int64_t realChannels, const uint8_t *flaggedInputs,
                                                      void **follower) {
  return withContext(error, context, [&](Context &open) {
    const SpectraLayout layout{static_cast<SpectraType>(type), channels, inputs, capacity};
    *follower = open.keep<Follower>(
        std::make_unique<SumsFollower>(open, layout, static_cast<const char *>(block), realChannels, flaggedInputs));
  });
}

// As corella_kurtosis_sums has them. What comes out is written to whenever the block is filled with as many spectra as the
// windows have, from now until the follower is asked for something else or closed.
CORELLA_EXPORT int32_t corella_kurtosis_follower_expect(char *error, void *context, void *follower,
                                                        const int32_t *edges, int64_t windows, double *sums,
                                                        int64_t fences, const double *heads, int64_t entries,
                                                        const double *tables, const int32_t *places, uint8_t *marks,
                                                        uint8_t *groupMarks, double *totals) {
  return withContext(error, context, [&](Context &) {
    auto &one = *static_cast<SumsFollower *>(static_cast<Follower *>(follower));
    one.expect({{edges, windows},
                sums,
                reinterpret_cast<const Fence *>(heads),
                fences,
                reinterpret_cast<const FenceEntry *>(tables),
                entries,
                places,
                marks,
                groupMarks,
                totals});
  });
}

CORELLA_EXPORT int32_t corella_kurtosis_follower_wait(char *error, void *context, void *follower) {
  return withContext(error, context, [&](Context &) { static_cast<Follower *>(follower)->wait(); });
}

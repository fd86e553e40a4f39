// Copies canonical spectra [c][a][t] into a block, and back.
#include <algorithm>
#include <atomic>

#include "context.h"
#include "spectra_pack.h"

using namespace corella;

namespace {

int64_t bytesPerSample(SpectraType type) {
  switch (type) {
    case SpectraType::ci8: return 2;
    case SpectraType::ci4: return 1;
    case SpectraType::cf32: return 8;
  }
  throw Refusal("no such type of spectra");
}

SpectraLayout checkedLayout(int32_t type, int64_t channels, int64_t inputs, int64_t capacity, int64_t samples) {
  require(channels >= 1 && inputs >= 1 && capacity >= 0, "a block of spectra has a size below 1");
  require(samples >= 0 && samples <= capacity, "more samples than the block holds");
  const SpectraLayout layout{static_cast<SpectraType>(type), channels, inputs, capacity};
  bytesPerSample(layout.type);
  return layout;
}

/** Calls body(block, canonical row, inputs) for every channel and block of sixteen inputs, on all threads. */
template <class Body>
void eachInputBlock(Context &context, const SpectraLayout &layout, int64_t samples, Body &&body) {
  const int64_t blocks = layout.inputBlocks(), rowBytes = samples * bytesPerSample(layout.type);
  context.pool.run(layout.channels * blocks, [&](int64_t index, int) {
    const int64_t first = index % blocks * TILE_INPUTS;
    const int64_t row = index / blocks * layout.inputs + first;
    body(index * layout.inputBlockBytes(), row * rowBytes, std::min(TILE_INPUTS, layout.inputs - first));
  });
}

}  // namespace

// *broken becomes 1 where a value is outside the allowed range (−128, −8, not finite), else 0.
CORELLA_EXPORT int32_t corella_spectra_write(char *error, void *context, int32_t type, int64_t channels, int64_t inputs,
                                             int64_t capacity, int64_t samples, const void *canonical, void *block,
                                             int32_t *broken) {
  return withContext(error, context, [&](Context &open) {
    const SpectraLayout layout = checkedLayout(type, channels, inputs, capacity, samples);
    const auto pack = CORELLA_PICK(open.level, spectraPacking).pack[type];
    std::atomic<bool> any{false};
    eachInputBlock(open, layout, samples, [&](int64_t to, int64_t from, int64_t rows) {
      const bool bad =
          pack(static_cast<const char *>(canonical) + from, rows, samples, static_cast<char *>(block) + to);
      if (bad) any = true;
    });
    *broken = any ? 1 : 0;
  });
}

CORELLA_EXPORT int32_t corella_spectra_read(char *error, void *context, int32_t type, int64_t channels, int64_t inputs,
                                            int64_t capacity, int64_t samples, const void *block, void *canonical) {
  return withContext(error, context, [&](Context &open) {
    const SpectraLayout layout = checkedLayout(type, channels, inputs, capacity, samples);
    const auto unpack = CORELLA_PICK(open.level, spectraPacking).unpack[type];
    eachInputBlock(open, layout, samples, [&](int64_t from, int64_t to, int64_t rows) {
      unpack(static_cast<const char *>(block) + from, rows, samples, static_cast<char *>(canonical) + to);
    });
  });
}

// Powers of every input and channel summed over windows, and the first look at the sums: how it is shared out to threads.
#pragma once
#include "backend/cpu/context.h"
#include "backend/cpu/spectra_powers.h"
#include "kurtosis/cpu/kurtosis_kernel.h"
#include "kurtosis/cpu/kurtosis_screen.h"

namespace corella {

struct Windows {
  const int32_t *edges;  // [w + 1]
  int64_t count;
};

inline void check(const SpectraLayout &layout, const Windows &windows) {
  require(layout.channels >= 1 && layout.inputs >= 1 && layout.capacity >= 1, "a block has a size below 1");
  require(windows.count >= 1 && windows.edges[0] == 0, "windows must begin with the block");
  for (int64_t w = 0; w < windows.count; w++)
    require(windows.edges[w] % 4 == 0 && windows.edges[w + 1] > windows.edges[w],
            "windows must begin at multiples of 4");
  require(windows.edges[windows.count] <= layout.capacity, "a window lies beyond the block");
}

/** places : [w][4] of so many fences; none where nothing is screened. */
inline void checkFences(const int32_t *places, int64_t windows, int64_t fences) {
  for (int64_t n = 0; n < 4 * windows && fences > 0; n++)
    require(places[n] >= 0 && places[n] < fences, "a window has no fence");
}

/** A block, and the powers that lie beside it (spectra_powers.h), or null. */
struct Source {
  SpectraLayout layout;
  const char *block;
  const uint32_t *powers;
};

/** Sums over a block's windows, and what is seen in them. */
class PowerSums {
 public:
  /** sums : [w][c][a][S1, S2] */
  PowerSums(Context &context, const Source &source, const Windows &windows, const Screen &screen, double *sums);

  /** Sets the pool's threads to work; this stays where it is until they were waited for. */
  Pool::Started start(Pool &pool);
  /** For the pool alone. */
  void operator()(int64_t item, int worker) const;

 private:
  void sumQuad(int64_t quad, int64_t group) const;

  const KurtosisKernel &kernel;
  const Source source;
  const Windows windows;
  const Screen screen;
  double *const sums;
  /** Channels that are summed together, and how many such quads an item has. */
  const int64_t atOnce, quads, together;
};

}  // namespace corella

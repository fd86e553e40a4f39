// How the lower half of a matrix is divided into panels of rows, and dealt to threads.
#pragma once
#include <algorithm>
#include <cmath>
#include <vector>

#include "calibrate/cpu/stefcal_kernels.h"

namespace corella {

/** Stations in the widest vector; they are padded to a multiple. */
constexpr int64_t STATIONS_TOGETHER = 16;

constexpr int64_t roundUp(int64_t value, int64_t multiple) { return (value + multiple - 1) / multiple * multiple; }
/** Where the pairs of station i with those before it begin. */
constexpr int64_t rowStart(int64_t i) { return i * (i + 1) / 2; }

/** The largest power of two ≤ value, so that division by it is exact; 1 for 0. */
inline double powerOfTwo(double value) { return value > 0 ? std::ldexp(1.0, std::ilogb(value)) : 1; }

/** Neighbouring panels to one thread, the same number of bytes to each: they stay in its cache. */
class Panels {
 public:
  Panels(int64_t stationCount, int64_t lanes, int threads)
      : stations(stationCount),
        count((stationCount + PANEL_ROWS - 1) / PANEL_ROWS),
        places(static_cast<size_t>(count + 1)),
        shares(static_cast<size_t>(threads + 1)) {
    for (int64_t panel = 0; panel < count; panel++) {
      // the panel's last row ends before its diagonal; the first panel's three columns still take a vector
      const int64_t columns = roundUp((panel + 1) * PANEL_ROWS - 1, lanes);
      places[static_cast<size_t>(panel + 1)] = places[static_cast<size_t>(panel)] + columns * PANEL_ROWS;
    }
    offsets = places;
    for (int thread = 0; thread <= threads; thread++) {
      const int64_t upTo = places.back() * thread / threads;
      shares[static_cast<size_t>(thread)] = std::lower_bound(places.begin(), places.end(), upTo) - places.begin();
    }
    shares.back() = count;
  }

  /** Sets the number of floats per pair. */
  void setFloats(int64_t floats) {
    for (size_t panel = 0; panel < places.size(); panel++) offsets[panel] = places[panel] * floats;
  }
  /** The length of all panels together, and the start of a row's panel, in floats. */
  int64_t length() const { return offsets.back(); }
  int64_t at(int64_t row) const { return offsets[static_cast<size_t>(row / PANEL_ROWS)]; }
  /** Columns of a row's panel, padded to whole vectors. */
  int64_t columns(int64_t row) const {
    const auto panel = static_cast<size_t>(row / PANEL_ROWS);
    return (places[panel + 1] - places[panel]) / PANEL_ROWS;
  }
  int64_t begin(int thread) const { return offsets[static_cast<size_t>(shares[static_cast<size_t>(thread)])]; }

  int64_t firstRow(int thread) const { return std::min(stations, shares[static_cast<size_t>(thread)] * PANEL_ROWS); }
  PanelRange range(const void *memory, int thread, bool backwards) const {
    return {static_cast<const float *>(memory), offsets.data(), shares[static_cast<size_t>(thread)],
            shares[static_cast<size_t>(thread + 1)], backwards};
  }

 private:
  const int64_t stations, count;
  /** In pairs, and in floats. */
  std::vector<int64_t> places, offsets;
  std::vector<int64_t> shares;
};

}  // namespace corella

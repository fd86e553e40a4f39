// How a transform of any length is cut into passes, and the tables for them. For the once-compiled half.
#pragma once
#include <memory>
#include <vector>

#include "channelise/cpu/channelise_job.h"

namespace corella {

struct TransformTables {
  /** `pointBytes` determines the padding that keeps the legs of a butterfly in different cache sets. */
  TransformTables(int32_t points, int64_t pointBytes);

  Transform view() const;

 private:
  int64_t layOut(size_t level, int32_t length, int64_t pointBytes, std::vector<int32_t> &places,
                 std::vector<int32_t> &bins);

  int32_t points;
  int64_t extent;
  std::vector<int32_t> radices, placeOf, binAt;
  std::vector<std::vector<int32_t>> columns;
  std::vector<std::vector<float>> twiddles, circles;
  std::vector<Pass> passes;
};

/** Whether every prime factor of a length is small enough for a pass of its own. */
bool hasSmallFactors(int32_t points);

/** A transform of `points` points by a longer one whose length is a power of two. */
struct ChirpTables {
  ChirpTables(int32_t points, const Transform &longer);
  static int32_t longerThan(int32_t points);
  Chirp view() const { return {turn.data(), spectrum.data()}; }

 private:
  std::vector<float> turn, spectrum;
};

}  // namespace corella

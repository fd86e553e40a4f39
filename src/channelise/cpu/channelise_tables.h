// The tables of a channeliser, before the first sample: its job for the kernels.
#pragma once
#include <cstdlib>
#include <memory>
#include <vector>

#include "backend/cpu/context.h"
#include "channelise/cpu/channelise_job.h"
#include "channelise/cpu/channelise_transform.h"

namespace corella {

struct ChanneliseShape {
  Scalar scalar;
  bool real;
  SpectraType output;
  int64_t channels, taps, inputs;
  int64_t mostDelay;  // samples either way; −1 where nothing is delayed

  int64_t samplesPerSpectrum() const { return real ? 2 * channels : channels; }
  bool tracked() const { return mostDelay >= 0; }
  int64_t sampleBytes() const { return (scalar == Scalar::i8 ? 1 : scalar == Scalar::i16 ? 2 : 4) * (real ? 1 : 2); }
};

class ChanneliseTables {
 public:
  /** taps : [τ][n], int16 for 8-bit samples, else float64; factors : [a][c], or one for all. */
  ChanneliseTables(const ChanneliseKernel &kernel, const ChanneliseShape &shape, const void *taps,
                   const double *factors, int64_t factorCount);
  ChanneliseTables(const ChanneliseTables &) = delete;
  ChanneliseTables &operator=(const ChanneliseTables &) = delete;

  const ChanneliseJob &job() const { return made; }
  /** By place. */
  const float *gainsOf(int64_t input) const { return gains.data() + input * gainStride; }

 private:
  void planTransform();
  void planLines();
  void arrangeTaps(const void *taps);
  void arrangeGains(const double *factors, int64_t factorCount);

  const ChanneliseKernel &kernel;
  const ChanneliseShape shape;
  const int32_t points;
  ChanneliseJob made{};
  std::unique_ptr<TransformTables> transform;
  std::unique_ptr<ChirpTables> chirpTables;
  Chirp chirp{};
  std::vector<int32_t> binAt, channelAt;
  std::vector<float> untangle;
  std::vector<Line> lines;
  std::vector<Group> groups;
  std::unique_ptr<void, void (*)(void *)> table{nullptr, std::free};
  std::vector<float> gains;  // [a][place], or [place] for all
  int64_t gainStride = 0;
  /** −1 where the taps are negated, and so the gains. */
  int sign = 1;
};

}  // namespace corella

#include "channelise/cpu/channelise_tables.h"

#include <algorithm>
#include <cmath>

namespace corella {

ChanneliseTables::ChanneliseTables(const ChanneliseKernel &level, const ChanneliseShape &wanted, const void *taps,
                                   const double *factors, int64_t factorCount)
    : kernel(level), shape(wanted), points(static_cast<int32_t>(wanted.channels)) {
  made.scalar = shape.scalar;
  made.taps = static_cast<int32_t>(shape.taps);
  made.points = points;
  made.real = shape.real;
  made.output = shape.output;
  planTransform();
  planLines();
  arrangeTaps(taps);
  arrangeGains(factors, factorCount);
  // A stage's stride is no multiple of 4 kB, or sixteen inputs' stages would share one set of the L1 cache.
  const int64_t stage = made.places * kernel.lanes * (shape.output == SpectraType::cf32 ? 8 : 2);
  made.stageBytes = (stage / 4096 + 1) * 4096 + 192;
  made.zeroChannel = shape.real ? 0 : points / 2;
  // Two tables of about √C entries each.
  while ((int64_t{1} << (2 * made.fineTurnBits)) < points) made.fineTurnBits++;
  const int radix = made.transform.passes[made.transform.passCount - 1].radix;
  const bool straight = !shape.real && made.chirp == nullptr && made.transform.passCount > 1;
  if (!straight || (radix != 4 && radix != 8 && radix != 16)) return;
  made.legs = radix;
}

void ChanneliseTables::planTransform() {
  const bool direct = hasSmallFactors(points);
  transform = std::make_unique<TransformTables>(direct ? points : ChirpTables::longerThan(points), 8 * kernel.lanes);
  made.transform = transform->view();
  if (direct) {
    binAt.assign(made.transform.binAt, made.transform.binAt + points);
    made.places = made.transform.extent;
  } else {
    chirpTables = std::make_unique<ChirpTables>(points, made.transform);
    chirp = chirpTables->view();
    made.chirp = &chirp;
    for (int32_t k = 0; k < points; k++) binAt.push_back(k);
    made.places = (points + 3) / 4 * 4;
  }
  made.binAt = binAt.data();
  // Channels are in rising frequency: for complex samples the negative ones come first.
  channelAt.assign(static_cast<size_t>(made.places), -1);
  for (int32_t k = 0; k < points; k++) {
    channelAt[static_cast<size_t>(binAt[static_cast<size_t>(k)])] = shape.real ? k : (k + points / 2) % points;
  }
  made.channel = channelAt.data();
  for (int32_t k = 0; k <= points / 2; k++) {
    const double angle = -3.14159265358979323846 * k / points;
    untangle.push_back(static_cast<float>(std::cos(angle)));
    untangle.push_back(static_cast<float>(std::sin(angle)));
  }
  made.untangle = untangle.data();
}

/** Filters in the order of the first pass: all its legs' lines of a few columns, before the next few columns'. */
void ChanneliseTables::planLines() {
  const int32_t most = 2 * kernel.lanes;
  const int32_t *placeOf = made.transform.placeOf;
  const auto addLines = [&](int32_t first, int32_t end) {
    while (first < end) {
      int32_t count = 1;
      while (first + count < end && count < most && placeOf[first + count] == placeOf[first] + count) count++;
      lines.push_back({first, count, placeOf[first]});
      first += count;
    }
  };
  const Pass &pass = made.transform.passes[0];
  const bool byColumns = made.chirp == nullptr && pass.columns >= most;
  const int32_t step = byColumns && kernel.lanes > 4 ? most : pass.columns;
  for (int32_t column = 0; column < pass.columns; column += step) {
    const auto firstLine = static_cast<int32_t>(lines.size());
    const int32_t endColumn = std::min(column + step, pass.columns);
    if (byColumns) {
      for (int32_t leg = 0; leg < pass.radix; leg++) {
        addLines(leg * pass.columns + column, leg * pass.columns + endColumn);
      }
    } else {
      addLines(0, points);
    }
    groups.push_back({firstLine, static_cast<int32_t>(lines.size()), column, endColumn});
  }
  made.lines = lines.data();
  made.groups = groups.data();
  made.groupCount = static_cast<int32_t>(groups.size());
}

void ChanneliseTables::arrangeTaps(const void *taps) {
  const bool bytes = shape.scalar == Scalar::i8;
  const int64_t perLane = bytes ? (shape.taps + 1) / 2 : shape.taps;
  // Two signed bytes cover −128·257 to 127·257: a filter with a larger peak is negated.
  constexpr int16_t MOST_POSITIVE = 127 * 257;
  const auto *integers = static_cast<const int16_t *>(taps);
  const int64_t tapCount = shape.taps * shape.samplesPerSpectrum();
  const auto reaches = [&](int sign) {
    return !bytes || std::all_of(integers, integers + tapCount, [&](int tap) { return sign * tap <= MOST_POSITIVE; });
  };
  made.bytesApart = bytes && kernel.layOutByteTable != nullptr && (reaches(1) || reaches(-1));
  sign = made.bytesApart && !reaches(1) ? -1 : 1;
  const bool ownLayout = made.bytesApart;
  made.tableLineBytes = ownLayout ? kernel.byteTableBytes(made.taps, shape.real) : 4 * perLane * kernel.lanes * 4;
  table = alignedMemory(lines.size() * static_cast<size_t>(made.tableLineBytes));
  const auto tapAt = [&](const auto *all, int64_t tap, int64_t point, int64_t scalar) {
    const int64_t sample = shape.real ? 2 * point + scalar % 2 : point;
    return tap < shape.taps ? all[tap * shape.samplesPerSpectrum() + sample] : 0;
  };
  for (size_t l = 0; l < lines.size(); l++) {
    char *line = static_cast<char *>(table.get()) + static_cast<int64_t>(l) * made.tableLineBytes;
    if (ownLayout) {
      const int32_t most = 4 * kernel.lanes;  // scalars of a line
      std::vector<int16_t> own(static_cast<size_t>(shape.taps * most));
      for (int64_t tap = 0; tap < shape.taps; tap++) {
        for (int32_t scalar = 0; scalar < most; scalar++) {
          if (scalar / 2 >= lines[l].points) continue;
          own[static_cast<size_t>(tap * most + scalar)] =
              static_cast<int16_t>(sign * tapAt(integers, tap, lines[l].first + scalar / 2, scalar));
        }
      }
      kernel.layOutByteTable(own.data(), made.taps, shape.real, line);
      continue;
    }
    for (int32_t vector = 0; vector < 4; vector++) {
      for (int32_t lane = 0; lane < kernel.lanes; lane++) {
        const int32_t scalar = kernel.scalarOf(bytes, vector, lane), point = lines[l].first + scalar / 2;
        const bool exists = scalar / 2 < lines[l].points;
        for (int64_t n = 0; n < perLane; n++) {
          const int64_t at = (vector * perLane + n) * kernel.lanes + lane;
          if (bytes) {
            const auto *all = static_cast<const int16_t *>(taps);
            const auto low = static_cast<uint16_t>(exists ? tapAt(all, 2 * n, point, scalar) : 0);
            const auto high = static_cast<uint16_t>(exists ? tapAt(all, 2 * n + 1, point, scalar) : 0);
            reinterpret_cast<uint32_t *>(line)[at] = static_cast<uint32_t>(high) << 16 | low;
          } else {
            const auto *all = static_cast<const double *>(taps);
            reinterpret_cast<float *>(line)[at] = static_cast<float>(exists ? tapAt(all, n, point, scalar) : 0);
          }
        }
      }
    }
  }
  made.table = table.get();
}

void ChanneliseTables::arrangeGains(const double *factors, int64_t factorCount) {
  gainStride = factorCount == 1 ? 0 : made.places;
  gains.assign(static_cast<size_t>(made.places * (factorCount == 1 ? 1 : shape.inputs)), 0.0f);
  // Real samples are twice as large after `untangle`.
  const double share = sign * (shape.real ? 0.5 : 1);
  made.gain = factorCount == 1 ? static_cast<float>(factors[0] * share) : 0.0f;
  for (int64_t input = 0; input < (factorCount == 1 ? 1 : shape.inputs); input++) {
    for (int64_t place = 0; place < made.places; place++) {
      const int32_t channel = channelAt[static_cast<size_t>(place)];
      if (channel < 0) continue;
      const double factor = factorCount == 1 ? factors[0] : factors[input * shape.channels + channel];
      gains[static_cast<size_t>(input * made.places + place)] = static_cast<float>(factor * share);
    }
  }
}

}  // namespace corella

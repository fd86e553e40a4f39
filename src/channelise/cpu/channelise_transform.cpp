#include "channelise/cpu/channelise_transform.h"

#include <algorithm>
#include <cmath>
#include <complex>

namespace corella {
namespace {

constexpr double PI = 3.14159265358979323846;

/**
 * Eights as long as possible, since 16 registers hold eight complex points; then the odd primes; last, a 16, 4 or 2 for
 * the rest of a power of two.
 */
std::vector<int32_t> chooseRadices(int32_t points) {
  int twos = 0;
  while (points % 2 == 0) {
    points /= 2;
    twos++;
  }
  std::vector<int32_t> radices, last;
  if (twos % 3 == 1 && twos > 1) {
    last.push_back(16);
    twos -= 4;
  }
  for (; twos >= 3; twos -= 3) radices.push_back(8);
  if (twos > 0) last.push_back(1 << twos);
  for (int32_t prime = 3; points > 1; prime += 2) {
    for (; points % prime == 0; points /= prime) radices.push_back(prime);
  }
  radices.insert(radices.end(), last.begin(), last.end());
  return radices;
}

/** The leg of a butterfly for a bin: radix 16, always the last pass, orders its bins like two radices 4. */
int32_t placeOfBin(int32_t radix, int32_t bin) { return radix == 16 ? 4 * (bin % 4) + bin / 4 : bin; }

void pushTurn(std::vector<float> &table, double radians) {
  table.push_back(static_cast<float>(std::cos(radians)));
  table.push_back(static_cast<float>(std::sin(radians)));
}

/** A plain transform in float64, radix 2, in place; the length is a power of two. */
void transformExactly(std::vector<std::complex<double>> &values) {
  const size_t length = values.size();
  for (size_t i = 1, j = 0; i < length; i++) {
    size_t bit = length >> 1;
    for (; j & bit; bit >>= 1) j ^= bit;
    j ^= bit;
    if (i < j) std::swap(values[i], values[j]);
  }
  for (size_t span = 2; span <= length; span *= 2) {
    for (size_t from = 0; from < length; from += span) {
      for (size_t n = 0; n < span / 2; n++) {
        const auto turn = std::polar(1.0, -2 * PI * static_cast<double>(n) / static_cast<double>(span));
        const auto a = values[from + n], b = values[from + n + span / 2] * turn;
        values[from + n] = a + b;
        values[from + n + span / 2] = a - b;
      }
    }
  }
}

}  // namespace

bool hasSmallFactors(int32_t points) {
  for (int32_t prime = 2; prime <= MOST_RADIX; prime++) {
    while (points % prime == 0) points /= prime;
  }
  return points == 1;
}

TransformTables::TransformTables(int32_t length, int64_t pointBytes) : points(length), radices(chooseRadices(length)) {
  columns.resize(radices.size());
  twiddles.resize(radices.size());
  circles.resize(radices.size());
  passes.resize(radices.size());
  extent = (layOut(0, points, pointBytes, placeOf, binAt) + 3) / 4 * 4;
}

/** places : the place of sample n of this level's transform; bins : the place of its bin k. */
int64_t TransformTables::layOut(size_t level, int32_t length, int64_t pointBytes, std::vector<int32_t> &places,
                                std::vector<int32_t> &bins) {
  if (level == radices.size()) {
    places = bins = {0};
    return 1;
  }
  const int32_t radix = radices[level], count = length / radix;
  std::vector<int32_t> innerPlaces, innerBins;
  const int64_t inner = layOut(level + 1, count, pointBytes, innerPlaces, innerBins);
  // Quads of places are rounded together; legs a multiple of 4 kB apart would all be in one set of the L1 cache.
  int64_t pitch = count == 1 ? 1 : level == 0 ? (inner + 3) / 4 * 4 : inner;
  if (count > 1 && pitch * pointBytes % 4096 == 0) pitch += 4;
  places.resize(static_cast<size_t>(length));
  bins.resize(static_cast<size_t>(length));
  for (int32_t leg = 0; leg < radix; leg++) {
    for (int32_t j = 0; j < count; j++) {
      const auto at = static_cast<int32_t>(leg * pitch), out = static_cast<int32_t>(placeOfBin(radix, leg) * pitch);
      places[static_cast<size_t>(leg * count + j)] = at + innerPlaces[static_cast<size_t>(j)];
      bins[static_cast<size_t>(leg + radix * j)] = out + innerBins[static_cast<size_t>(j)];
    }
  }
  for (int32_t m = 0; m < radix; m++) pushTurn(circles[level], -2 * PI * m / radix);
  for (int32_t j = 0; j < count; j++) {
    const auto angle = [&](int64_t leg) { return -2 * PI * static_cast<double>(leg * j % length) / length; };
    for (int32_t leg = 1; leg < radix; leg++) twiddles[level].push_back(static_cast<float>(std::cos(angle(leg))));
    for (int32_t leg = 1; leg < radix; leg++) twiddles[level].push_back(static_cast<float>(std::sin(angle(leg))));
  }
  twiddles[level].resize(twiddles[level].size() + TWIDDLE_PADDING);
  columns[level] = innerPlaces;
  passes[level] = {radix, count, pitch, columns[level].data(), twiddles[level].data(), circles[level].data()};
  return (radix - 1) * pitch + inner;
}

Transform TransformTables::view() const {
  return {points, static_cast<int32_t>(passes.size()), extent, passes.data(), placeOf.data(), binAt.data()};
}

int32_t ChirpTables::longerThan(int32_t points) {
  int32_t longer = 1;
  while (longer < 2 * points - 1) longer *= 2;
  return longer;
}

ChirpTables::ChirpTables(int32_t points, const Transform &longer) {
  const int64_t period = 2 * static_cast<int64_t>(points);  // of n² in units of π/N
  const auto phase = [&](int64_t n) { return PI * static_cast<double>(n * n % period) / points; };
  for (int32_t n = 0; n < points; n++) pushTurn(turn, -phase(n));
  std::vector<std::complex<double>> conjugate(static_cast<size_t>(longer.points));
  for (int32_t n = 0; n < points; n++) {
    const auto value = std::polar(1.0 / longer.points, phase(n));
    conjugate[static_cast<size_t>(n)] = value;
    if (n > 0) conjugate[static_cast<size_t>(longer.points - n)] = value;
  }
  transformExactly(conjugate);
  spectrum.resize(static_cast<size_t>(2 * longer.extent));
  for (int32_t k = 0; k < longer.points; k++) {
    const auto at = static_cast<size_t>(2 * longer.binAt[k]);
    spectrum[at] = static_cast<float>(conjugate[static_cast<size_t>(k)].real());
    spectrum[at + 1] = static_cast<float>(conjugate[static_cast<size_t>(k)].imag());
  }
}

}  // namespace corella

// The middle of thousands of numbers, looked for near the last block's (judging/middle.ts, core/median.ts).
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace corella {
namespace judging {

/** The one that would be at a place if they were sorted. Hoare's selection. */
inline double placedAt(double *values, int64_t count, int64_t wanted) {
  int64_t first = 0, last = count - 1;
  while (first < last) {
    const double pivot = values[(first + last) >> 1];
    int64_t low = first, high = last;
    while (low <= high) {
      while (values[low] < pivot) low++;
      while (values[high] > pivot) high--;
      if (low > high) break;
      std::swap(values[low++], values[high--]);
    }
    if (wanted <= high)
      last = high;
    else if (wanted >= low)
      first = low;
    else
      break;
  }
  return values[wanted];
}

/** Where the last one was, and how far from it is near. */
struct Near {
  double last = std::numeric_limits<double>::quiet_NaN(), near = 0;
};

class Middle {
 public:
  /** Of the first `count` values, all of them numbers; the upper of two, and NaN of none. Their order is kept. */
  double of(const double *values, int64_t count, Near &where) {
    if (count == 0) return std::numeric_limits<double>::quiet_NaN();
    if (static_cast<int64_t>(found.size()) < count) found.resize(static_cast<size_t>(count));
    const bool isFound = !std::isnan(where.last) && (isNear(values, count, where) || isNear(values, count, where));
    if (!isFound) amongAll(values, count, where);
    return where.last;
  }

 private:
  static constexpr double NEAR = 8, WIDER = 8;
  std::vector<double> found;

  bool isNear(const double *values, int64_t count, Near &where) {
    const int64_t wanted = count >> 1;
    const double low = where.last - where.near, high = where.last + where.near;
    double *to = found.data();
    int64_t below = 0, many = 0;
    for (int64_t n = 0; n < count; n++) {
      const double value = values[n];
      to[many] = value;
      const int64_t isBelow = value < low;
      below += isBelow;
      many += int64_t{value <= high} - isBelow;
    }
    const bool isFound = below <= wanted && wanted < below + many;
    if (isFound) where.last = placedAt(to, many, wanted - below);
    const double root = NEAR * std::sqrt(static_cast<double>(count));
    where.near *= isFound ? std::min(2.0, std::max(0.5, root / static_cast<double>(many))) : WIDER;
    return isFound;
  }

  void amongAll(const double *values, int64_t count, Near &where) {
    std::copy(values, values + count, found.begin());
    where.last = placedAt(found.data(), count, count >> 1);
    const double quarter = placedAt(found.data(), count, (3 * count) >> 2) - where.last;
    where.near = (2 * NEAR * quarter) / std::sqrt(static_cast<double>(count));
  }
};

}  // namespace judging
}  // namespace corella

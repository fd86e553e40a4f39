// levels: portable avx2 avx512
// Powers of sums. Sixteen sums side by side hide the latency of an addition.
#include "beamform/cpu/beamform_kernels.h"

namespace corella {
namespace CORELLA_LEVEL {
namespace {

constexpr int64_t SIDE_BY_SIDE = 16;

/** Adds value(t). */
template <class Value>
double sumOf(int64_t first, int64_t end, Value value) {
  double lanes[SIDE_BY_SIDE] = {};
  int64_t t = first;
  for (; t + SIDE_BY_SIDE <= end; t += SIDE_BY_SIDE)
    for (int64_t n = 0; n < SIDE_BY_SIDE; n++) lanes[n] += static_cast<double>(value(t + n));
  for (int64_t n = 0; t < end; t++, n++) lanes[n] += static_cast<double>(value(t));
  double sum = 0;
  for (int64_t n = 0; n < SIDE_BY_SIDE; n++) sum += lanes[n];
  return sum;
}

template <class Value>
void add(Detection detection, const Value *x, const Value *y, int64_t first, int64_t end, double *sums) {
  const auto re = [](const Value *of, int64_t t) { return static_cast<float>(of[t]); };
  const auto im = [](const Value *of, int64_t t) { return static_cast<float>(of[TILE_SAMPLES + t]); };
  const auto power = [&](const Value *of, int64_t t) { return re(of, t) * re(of, t) + im(of, t) * im(of, t); };
  const auto plane = [&](int64_t d, auto value) { sums[d] += sumOf(first, end, value); };
  if (y == nullptr) return plane(0, [&](int64_t t) { return power(x, t); });
  if (detection == Detection::two) {
    plane(0, [&](int64_t t) { return power(x, t); });
    return plane(1, [&](int64_t t) { return power(y, t); });
  }
  plane(0, [&](int64_t t) { return 0.5F * (power(x, t) + power(y, t)); });
  if (detection == Detection::intensity) return;
  plane(1, [&](int64_t t) { return 0.5F * (power(y, t) - power(x, t)); });
  plane(2, [&](int64_t t) { return re(x, t) * re(y, t) + im(x, t) * im(y, t); });
  plane(3, [&](int64_t t) { return re(x, t) * im(y, t) - im(x, t) * re(y, t); });
}

}  // namespace

extern const AddPowers addPowers = {add<int32_t>, add<float>};

}  // namespace CORELLA_LEVEL
}  // namespace corella

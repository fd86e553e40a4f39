// Tables and radices for transforms over lanes (lane_fft.h).
#pragma once
#include <cmath>
#include <vector>

#include "backend/cpu/context.h"
#include "image/cpu/fft_plan.h"

namespace corella {

/** turns : [k] = (cos, −sin)(2πk/length). */
template <class Real>
std::vector<Real> makeTurns(int64_t length) {
  constexpr double TAU = 6.283185307179586476925;
  std::vector<Real> turns;
  for (int64_t k = 0; k < length; k++) {
    const double angle = TAU * static_cast<double>(k) / static_cast<double>(length);
    turns.push_back(static_cast<Real>(std::cos(angle)));
    turns.push_back(static_cast<Real>(-std::sin(angle)));
  }
  return turns;
}

/** Fours and eights, as few as possible, a single 2 where needed, then the odd primes. */
template <class Real>
LaneFft<Real> planLaneFft(int64_t length, const Real *turns) {
  LaneFft<Real> fft{length, 0, {}, turns};
  const auto push = [&](int64_t radix) {
    require(fft.passes < MOST_PASSES, "a transform has too many factors");
    fft.radices[fft.passes++] = static_cast<int>(radix);
  };
  int64_t rest = length;
  int twos = 0;
  for (; rest % 2 == 0; rest /= 2) twos++;
  while (twos % 3 != 0 && twos > 1) {
    push(4);
    twos -= 2;
  }
  for (; twos >= 3; twos -= 3) push(8);
  if (twos == 1) push(2);
  for (int64_t prime = 3; rest > 1; prime += 2) {
    for (; rest % prime == 0; rest /= prime) push(prime);
  }
  return fft;
}

}  // namespace corella

// Anderson's mixing of steps (full/accelerate.ts), for gains in planes that a team of threads shares.
#pragma once
#include <cmath>

#include "backend/cpu/native.h"

namespace corella {

/** As in full/accelerate.ts. */
constexpr int MIXED_STEPS = 6;
constexpr double MIX_BELOW = 0.3, FORGET_ABOVE = 3, LEAST_OWN = 1e-12;

/** Products needed for a new difference; each thread computes them over its own stations. */
struct MixProducts {
  /** gram : of the newest difference with all; wanted : of all with the rest. By slot. */
  double gram[MIXED_STEPS] = {}, wanted[MIXED_STEPS] = {};
};

/** The stored differences, and their products; every thread has the same. */
class Mixing {
 public:
  void forget() {
    count = 0;
    hasLast = false;
    leastChange = INFINITY;
  }
  /** Whether steps are mixed now, or still too different. */
  bool wanted(double change) {
    if (change > FORGET_ABOVE * leastChange) forget();
    if (!(change < MIX_BELOW)) return false;
    if (change < leastChange) leastChange = change;
    return true;
  }
  /** Frees a slot for a new difference if there is one: the slot, or −1. */
  int begin() {
    if (!hasLast) {
      hasLast = true;
      return -1;
    }
    newest = (newest + 1) % MIXED_STEPS;
    if (count < MIXED_STEPS) count++;
    return newest;
  }
  /** Newest first. */
  int slot(int age) const { return (newest + MIXED_STEPS - age) % MIXED_STEPS; }
  int kept() const { return count; }

  /** γ by age, of the least ‖rest − Σ γ difference‖, by Cholesky; 0 for a dependent difference. */
  void solve(const MixProducts &products, double (&factors)[MIXED_STEPS]) {
    for (int age = 0; age < count; age++) gram[newest][slot(age)] = gram[slot(age)][newest] = products.gram[slot(age)];
    double lower[MIXED_STEPS][MIXED_STEPS] = {};
    for (int k = 0; k < count; k++) {
      for (int n = 0; n <= k; n++) {
        const double whole = gram[slot(k)][slot(n)];
        double sum = whole;
        for (int m = 0; m < n; m++) sum -= lower[k][m] * lower[n][m];
        if (n < k)
          lower[k][n] = lower[n][n] > 0 ? sum / lower[n][n] : 0;
        else
          lower[k][k] = sum > LEAST_OWN * whole ? std::sqrt(sum) : 0;
      }
      double sum = products.wanted[slot(k)];
      for (int m = 0; m < k; m++) sum -= lower[k][m] * factors[m];
      factors[k] = lower[k][k] > 0 ? sum / lower[k][k] : 0;
    }
    for (int k = count - 1; k >= 0; k--) {
      for (int m = k + 1; m < count; m++) factors[k] -= lower[m][k] * factors[m];
      factors[k] = lower[k][k] > 0 ? factors[k] / lower[k][k] : 0;
    }
  }

 private:
  int count = 0, newest = 0;
  bool hasLast = false;
  double leastChange = INFINITY;
  double gram[MIXED_STEPS][MIXED_STEPS] = {};
};

}  // namespace corella

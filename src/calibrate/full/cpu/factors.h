// A station's numbers as factors for vectors of its pairs. For sources compiled for each level.
//
// ARM multiplies by a lane of a register; but compilers hoist each factor out of the loop as a vector of its own, and
// eight of those are more than there are registers: then every product waits for the stack. So the instruction is
// written explicitly. x86 multiplies by a number in memory.
#pragma once
#include "calibrate/cpu/stefcal_vectors.h"

namespace corella {
namespace CORELLA_LEVEL {
namespace {

#if CORELLA_ARM
/** Four numbers in as few registers as possible. */
template <class Real>
struct Factors {
  typename VectorOf<Real>::type registers[4 / LANES<Real>];
  CORELLA_INLINE explicit Factors(const Real *from) {
    for (int n = 0; n < 4 / LANES<Real>; n++)
      registers[n] = loadVector<typename VectorOf<Real>::type>(from + n * LANES<Real>);
  }
};
#define CORELLA_BY_LANE(instruction, out, kind, lane, n) \
  asm(instruction " %0." kind ", %1." kind ", %2." lane : out(sum) : "w"(v), "w"(own.registers[n]))
#define CORELLA_BY_FLOAT(name, instruction, out)                                                 \
  CORELLA_INLINE void name(Floats &sum, const Floats &v, const Factors<float> &own, int which) { \
    switch (which) {                                                                             \
      case 0: CORELLA_BY_LANE(instruction, out, "4s", "s[0]", 0); break;                         \
      case 1: CORELLA_BY_LANE(instruction, out, "4s", "s[1]", 0); break;                         \
      case 2: CORELLA_BY_LANE(instruction, out, "4s", "s[2]", 0); break;                         \
      default: CORELLA_BY_LANE(instruction, out, "4s", "s[3]", 0);                               \
    }                                                                                            \
  }
#define CORELLA_BY_DOUBLE(name, instruction, out)                                                   \
  CORELLA_INLINE void name(Doubles &sum, const Doubles &v, const Factors<double> &own, int which) { \
    switch (which) {                                                                                \
      case 0: CORELLA_BY_LANE(instruction, out, "2d", "d[0]", 0); break;                            \
      case 1: CORELLA_BY_LANE(instruction, out, "2d", "d[1]", 0); break;                            \
      case 2: CORELLA_BY_LANE(instruction, out, "2d", "d[0]", 1); break;                            \
      default: CORELLA_BY_LANE(instruction, out, "2d", "d[1]", 1);                                  \
    }                                                                                               \
  }
CORELLA_BY_FLOAT(setBy, "fmul", "=w")
CORELLA_BY_FLOAT(addBy, "fmla", "+w")
CORELLA_BY_FLOAT(subtractBy, "fmls", "+w")
CORELLA_BY_DOUBLE(setBy, "fmul", "=w")
CORELLA_BY_DOUBLE(addBy, "fmla", "+w")
CORELLA_BY_DOUBLE(subtractBy, "fmls", "+w")
#undef CORELLA_BY_DOUBLE
#undef CORELLA_BY_FLOAT
#undef CORELLA_BY_LANE
#else
template <class Real>
struct Factors {
  const Real *numbers;
  CORELLA_INLINE explicit Factors(const Real *from) : numbers(from) {}
};
template <class Real, class Vector>
CORELLA_INLINE void setBy(Vector &sum, const Vector &v, const Factors<Real> &own, int which) {
  sum = v * own.numbers[which];
}
template <class Real, class Vector>
CORELLA_INLINE void addBy(Vector &sum, const Vector &v, const Factors<Real> &own, int which) {
  sum += v * own.numbers[which];
}
template <class Real, class Vector>
CORELLA_INLINE void subtractBy(Vector &sum, const Vector &v, const Factors<Real> &own, int which) {
  sum -= v * own.numbers[which];
}
#endif

/** Four planes of a station, to multiply by. */
template <class Real>
struct Own {
  Real numbers[4];
  CORELLA_INLINE Own(StationPlanes<const Real> in, int64_t plane, int64_t station) {
    for (int64_t n = 0; n < 4; n++) numbers[n] = in.first[(plane + n) * in.stride + station];
  }
  CORELLA_INLINE Factors<Real> factors() const { return Factors<Real>(numbers); }
};

// As many float32 as a register has float64. GCC splits two of them into scalars on ARM.
CORELLA_INLINE Doubles loadWidened(const float *from) {
#if CORELLA_ARM
  double both;
  __builtin_memcpy(&both, from, sizeof both);
  Doubles values;
  asm("fcvtl %0.2d, %1.2s" : "=w"(values) : "w"(both));
  return values;
#else
  return loadNarrow(from);
#endif
}
CORELLA_INLINE void storeNarrowed(float *to, const Doubles &values) {
#if CORELLA_ARM
  double both;
  asm("fcvtn %0.2s, %1.2d" : "=w"(both) : "w"(values));
  __builtin_memcpy(to, &both, sizeof both);
#else
  storeNarrow(to, values);
#endif
}

/** Pairs' numbers, as many as a register holds of this kind. */
template <class Vector>
CORELLA_INLINE Vector loadPairs(const float *from) {
  if constexpr (sizeof(Vector{}[0]) == sizeof(float))
    return loadVector<Vector>(from);
  else
    return loadWidened(from);
}

}  // namespace
}  // namespace CORELLA_LEVEL
}  // namespace corella

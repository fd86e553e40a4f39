// The ceilings on all threads at once.
#include <atomic>

#include "ceilings.h"
#include "context.h"

using namespace corella;

// *operations: multiplications and additions done by all threads together.
CORELLA_EXPORT int32_t corella_ceiling_arithmetic(char *error, void *context, int32_t kind, int64_t repeats,
                                                  double *operations) {
  return withContext(error, context, [&](Context &open) {
    const Arithmetic asked = static_cast<Arithmetic>(kind);
    require(asked == Arithmetic::integers || asked == Arithmetic::floats, "no such ceiling");
    const Ceilings &level = CORELLA_PICK_MATRIX(open.level, ceilings);
    double single = 0;
    open.pool.run(open.pool.threads(), [&](int64_t index, int) {
      const double done = asked == Arithmetic::integers ? level.integers(repeats) : level.floats(repeats);
      if (index == 0) single = done;
    });
    *operations = single * open.pool.threads();
  });
}

// Every thread reads a part of its own, sizeBytes long, `repeats` times over; memory holds one for each.
CORELLA_EXPORT int32_t corella_ceiling_read(char *error, void *context, const void *memory, int64_t sizeBytes,
                                            int64_t repeats) {
  return withContext(error, context, [&](Context &open) {
    require(sizeBytes >= 512 && sizeBytes % 512 == 0, "a part must be a multiple of 512 bytes");
    const Ceilings &level = CORELLA_PICK_MATRIX(open.level, ceilings);
    std::atomic<uint64_t> kept{0};
    open.pool.run(open.pool.threads(), [&](int64_t index, int) {
      uint64_t any = 0;
      for (int64_t repeat = 0; repeat < repeats; repeat++) {
        any |= level.read(static_cast<const char *>(memory) + index * sizeBytes, sizeBytes);
      }
      kept |= any;
    });
  });
}

// For AddressSanitizer only: native functions run on stacks that the binding allocates. It does not know them, cannot
// clear its marks when an exception unwinds frames, and would report later accesses as overflows. So they are
// registered.
#pragma once
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>

#include <cstddef>

namespace corella {

class KnownStack {
 public:
  KnownStack() {
    char *const top = static_cast<char *>(__builtin_frame_address(0)) + ABOVE;
    __sanitizer_start_switch_fiber(nullptr, top - SIZE, SIZE);
    __sanitizer_finish_switch_fiber(nullptr, &before, &beforeSize);
  }
  ~KnownStack() {
    __sanitizer_start_switch_fiber(nullptr, before, beforeSize);
    __sanitizer_finish_switch_fiber(nullptr, nullptr, nullptr);
  }
  KnownStack(const KnownStack &) = delete;
  KnownStack &operator=(const KnownStack &) = delete;

 private:
  /** The frames of the exported function are above this one. */
  static constexpr size_t ABOVE = 8192, SIZE = size_t{1} << 20;
  const void *before = nullptr;
  size_t beforeSize = 0;
};

}  // namespace corella
#else

namespace corella {
struct KnownStack {};
}  // namespace corella
#endif

#pragma once
#include "native.h"

namespace corella {

/** The highest level this processor and its operating system offer. For AMX this asks the kernel, once. */
Level bestLevel();

}  // namespace corella

#include "processor.h"

#if CORELLA_X86
#include <cpuid.h>
#endif
#if CORELLA_X86 && defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif
#if CORELLA_ARM && defined(__linux__)
#include <sys/auxv.h>
#elif CORELLA_ARM && defined(__APPLE__)
#include <sys/sysctl.h>
#endif

namespace corella {

#if CORELLA_X86
namespace {

bool bit(unsigned word, int at) { return (word >> at & 1u) != 0; }

/** Which register files the operating system saves when it switches threads. */
unsigned savedState() {
  unsigned low = 0, high = 0;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low;
}

/** Tile registers are 8 kB a thread: Linux enables them only on request. */
bool tilesGranted() {
#if defined(__linux__) && defined(SYS_arch_prctl)
  constexpr long ARCH_REQ_XCOMP_PERM = 0x1023;
  constexpr long XFEATURE_XTILEDATA = 18;
  return syscall(SYS_arch_prctl, ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA) == 0;
#else
  return false;
#endif
}

}  // namespace

Level bestLevel() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (!__get_cpuid(1, &a, &b, &c, &d)) return Level::portable;
  const bool osxsave = bit(c, 27), fma = bit(c, 12), f16c = bit(c, 29);
  if (!osxsave || !fma || !f16c || !__get_cpuid_count(7, 0, &a, &b, &c, &d)) return Level::portable;
  constexpr unsigned VECTORS_256 = 0x6, VECTORS_512 = 0xe6, TILES = 0x60000;
  const unsigned saved = savedState();
  const bool avx2 = bit(b, 5) && bit(b, 8) && (saved & VECTORS_256) == VECTORS_256;  // with BMI2
  if (!avx2) return Level::portable;
  const bool foundation = bit(b, 16) && bit(b, 17) && bit(b, 30) && bit(b, 31);  // F, DQ, BW, VL
  const bool vnni = bit(c, 11);
  if (!foundation || !vnni || (saved & VECTORS_512) != VECTORS_512) return Level::avx2;
  const bool amx = bit(d, 24) && bit(d, 25) && (saved & TILES) == TILES;  // TILE, INT8
  return amx && tilesGranted() ? Level::amx : Level::avx512;
}
#elif CORELLA_ARM
namespace {

struct Features {
  bool dotProducts, matrices;
};

Features findFeatures() {
#if defined(__linux__)
  constexpr unsigned long DOT_PRODUCTS = 1ul << 20, MATRICES = 1ul << 13;  // HWCAP_ASIMDDP, HWCAP2_I8MM
  return {(getauxval(AT_HWCAP) & DOT_PRODUCTS) != 0, (getauxval(AT_HWCAP2) & MATRICES) != 0};
#elif defined(__APPLE__)
  const auto has = [](const char *name) {
    int32_t value = 0;
    size_t size = sizeof value;
    return sysctlbyname(name, &value, &size, nullptr, 0) == 0 && value != 0;
  };
  return {has("hw.optional.arm.FEAT_DotProd"), has("hw.optional.arm.FEAT_I8MM")};
#else
  return {false, false};
#endif
}

}  // namespace

Level bestLevel() {
  const Features features = findFeatures();
  if (!features.dotProducts) return Level::portable;
  return features.matrices ? Level::i8mm : Level::dotprod;
}
#else
Level bestLevel() { return Level::portable; }
#endif

}  // namespace corella

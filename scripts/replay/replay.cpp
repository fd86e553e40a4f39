// Makes the calls of a recording (record.js) again, on another build of the native library or another processor, and
// compares what comes out:
//   replay LIBRARY BEST LEAST RECORDING…
// at the levels LEAST to BEST, by their numbers (native.h); BEST is what this processor must turn out to have, or −1
// for whatever it has.
//
// Integers and a correlator's whole numbers must be the same; bytes, which are spectra, within one step and the same but
// for one in a thousand; other floats within 1e-5 of the largest of their array.
#include <dlfcn.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

namespace {

enum class Element { i8, u8, i16, u16, i32, u32, f32, f64, i64 };
using Bytes = std::vector<char>;

struct Argument {
  char kind;
  int64_t whole = 0;
  double real = 0;
  std::string name;
  Element element = Element::i8;
  Bytes before, after;
  bool changed = false;
};

struct Call {
  std::string name;
  int64_t code;
  std::vector<Argument> arguments;
};

[[noreturn]] void stop(const std::string &why) {
  std::fprintf(stderr, "replay: %s\n", why.c_str());
  std::exit(1);
}

class Recording {
 public:
  explicit Recording(const char *path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) stop(std::string("cannot read ") + path);
    bytes.assign(std::istreambuf_iterator<char>(file), {});
  }
  bool atEnd() const { return at == bytes.size(); }
  Call next() {
    const Bytes name = sized();
    Call call{{name.begin(), name.end()}, read<int64_t>(), {}};
    call.arguments.resize(static_cast<size_t>(read<int64_t>()));
    for (Argument &argument : call.arguments) readArgument(argument);
    return call;
  }

 private:
  template <class Value>
  Value read() {
    if (at + sizeof(Value) > bytes.size()) stop("the recording is cut short");
    Value value;
    std::memcpy(&value, bytes.data() + at, sizeof value);
    at += sizeof value;
    return value;
  }
  Bytes sized() {
    const uint32_t length = read<uint32_t>();
    if (at + length > bytes.size()) stop("the recording is cut short");
    at += length;
    return {bytes.data() + at - length, bytes.data() + at};
  }
  void readArgument(Argument &argument) {
    argument.kind = read<char>();
    switch (argument.kind) {
      case 'e': return;
      case 'd': argument.real = read<double>(); return;
      case 'i':
      case 'o':
      case 'p': argument.whole = read<int64_t>(); return;
      case 'a': break;
      default: stop("the recording is damaged");
    }
    const Bytes name = sized();
    argument.name.assign(name.begin(), name.end());
    argument.element = static_cast<Element>(read<int64_t>());
    argument.before = sized();
    argument.changed = read<int64_t>() != 0;
    argument.after = argument.changed ? sized() : argument.before;
  }

  Bytes bytes;
  size_t at = 0;
};

/** How the library's functions are called: whole numbers and addresses in their registers, then floats in theirs. */
using Function = int32_t (*)(int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t,
                             int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, double, double);
constexpr size_t MOST_WHOLE = 17, MOST_REAL = 2;

int32_t callWith(void *symbol, const std::vector<int64_t> &w, const std::vector<double> &r) {
  Function function;
  std::memcpy(&function, &symbol, sizeof function);
  return function(w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7], w[8], w[9], w[10], w[11], w[12], w[13], w[14], w[15],
                  w[16], r[0], r[1]);
}

/** Pixels of a direct image that are not shown are zero or not, as whole vectors of pixels come out. */
enum class Rule { usual, exactWholes, zerosAreAny };
Rule ruleOf(const std::string &function) {
  if (function == "corella_direct_finish") return Rule::zerosAreAny;
  return function.rfind("corella_correlator_", 0) == 0 ? Rule::exactWholes : Rule::usual;
}

struct Comparison {
  int64_t bytes = 0, bytesApart = 0;
  double farthest = 0;
};

template <class Value>
std::vector<Value> valuesOf(const Bytes &bytes) {
  std::vector<Value> values(bytes.size() / sizeof(Value));
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(Value));
  return values;
}

/** Two's complement of four bits. */
int nibble(int bits) { return ((bits & 15) ^ 8) - 8; }

template <class Value>
bool floatsAgree(const Bytes &made, const Bytes &expected, Rule rule, Comparison &comparison) {
  const auto a = valuesOf<Value>(made), b = valuesOf<Value>(expected);
  double largest = 0;
  bool whole = rule == Rule::exactWholes;
  for (const Value value : b) {
    if (!std::isnan(value)) largest = std::fmax(largest, std::fabs(static_cast<double>(value)));
    whole = whole && value == std::floor(value);
  }
  for (size_t n = 0; n < b.size(); n++) {
    if ((std::isnan(a[n]) && std::isnan(b[n])) || (rule == Rule::zerosAreAny && b[n] == 0)) continue;
    const double apart = std::fabs(static_cast<double>(a[n]) - static_cast<double>(b[n]));
    if (!(apart <= (whole ? 0 : 1e-5 * largest))) {
      std::fprintf(stderr, "value %zu is %.9g, not %.9g\n", n, static_cast<double>(a[n]), static_cast<double>(b[n]));
      return false;
    }
    if (largest > 0) comparison.farthest = std::fmax(comparison.farthest, apart / largest);
  }
  return true;
}

bool bytesAgree(const Bytes &made, const Bytes &expected, bool packed, Comparison &comparison) {
  for (size_t n = 0; n < expected.size(); n++) {
    const int a = made[n], b = expected[n];
    const int apart = packed ? std::max(std::abs(nibble(a) - nibble(b)), std::abs(nibble(a >> 4) - nibble(b >> 4)))
                             : std::abs(static_cast<int8_t>(a) - static_cast<int8_t>(b));
    if (apart > 1) return false;
    comparison.bytes++;
    comparison.bytesApart += apart;
  }
  return true;
}

bool agree(const Argument &argument, const Bytes &made, Rule rule, Comparison &comparison) {
  if (made == argument.after && !argument.changed) return true;
  // How near the last step was, and with which it ended, is a matter of the last digits.
  if (argument.name == "lastChange" || argument.name == "iterationsRun") return true;
  switch (argument.element) {
    case Element::i8:
    case Element::u8: return bytesAgree(made, argument.after, argument.element == Element::u8, comparison);
    case Element::f32: return floatsAgree<float>(made, argument.after, rule, comparison);
    case Element::f64: return floatsAgree<double>(made, argument.after, rule, comparison);
    default: return made == argument.after;
  }
}

class Replayer {
 public:
  Replayer(void *opened, int64_t wantedLevel) : library(opened), level(wantedLevel) {}

  void make(const Call &call) {
    void *symbol = dlsym(library, call.name.c_str());
    if (symbol == nullptr) stop("the library has no " + call.name);
    std::vector<Bytes> arrays(call.arguments.size());
    std::vector<int64_t> whole;
    std::vector<double> real;
    char error[512] = "";
    void *out = nullptr;
    for (size_t n = 0; n < call.arguments.size(); n++) {
      const Argument &argument = call.arguments[n];
      arrays[n] = argument.before;
      switch (argument.kind) {
        case 'e': whole.push_back(reinterpret_cast<int64_t>(error)); break;
        case 'o': whole.push_back(reinterpret_cast<int64_t>(&out)); break;
        case 'p': whole.push_back(hereOf(argument.whole)); break;
        case 'a': whole.push_back(reinterpret_cast<int64_t>(arrays[n].data())); break;
        case 'd': real.push_back(argument.real); break;
        default: whole.push_back(argument.whole);
      }
    }
    if (call.name == "corella_open") whole[1] = level;
    if (whole.size() > MOST_WHOLE || real.size() > MOST_REAL) stop(call.name + " has too many arguments");
    whole.resize(MOST_WHOLE);
    real.resize(MOST_REAL);
    const int32_t code = callWith(symbol, whole, real);
    if (code != call.code) stop(call.name + " returned " + std::to_string(code) + ": " + error);
    const Rule rule = ruleOf(call.name);
    for (size_t n = 0; n < call.arguments.size(); n++) {
      const Argument &argument = call.arguments[n];
      if (argument.kind == 'o') here[argument.whole] = reinterpret_cast<int64_t>(out);
      if (argument.kind == 'a' && !agree(argument, arrays[n], rule, comparison)) {
        stop(call.name + ", call " + std::to_string(calls) + ", level " + std::to_string(level) + ": " + argument.name +
             " differs");
      }
    }
    calls++;
  }

  void report() const {
    if (comparison.bytesApart * 1000 > comparison.bytes) stop("more than one byte in a thousand is a step away");
    std::printf("  level %d: %lld calls agree; floats within %.1e, %lld of %lld bytes a step away\n",
                static_cast<int>(level), static_cast<long long>(calls), comparison.farthest,
                static_cast<long long>(comparison.bytesApart), static_cast<long long>(comparison.bytes));
  }

 private:
  int64_t hereOf(int64_t there) const {
    if (there == 0) return 0;
    const auto found = here.find(there);
    if (found == here.end()) stop("an address was never made");
    return found->second;
  }

  void *library;
  int64_t level, calls = 0;
  std::map<int64_t, int64_t> here;
  Comparison comparison;
};

}  // namespace

int main(int count, char **words) {
  if (count < 4) stop("usage: replay LIBRARY BEST LEAST RECORDING…");
  void *library = dlopen(words[1], RTLD_NOW);
  if (library == nullptr) stop(dlerror());
  void *symbol = dlsym(library, "corella_machine");
  int32_t (*machine)(char *, int32_t *, int32_t *);
  std::memcpy(&machine, &symbol, sizeof machine);
  char error[512];
  int32_t best = -1, cores = 0;
  if (symbol == nullptr || machine(error, &best, &cores) != 0) stop("corella_machine fails");
  const int wanted = std::atoi(words[2]);
  if (wanted >= 0 && best != wanted) stop("the best level here is " + std::to_string(best) + ", not " + words[2]);
  std::printf("  finds level %d\n", static_cast<int>(best));
  for (int32_t level = std::atoi(words[3]); level <= best; level++) {
    Replayer replayer(library, level);
    for (int n = 4; n < count; n++) {
      Recording recording(words[n]);
      while (!recording.atEnd()) replayer.make(recording.next());
    }
    replayer.report();
  }
  return 0;
}

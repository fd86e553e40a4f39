// Opens a Measurement Set and reads what describes it and its first row, in a process of its own that may take so much
// memory: casacore believes the lengths that a damaged table names, and asks for gigabytes before it finds out, or falls.
//
//   try-set PATH COLUMN BYTES    0: it stands; 1: casacore refuses it, and stderr says why; 3: it has no such column of
//                                visibilities, and stdout lists those it has
#include <sys/resource.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <vector>

extern "C" {
const char *ms_problem();
void *ms_open(const char *path, const char *column);
int ms_shape(void *handle, double *shape);
const char *ms_text(void *handle, const char *what);
int ms_tables(void *handle, double *positions, double *diameters, double *frequencies, double *widths,
              int32_t *correlations, double *directions);
int ms_rows(void *handle, double from, double count, double *times, double *intervals, int32_t *antenna1,
            int32_t *antenna2, int32_t *fields, int32_t *descriptions, double *uvw);
int ms_values(void *handle, double from, double count, double channels, double products, float *data, float *weights);
}

namespace {

constexpr int NO_COLUMN = 3;

/** What the process and its libraries have mapped already. */
rlim_t mappedBytes() {
  long pages = 0;
  if (FILE *file = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(file, "%ld", &pages) != 1) pages = 0;
    std::fclose(file);
  }
  return static_cast<rlim_t>(pages) * static_cast<rlim_t>(sysconf(_SC_PAGESIZE));
}

bool stands(const char *path, const char *column) {
  void *set = ms_open(path, column);
  if (set == nullptr) return false;
  double shape[6];
  if (ms_shape(set, shape) != 0) return false;
  const auto count = [&](int k) { return static_cast<size_t>(shape[k] > 0 ? shape[k] : 0); };
  const size_t antennas = count(1), channels = count(2), products = count(3), fields = count(5);
  std::vector<double> positions(3 * antennas), diameters(antennas), frequencies(channels), widths(channels);
  std::vector<double> directions(2 * fields + 2);
  std::vector<int32_t> correlations(products);
  if (ms_tables(set, positions.data(), diameters.data(), frequencies.data(), widths.data(), correlations.data(),
                directions.data()) != 0)
    return false;
  for (const char *what : {"antennas", "fields", "telescope", "observer", "own", "fieldFrames", "timeFrame",
                           "antennaFrame", "frequencyFrame", "averaging", "columns"})
    if (ms_text(set, what) == nullptr) return false;
  const std::string columns(std::string("\n") + ms_text(set, "columns"));
  if (columns.find(std::string("\n") + column + "\n") == std::string::npos) {
    std::fputs(columns.c_str() + 1, stdout);
    std::fflush(stdout);
    std::_Exit(NO_COLUMN);
  }
  if (count(0) == 0) return true;
  double time, interval, uvw[3];
  int32_t one, two, field, description;
  if (ms_rows(set, 0, 1, &time, &interval, &one, &two, &field, &description, uvw) != 0) return false;
  // Rows of further spectral windows have other shapes; the caller refuses such a set by name.
  if (description != 0) return true;
  std::vector<float> data(2 * channels * products), weights(channels * products);
  return ms_values(set, 0, 1, shape[2], shape[3], data.data(), weights.data()) == 0;
}

}  // namespace

int main(int count, char **words) {
  if (count != 4) return 2;
  const rlim_t most = mappedBytes() + static_cast<rlim_t>(std::strtod(words[3], nullptr));
  const rlimit limit{most, most};
  setrlimit(RLIMIT_AS, &limit);
  try {
    if (stands(words[1], words[2])) std::_Exit(0);
    std::fputs(ms_problem(), stderr);
  } catch (const std::exception &error) {
    std::fputs(error.what(), stderr);
  }
  std::fflush(stderr);
  std::_Exit(1);
}

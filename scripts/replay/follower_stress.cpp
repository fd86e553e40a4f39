// Blocks that are filled and summed one after the other (follower.h), for a sanitizer to watch: whoever fills a block, whoever
// judges it and whoever closes it. What the follower sums must be what is summed when asked for.
//   follower-stress, linked with a build of the native library
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

extern "C" {
int32_t corella_open(char *error, int32_t level, int32_t threads, void **context);
int32_t corella_close(char *error, void *context);
int32_t corella_allocate(char *error, void *context, int64_t sizeBytes, void **memory);
int32_t corella_release(char *error, void *context, void *memory);
int32_t corella_channeliser_open(char *error, void *context, int32_t scalar, int32_t real, int32_t output,
                                 int64_t channels, int64_t taps, int64_t inputs, const void *tapValues,
                                 const double *factors, int64_t factorCount, int64_t mostDelay, void **channeliser);
int32_t corella_channeliser_run(char *error, void *context, void *channeliser, const void *voltages, int64_t samples,
                                int64_t waiting, int64_t spectra, const int64_t *gaps, int64_t gapCount,
                                const int32_t *shifts, const double *turns, void *block, int64_t capacity, void *powers,
                                void *follower, int64_t *passed, int32_t *told);
int32_t corella_kurtosis_follower_open(char *error, void *context, int32_t type, int64_t channels, int64_t inputs,
                                       int64_t capacity, const void *block, int64_t realChannels,
                                       const uint8_t *flaggedInputs, void **follower);
int32_t corella_kurtosis_follower_expect(char *error, void *context, void *follower, const int32_t *edges,
                                         int64_t windows, double *sums, int64_t fences, const double *heads,
                                         int64_t entries, const double *tables, const int32_t *places, uint8_t *marks,
                                         uint8_t *groupMarks, double *totals);
int32_t corella_kurtosis_follower_wait(char *error, void *context, void *follower);
int32_t corella_kurtosis_sums(char *error, void *context, int32_t type, int64_t channels, int64_t inputs,
                              int64_t capacity, const void *block, const void *powers, const int32_t *edges,
                              int64_t windows, double *sums, int64_t fences, const double *heads, const double *tables,
                              const int32_t *places, int64_t realChannels, const uint8_t *flaggedInputs, uint8_t *marks,
                              uint8_t *groupMarks, double *totals);
}

namespace {

constexpr int64_t CHANNELS = 8, INPUTS = 20, SPECTRA = 256, WINDOWS = 2;
constexpr int32_t EDGES[WINDOWS + 1] = {0, 128, 256};
constexpr int ROUNDS = 60;
/** Room for any type of spectra, and for powers, of whole tiles. */
constexpr int64_t BLOCK_BYTES = CHANNELS * 32 * SPECTRA * 8, POWERS_BYTES = 2 * 2 * 17 * 512;
const std::vector<uint8_t> NO_FLAGS(INPUTS);

/** A buffer for a reason for each call: several are under way at once. */
template <class Call>
void make(Call call) {
  char error[4096] = {};
  if (call(error) == 0) return;
  std::fprintf(stderr, "follower: %s\n", error);
  std::exit(1);
}

/** Sums without a screen: nothing else is read or written. */
struct Room {
  std::vector<double> sums = std::vector<double>(2 * WINDOWS * CHANNELS * INPUTS);
  std::vector<double> totals = std::vector<double>(WINDOWS * CHANNELS * 2);
  std::vector<uint8_t> marks = std::vector<uint8_t>(WINDOWS * CHANNELS * INPUTS);
  std::vector<uint8_t> groupMarks = std::vector<uint8_t>(WINDOWS * CHANNELS * 2);
};
constexpr double NO_NUMBER = 0;
constexpr int32_t NO_PLACE = 0;

struct Block {
  void *memory, *powers, *follower;
  Room room;
};

void wait(void *context, const Block &block) {
  make([&](char *error) { return corella_kurtosis_follower_wait(error, context, block.follower); });
}

void fillAndSum(int32_t output, int32_t threads) {
  void *context, *channeliser;
  make([&](char *error) { return corella_open(error, 0, threads, &context); });
  const std::vector<int16_t> taps(CHANNELS, 100);
  const double factor = 0.01;
  make([&](char *error) {
    return corella_channeliser_open(error, context, 0, 0, output, CHANNELS, 1, INPUTS, taps.data(), &factor, 1, -1,
                                    &channeliser);
  });
  Block blocks[2];
  for (Block &block : blocks) {
    make([&](char *error) { return corella_allocate(error, context, BLOCK_BYTES, &block.memory); });
    make([&](char *error) { return corella_allocate(error, context, POWERS_BYTES, &block.powers); });
    make([&](char *error) {
      return corella_kurtosis_follower_open(error, context, output, CHANNELS, INPUTS, SPECTRA, block.memory, 0,
                                            NO_FLAGS.data(), &block.follower);
    });
    make([&](char *error) {
      return corella_kurtosis_follower_expect(error, context, block.follower, EDGES, WINDOWS, block.room.sums.data(), 0,
                                              &NO_NUMBER, 0, &NO_NUMBER, &NO_PLACE, block.room.marks.data(),
                                              block.room.groupMarks.data(), block.room.totals.data());
    });
  }
  std::vector<int8_t> voltages(2 * INPUTS * SPECTRA * CHANNELS);
  Room asked;
  for (int round = 0; round < ROUNDS; round++) {
    Block &block = blocks[round % 2];
    for (int8_t &part : voltages) part = static_cast<int8_t>(std::rand() % 200 - 100);
    int64_t passed, noGap = 0;
    int32_t told[3], noShift = 0;
    make([&](char *error) {
      return corella_channeliser_run(error, context, channeliser, voltages.data(), SPECTRA * CHANNELS, 0, SPECTRA,
                                     &noGap, 0, &noShift, &NO_NUMBER, block.memory, SPECTRA, block.powers,
                                     block.follower, &passed, told);
    });
    if (told[2] != 1) make([](char *) { return 1; });
    // The one block's sums go on beside the other's filling, now and then.
    if (round % 3 == 0) continue;
    std::thread other([&] { wait(context, block); });
    wait(context, block);
    make([&](char *error) {
      return corella_kurtosis_sums(error, context, output, CHANNELS, INPUTS, SPECTRA, block.memory,
                                   told[1] == 1 ? block.powers : nullptr, EDGES, WINDOWS, asked.sums.data(), 0,
                                   &NO_NUMBER, &NO_NUMBER, &NO_PLACE, 0, NO_FLAGS.data(), asked.marks.data(),
                                   asked.groupMarks.data(), asked.totals.data());
    });
    if (asked.sums != block.room.sums) {
      std::fprintf(stderr, "follower: other sums than when asked for\n");
      std::exit(1);
    }
    other.join();
  }
  for (const Block &block : blocks) {
    make([&](char *error) { return corella_release(error, context, block.follower); });
    make([&](char *error) { return corella_release(error, context, block.memory); });
  }
  make([&](char *error) { return corella_close(error, context); });
}

}  // namespace

int main() {
  for (const int32_t output : {0, 2})
    for (const int32_t threads : {1, 3, 6}) fillAndSum(output, threads);
  std::puts("followers sum what they should");
  return 0;
}

// The program around a kernel, included after it (on-host.cuh).
#pragma once

namespace host {

using Bytes = std::vector<unsigned char>;

inline Bytes readAll(const std::string &path) {
  FILE *file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) throw std::runtime_error(path);
  Bytes bytes;
  unsigned char piece[4096];
  for (size_t got; (got = std::fread(piece, 1, sizeof piece, file)) > 0;) bytes.insert(bytes.end(), piece, piece + got);
  std::fclose(file);
  return bytes;
}

template <class... Arguments, size_t... Nth>
std::tuple<std::decay_t<Arguments>...> valuesOf(void (*)(Arguments...), const std::vector<Bytes> &bytes,
                                                std::index_sequence<Nth...>) {
  std::tuple<std::decay_t<Arguments>...> values;
  const auto take = [&](auto &value, const Bytes &from) {
    if (from.size() != sizeof value) throw std::runtime_error("an argument has another size");
    std::memcpy(&value, from.data(), sizeof value);
  };
  (take(std::get<Nth>(values), bytes[Nth]), ...);
  return values;
}

template <class... Arguments>
void launch(void (*kernel)(Arguments...), const std::vector<Bytes> &bytes) {
  const auto values = valuesOf(kernel, bytes, std::index_sequence_for<Arguments...>{});
  for (unsigned n = 0; n < gridDim.x * gridDim.y; n++) {
    // Uninitialised memory.
    std::memset(static_cast<void *>(SHARED), 0xFF, SHARED_BYTES);
    const unsigned count = blockDim.x;
    Block made{std::barrier<>(count), {}};
    for (unsigned first = 0; first < count; first += LANES)
      made.warps.push_back(std::make_unique<Warp>(std::min(LANES, count - first)));
    block = &made;
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < count; t++)
      threads.emplace_back([&, n, t] {
        threadIdx.x = t;
        blockIdx.x = n % gridDim.x, blockIdx.y = n / gridDim.x;
        std::apply(kernel, values);
        // The others no longer wait for a finished thread.
        made.all.arrive_and_drop();
        made.warps[t / LANES]->all.arrive_and_drop();
      });
    for (auto &thread : threads) thread.join();
  }
}

}  // namespace host

int main(int, char **argv) {
  const std::string folder = std::string(argv[1]) + "/";
  unsigned arguments = 0, buffers = 0;
  FILE *file = std::fopen((folder + "launch").c_str(), "r");
  if (std::fscanf(file, "%u %u %u %u %u", &gridDim.x, &gridDim.y, &blockDim.x, &arguments, &buffers) != 5) return 1;
  std::fclose(file);
  std::vector<host::Bytes> values, memories;
  for (unsigned n = 0; n < arguments; n++) values.push_back(host::readAll(folder + "argument." + std::to_string(n)));
  for (unsigned n = 0; n < buffers; n++) memories.push_back(host::readAll(folder + "buffer." + std::to_string(n)));
  file = std::fopen((folder + "pointers").c_str(), "r");
  unsigned argument = 0, offset = 0, buffer = 0;
  while (std::fscanf(file, "%u %u %u", &argument, &offset, &buffer) == 3) {
    const void *pointer = memories[buffer].data();
    std::memcpy(values[argument].data() + offset, &pointer, sizeof pointer);
  }
  std::fclose(file);
  host::launch(ENTRY, values);
  for (unsigned n = 0; n < buffers; n++) {
    file = std::fopen((folder + "buffer." + std::to_string(n)).c_str(), "wb");
    std::fwrite(memories[n].data(), 1, memories[n].size(), file);
    std::fclose(file);
  }
}

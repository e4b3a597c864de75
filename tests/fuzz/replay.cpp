// The fuzz targets without libFuzzer, for any compiler: every input of a target's corpus, its
// beginnings, and changes of it that are the same in every run. A new fault is libFuzzer's to find
// (run.sh); that an old one stays away, and that a target still fits its parser, is shown by each
// run of the tests.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

// One line for each target, written by CMake: TARGET(fuzz_elf)
#define TARGET(name) extern "C" int run_##name(const std::uint8_t* data, std::size_t size);
#include "fuzz_targets.inc"
#undef TARGET

namespace {

using Bytes = std::vector<std::uint8_t>;

struct Target {
  const char* name;
  int (*run)(const std::uint8_t* data, std::size_t size);
};

constexpr Target targets[] = {
#define TARGET(name) {#name, run_##name},
#include "fuzz_targets.inc"
#undef TARGET
};

// Values at which counts, sizes and offsets go wrong.
constexpr std::uint8_t edges[] = {0x00, 0x01, 0x0a, 0x20, 0x2f, 0x3a, 0x7f, 0x80, 0xfe, 0xff};

Bytes read_bytes(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

class Changer {
 public:
  explicit Changer(const Bytes& seed) : seed_(seed) {}

  Bytes next() {
    Bytes bytes = seed_;
    for (std::size_t changes = 1 + below(4); changes > 0 && !bytes.empty(); --changes) {
      change(bytes);
    }
    return bytes;
  }

 private:
  std::size_t below(std::size_t limit) { return random_() % limit; }

  void change(Bytes& bytes) {
    const std::size_t at = below(bytes.size());
    const auto place = bytes.begin() + static_cast<std::ptrdiff_t>(at);
    const auto rest =
        static_cast<std::ptrdiff_t>(std::min<std::size_t>(bytes.size() - at, 1 + below(16)));
    switch (below(5)) {
      case 0:
        bytes[at] = edges[below(std::size(edges))];
        break;
      case 1:
        bytes[at] = static_cast<std::uint8_t>(bytes[at] ^ (1U << below(8)));
        break;
      case 2:
        std::fill(place, place + rest, edges[below(std::size(edges))]);
        break;
      case 3:
        bytes.erase(place, place + rest);
        break;
      default:
        bytes.insert(place, edges[below(std::size(edges))]);
        break;
    }
  }

  const Bytes& seed_;
  std::mt19937 random_{20'260'101};  // the same in every run
};

// A copy of exact size on the heap: a sanitizer sees the first byte too far.
void run(const Target& target, const Bytes& bytes) {
  const Bytes exact(bytes);
  target.run(exact.data(), exact.size());
}

void replay(const Target& target, const Bytes& seed, std::size_t rounds) {
  run(target, seed);
  const std::size_t step = std::max<std::size_t>(1, seed.size() / 64);
  for (std::size_t size = 0; size < seed.size(); size += step) {
    run(target, Bytes(seed.begin(), seed.begin() + static_cast<std::ptrdiff_t>(size)));
  }
  Changer changer(seed);
  for (std::size_t round = 0; round < rounds; ++round) {
    run(target, changer.next());
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: %s TARGET CORPUS_FOLDER ROUNDS\n", argv[0]);
    return 2;
  }
  const auto* const target =
      std::find_if(std::begin(targets), std::end(targets), [&](const Target& one) {
        return one.name == std::string(argv[1]);
      });
  if (target == std::end(targets)) {
    std::fprintf(stderr, "no such target: %s\n", argv[1]);
    return 2;
  }
  std::size_t seeds = 0;
  for (const auto& entry : std::filesystem::directory_iterator(argv[2])) {
    replay(*target, read_bytes(entry.path()), std::strtoul(argv[3], nullptr, 10));
    ++seeds;
  }
  std::printf("%s: %zu seeds\n", argv[1], seeds);
  return seeds == 0 ? 1 : 0;
}

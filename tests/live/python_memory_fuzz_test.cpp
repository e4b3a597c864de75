// Memory is hostile: bits turned at random in everything that is read must not crash, hang or be
// believed for long.

#include "python/memory_probe.hpp"
#include "support/catch.hpp"
#include "support/python_target.hpp"

#include <chrono>
#include <cstdlib>
#include <random>

using namespace tracso;

namespace {

// A process whose memory is read with some bits turned.
class NoisyProcess final : public ProcessSource {
 public:
  NoisyProcess(const ProcessSource& real, unsigned seed, unsigned one_line_in)
      : real_(real), chance_(seed), one_line_in_(one_line_in) {}

  std::int32_t pid() const override { return real_.pid(); }

  Result<std::string> read(std::string_view name) const override { return real_.read(name); }

  Result<std::string> read_link(std::string_view name) const override {
    return real_.read_link(name);
  }

  Result<std::vector<std::string>> list(std::string_view name) const override {
    return real_.list(name);
  }

  Result<Done> read_memory(std::uint64_t address, std::span<std::byte> into) const override {
    auto done = real_.read_memory(address, into);
    turn_bits(into);
    return done;
  }

  void read_memory(std::span<MemoryRead> pieces) const override {
    real_.read_memory(pieces);
    for (auto& piece : pieces) {
      turn_bits(piece.into);
    }
  }

  Result<std::unique_ptr<File>> open_mapped(const MappedRange& range) const override {
    return real_.open_mapped(range);
  }

  int turned() const { return turned_; }

 private:
  void turn_bits(std::span<std::byte> bytes) const {
    for (std::size_t line = 0; line < bytes.size(); line += 512) {
      if (chance_() % one_line_in_ == 0) {
        const std::size_t room = std::min<std::size_t>(512, bytes.size() - line);
        bytes[line + chance_() % room] ^= std::byte{1} << static_cast<int>(chance_() % 8);
        ++turned_;
      }
    }
  }

  const ProcessSource& real_;
  mutable std::mt19937 chance_;
  unsigned one_line_in_;
  mutable int turned_ = 0;
};

struct NoStop final : python::Stop {};

Result<std::unique_ptr<python::Stop>> pretend_to_stop(std::int32_t) {
  return std::unique_ptr<python::Stop>(std::make_unique<NoStop>());
}

}  // namespace

TEST_CASE("memory probe: turned bits neither crash it nor let it run on", "[live][python]") {
  const auto pythons = test::pythons();
  REQUIRE_FALSE(pythons.empty());
  const bool is_long = std::getenv("TRACSO_LONG") != nullptr;
  const unsigned seeds = is_long ? 1000 : 60;
  constexpr std::chrono::milliseconds timeout{1000};
  int turned = 0, refused = 0, runs = 0;
  // The oldest and the newest kind of dict, or all.
  for (std::size_t i = 0; i < pythons.size();
       i += is_long ? 1 : std::max<std::size_t>(pythons.size() - 1, 1)) {
    test::Child child({pythons[i].program,
                       "-c",
                       "import json, decimal, asyncio; print('ready', flush=True); input()"});
    REQUIRE(child.line() == "ready");
    auto target = test::live_target(child.pid());
    REQUIRE(target);
    const auto real = target->input.target.process;
    for (unsigned seed = 1; seed <= seeds; ++seed) {
      // From hardly any to one line in two, so that deep and shallow parts are reached.
      const NoisyProcess noisy(*real, seed, 1U << (1 + seed % 11));
      target->input.target.process = &noisy;
      target->input.timeout = timeout;
      const auto start = std::chrono::steady_clock::now();
      const auto facts = python::make_memory_probe(pretend_to_stop)->probe(target->input);
      const auto took = std::chrono::steady_clock::now() - start;
      INFO(pythons[i].label << " seed " << seed);
      CHECK(took < timeout * 10);  // far above the limit: a busy machine is no failure
      turned += noisy.turned();
      refused += facts ? 0 : 1;
      ++runs;
    }
  }
  WARN(runs << " runs, " << turned << " bits turned, " << refused << " refused");
  CHECK(turned > runs);
  CHECK(refused > 0);
}

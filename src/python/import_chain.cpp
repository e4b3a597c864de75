#include "python/import_chain.hpp"

#include "proc/maps.hpp"
#include "python/import_stack.hpp"
#include "python/interpreter.hpp"
#include "python/memory_locate.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

namespace tracso::python {
namespace {

// Of one reading, during which the thread waits. The bytes end a hostile one within a tenth of a
// second; the time is for a machine that hardly gets to us.
constexpr std::uint64_t most_bytes = std::uint64_t{64} << 20;
constexpr std::size_t most_lines = std::size_t{1} << 15;
constexpr std::chrono::milliseconds longest_reading{5000};

}  // namespace

class ImportChainReader::Reading {
 public:
  explicit Reading(const Target& target)
      : target_(target), memory_(*target.process, ReadLimits{}) {}

  std::vector<ImportStep> chain(ThreadKey thread) {
    if (stacks_.empty()) {
      restart();
      locate_runtimes();  // those that are known have perhaps begun to work
    }
    if (stacks_.empty()) {
      find_runtimes();
      locate_runtimes();
    }
    for (auto& stack : stacks_) {
      if (!std::exchange(fetched_, false)) {
        restart();
        stack.fetch();
      }
      auto steps = stack.chain(thread);
      incomplete_ += stack.is_complete() ? 0 : 1;
      if (!steps.empty()) {
        return steps;
      }
    }
    return {};
  }

  // Of one runtime only: another would believe what this one has read.
  std::vector<ImportStep> chain_with_past(ThreadKey thread) {
    if (stacks_.size() != 1) {
      return chain(thread);
    }
    fetched_ = false;
    auto steps = stacks_.front().chain_with_past(thread, fresh_limits());
    incomplete_ += stacks_.front().is_complete() ? 0 : 1;
    return steps;
  }

  void tidy() {
    for (auto& stack : stacks_) {
      stack.tidy();
    }
  }

  std::size_t incomplete() const { return incomplete_; }

  bool prepare(ThreadKey thread) {
    if (runtimes_.empty()) {
      find_runtimes();
    } else if (stacks_.empty()) {
      restart();
      locate_runtimes();
      for (auto& stack : stacks_) {
        stack.prepare(thread);
      }
    }
    return !stacks_.empty();
  }

  // Of one runtime only: another would begin with what this one has read.
  void fetch() {
    if (stacks_.size() == 1) {
      restart();
      stacks_.front().fetch();
      fetched_ = true;
    }
  }

 private:
  static ReadLimits fresh_limits() {
    ReadLimits limits;
    limits.bytes = most_bytes;
    limits.lines = most_lines;
    limits.deadline = std::chrono::steady_clock::now() + longest_reading;
    return limits;
  }

  void restart() { memory_.restart(fresh_limits()); }

  void find_runtimes();
  void locate_runtimes();

  Target target_;
  MemoryReader memory_;
  std::set<std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>> seen_;  // start, device, inode
  std::vector<Runtime> runtimes_;                                           // not located yet
  std::vector<ImportStack> stacks_;
  std::size_t incomplete_ = 0;
  bool fetched_ = false;  // for the next chain
};

// A program without Python maps object after object; each is looked at once.
void ImportChainReader::Reading::find_runtimes() {
  const auto text = target_.process->read("maps");
  auto mappings = text ? proc::parse_maps(*text) : Result<std::vector<Mapping>>(text.error());
  if (!mappings) {
    return;
  }
  std::erase_if(*mappings, [this](const Mapping& mapping) {
    return !mapping.has_file() ||
           !seen_.emplace(mapping.start, mapping.device, mapping.inode).second;
  });
  if (mappings->empty()) {
    return;
  }
  ProbeInput input;
  input.target = target_;
  input.mappings = std::move(*mappings);
  const auto executable = target_.process->read_link("exe");
  input.executable = executable ? *executable : "";
  if (auto interpreter = find_interpreter(input)) {
    std::move(
        interpreter->runtimes.begin(), interpreter->runtimes.end(), std::back_inserter(runtimes_));
  }
}

void ImportChainReader::Reading::locate_runtimes() {
  for (const auto& runtime : runtimes_) {
    if (const auto located = locate(memory_, runtime, Effort::tables)) {
      stacks_.emplace_back(memory_, runtime.address, located->layout);
    }
  }
}

ImportChainReader::ImportChainReader(const Target& target)
    : reading_(std::make_unique<Reading>(target)) {}

ImportChainReader::~ImportChainReader() = default;
ImportChainReader::ImportChainReader(ImportChainReader&&) noexcept = default;
ImportChainReader& ImportChainReader::operator=(ImportChainReader&&) noexcept = default;

std::vector<ImportStep> ImportChainReader::chain(ThreadKey thread) {
  return reading_->chain(thread);
}

std::vector<ImportStep> ImportChainReader::chain_with_past(ThreadKey thread) {
  return reading_->chain_with_past(thread);
}

void ImportChainReader::tidy() {
  reading_->tidy();
}

void ImportChainReader::fetch() {
  reading_->fetch();
}

bool ImportChainReader::prepare(ThreadKey thread) {
  return reading_->prepare(thread);
}

std::size_t ImportChainReader::incomplete_chains() const {
  return reading_->incomplete();
}

}  // namespace tracso::python

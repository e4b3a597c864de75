#include "elf/readelf_reader.hpp"

#include "elf/native_reader.hpp"
#include "elf/readelf_text.hpp"

#include <elf.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <set>
#include <utility>

namespace tracso::elf {
namespace {

// One run: well below ARG_MAX on every kernel, and short enough for its deadline (0.1 ms a file).
constexpr std::size_t most_argument_bytes = 64 * 1024;
constexpr std::size_t most_files = 512;
constexpr std::string_view gave_up = "readelf took too long before";

Error missing_readelf(const ElfInput& input) {
  return {ErrorKind::missing_tool,
          "read ELF file",
          input.name,
          "there is no readelf on this machine",
          "install binutils, or use --elf native"};
}

/// Where the loader, and so our own reader, finds the dynamic section; nullopt: nowhere.
std::optional<std::uint64_t> dynamic_offset(const FileImage& image) {
  const ProgramHeader* segment = image.dynamic_segment();
  const auto place = segment == nullptr ? std::nullopt : image.locate(segment->address);
  return place ? std::optional(place->offset) : std::nullopt;
}

}  // namespace

/// One file for readelf.
struct ReadelfReader::Job {
  std::size_t position = 0;  // among the inputs
  const ElfInput* input = nullptr;
  std::optional<std::uint64_t> dynamic_offset = std::nullopt;
};

std::vector<Result<ElfFile>> ReadelfReader::read(std::span<const ElfInput> inputs) const {
  std::vector<Result<ElfFile>> files;
  files.reserve(inputs.size());
  const auto jobs = prepare(inputs, files);
  std::span<const Job> left(jobs);
  while (!left.empty()) {
    std::size_t count = 0;
    for (std::size_t bytes = 0; count < std::min(left.size(), most_files); ++count) {
      bytes += left[count].input->host_path.size() + 1;
      if (count > 0 && bytes > most_argument_bytes) {
        break;
      }
    }
    if (!run(left.first(count), files)) {
      std::vector<Result<ElfFile>> none;
      std::transform(inputs.begin(), inputs.end(), std::back_inserter(none), missing_readelf);
      return none;
    }
    left = left.subspan(count);
  }
  return files;
}

// Fills `files` with identities (and the errors of those that have none); the jobs are what readelf
// has to add to.
std::vector<ReadelfReader::Job> ReadelfReader::prepare(std::span<const ElfInput> inputs,
                                                       std::vector<Result<ElfFile>>& files) const {
  std::vector<Job> jobs;
  std::set<std::string_view> paths;
  for (const auto& input : inputs) {
    const auto file = input.open();
    auto image = file ? FileImage::open(**file, input.name) : Result<FileImage>(file.error());
    files.push_back(image ? read_identity(*image) : Result<ElfFile>(image.error()));
    if (!files.back()) {
      continue;
    }
    const Job job{files.size() - 1, &input, dynamic_offset(*image)};
    // Anything else could not be told from the lines of the output, or would depend on where we
    // stand.
    if (!input.host_path.starts_with('/') || !is_plain(input.host_path)) {
      fall_back(job, "its path cannot be given to readelf", files);
    } else if (!paths.insert(input.host_path).second) {
      fall_back(job, "its path was given twice", files);
    } else {
      jobs.push_back(job);
    }
  }
  return jobs;
}

/// An Error only where there is no readelf.
Result<Done> ReadelfReader::run(std::span<const Job> jobs,
                                std::vector<Result<ElfFile>>& files) const {
  if (left_.count() <= 0) {
    for (const auto& job : jobs) {
      fall_back(job, gave_up, files);
    }
    return Done{};
  }
  Command command{{"readelf", "-dW", "--"}, "", left_};
  std::vector<std::string> paths;
  for (const auto& job : jobs) {
    paths.push_back(job.input->host_path);
  }
  command.argv.insert(command.argv.end(), paths.begin(), paths.end());
  const auto start = std::chrono::steady_clock::now();
  const auto output = commands_.run(command);
  if (!output && output.error().kind == ErrorKind::missing_tool) {
    return output.error();
  }
  // One that hangs would hang again.
  const bool hung = !output && output.error().kind == ErrorKind::interrupted;
  left_ = hung ? std::chrono::milliseconds(0)
               : left_ - std::chrono::duration_cast<std::chrono::milliseconds>(
                             std::chrono::steady_clock::now() - start);
  // Its exit status says nothing: 1 as soon as one of the files displeases it.
  auto facts = output ? parse_readelf(output->out, paths)
                      : std::vector<Result<ReadelfFacts>>(jobs.size(), output.error());
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const Job& job = jobs[i];
    auto& file = files[job.position];
    if (!facts[i]) {
      fall_back(job, "readelf: " + facts[i].error().reason, files);
    } else if (facts[i]->dynamic.present != file->dynamic.present ||
               (file->dynamic.present && facts[i]->offset != job.dynamic_offset)) {
      fall_back(job, "readelf sees another dynamic section than the loader", files);
    } else {
      file->dynamic = std::move(facts[i]->dynamic);
    }
  }
  return Done{};
}

void ReadelfReader::fall_back(const Job& job,
                              std::string_view reason,
                              std::vector<Result<ElfFile>>& files) const {
  fallbacks_.push_back(job.input->name + ": " + std::string(reason));
  const auto file = job.input->open();
  files[job.position] = file ? read_elf(**file, job.input->name) : Result<ElfFile>(file.error());
}

std::unique_ptr<ReadelfReader> make_readelf_reader(const CommandRunner& commands) {
  return std::make_unique<ReadelfReader>(commands);
}

}  // namespace tracso::elf

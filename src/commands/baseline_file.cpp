#include "commands/baseline_file.hpp"

#include "base/text.hpp"
#include "graph/baseline_json.hpp"
#include "os/disk.hpp"
#include "render/stat_json.hpp"

#include <fmt/format.h>

#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>

namespace tracso {
namespace {

std::string kernel() {
  utsname name{};
  return ::uname(&name) == 0 ? fmt::format("{} {}",
                                           static_cast<const char*>(name.release),
                                           static_cast<const char*>(name.machine))
                             : "";
}

std::uint64_t page_bytes() {
  return static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

// "always [madvise] never": the word in brackets.
std::string huge_pages() {
  const auto text = os::read_disk_file("/sys/kernel/mm/transparent_hugepage/enabled");
  const std::size_t open = text ? text->find('[') : std::string::npos;
  const std::size_t close = open == std::string::npos ? open : text->find(']', open);
  return close == std::string::npos ? "" : text->substr(open + 1, close - open - 1);
}

}  // namespace

Result<Baseline> read_baseline(const std::string& path) {
  const auto text = os::read_disk_file(path);
  if (!text) {
    Error error = text.error();
    error.action = "read the baseline";
    error.subject = path;
    error.hint = "--save-baseline FILE writes one";
    return error;
  }
  auto baseline = read_baseline_json(*text, path);
  if (baseline && baseline->page_bytes != page_bytes()) {
    return Error{ErrorKind::usage,
                 "compare with the baseline",
                 path,
                 fmt::format("it was made with pages of {} bytes, this machine has {}",
                             baseline->page_bytes,
                             page_bytes()),
                 "--save-baseline FILE, on this machine"};
  }
  return baseline;
}

Result<Done> write_baseline(const std::string& path,
                            const std::string& target,
                            const StatFigures& figures,
                            const std::vector<std::string>& libraries) {
  Baseline baseline;
  baseline.target = target;
  baseline.kernel = kernel();
  baseline.page_bytes = page_bytes();
  baseline.huge_pages = huge_pages();
  baseline.figures = figures;
  for (const std::string& library : libraries) {
    baseline.libraries.emplace_back(base_name(library));
  }
  std::sort(baseline.libraries.begin(), baseline.libraries.end());
  return os::write_output_file(path, baseline_json(baseline));
}

void add_baseline_notices(const Baseline& baseline, std::vector<Notice>& notices) {
  const auto differ = [&](std::string_view what, const std::string& then, const std::string& now) {
    if (then != now) {
      notices.push_back(
          {"baseline-elsewhere",
           fmt::format("the baseline was made with {} '{}', here it is '{}'", what, then, now),
           "memory may differ for that reason",
           "--save-baseline here"});
    }
  };
  differ("kernel", baseline.kernel, kernel());
  differ("transparent huge pages", baseline.huge_pages, huge_pages());
}

}  // namespace tracso

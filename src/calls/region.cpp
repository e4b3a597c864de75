#include "calls/region.hpp"

#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <iterator>

namespace tracso::calls {

template <class T>
bool Region::get(std::vector<T>& into, std::uint64_t offset, std::size_t count) const {
  into.resize(count);
  const auto bytes = count * sizeof(T);
  return ::pread(fd_, into.data(), bytes, static_cast<off_t>(start_ + offset)) ==
         static_cast<ssize_t>(bytes);
}

std::string Region::name(std::uint32_t offset) const {
  const auto end = offset < names_.size() ? names_.find('\0', offset) : std::string::npos;
  return end == std::string::npos ? "" : names_.substr(offset, end - offset);
}

std::string Region::path(std::uint32_t object) const {
  if (object >= objects_.size()) {
    return "";
  }
  const auto path = name(objects_[object].name);
  return path.empty() && object == 0 ? program_ : path;
}

std::optional<Region> Region::read(int fd, std::uint32_t index) {
  Region region;
  region.fd_ = fd;
  region.start_ = TRACSO_SETUP_BYTES + std::uint64_t{index} * TRACSO_REGION_BYTES;
  tracso_head& head = region.head_;
  if (::pread(fd, &head, sizeof head, static_cast<off_t>(region.start_)) !=
          static_cast<ssize_t>(sizeof head) ||
      head.magic != TRACSO_REGION_MAGIC) {
    return std::nullopt;
  }
  // How many names there are is asked behind the slots: a process writes a name before the slot
  // that bears it.
  std::vector<char> names;
  std::vector<std::uint32_t> used;
  const bool whole = region.get(region.slots_,
                                offsetof(tracso_region, slot),
                                std::min<std::size_t>(head.slots, TRACSO_MOST_SLOTS)) &&
                     region.get(used, offsetof(tracso_region, head.names), 1) &&
                     region.get(region.objects_,
                                offsetof(tracso_region, object),
                                std::min<std::size_t>(head.objects, tracso_most_objects)) &&
                     region.get(names,
                                offsetof(tracso_region, name),
                                std::min<std::size_t>(used.front(), tracso_name_bytes));
  if (!whole) {
    return std::nullopt;
  }
  region.names_.assign(names.begin(), names.end());
  region.threads_ = std::min<std::uint32_t>(
      {head.threads, head.thread_blocks, std::uint32_t{TRACSO_MOST_THREADS}});
  region.program_ = std::string(std::begin(head.program), std::end(head.program));
  region.program_.resize(std::min(region.program_.find('\0'), region.program_.size()));
  if (region.program_.empty()) {
    const auto command = region.command();
    region.program_ = command.substr(0, command.find(' '));
  }
  return region;
}

std::vector<tracso_stat> Region::counters(std::uint32_t thread, std::int32_t& id) const {
  const auto at = offsetof(tracso_region, thread) + std::uint64_t{thread} * sizeof(tracso_thread);
  std::vector<std::uint64_t> number;
  id = get(number, at + offsetof(tracso_thread, id), 1) ? static_cast<std::int32_t>(number[0]) : 0;
  std::vector<tracso_stat> stats;
  return get(stats, at + offsetof(tracso_thread, stat), slots_.size()) ? stats
                                                                       : std::vector<tracso_stat>();
}

std::string Region::command() const {
  std::string words(std::begin(head_.command), std::end(head_.command));
  words.resize(words.find_last_not_of('\0') + 1);
  std::replace(words.begin(), words.end(), '\0', ' ');
  return words;
}

}  // namespace tracso::calls

#include "compare/descriptor_change.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>

namespace tracso {
namespace {

using Groups = std::map<std::string, std::vector<const Descriptor*>>;

Groups by_target(std::span<const Descriptor> descriptors) {
  Groups groups;
  for (const Descriptor& one : descriptors) {
    groups[one.link].push_back(&one);
  }
  return groups;
}

// What `more` has beyond `fewer`, those first whose numbers are not in `fewer`.
void take_surplus(const std::vector<const Descriptor*>& more,
                  const std::vector<const Descriptor*>& fewer,
                  std::vector<Descriptor>& into) {
  std::set<std::int32_t> known;
  for (const Descriptor* one : fewer) {
    known.insert(one->fd);
  }
  std::vector<const Descriptor*> order = more;
  std::stable_partition(
      order.begin(), order.end(), [&](const Descriptor* one) { return known.count(one->fd) == 0; });
  for (std::size_t i = 0; i + fewer.size() < more.size(); ++i) {
    into.push_back(*order[i]);
  }
}

void sort_by_number(std::vector<Descriptor>& descriptors) {
  std::sort(descriptors.begin(), descriptors.end(), [](const auto& one, const auto& other) {
    return one.fd < other.fd;
  });
}

}  // namespace

DescriptorChange compare_descriptors(std::span<const Descriptor> before,
                                     std::span<const Descriptor> after) {
  DescriptorChange change;
  change.before = before.size();
  change.after = after.size();
  const Groups then = by_target(before);
  const Groups now = by_target(after);
  const std::vector<const Descriptor*> none;
  const auto group = [&](const Groups& groups, const std::string& link) -> const auto& {
    const auto found = groups.find(link);
    return found == groups.end() ? none : found->second;
  };
  for (const auto& [link, descriptors] : now) {
    take_surplus(descriptors, group(then, link), change.opened);
  }
  for (const auto& [link, descriptors] : then) {
    take_surplus(descriptors, group(now, link), change.closed);
  }
  sort_by_number(change.opened);
  sort_by_number(change.closed);
  constexpr std::int32_t last_standard = 2;
  std::copy_if(change.opened.begin(),
               change.opened.end(),
               std::back_inserter(change.leaked),
               [](const Descriptor& one) { return one.fd > last_standard; });
  return change;
}

}  // namespace tracso

// The walk through the objects. DT_NEEDED goes to the end of the queue; DT_FILTER and DT_AUXILIARY
// go in front of the object that asks for them, and are walked through first.

#include "loader/resolver.hpp"

#include "loader/resolver_walk.hpp"

#include <algorithm>
#include <set>

namespace tracso::loader {
namespace {

RequestKind kind_of_request(NeededEntry::Kind kind) {
  switch (kind) {
    case NeededEntry::Kind::needed:
      return RequestKind::needed;
    case NeededEntry::Kind::filter:
      return RequestKind::filter;
    case NeededEntry::Kind::auxiliary:
      return RequestKind::auxiliary;
  }
  return RequestKind::needed;
}

}  // namespace

Result<ElfFile> Resolver::Walk::read_path(const TargetPath& path) {
  const ElfInput input{path.text, files_.host_path(path), [&] { return files_.open(path); }};
  auto read = reader_.read({&input, 1});
  return std::move(read.front());
}

Resolver::Walk::ElfResult Resolver::Walk::read_file(const FileProbe& probe) {
  const FileKey key{probe.status.device, probe.status.inode};
  if (const auto known = elves_.find(key); known != elves_.end()) {
    return known->second;
  }
  const ElfInput input{probe.path.text, files_.host_path(probe.path), [&] {
                         return searcher_->probes().open(probe);
                       }};
  auto read = reader_.read({&input, 1});
  auto kept = std::make_shared<const Result<ElfFile>>(std::move(read.front()));
  elves_.emplace(key, kept);
  return kept;
}

// A reader that runs a helper program is far faster with many files at once: what all waiting
// objects need is read in one go. What then turns out to be loaded already was read for nothing.
void Resolver::Walk::read_ahead(const std::list<Pending>& queue) {
  std::vector<ElfInput> inputs;
  std::vector<FileKey> keys;
  std::set<FileKey> asked;
  for (const auto& pending : queue) {
    if (pending.done || read_ahead_[pending.object]) {
      continue;
    }
    read_ahead_[pending.object] = true;
    const ResolvedObject& object = result.objects[pending.object];
    for (const auto& entry : object.elf->dynamic.needed) {
      const auto name = searcher_->expand(requesters_[pending.object], entry.name);
      if (!name || lists_[object.link_namespace].find(*name)) {
        continue;
      }
      const auto found = searcher_->search(requesters_[pending.object], *name, Evidence::none);
      const FileKey key{found.status.device, found.status.inode};
      if (found.verdict == Found::Verdict::found && !elves_.contains(key) &&
          asked.insert(key).second) {
        const TargetPath path = found.path;
        keys.push_back(key);
        inputs.push_back(
            {path.text, files_.host_path(path), [this, path] { return files_.open(path); }});
      }
    }
  }
  auto read = reader_.read(inputs);
  for (std::size_t i = 0; i < keys.size() && i < read.size(); ++i) {
    elves_.emplace(keys[i], std::make_shared<const Result<ElfFile>>(std::move(read[i])));
  }
}

// True: objects were put in front of this one.
bool Resolver::Walk::load_needed(std::list<Pending>& queue, std::list<Pending>::iterator at) {
  const std::size_t object = at->object;
  if (walked_[object]) {
    return false;
  }
  walked_[object] = true;
  if (reader_.name() == "readelf" && !read_ahead_[object]) {
    read_ahead(queue);
  }
  bool has_filter = false;
  const auto elf = result.objects[object].elf;
  const std::size_t link_namespace = result.objects[object].link_namespace;
  for (const auto& entry : elf->dynamic.needed) {
    // musl knows neither filters nor auxiliary filters.
    if (is_musl() && entry.kind != NeededEntry::Kind::needed) {
      continue;
    }
    const std::size_t edge =
        request({object, entry.name, kind_of_request(entry.kind), link_namespace});
    const auto to = result.edges[edge].to;
    if (!to || in_walk_[*to]) {
      continue;
    }
    in_walk_[*to] = true;
    if (entry.kind == NeededEntry::Kind::needed) {
      queue.push_back({*to});
    } else {
      queue.insert(at, {*to});
      has_filter = true;
    }
  }
  return has_filter;
}

void Resolver::Walk::walk(std::size_t root, const std::vector<std::size_t>& preloads) {
  in_walk_.assign(result.objects.size(), false);
  std::list<Pending> queue{{root}};
  in_walk_[root] = true;
  for (const std::size_t object : preloads) {
    if (!in_walk_[object]) {
      queue.push_back({object});
      in_walk_[object] = true;
    }
  }
  for (auto at = queue.begin(); at != queue.end();) {
    const bool has_filter = load_needed(queue, at);
    at->done = true;
    at = std::find_if(has_filter ? queue.begin() : at, queue.end(), [](const Pending& pending) {
      return !pending.done;
    });
  }
}

std::size_t Resolver::Walk::dlopen(std::size_t requester, std::string_view name) {
  // musl searches on behalf of the program, whoever calls.
  const std::size_t edge = request({is_musl() ? 0 : requester,
                                    name,
                                    RequestKind::dlopen,
                                    result.objects[requester].link_namespace});
  result.edges[edge].from = requester;
  if (const auto to = result.edges[edge].to) {
    walk(*to, {});
  }
  return edge;
}

void Resolver::Walk::set_working_directory(std::string directory) {
  if (searcher_ != nullptr) {
    searcher_->set_working_directory(std::move(directory));
  }
}

Resolver::Resolver(const FileSystem& files, const ElfReader& reader, LoadEnvironment environment)
    : walk_(std::make_unique<Walk>(files, reader, std::move(environment))) {}

Resolver::~Resolver() = default;

Result<Done> Resolver::start(const TargetPath& program) {
  return walk_->start(program);
}

std::size_t Resolver::dlopen(std::size_t requester, std::string_view name) {
  return walk_->dlopen(requester, name);
}

void Resolver::set_working_directory(std::string directory) {
  walk_->set_working_directory(std::move(directory));
}

const Resolution& Resolver::resolution() const {
  return walk_->result;
}

Resolution Resolver::take() {
  return std::move(walk_->result);
}

Result<Resolution> resolve(const FileSystem& files,
                           const ElfReader& reader,
                           const LoadEnvironment& environment,
                           const TargetPath& program) {
  Resolver resolver(files, reader, environment);
  if (auto started = resolver.start(program); !started) {
    return started.error();
  }
  return resolver.take();
}

}  // namespace tracso::loader

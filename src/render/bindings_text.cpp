#include "base/text.hpp"
#include "render/bindings.hpp"
#include "render/text/columns.hpp"
#include "render/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace tracso {
namespace {

constexpr std::size_t object_columns = 40;

std::string functions(std::size_t count) {
  return counted(count, "function");
}

std::string symbol_of(const Binding& binding) {
  return printable(binding.version.empty() ? binding.symbol
                                           : binding.symbol + "@" + binding.version);
}

class BindingsText {
 public:
  BindingsText(const RenderOptions& options,
               const Trace& trace,
               const Summary& summary,
               const ProblemFacts& facts,
               const BindingsChoice& choice)
      : options_(options), trace_(trace), names_(trace, summary), choice_(choice) {
    for (const Binding& binding : facts.bindings) {
      const bool symbol = choice.symbol.empty() || binding.symbol == choice.symbol;
      const bool object = choice.objects.empty() ||
                          std::find(choice.objects.begin(), choice.objects.end(), binding.object) !=
                              choice.objects.end();
      if (symbol && object) {
        shown_.push_back(&binding);
      }
    }
  }

  std::string text() {
    std::string out = head();
    out += pairs("goes to another library than the caller was built for", false);
    out += pairs("the same, by design", true);
    out += choice_.objects.empty() && choice_.symbol.empty() ? objects() : rows();
    return out;
  }

 private:
  std::string title(std::string_view text) const {
    return "\n" + paint(options_.color, Style::bold, text) + "\n";
  }

  std::string head() const {
    std::size_t waiting = 0, crossed = 0;
    for (const Binding* binding : shown_) {
      waiting += binding->bound ? 0 : 1;
      crossed += binding->interposed && binding->usual.empty() ? 1 : 0;
    }
    return paint(options_.color,
                 Style::bold,
                 fmt::format("{}: {} imported, {} not called so far, {} of another library than "
                             "promised",
                             printable(trace_.target),
                             functions(shown_.size()),
                             waiting,
                             crossed)) +
           "\n";
  }

  std::string name(const std::optional<NodeId>& node) const {
    return node ? names_(*node) : "(no library)";
  }

  std::string pairs(std::string_view heading, bool usual) const {
    std::map<std::tuple<NodeId, NodeId, std::string>, std::vector<const Binding*>> pairs;
    for (const Binding* binding : shown_) {
      if (binding->interposed && binding->usual.empty() != usual) {
        pairs[{*binding->provider, *binding->promised, binding->usual}].push_back(binding);
      }
    }
    std::string out = pairs.empty() ? "" : title(heading);
    for (const auto& [key, bindings] : pairs) {
      const auto& [provider, promised, reason] = key;
      out += fmt::format("  {} serves {} of {}{}\n",
                         names_(provider),
                         functions(bindings.size()),
                         names_(promised),
                         reason.empty() ? "" : " (" + reason + ")");
      out += usual ? "" : callers(bindings);
    }
    return out;
  }

  std::string callers(const std::vector<const Binding*>& bindings) const {
    const std::size_t most =
        options_.limit_libraries == 0 ? bindings.size() : options_.limit_libraries;
    std::string out;
    for (std::size_t i = 0; i < std::min(most, bindings.size()); ++i) {
      out += fmt::format("    {}  called by {}\n",
                         pad_right(symbol_of(*bindings[i]), object_columns - 2),
                         names_(bindings[i]->object));
    }
    if (bindings.size() > most) {
      out += fmt::format("    and {} more (--limit 0)\n", bindings.size() - most);
    }
    return out;
  }

  struct Object {
    std::map<std::string, std::size_t> providers;
    std::vector<std::string> waiting;
    std::size_t all = 0;
  };

  std::string objects() const {
    std::map<NodeId, Object> objects;
    for (const Binding* binding : shown_) {
      Object& object = objects[binding->object];
      ++object.all;
      if (binding->bound) {
        ++object.providers[name(binding->provider)];
      } else {
        object.waiting.push_back(printable(binding->symbol));
      }
    }
    std::string out = objects.empty() ? "" : title("who calls whom");
    for (const auto& [node, object] : objects) {
      out +=
          fmt::format("  {}  {}\n", pad_right(names_(node), object_columns), functions(object.all));
      out += providers(object);
      out += waiting(object);
    }
    return out;
  }

  static std::string providers(const Object& object) {
    std::vector<std::pair<std::string, std::size_t>> ranked(object.providers.begin(),
                                                            object.providers.end());
    std::stable_sort(ranked.begin(), ranked.end(), [](const auto& one, const auto& other) {
      return one.second > other.second;
    });
    std::vector<std::string> parts;
    for (const auto& [provider, count] : ranked) {
      parts.push_back(fmt::format("{} of {}", count, provider));
    }
    return parts.empty() ? "" : "      " + join(parts, ", ") + "\n";
  }

  std::string waiting(const Object& object) const {
    if (object.waiting.empty()) {
      return "";
    }
    const std::size_t most = options_.limit_libraries == 0 ? object.waiting.size() : 5;
    std::vector<std::string> few(object.waiting.begin(),
                                 object.waiting.begin() + static_cast<std::ptrdiff_t>(std::min(
                                                              most, object.waiting.size())));
    const std::size_t more = object.waiting.size() - few.size();
    return fmt::format("      {} not called so far: {}{}\n",
                       object.waiting.size(),
                       join(few, ", "),
                       more > 0 ? fmt::format(" and {} more", more) : "");
  }

  std::string rows() const {
    std::string out = shown_.empty() ? "" : title("function, and whose it is");
    for (const Binding* binding : shown_) {
      const bool other = !binding->bound && binding->expected != binding->promised;
      std::string note = binding->bound ? ""
                         : other        ? "  would be: not called so far"
                                        : "  not called so far";
      if (other && binding->promised) {
        note += fmt::format("  promised: {}", name(binding->promised));
      }
      if (binding->interposed) {
        note += fmt::format("  promised: {}{}",
                            name(binding->promised),
                            binding->usual.empty() ? "" : " (" + binding->usual + ")");
      }
      const std::string who = choice_.symbol.empty() && choice_.objects.size() == 1
                                  ? ""
                                  : "  called by " + names_(binding->object);
      out += fmt::format("  {}  {}{}{}\n",
                         pad_right(symbol_of(*binding), object_columns),
                         binding->bound ? name(binding->provider) : name(binding->expected),
                         who,
                         note);
    }
    return out;
  }

  const RenderOptions& options_;
  const Trace& trace_;
  DistinctNames names_;
  const BindingsChoice& choice_;
  std::vector<const Binding*> shown_;
};

}  // namespace

std::string bindings_text(const RenderOptions& options,
                          const Trace& trace,
                          const Summary& summary,
                          const ProblemFacts& facts,
                          const BindingsChoice& choice) {
  return BindingsText(options, trace, summary, facts, choice).text();
}

}  // namespace tracso

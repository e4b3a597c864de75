#include "calls/engine_sites.hpp"

#include "base/c_library.hpp"
#include "base/text.hpp"
#include "calls/error_rules.hpp"
#include "calls/system_calls.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace tracso::calls {
namespace {

constexpr const char* kernel = "[kernel]";

bool ends_the_thread(std::string_view symbol) {
  constexpr std::array names{"exit",
                             "_exit",
                             "_Exit",
                             "quick_exit",
                             "abort",
                             "pthread_exit",
                             "thrd_exit",
                             "SYS_exit",
                             "SYS_exit_group",
                             "SYS_rt_sigreturn"};
  return std::find(names.begin(), names.end(), symbol) != names.end();
}

}  // namespace

std::uint32_t EngineSites::add(Key key, EngineSite site) {
  const auto [at, is_new] =
      numbers_.try_emplace(std::move(key), static_cast<std::uint32_t>(sites_.size()));
  if (is_new) {
    site.line.caller_path = site.caller_path;
    site.line.callee_path = site.callee_path;
    site.line.prototype = prototypes_->find(site.line.symbol);
    site.never_returns = ends_the_thread(site.line.symbol);
    sites_.push_back(std::move(site));
  }
  return at->second;
}

std::uint32_t EngineSites::import(const std::string& symbol,
                                  const std::string& caller,
                                  const std::string& callee) {
  EngineSite site{{}, caller, callee, error_rule(symbol), false};
  site.line.symbol = symbol;
  site.line.caller = base_name(caller);
  site.line.into_c_library = is_c_library_name(callee);
  return add({0, symbol, caller, callee}, std::move(site));
}

std::uint32_t EngineSites::entry(const std::string& symbol,
                                 const std::string& library,
                                 bool in_program) {
  EngineSite site{{}, "", library, error_rule(symbol), false};
  site.line.symbol = symbol;
  site.line.into_c_library = is_c_library_name(library);
  if (!in_program) {
    site.line.library = base_name(library);
  }
  return add({1, symbol, "", library}, std::move(site));
}

std::uint32_t EngineSites::entry_from(std::uint32_t entry, std::string_view caller) {
  EngineSite site = sites_[entry];
  site.caller_path = caller;
  Key key{3, std::to_string(entry), site.caller_path, ""};
  return add(std::move(key), std::move(site));
}

std::uint32_t EngineSites::system_call(std::uint64_t number, const std::string& caller) {
  EngineSite site{{}, caller, kernel, 0, false};
  site.line.symbol = system_call_name(number);
  site.line.system_call = true;
  Key key{2, site.line.symbol, caller, kernel};
  return add(std::move(key), std::move(site));
}

}  // namespace tracso::calls

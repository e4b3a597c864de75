// Any bytes as a search path, as a loader file and as /etc/ld.so.preload.

#include "loader/environment.hpp"
#include "loader/loader_traits.hpp"
#include "loader/musl_rules.hpp"
#include "loader/tokens.hpp"

#include <cstdint>
#include <cstdlib>
#include <string>

namespace {

using namespace tracso::loader;

void require(bool promise) {
  if (!promise) {
    std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const TokenValues values{"/o", "lib", "x86_64"};
  const std::vector<std::string> trusted{"/lib/"};
  for (const auto trust :
       {TokenTrust::all, TokenTrust::first_component, TokenTrust::trusted_directories}) {
    for (const auto& element : split_search_path(text, ":;", values, {trust, &trusted})) {
      require(element.position >= 1 &&
              (element.directory.empty() || element.directory.back() == '/'));
      require(!element.dropped || element.directory.empty());
    }
  }
  const auto expanded = expand_tokens(text, values);
  require(expanded && (has_token(text) || *expanded == text));
  if (const auto musl = expand_musl_rpath(text, "/o")) {
    split_musl_path(*musl);
  }
  for (const auto& name : parse_preload_file(text)) {
    require(!name.empty() && name.find_first_of(": \t\n#") == std::string::npos);
  }
  LoaderTraits traits;
  read_glibc_strings(text, traits);
  require(traits.system_directories.size() <= 8);
  return 0;
}

// Any bytes as the demangled name of a C++ function, and as a mangled one.

#include "base/demangle.hpp"
#include "calls/argument_text.hpp"
#include "calls/cpp_signature.hpp"

#include <cstdint>
#include <cstdlib>
#include <string>

namespace {

using namespace tracso::calls;

void require(bool promise) {
  if (!promise) {
    std::abort();
  }
}

void look_at(const std::string& name) {
  const auto prototype = cpp_signature(name);
  if (!prototype) {
    return;
  }
  require(prototype->from_name && prototype->nodes.size() <= tracso_most_capture_nodes);
  require(prototype->arguments.size() <= name.size() + 1);
  CallEvent event;
  for (auto& word : event.call.integer) {
    word = 4096 + name.size();
  }
  for (std::size_t i = 0; i < prototype->nodes.size(); ++i) {
    event.pieces.push_back(
        {static_cast<std::uint8_t>(tracso_piece_node + i), tracso_piece_cut, name.substr(0, 32)});
  }
  event.result.integer = 4096 + name.size();
  arguments_at_call(event, &*prototype, {});
  arguments_at_return(event, event, &*prototype, {});
  shown_arguments(event, nullptr, &*prototype, {});
  result_text(&event, event, &*prototype, {});
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  look_at(text);
  look_at(tracso::demangled(text));
  return 0;
}

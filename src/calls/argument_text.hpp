#pragma once
// Arguments and results as people read them: by the prototype if there is one, else words.

#include "calls/events.hpp"
#include "calls/prototypes.hpp"

#include <string>
#include <string_view>

namespace tracso::calls {

/// The arguments of a call up to the first that the function fills in, which can only be told when
/// it has returned, and those from there on.
struct ArgumentTexts {
  std::string before;
  bool more = false;  ///< some are told on return
};

/// At the call. `prototype` may be nullptr. `text_bytes`: shown of a format, whose whole was
/// copied.
ArgumentTexts arguments_at_call(const CallEvent& call,
                                const Prototype* prototype,
                                std::size_t text_bytes);
/// The rest of them, with the comma before; empty: there are none.
std::string arguments_at_return(const CallEvent& call,
                                const CallEvent& result,
                                const Prototype* prototype,
                                std::size_t text_bytes);
/// What stands behind "= ".
std::string result_text(const CallEvent& result, const Prototype* prototype);

}  // namespace tracso::calls

#pragma once
// Arguments and results as people read them: by the prototype if there is one, else words.

#include "calls/events.hpp"
#include "calls/inner_text.hpp"
#include "calls/prototypes.hpp"
#include "calls/value_text.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tracso::calls {

/// The arguments of a call up to the first that the function fills in, which can only be told when
/// it has returned, and those from there on.
struct ArgumentTexts {
  std::string before;
  bool more = false;  ///< some are told on return
};

/// At the call. `prototype` may be nullptr. Of a format more was copied than is shown.
ArgumentTexts arguments_at_call(const CallEvent& call,
                                const Prototype* prototype,
                                const ShownLimits& limits);
/// The rest of them, with the comma before; empty: there are none.
std::string arguments_at_return(const CallEvent& call,
                                const CallEvent& result,
                                const Prototype* prototype,
                                const ShownLimits& limits);
/// What stands behind "= ". `call`: nullptr: it was not seen.
std::string result_text(const CallEvent* call,
                        const CallEvent& result,
                        const Prototype* prototype,
                        const ShownLimits& limits);

/// One argument, or a result, as lines show it and as what it is.
struct ShownValue {
  std::string text;
  Type type;
  Value value;
  bool typed = true;             ///< false: nothing is known of its type
  const Piece* piece = nullptr;  ///< what it leads to, in the event; nullptr: nothing was copied
};

/// All arguments of a call; `result` is nullptr while it has not returned: then what it fills in is
/// shown as a pointer.
std::vector<ShownValue> shown_arguments(const CallEvent& call,
                                        const CallEvent* result,
                                        const Prototype* prototype,
                                        const ShownLimits& limits);
/// nullopt: it returns nothing.
std::optional<ShownValue> shown_result(const CallEvent* call,
                                       const CallEvent& result,
                                       const Prototype* prototype,
                                       const ShownLimits& limits);

}  // namespace tracso::calls

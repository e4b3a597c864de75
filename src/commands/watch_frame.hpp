#pragma once
// The full screen of `tracso watch`, as lines of styled text.

#include "commands/watch_state.hpp"
#include "pick/frame.hpp"

namespace tracso {

/// Lines that fit the size: head, one sparkline per figure, memory by class, the verdict, and as
/// many of the last events as there is room for. `ended`: why it is over; empty: it goes on.
pick::Frame watch_frame(const WatchState& state,
                        pick::Size size,
                        bool unicode,
                        const std::string& ended);

}  // namespace tracso

#pragma once
// Expected output kept as files. TRACSO_UPDATE_GOLDEN=1 rewrites them; then `git diff tests/golden`
// is the review.

#include <string>
#include <string_view>

namespace tracso::test {

/// Empty if tests/golden/NAME holds exactly this text (or was just rewritten); else a message with
/// the first lines that differ.
std::string golden_difference(std::string_view name, std::string_view text);

}  // namespace tracso::test

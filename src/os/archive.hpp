#pragma once
// A few named texts in one .tar.gz (POSIX ustar inside gzip), so that any machine's tar opens it.

#include "tracso/result.hpp"

#include <map>
#include <string>
#include <string_view>

namespace tracso::os {

/// Names of at most 100 bytes, without '/'. unsupported: more than open_archive would take.
Result<std::string> make_archive(const std::map<std::string, std::string>& parts);

/// malformed: not gzip, not tar, cut short, or more than 256 MB inside.
Result<std::map<std::string, std::string>> open_archive(std::string_view bytes);

/// The two layers of it. malformed: as above.
Result<std::string> decompress(std::string_view gzip);
Result<std::map<std::string, std::string>> open_tar(std::string_view tar);

/// It begins as gzip does (RFC 1952).
bool is_gzip(std::string_view bytes);

}  // namespace tracso::os

#pragma once
// tracso --who NAME.

#include "commands/request.hpp"

namespace tracso {

/// The exit status: 0 found, with or without notices; 1 no process that could be read has it.
int answer_who(const WhoRequest& request);

/// Whether a file is what NAME names: its path, its base name, its soname, its stem ("libssl" for
/// libssl.so.3 and for libssl-0331cfe8.so.1.1) or its family ("openssl").
bool is_named(std::string_view query, std::string_view path, std::string_view soname);

}  // namespace tracso

// Translates the error messages of the parser library.
#pragma once

#include <cstddef>
#include <string_view>

#include "instances/result.h"

namespace stowage {

// Returns the error. `offset` is the byte of `text` where parsing stopped. `token` is the part of
// the current token that was read, and `what` the library's own message. `overflow` states whether
// the token was a number beyond the range of doubles.
InputError json_syntax_error(std::string_view text, std::size_t offset, std::string_view token,
                             std::string_view what, bool overflow);

}  // namespace stowage

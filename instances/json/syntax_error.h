// Puts the parser library's complaints into our words.
#pragma once

#include <cstddef>
#include <string_view>

#include "instances/result.h"

namespace stowage {

// `offset` is the byte of `text` where parsing stopped, `token` what was read of the current token,
// `what` the library's own sentence, `overflow` whether it was a number no double can hold.
InputError json_syntax_error(std::string_view text, std::size_t offset, std::string_view token,
                             std::string_view what, bool overflow);

}  // namespace stowage

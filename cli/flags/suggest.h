// The known word nearest to a misspelt one, for "did you mean".
//
//   suggestion("sovle", {"solve", "verify"}) == "; did you mean 'solve'?"
//   suggestion("banana", {"solve", "verify"}) == ""
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace stowage {

// "; did you mean 'WORD'?" of the nearest word, or nothing where none is near.
std::string suggestion(std::string_view word, const std::vector<std::string>& known);

// "auto, cbc, glpk"
std::string comma_list(const std::vector<std::string>& words);

}  // namespace stowage

// Finds the known word nearest to a misspelt word, for "did you mean".
//
//   suggestion("sovle", {"solve", "verify"}) == "; did you mean 'solve'?"
//   suggestion("banana", {"solve", "verify"}) == ""
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace stowage {

// Returns "; did you mean 'WORD'?" with the nearest word, or an empty string if no word is near.
std::string suggestion(std::string_view word, const std::vector<std::string>& known);

// Returns the words as a list, for instance "auto, cbc, glpk, highs".
std::string comma_list(const std::vector<std::string>& words);

}  // namespace stowage

// The known word nearest to a misspelt one, for "did you mean".
//
//   suggestion("sovle", {"solve", "verify"}) == "; did you mean 'solve'?"
//   suggestion("banana", {"solve", "verify"}) == ""
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stowage {

// The word that needs the fewest insertions, deletions, substitutions and swaps of neighbours (the
// restricted Damerau-Levenshtein distance) to become `word`; nothing when more than a third of the
// longer word (at least one letter) would change. The first of equals. O(|word| |candidate|) each.
std::optional<std::string> nearest_word(std::string_view word,
                                        const std::vector<std::string>& known);

// "; did you mean 'WORD'?", or nothing.
std::string suggestion(std::string_view word, const std::vector<std::string>& known);

// "auto, cbc, glpk"
std::string comma_list(const std::vector<std::string>& words);

}  // namespace stowage

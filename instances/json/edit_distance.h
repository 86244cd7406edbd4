// How far a word is from another: what "did you mean" asks.
#pragma once

#include <cstddef>
#include <string_view>

namespace stowage {

// The fewest insertions, deletions, substitutions and swaps of neighbours that make `b` of `a`: the
// restricted Damerau-Levenshtein distance. O(|a| |b|).
std::size_t edit_distance(std::string_view a, std::string_view b);

}  // namespace stowage

#include "cli/flags/suggest.h"

#include <algorithm>
#include <cstddef>
#include <optional>

#include "instances/json/text.h"

namespace stowage {
namespace {

// Returns the first word with the least edit distance to `word`. Returns nullopt if the distance
// exceeds a third of the longer word (at least one letter).
std::optional<std::string> nearest_word(std::string_view word,
                                        const std::vector<std::string>& known) {
  // letters; all known words are shorter, and the limit bounds the time
  constexpr std::size_t kLongestWord = 64;
  if (word.empty() || word.size() > kLongestWord) return std::nullopt;
  std::optional<std::string> best;
  std::size_t best_distance = 0;
  for (const std::string& candidate : known) {
    const std::size_t allowed =
        std::max<std::size_t>(1, std::max(word.size(), candidate.size()) / 3);
    const std::size_t distance = edit_distance(word, candidate);
    if (distance > allowed || (best && distance >= best_distance)) continue;
    best = candidate;
    best_distance = distance;
  }
  return best;
}

}  // namespace

std::string suggestion(std::string_view word, const std::vector<std::string>& known) {
  const std::optional<std::string> nearest = nearest_word(word, known);
  return nearest ? "; did you mean '" + *nearest + "'?" : std::string();
}

std::string comma_list(const std::vector<std::string>& words) {
  std::string list;
  for (const std::string& word : words) list += (list.empty() ? "" : ", ") + word;
  return list;
}

}  // namespace stowage

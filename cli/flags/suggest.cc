#include "cli/flags/suggest.h"

#include <algorithm>
#include <cstddef>
#include <optional>

#include "instances/json/text.h"

namespace stowage {
namespace {

// The word with the least edit distance to `word`; nothing when more than a third of the longer
// word (at least one letter) would change. The first of equals.
std::optional<std::string> nearest_word(std::string_view word,
                                        const std::vector<std::string>& known) {
  constexpr std::size_t kLongestWord = 64;  // nothing we know is longer, and the effort is bounded
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

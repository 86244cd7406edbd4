#include "heuristics/scatter/published/flexsp_length_buckets.h"

#include <algorithm>
#include <limits>

namespace stowage {

std::vector<Bucket> bucket_lengths(const ScatterTable& table, std::span<const int> positions,
                                   int count) {
  std::vector<Bucket> kinds;  // one per distinct length
  for (const int position : positions) {
    if (kinds.empty() || kinds.back().length != table.length(position)) {
      kinds.push_back({.length = table.length(position)});
    }
    kinds.back().positions.push_back(position);
  }
  const std::size_t n = kinds.size();
  std::vector<Tokens> members{0};  // sequences before kind i
  std::vector<Tokens> tokens{0};
  for (const Bucket& kind : kinds) {
    const auto sequences = static_cast<Tokens>(kind.positions.size());
    members.push_back(members.back() + sequences);
    tokens.push_back(tokens.back() + sequences * kind.length);
  }
  // Returns the tokens added if kinds [from, to) share the length of `from`, at most kMaxExact.
  const auto added = [&](std::size_t from, std::size_t to) {
    const Tokens rounded =
        checked_mul(kinds[from].length, members[to] - members[from]).value_or(kMaxExact);
    return std::min(rounded, kMaxExact) - (tokens[to] - tokens[from]);
  };
  const std::size_t most = std::min(n, static_cast<std::size_t>(count));
  constexpr Tokens kNever = std::numeric_limits<Tokens>::max();
  // Fewest added tokens for the first i kinds in the buckets so far.
  std::vector<Tokens> least(n + 1, kNever);
  least[0] = 0;
  std::vector<std::vector<std::size_t>> from(most, std::vector<std::size_t>(n + 1, 0));
  for (std::size_t bucket = 0; bucket < most; ++bucket) {
    std::vector<Tokens> next(n + 1, kNever);
    for (std::size_t to = bucket + 1; to <= n; ++to) {
      for (std::size_t start = bucket; start < to; ++start) {
        if (least[start] == kNever) continue;
        const Tokens then = least[start] + added(start, to);
        if (then < next[to]) {
          next[to] = then;
          from[bucket][to] = start;
        }
      }
    }
    least = std::move(next);
  }
  std::vector<Bucket> buckets;
  for (std::size_t bucket = most, to = n; bucket-- > 0;) {
    const std::size_t start = from[bucket][to];
    Bucket merged{.length = kinds[start].length};
    for (std::size_t kind = start; kind < to; ++kind) {
      merged.positions.insert(merged.positions.end(), kinds[kind].positions.begin(),
                              kinds[kind].positions.end());
    }
    buckets.push_back(std::move(merged));
    to = start;
  }
  std::ranges::reverse(buckets);
  return buckets;
}

}  // namespace stowage

#include "instances/order/memory/peak_by_length.h"

#include <algorithm>

#include "instances/order/memory/running_memory.h"
#include "instances/order/planning_table.h"

namespace stowage {
namespace {

using Piece = PeakByLength::Piece;

Bytes value(const Piece& line, Tokens length) { return line.fixed + line.per_token * length; }

// Returns one line per step, and one for the inputs, over the whole range.
std::vector<Piece> lines_of(const OrderInstance& instance, std::span<const int> order) {
  const auto [from, to] = *instance.tokens;
  const OrderTable shortest(instance, from);
  const OrderTable longest(instance, to);
  std::vector<Bytes> first = needs_of(shortest, order);
  std::vector<Bytes> last = needs_of(longest, order);
  first.push_back(shortest.at_start());
  last.push_back(longest.at_start());
  std::vector<Piece> lines;
  lines.reserve(first.size());
  for (std::size_t k = 0; k < first.size(); ++k) {
    const Bytes slope =
        from == to ? 0 : (last[k] - first[k]) / (to - from);  // divides without remainder
    lines.push_back({from, to, first[k] - slope * from, slope});
  }
  return lines;
}

// Returns the first length at which `line` is above `below`. The slope of `line` must be larger.
Tokens crossing(const Piece& below, const Piece& line) {
  return (below.fixed - line.fixed) / (line.per_token - below.per_token) + 1;
}

const Piece& piece_at(const std::vector<Piece>& pieces, Tokens length) {
  return *std::ranges::lower_bound(pieces, length, {}, &Piece::to);
}

}  // namespace

PeakByLength::PeakByLength(const OrderInstance& instance, std::span<const int> order) {
  const std::vector<Piece> lines = lines_of(instance, order);
  const auto [from, to] = *instance.tokens;
  for (Tokens next = from; next <= to;) {
    Piece top = lines.front();
    for (const Piece& line : lines) {
      const Bytes have = value(top, next);
      const Bytes its = value(line, next);
      if (its > have || (its == have && line.per_token > top.per_token)) top = line;
    }
    top.from = next;
    for (const Piece& line : lines) {
      // At `next` no line is above `top`, so that both differences of a crossing are at least 0
      // there.
      if (line.per_token > top.per_token) {
        top.to = std::min(top.to, crossing(top, line) - 1);
      }
    }
    pieces_.push_back(top);
    next = top.to + 1;
  }
}

Bytes PeakByLength::at(Tokens length) const { return value(piece_at(pieces_, length), length); }

std::optional<Tokens> first_below(const PeakByLength& a, const PeakByLength& b, Tokens from) {
  const Tokens end = a.pieces().back().to;
  while (from <= end) {
    const Piece& its = piece_at(a.pieces(), from);
    const Piece& other = piece_at(b.pieces(), from);
    const Tokens to = std::min(its.to, other.to);
    if (value(its, from) < value(other, from)) return from;
    if (other.per_token > its.per_token) {
      const Tokens below = crossing(its, other);
      if (below <= to) return below;
    }
    from = to + 1;
  }
  return std::nullopt;
}

}  // namespace stowage

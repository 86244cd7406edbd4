#include "formulations/layout/bounds.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "instances/layout/load.h"
#include "instances/numeric/radix_sort.h"

namespace stowage {
namespace {

Bytes rounded_up(Bytes value, Bytes unit) { return (value + unit - 1) / unit * unit; }

}  // namespace

ReachablePeaks::ReachablePeaks(const LayoutTable& table, Bytes most)
    : most_(most), unit_(table.unit()) {
  std::vector<int> placed;  // unpinned buffers, which a stack may contain
  Bytes alignment = 0;
  for (int b = 0; b < table.buffers(); ++b) {
    if (table.pinned(b)) {
      ends_.push_back(table.pin(b) + table.size(b));
    } else if (table.size(b) > 0) {
      if (alignment != 0 && table.alignment(b) != alignment) return;
      alignment = table.alignment(b);
      placed.push_back(b);
    }
  }
  alignment_ = std::max<Bytes>(alignment, 1);
  std::sort(ends_.begin(), ends_.end());
  list(table, placed);
}

void ReachablePeaks::list(const LayoutTable& table, const std::vector<int>& placed) {
  Bytes block = 0;
  for (const int b : placed) {
    const Bytes rounded = rounded_up(table.size(b), alignment_);
    whole_ = whole_ && rounded == table.size(b);
    block = std::gcd(block, rounded);
  }
  for (const Bytes end : ends_) block = std::gcd(block, rounded_up(end, alignment_));
  block_ = std::max<Bytes>(block, 1);
  const std::int64_t words = most_ / block_ / 64 + 1;
  if (words > kMaxWork / 64) return;  // even a single size exceeds the limit

  for (const int b : placed) tops_.push_back(table.size(b));
  radix_sort(tops_, [](Bytes size) { return sort_key(size); });
  struct Sizes {
    Bytes rounded = 0;
    std::int64_t count = 0;
  };
  std::vector<Sizes> sizes;
  for (const Bytes top : tops_) {
    const Bytes rounded = rounded_up(top, alignment_);
    if (sizes.empty() || sizes.back().rounded != rounded) sizes.push_back({rounded, 0});
    ++sizes.back().count;
  }
  tops_.erase(std::unique(tops_.begin(), tops_.end()), tops_.end());

  const std::int64_t additions = 64 * static_cast<std::int64_t>(sizes.size());  // upper bound
  if (words > kMaxWork / std::max<std::int64_t>(additions, 1)) return;
  stacks_.assign(static_cast<std::size_t>(words), 0);
  stacks_[0] = 1;
  for (const Bytes end : ends_) {
    const std::int64_t base = rounded_up(end, alignment_) / block_;
    if (base / 64 < words) stacks_[static_cast<std::size_t>(base / 64)] |= 1ULL << (base % 64);
  }
  for (const auto& [rounded, count] : sizes) add(rounded, count);
}

// Adds up to `count` buffers of one size to the stacks: 1, 2, 4, ... of them at a time, then the
// rest.
void ReachablePeaks::add(Bytes rounded, std::int64_t count) {
  const std::int64_t blocks = rounded / block_;
  for (std::int64_t step = 1; count > 0; step *= 2) {
    const std::int64_t taken = std::min(step, count);
    count -= taken;
    shift(taken * blocks);
  }
}

void ReachablePeaks::shift(std::int64_t blocks) {
  const auto words = static_cast<std::int64_t>(stacks_.size());
  const std::int64_t whole = blocks / 64;
  const auto part = static_cast<unsigned>(blocks % 64);
  for (std::int64_t w = words - 1; w >= whole; --w) {
    const auto from = static_cast<std::size_t>(w - whole);
    std::uint64_t moved = stacks_[from] << part;
    if (part != 0 && from > 0) moved |= stacks_[from - 1] >> (64 - part);
    stacks_[static_cast<std::size_t>(w)] |= moved;
  }
}

// Returns the least listed height of at least `least` bytes, or more than `most_` if none is
// listed.
Bytes ReachablePeaks::next_height(Bytes least) const {
  const std::int64_t first = least <= 0 ? 0 : (least + block_ - 1) / block_;
  auto word = static_cast<std::size_t>(first / 64);
  if (word >= stacks_.size()) return most_ + 1;
  std::uint64_t bits = stacks_[word] & (~0ULL << (first % 64));
  while (bits == 0) {
    if (++word == stacks_.size()) return most_ + 1;
    bits = stacks_[word];
  }
  return (static_cast<std::int64_t>(word) * 64 + std::countr_zero(bits)) * block_;
}

Bytes ReachablePeaks::next(Bytes least) const {
  least = rounded_up(std::max<Bytes>(least, 0), unit_);
  if (!listed() || least > most_ || least == 0) return least;
  Bytes best = most_ + 1;
  const auto end = std::lower_bound(ends_.begin(), ends_.end(), least);
  if (end != ends_.end()) best = std::min(best, *end);
  if (whole_) {
    best = std::min(best, next_height(least));
  } else {
    // The sums may contain the topmost buffer twice: a relaxation.
    for (const Bytes top : tops_) best = std::min(best, next_height(least - top) + top);
  }
  // No height up to `most` is reachable, so the peak is only known to be above it.
  return std::max(least, best);
}

std::vector<NamedBound> layout_bounds(const LayoutInstance& instance, const LayoutTable& table) {
  std::vector<NamedBound> bounds;
  Bytes best = 0;
  const auto raise = [&](const char* name, Bytes value) {
    best = std::max(best, value);
    bounds.push_back({name, static_cast<double>(best)});
  };
  for (int b = 0; b < table.buffers(); ++b) {
    best = std::max(best, std::max<Bytes>(table.pin(b), 0) + table.size(b));
  }
  raise("single", best);
  raise("load", peak_load(instance).load);
  if (!table.stackable()) return bounds;  // the sums below would not be exact
  raise("unit", rounded_up(best, table.unit()));
  // Each buffer of a stack adds at most the largest size, so the next sum is at most that far away.
  Bytes largest = 0;
  for (int b = 0; b < table.buffers(); ++b) {
    largest = std::max(largest, rounded_up(table.size(b), table.alignment(b)));
  }
  raise("chain", ReachablePeaks(table, best + largest).next(best));
  return bounds;
}

}  // namespace stowage

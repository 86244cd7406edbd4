#include "heuristics/layout/improve/reinsertion.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <utility>

#include "instances/numeric/numbers.h"
#include "instances/ticker.h"

namespace stowage {
namespace {

using layout_fixed::kClockVisits;
using layout_fixed::kShares;

double part_of(std::int64_t done, std::int64_t all) {
  return static_cast<double>(done) / static_cast<double>(all);
}

// Returns true if no buffer is pinned, and all buffers that are not idle have one alignment, which
// divides their sizes.
bool is_plain(const LayoutTable& table) {
  for (int b = 0; b < table.buffers(); ++b) {
    if (table.idle(b)) continue;
    const bool alike = table.alignment(b) == table.alignment(0);
    if (!alike || table.size(b) % table.alignment(b) != 0) return false;
  }
  return !table.any_pins();
}

}  // namespace

void Reinsertion::Stack::resize(std::size_t size) {
  buffer.resize(size);
  hull.resize(size);
  end.resize(size);
  rise.resize(size);
}

Reinsertion::Reinsertion(const LayoutTable& table, std::uint64_t seed,
                         const ReinsertionParams& params)
    : table_(table),
      params_(params),
      plain_(is_plain(table)),
      random_(seed),
      heights_(table.sections()),
      is_out_(at(table.buffers()), 0) {
  for (int b = 0; b < table.buffers(); ++b) size_.push_back(table.size(b));
}

// Returns the largest height over the buffer's sections, and sets these sections to height 0.
Bytes Reinsertion::take_heights(int b, SectionRange hull) {
  if (!table_.any_gaps()) return heights_.take(hull);
  Bytes most = 0;
  for (const SectionRange& range : table_.ranges(b)) most = std::max(most, heights_.take(range));
  return most;
}

void Reinsertion::put_heights(int b, SectionRange hull, Bytes height) {
  if (!table_.any_gaps()) {
    heights_.put(hull, height);
    return;
  }
  for (const SectionRange& range : table_.ranges(b)) heights_.put(range, height);
}

Bytes Reinsertion::end_on_any(int b, Bytes height) const {
  const Bytes offset =
      table_.pinned(b) ? std::max(height, table_.pin(b)) : table_.aligned(b, height);
  return offset + size(b);
}

Bytes Reinsertion::rise_below_any(int b, Bytes height) const {
  if (!table_.pinned(b)) return height + size(b);
  return std::max(height + size(b), target_ - table_.pin(b));
}

void Reinsertion::start(const std::vector<Bytes>& offsets) {
  stack_.buffer.clear();
  for (int b = 0; b < table_.buffers(); ++b) {
    if (!table_.idle(b)) stack_.buffer.push_back(b);
  }
  std::ranges::stable_sort(stack_.buffer, {}, [&](int b) { return offsets[at(b)]; });
  stack_.resize(stack_.buffer.size());
  for (std::size_t i = 0; i < stack_.size(); ++i) stack_.hull[i] = table_.hull(stack_.buffer[i]);
}

// Computes the longest path through each buffer of the stack, and returns the longest of all.
Bytes Reinsertion::measure() {
  Bytes longest = 0;
  heights_.clear();
  for (std::size_t i = 0; i < stack_.size(); ++i) {
    const int b = stack_.buffer[i];
    stack_.end[i] = end_on(b, take_heights(b, stack_.hull[i]));
    put_heights(b, stack_.hull[i], stack_.end[i]);
  }
  heights_.clear();
  for (std::size_t i = stack_.size(); i-- > 0;) {
    const int b = stack_.buffer[i];
    stack_.rise[i] = rise_below(b, take_heights(b, stack_.hull[i]));
    put_heights(b, stack_.hull[i], stack_.rise[i]);
    longest = std::max(longest, stack_.end[i] - size(b) + stack_.rise[i]);
  }
  visits_ += 2 * std::ssize(stack_.buffer);
  return longest;
}

// Sorts the stack by offsets or by the longest paths to the top. Both orders keep every buffer
// above the buffers it rests on.
void Reinsertion::sort_stack(bool by_rise) {
  score_.resize(at(table_.buffers()));
  for (std::size_t i = 0; i < stack_.size(); ++i) {
    const int b = stack_.buffer[i];
    score_[at(b)] = by_rise ? -stack_.rise[i] : stack_.end[i] - size(b);
  }
  // Insertion sort, because the stack is nearly sorted.
  std::int64_t moves = 0;
  for (std::size_t i = 1; i < stack_.size(); ++i) {
    const int b = stack_.buffer[i];
    const SectionRange hull = stack_.hull[i];
    const Bytes end = stack_.end[i];
    const Bytes rise = stack_.rise[i];
    std::size_t to = i;
    for (; to > 0 && score_[at(stack_.buffer[to - 1])] > score_[at(b)]; --to) {
      stack_.buffer[to] = stack_.buffer[to - 1];
      stack_.hull[to] = stack_.hull[to - 1];
      stack_.end[to] = stack_.end[to - 1];
      stack_.rise[to] = stack_.rise[to - 1];
    }
    moves += static_cast<std::int64_t>(i - to);
    stack_.buffer[to] = b;
    stack_.hull[to] = hull;
    stack_.end[to] = end;
    stack_.rise[to] = rise;
  }
  visits_ += moves / 4;
}

// Chooses the buffers to take out: a buffer on a longest path of the current stack, and other
// buffers that conflict with it.
void Reinsertion::choose() {
  taken_.clear();
  pool_.clear();
  Bytes longest = 0;
  for (std::size_t i = 0; i < current_.size(); ++i) {
    const int b = current_.buffer[i];
    if (table_.pinned(b)) continue;
    const Bytes through = current_.end[i] - size(b) + current_.rise[i];
    if (through < longest) continue;
    if (through > longest) pool_.clear();
    longest = through;
    pool_.push_back(static_cast<int>(i));
  }
  if (pool_.empty()) return;
  const auto first = at(pool_[random_.below(static_cast<std::uint32_t>(pool_.size()))]);
  const int b = current_.buffer[first];
  const SectionRange hull = current_.hull[first];
  taken_.push_back(b);
  pool_.clear();
  for (std::size_t i = 0; i < current_.size(); ++i) {
    if (i == first || !meets(current_, i, b, hull) || table_.pinned(current_.buffer[i])) continue;
    pool_.push_back(static_cast<int>(i));
  }
  visits_ += 2 * std::ssize(current_.buffer);
  const std::size_t more = random_.below(static_cast<std::uint32_t>(params_.taken));
  const auto nearest = [&](std::size_t most, auto distance) {
    most = std::min(most, pool_.size());
    std::ranges::nth_element(pool_, pool_.begin() + static_cast<std::ptrdiff_t>(most) - 1, {},
                             [&](int i) { return std::pair(distance(at(i)), i); });
    pool_.resize(most);
  };
  // The buffers are drawn from a larger pool of nearest buffers, so that different sets are taken.
  if (!pool_.empty() && more > 0) {
    switch (random_.below(3)) {
      case 0:
        nearest(at(params_.alike) * more, [&](std::size_t i) {
          return std::abs(current_.hull[i].first - hull.first) +
                 std::abs(current_.hull[i].last - hull.last);
        });
        break;
      case 1:
        nearest(at(params_.near) * more,
                [&](std::size_t i) { return i < first ? first - i : i - first; });
        break;
      default:
        break;
    }
  }
  for (std::size_t k = 0; k < std::min(more, pool_.size()); ++k) {
    const std::size_t other = k + random_.below(static_cast<std::uint32_t>(pool_.size() - k));
    std::swap(pool_[k], pool_[other]);
    taken_.push_back(current_.buffer[at(pool_[k])]);
  }
  sort_taken();
}

void Reinsertion::sort_taken() {
  const auto area = [&](int buffer) {
    const SectionRange its = table_.hull(buffer);
    return static_cast<double>(size(buffer)) * (its.last - its.first);
  };
  std::ranges::sort(taken_, {}, [&](int buffer) { return std::pair(-area(buffer), buffer); });
}

// Copies the current stack without the taken buffers into stack_.
void Reinsertion::take_out() {
  for (const int b : taken_) is_out_[at(b)] = 1;
  stack_.resize(current_.size());
  std::size_t to = 0;
  for (std::size_t i = 0; i < current_.size(); ++i) {
    if (is_out_[at(current_.buffer[i])] != 0) continue;
    stack_.buffer[to] = current_.buffer[i];
    stack_.hull[to] = current_.hull[i];
    ++to;
  }
  stack_.resize(to);
  for (const int b : taken_) is_out_[at(b)] = 0;
}

// Inserts the buffer where the longest path through it is shortest; ties are broken at random.
// Returns false if that path is longer than the limit.
bool Reinsertion::put_back(int b, Bytes limit) {
  const SectionRange hull = table_.hull(b);
  const std::size_t size = stack_.size();
  below_.resize(size + 1);
  Bytes below = 0;
  for (std::size_t i = 0; i < size; ++i) {
    below_[i] = below;
    below = std::max(below, meets(stack_, i, b, hull) ? stack_.end[i] : 0);
  }
  below_[size] = below;
  // All paths up to the target length count as equal.
  Bytes least = std::numeric_limits<Bytes>::max();
  std::size_t position = 0;
  Bytes rise_there = 0;
  std::uint32_t ties = 0;
  Bytes above = 0;
  for (std::size_t i = size + 1; i-- > 0;) {
    if (i < size) {
      if (!meets(stack_, i, b, hull)) continue;
      above = std::max(above, stack_.rise[i]);
    }
    const Bytes through = std::max(end_on(b, below_[i]) + above, target_);
    if (through > least) continue;
    if (through < least) ties = 0;
    least = through;
    if (random_.below(++ties) != 0) continue;
    position = i;
    rise_there = above;
  }
  visits_ += 3 * static_cast<std::int64_t>(size);
  if (least > limit) return false;
  insert(position, b, end_on(b, below_[position]), rise_below(b, rise_there));
  raise_above(position);
  raise_below(position);
  return true;
}

void Reinsertion::insert(std::size_t position, int b, Bytes end, Bytes rise) {
  const auto where = static_cast<std::ptrdiff_t>(position);
  stack_.buffer.insert(stack_.buffer.begin() + where, b);
  stack_.hull.insert(stack_.hull.begin() + where, table_.hull(b));
  stack_.end.insert(stack_.end.begin() + where, end);
  stack_.rise.insert(stack_.rise.begin() + where, rise);
}

// Updates the path lengths above the inserted buffer. The heights hold only raised ends, so the
// loop stops when no section is raised any more.
void Reinsertion::raise_above(std::size_t position) {
  heights_.clear();
  put_heights(stack_.buffer[position], stack_.hull[position], stack_.end[position]);
  for (std::size_t i = position + 1; i < stack_.size() && heights_.raised() > 0; ++i) {
    const int b = stack_.buffer[i];
    const Bytes height = take_heights(b, stack_.hull[i]);
    if (height == 0) continue;
    const Bytes end = end_on(b, height);
    if (end <= stack_.end[i]) continue;
    stack_.end[i] = end;
    put_heights(b, stack_.hull[i], end);
  }
}

void Reinsertion::raise_below(std::size_t position) {
  heights_.clear();
  put_heights(stack_.buffer[position], stack_.hull[position], stack_.rise[position]);
  for (std::size_t i = position; i-- > 0 && heights_.raised() > 0;) {
    const int b = stack_.buffer[i];
    const Bytes height = take_heights(b, stack_.hull[i]);
    if (height == 0) continue;
    const Bytes rise = rise_below(b, height);
    if (rise <= stack_.rise[i]) continue;
    stack_.rise[i] = rise;
    put_heights(b, stack_.hull[i], rise);
  }
}

// Idle buffers are placed at their pins, or at offset 0.
std::vector<Bytes> Reinsertion::offsets() const {
  std::vector<Bytes> offsets(at(table_.buffers()), 0);
  for (int b = 0; b < table_.buffers(); ++b) {
    if (table_.pinned(b)) offsets[at(b)] = table_.pin(b);
  }
  for (std::size_t i = 0; i < current_.size(); ++i) {
    const int b = current_.buffer[i];
    offsets[at(b)] = current_.end[i] - size(b);
  }
  return offsets;
}

std::optional<std::vector<Bytes>> Reinsertion::complete(const std::vector<Bytes>& known,
                                                        Bytes target, Budget& budget) {
  target_ = std::max(target, table_.max_load());
  start(known);
  current_ = stack_;
  taken_.clear();
  for (const int b : current_.buffer) {
    if (known[at(b)] < 0) taken_.push_back(b);
  }
  sort_taken();
  take_out();
  measure();
  sort_stack(false);
  PollEvery ticker(budget, kClockVisits);
  for (const int b : taken_) {
    if (budget.nodes_left() <= 0) return std::nullopt;
    const std::int64_t before = visits_;
    put_back(b, std::numeric_limits<Bytes>::max());
    budget.count_nodes(1);
    if (ticker.exhausted(visits_ - before)) return std::nullopt;
  }
  current_ = stack_;
  return offsets();
}

std::vector<Bytes> Reinsertion::lower(std::vector<Bytes> best, Bytes target, std::int64_t visits,
                                      Budget& budget) {
  target_ = std::max(target, table_.max_load());
  Bytes peak = table_.peak(best);
  if (peak <= target_ || budget.exhausted()) return best;
  start(best);
  longest_ = measure();
  sort_stack(false);
  current_ = stack_;
  const std::int64_t first = visits_;
  const std::int64_t nodes = budget.nodes_left();
  PollEvery ticker(budget, kClockVisits);
  const auto pins_kept = [&] {
    if (!table_.any_pins()) return true;
    for (std::size_t i = 0; i < current_.size(); ++i) {
      const int b = current_.buffer[i];
      if (table_.pinned(b) && current_.end[i] > table_.pin(b) + size(b)) return false;
    }
    return true;
  };
  const double threshold = params_.threshold * static_cast<double>(table_.max_load());
  while (peak > target_ && visits_ - first < visits && budget.nodes_left() > 0) {
    const std::int64_t before = visits_;
    choose();
    if (taken_.empty()) break;
    const double share =
        1 - std::max(part_of(visits_ - first, visits), part_of(nodes - budget.nodes_left(), nodes));
    const Bytes limit = longest_ + static_cast<Bytes>(threshold * std::max(0.0, share) *
                                                      random_.below(kShares) / kShares);
    take_out();
    bool accepted = measure() <= limit;
    if (accepted) {
      sort_stack(random_.below(2) == 0);
      for (const int b : taken_) {
        accepted = budget.nodes_left() > 0 && put_back(b, limit);
        budget.count_nodes(1);
        if (!accepted) break;
      }
    }
    if (accepted) {
      Bytes longest = 0;
      Bytes highest = 0;
      for (std::size_t i = 0; i < stack_.size(); ++i) {
        longest = std::max(longest, stack_.end[i] - size(stack_.buffer[i]) + stack_.rise[i]);
        highest = std::max(highest, stack_.end[i]);
      }
      if (longest <= limit) {
        sort_stack(false);
        std::swap(current_, stack_);
        longest_ = longest;
        if (highest < peak && pins_kept()) {
          best = offsets();
          peak = table_.peak(best);
        }
      }
    }
    if (ticker.exhausted(visits_ - before)) break;
  }
  return best;
}

}  // namespace stowage

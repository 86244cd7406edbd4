#include "solvers/layout/tree.h"

#include <algorithm>
#include <limits>

namespace stowage {
namespace {

// A component is listed anew once one in so many of its buffers is placed: placed ones cost time,
// lists cost memory.
constexpr std::size_t kListed = 16;

}  // namespace

LayoutTree::LayoutTree(const LayoutTable& table, const LayoutNeighbours& neighbours,
                       const std::vector<int>& order, Bytes capacity)
    : table_(table), state_(table, neighbours, capacity) {
  rank_.assign(at(table.buffers()), 0);
  for (std::size_t i = 0; i < order.size(); ++i) rank_[at(order[i])] = static_cast<int>(i);
  waiting_ = order;
  newest_.resize(at(table.sections()));
  from_below_.assign(at(table.sections()) + 1, 0);
  from_above_ = from_below_;
  list_beginnings(order);
  if (!state_.possible()) {
    end_ = End::exhausted;
    return;
  }
  const Component all{0, order.size(), {0, table.sections()}};
  const int first = split(all, Key{}, -1, -1);
  if (first < 0) {
    end_ = End::layout;
    return;
  }
  const Pending& root = pendings_[at(first)];
  push(root.component, static_cast<int>(root.component.last - root.component.first), root.cursor,
       root.fail_to, root.next);
}

void LayoutTree::list_beginnings(const std::vector<int>& order) {
  first_beginning_.assign(at(table_.sections()) + 2, 0);
  for (const int b : order) {
    for (const SectionRange& range : table_.ranges(b)) ++first_beginning_[at(range.first) + 2];
  }
  for (std::size_t s = 2; s < first_beginning_.size(); ++s) {
    first_beginning_[s] += first_beginning_[s - 1];
  }
  beginnings_.resize(first_beginning_.back());
  for (const int b : order) {
    for (const SectionRange& range : table_.ranges(b)) {
      beginnings_[first_beginning_[at(range.first) + 1]++] = {range.last, b};
    }
  }
}

void LayoutTree::push(const Component& component, int left, Key cursor, int fail_to, int pending) {
  frames_.push_back({.component = component,
                     .cursor = cursor,
                     .left = left,
                     .fail_to = fail_to,
                     .pending = pending,
                     .trail = state_.mark(),
                     .waiting = waiting_.size(),
                     .pendings = pendings_.size()});
}

LayoutTree::Candidate LayoutTree::candidate(const Frame& frame) const {
  constexpr Bytes kNever = std::numeric_limits<Bytes>::max();
  Bytes threshold = kNever;
  Bytes level = kNever;
  int found = -1;
  // What bounds the next level: the least size, the least bound and the one after it.
  Bytes least = kNever;
  Bytes first = kNever;
  Bytes second = kNever;
  for (std::size_t i = frame.component.first; i < frame.component.last; ++i) {
    const int b = waiting_[i];
    const LayoutState::Row& row = state_.row(b);
    if (row.placed) continue;
    threshold = std::min(threshold, row.support + row.size);
    least = std::min(least, row.size);
    if (row.bound < second) {
      if (row.bound < first) {
        second = first;
        first = row.bound;
      } else if (row.bound > first) {
        second = row.bound;
      }
    }
    // Of those at one level the first in the list has the smallest rank.
    if (row.support >= level || row.bound > row.support) continue;
    if (Key{row.support, rank_[at(b)]} <= frame.cursor) continue;
    level = row.support;
    found = b;
  }
  if (level >= threshold) return {};
  return {found, std::min(level + least, first > level ? first : second)};
}

LayoutTree::Cover LayoutTree::cover(const Frame& frame, Candidate candidate) {
  const int b = candidate.buffer;
  const Bytes level = state_.lowest(b);
  SectionRange sections = frame.component.sections;
  if (level == frame.cursor.offset) {
    // Only around the last buffer of this level has anything changed: what lies beyond a section
    // that is higher already was looked at when its turn came, or will be.
    const SectionRange hull = table_.hull(b);
    int first = hull.first;
    int last = hull.last;
    while (first > sections.first && state_.top(first - 1) <= level) --first;
    while (last < sections.last && state_.top(last) <= level) ++last;
    sections = {first, last};
  }
  starts_.clear();
  for (int s = sections.first; s < sections.last; ++s) {
    newest_[at(s)] = -1;
    from_below_[at(s)] = 0;
    from_above_[at(s)] = 0;
    for (std::size_t i = first_beginning_[at(s)]; i < first_beginning_[at(s) + 1]; ++i) {
      const auto& [end, other] = beginnings_[i];
      const LayoutState::Row& row = state_.row(other);
      if (row.placed || row.support != level || row.bound > level || end > sections.last) continue;
      if (Key{level, rank_[at(other)]} <= frame.cursor) continue;
      starts_.push_back({end, newest_[at(s)]});
      newest_[at(s)] = static_cast<int>(starts_.size()) - 1;
    }
  }
  from_below_[at(sections.last)] = 0;
  from_below_[at(sections.first)] = 1;
  from_above_[at(sections.last)] = 1;
  for (int s = sections.first; s < sections.last; ++s) {
    if (!from_below_[at(s)]) continue;
    if (!state_.must_cover(s, level, candidate.next)) from_below_[at(s) + 1] = 1;
    for (int i = newest_[at(s)]; i >= 0; i = starts_[at(i)].older) {
      from_below_[at(starts_[at(i)].end)] = 1;
    }
  }
  if (!from_below_[at(sections.last)]) {
    int s = sections.last;
    while (!from_below_[at(s)]) --s;
    state_.blame(std::min(s, sections.last - 1));
    return Cover::dead;
  }
  for (int s = sections.last; s-- > sections.first;) {
    bool reached = from_above_[at(s) + 1] && !state_.must_cover(s, level, candidate.next);
    for (int i = newest_[at(s)]; i >= 0 && !reached; i = starts_[at(i)].older) {
      reached = from_above_[at(starts_[at(i)].end)];
    }
    from_above_[at(s)] = reached;
  }
  for (const SectionRange& range : table_.ranges(b)) {
    if (!from_below_[at(range.first)] || !from_above_[at(range.last)]) return Cover::without;
  }
  return Cover::with;
}

LayoutTree::End LayoutTree::run(std::int64_t nodes) {
  const std::int64_t stop = nodes_ + nodes;
  while (end_ == End::open && nodes_ < stop) {
    Frame& frame = frames_.back();
    const auto give_up = [&] {
      const int fail_to = frame.fail_to;
      frames_.resize(at(fail_to + 1));
      if (frames_.empty()) end_ = End::exhausted;
    };
    state_.undo(frame.trail);
    waiting_.resize(frame.waiting);
    pendings_.resize(frame.pendings);
    if (frame.closed) {
      give_up();
      continue;
    }
    if (frame.tried >= 0) {
      // What follows holds for every other candidate of this frame.
      if (!state_.pass_over(frame.tried, frame.cursor.offset)) {
        give_up();
        continue;
      }
      frame.trail = state_.mark();
    }
    const Candidate next = candidate(frame);
    const int b = next.buffer;
    // At the level of the decision before, all sections have been seen to fit.
    const bool rises = b >= 0 && (table_.any_pins() || state_.lowest(b) > frame.cursor.offset);
    if (b < 0 || (rises && !state_.fits_above(frame.component.sections, state_.lowest(b)))) {
      give_up();
      continue;
    }
    const Cover covered = table_.any_pins() ? Cover::with : cover(frame, next);
    if (covered == Cover::dead) {
      give_up();
      continue;
    }
    frame.tried = b;
    frame.cursor = {state_.lowest(b), rank_[at(b)]};
    ++nodes_;
    if (covered == Cover::without) continue;
    const int twin = table_.twin_before(b);
    if (twin >= 0 && !state_.placed(twin)) continue;
    if (!state_.has_unplaced_neighbour(b)) frame.closed = true;
    if (!state_.place(b)) continue;
    if (!descend()) end_ = End::layout;
  }
  return end_;
}

bool LayoutTree::descend() {
  const auto parent = static_cast<int>(frames_.size()) - 1;
  const Frame& frame = frames_.back();
  const int left = frame.left - 1;
  const SectionRange hull = table_.hull(frame.tried);
  bool cut = false;
  for (int s = hull.first + 1; s < hull.last && !cut; ++s) cut = state_.crossing(s) == 0;
  if (left > 0 && !cut) {
    Component rest = frame.component;
    if (kListed * at(left) <= (kListed - 1) * (rest.last - rest.first)) rest = unplaced(rest);
    push(rest, left, frame.cursor, parent, frame.pending);
    return true;
  }
  int next = frame.pending;
  if (left > 0) next = split(frame.component, frame.cursor, parent, next);
  if (next < 0) return false;
  const Pending& pending = pendings_[at(next)];
  push(pending.component, static_cast<int>(pending.component.last - pending.component.first),
       pending.cursor, pending.fail_to, pending.next);
  return true;
}

// The same component, listed without its placed buffers.
LayoutTree::Component LayoutTree::unplaced(const Component& component) {
  Component rest{waiting_.size(), 0, component.sections};
  for (std::size_t i = component.first; i < component.last; ++i) {
    const int b = waiting_[i];
    if (!state_.placed(b)) waiting_.push_back(b);
  }
  rest.last = waiting_.size();
  return rest;
}

// Lists the unplaced buffers of each part of a component; returns the first of the chain of
// pending parts, which ends with `pending`.
int LayoutTree::split(const Component& component, Key cursor, int fail_to, int pending) {
  std::vector<Component> parts;
  int first = component.sections.first;
  for (int s = first + 1; s <= component.sections.last; ++s) {
    if (s < component.sections.last && state_.crossing(s) > 0) continue;
    Component part{waiting_.size(), 0, {first, s}};
    for (std::size_t i = component.first; i < component.last; ++i) {
      const int b = waiting_[i];
      const int start = table_.hull(b).first;
      if (!state_.placed(b) && first <= start && start < s) waiting_.push_back(b);
    }
    part.last = waiting_.size();
    if (part.last > part.first) parts.push_back(part);
    first = s;
  }
  std::ranges::stable_sort(parts, std::greater{},
                           [](const Component& part) { return part.last - part.first; });
  for (const Component& part : parts) {
    pendings_.push_back({part, cursor, fail_to, pending});
    pending = static_cast<int>(pendings_.size()) - 1;
  }
  return pending;
}

std::vector<Bytes> LayoutTree::offsets() const {
  std::vector<Bytes> all;
  for (int b = 0; b < table_.buffers(); ++b) all.push_back(state_.offset(b));
  return all;
}

}  // namespace stowage

#include "solvers/layout/tree/tree.h"

#include <algorithm>
#include <limits>

#include "solvers/layout/tight_fit.h"

namespace stowage {
LayoutTree::LayoutTree(const LayoutTable& table, const LayoutNeighbours& neighbours,
                       const std::vector<int>& order, Bytes capacity, FailedStates& failed,
                       Choice choice, const LayoutSearchParams& params)
    : table_(table),
      kept_(params.kept),
      state_(table, neighbours, capacity),
      failed_(failed),
      choice_(choice) {
  waiting_ = order;
  newest_.resize(at(table.sections()));
  must_.resize(at(table.sections()));
  from_below_.assign(at(table.sections()) + 1, 0);
  from_above_ = from_below_;
  if (!state_.possible()) {
    end_ = End::exhausted;
    return;
  }
  const Component all{0, order.size(), {0, table.sections()}};
  const int first = split(all, -1, -1, -1);
  if (first < 0) {
    end_ = End::layout;
    return;
  }
  const Pending& root = pendings_[at(first)];
  push(root.component, static_cast<int>(root.component.last - root.component.first), root.floor,
       root.fail_to, root.next);
}

void LayoutTree::push(const Component& component, int left, Bytes floor, int fail_to, int pending) {
  frames_.push_back({.component = component,
                     .floor = floor,
                     .next = candidates_.size(),
                     .last = candidates_.size(),
                     .left = left,
                     .fail_to = fail_to,
                     .pending = pending,
                     .key = state_.key(),
                     .start = state_.mark(),
                     .nodes = nodes_,
                     .trail = state_.mark(),
                     .waiting = waiting_.size(),
                     .pendings = pendings_.size(),
                     .candidates = candidates_.size()});
}

// Sets the level, the candidates and `later` of the frame. Returns false if the frame has no
// layout.
bool LayoutTree::list_candidates(Frame& frame) {
  constexpr Bytes kNever = std::numeric_limits<Bytes>::max();
  Bytes threshold = kNever;
  Bytes level = kNever;
  Bytes least_size = kNever;
  Bytes least_end = kNever;
  candidates_.resize(frame.candidates);
  for (std::size_t i = frame.component.first; i < frame.component.last; ++i) {
    const int b = waiting_[i];
    const LayoutState::Row& row = state_.row(b);
    if (row.placed) continue;
    threshold = std::min(threshold, row.support + row.size);
    least_size = std::min(least_size, row.size);
    least_end = std::min(least_end, row.bound + row.size);
    if (row.support > level || row.support < frame.floor) continue;
    if (row.bound > row.support) continue;
    if (row.support < level) candidates_.resize(frame.candidates);
    level = row.support;
    candidates_.push_back(b);
  }
  frame.next = frame.candidates;
  frame.last = candidates_.size();
  frame.level = level;
  if (level >= threshold) return false;
  // A buffer passed over at this level rests on another buffer that is yet to be placed at this
  // level or above.
  frame.later = std::max(level + least_size, least_end);
  return true;
}

bool LayoutTree::rise(Frame& frame) {
  if (!list_candidates(frame)) return false;
  // At the level of the previous decision, all sections were already checked.
  const SectionRange sections = frame.component.sections;
  if (frame.level == frame.floor && !table_.any_pins()) return true;
  if (!state_.fits_above(sections, frame.level)) return false;
  if (table_.any_pins()) return true;
  // Each range of sections whose tops do not exceed the level is checked separately.
  for (int s = sections.first; s < sections.last;) {
    const int first = s;
    while (s < sections.last && state_.top(s) <= frame.level) ++s;
    if (mark_musts(frame, {first, s}) && !reach_up(frame, {first, s})) return false;
    while (s < sections.last && state_.top(s) > frame.level) ++s;
  }
  return true;
}

bool LayoutTree::mark_musts(const Frame& frame, SectionRange sections) {
  bool any = false;
  for (int s = sections.first; s < sections.last; ++s) {
    must_[at(s)] = state_.must_cover(s, frame.level, frame.later);
    any = any || must_[at(s)];
  }
  return any;
}

// Computes which section borders can be reached from the first one by steps over a section that
// need not be covered, or over a candidate. Returns false if the last border cannot be reached.
bool LayoutTree::reach_up(const Frame& frame, SectionRange sections) {
  starts_.clear();
  for (int s = sections.first; s < sections.last; ++s) {
    newest_[at(s)] = -1;
    from_below_[at(s) + 1] = 0;
  }
  for (std::size_t i = frame.next; i < frame.last; ++i) {
    for (const SectionRange& range : table_.ranges(candidates_[i])) {
      if (range.first < sections.first || range.last > sections.last) continue;
      starts_.push_back({range.last, newest_[at(range.first)]});
      newest_[at(range.first)] = static_cast<int>(starts_.size()) - 1;
    }
  }
  from_below_[at(sections.first)] = 1;
  for (int s = sections.first; s < sections.last; ++s) {
    if (!from_below_[at(s)]) continue;
    if (!must_[at(s)]) from_below_[at(s) + 1] = 1;
    for (int i = newest_[at(s)]; i >= 0; i = starts_[at(i)].older) {
      from_below_[at(starts_[at(i)].end)] = 1;
    }
  }
  if (from_below_[at(sections.last)]) return true;
  int s = sections.last;
  while (!from_below_[at(s)]) --s;
  state_.blame(s);
  return false;
}

// Computes from which borders the last one can be reached.
void LayoutTree::reach_down(SectionRange sections) {
  from_above_[at(sections.last)] = 1;
  for (int s = sections.last; s-- > sections.first;) {
    bool reached = from_above_[at(s) + 1] && !must_[at(s)];
    for (int i = newest_[at(s)]; i >= 0 && !reached; i = starts_[at(i)].older) {
      reached = from_above_[at(starts_[at(i)].end)];
    }
    from_above_[at(s)] = reached;
  }
}

LayoutTree::Cover LayoutTree::cover(const Frame& frame, int candidate) {
  // Sections beyond a higher section were checked when the level was new, or are checked with their
  // own candidates.
  SectionRange around = table_.hull(candidate);
  const SectionRange sections = frame.component.sections;
  while (around.first > sections.first && state_.top(around.first - 1) <= frame.level) {
    --around.first;
  }
  while (around.last < sections.last && state_.top(around.last) <= frame.level) ++around.last;
  if (!mark_musts(frame, around)) return Cover::with;
  if (!reach_up(frame, around)) return Cover::dead;
  reach_down(around);
  for (const SectionRange& range : table_.ranges(candidate)) {
    if (!from_below_[at(range.first)] || !from_above_[at(range.last)]) return Cover::without;
  }
  return Cover::with;
}

LayoutTree::End LayoutTree::run(std::int64_t nodes) {
  const std::int64_t stop = nodes_ + nodes;
  while (end_ == End::open && nodes_ < stop) {
    Frame& frame = frames_.back();
    state_.undo(frame.trail);
    state_.set_key(frame.key);
    waiting_.resize(frame.waiting);
    pendings_.resize(frame.pendings);
    candidates_.resize(frame.last);
    if (frame.closed) {
      give_up(frame);
      continue;
    }
    if (frame.tried >= 0) {
      // The raised bound holds for all further candidates of this frame.
      if (!state_.pass_over(frame.tried, frame.floor)) {
        give_up(frame);
        continue;
      }
      frame.trail = state_.mark();
    }
    if (frame.next == frame.last && !rise(frame)) {
      give_up(frame);
      continue;
    }
    if (choice_ == Choice::flush) {
      put_flush_first(table_, state_, frame.component.sections, frame.level,
                      std::span(candidates_).subspan(frame.next, frame.last - frame.next));
    }
    const int b = candidates_[frame.next];
    const Cover covered = table_.any_pins() ? Cover::with : cover(frame, b);
    if (covered == Cover::dead) {
      give_up(frame);
      continue;
    }
    ++frame.next;
    frame.tried = b;
    frame.floor = frame.level;
    ++nodes_;
    if (covered == Cover::without) continue;
    const int twin = table_.twin_before(b);
    if (twin >= 0 && !state_.placed(twin)) continue;
    if (!state_.has_unplaced_neighbour(b)) frame.closed = true;
    if (!state_.place(b) || failed_.refutes(state_.key(), state_)) continue;
    if (!descend()) end_ = End::layout;
  }
  return end_;
}

void LayoutTree::give_up(const Frame& frame) {
  if (nodes_ - frame.nodes >= kept_) {
    state_.undo(frame.start);
    passed_over_.clear();
    for (std::size_t i = frame.component.first; i < frame.component.last; ++i) {
      const int b = waiting_[i];
      const LayoutState::Row& row = state_.row(b);
      if (!row.placed && row.bound > row.support) passed_over_.push_back({b, row.bound});
    }
    failed_.add(frame.key, passed_over_);
  }
  frames_.resize(at(frame.fail_to + 1));
  if (frames_.empty()) end_ = End::exhausted;
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
    constexpr std::size_t kShare = layout_fixed::kListedShare;
    if (kShare * at(left) <= (kShare - 1) * (rest.last - rest.first)) rest = unplaced(rest);
    push(rest, left, frame.floor, parent, frame.pending);
    inherit(frames_[at(parent)], frames_.back());
    return true;
  }
  int next = frame.pending;
  if (left > 0) next = split(frame.component, frame.floor, parent, next);
  if (next < 0) return false;
  const Pending& pending = pendings_[at(next)];
  push(pending.component, static_cast<int>(pending.component.last - pending.component.first),
       pending.floor, pending.fail_to, pending.next);
  return true;
}

// Copies the candidates of the parent's level that can still begin there after the placement.
void LayoutTree::inherit(const Frame& parent, Frame& frame) {
  for (std::size_t i = parent.next; i < parent.last; ++i) {
    const int b = candidates_[i];
    if (state_.lowest(b) == parent.level) candidates_.push_back(b);
  }
  frame.last = candidates_.size();
  frame.level = parent.level;
  frame.later = parent.later;
}

// Copies the component without its placed buffers.
LayoutTree::Component LayoutTree::unplaced(const Component& component) {
  Component rest{waiting_.size(), 0, component.sections};
  for (std::size_t i = component.first; i < component.last; ++i) {
    const int b = waiting_[i];
    if (!state_.placed(b)) waiting_.push_back(b);
  }
  rest.last = waiting_.size();
  return rest;
}

// Lists the unplaced buffers of each part of a component. Returns the first index of the chain of
// pending parts, which ends with `pending`.
int LayoutTree::split(const Component& component, Bytes floor, int fail_to, int pending) {
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
    pendings_.push_back({part, floor, fail_to, pending});
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

// One depth-first search for a layout within a capacity, with one static order of the buffers.
//
// Buffers are placed bottom-up: every layout can be pushed down until no single buffer can be moved
// lower, and a pushed-down layout is rebuilt exactly by placing its buffers in ascending
// offset, each at the lowest offset above its placed neighbours. With alignment and pinned
// buffers this stays true: "lowest" then means aligned and clear of the pinned ones. Were a buffer
// of the pushed-down layout not at this offset m, it could be moved down to m: there it avoids the
// placed neighbours and the pinned ones, and the neighbours yet to be placed lie above where it was
// and so above m + size. Hence only pushed-down layouts need be searched, in that order. Of the
// buffers that may begin at the lowest level one is placed there, or it lies higher: which is asked
// first changes nothing but the time. A branch is cut when
//   - it would place a buffer at o although another fits entirely below o (that one could be moved
//     down), or although its twin waits (exchange them),
//   - some buffer no longer fits, or what must lie above some level of a section (state.h); a
//     buffer that was passed over must rest on one yet to be placed, and one without unplaced
//     neighbours is never passed over,
//   - its state, or one that leaves no less room, has failed before (failed_states.h),
//   - a section would overflow if nothing began in it at this level, and the candidates that are
//     left cannot cover all such sections side by side.
// Sections that no unplaced buffer connects are solved one after the other; when one of them has no
// solution, the search returns to the decision that cut it off. The stack is explicit: depth costs
// no recursion. The search can be interrupted and continued, and its course depends only on the
// nodes. Not for use outside the search.
// Source: MiniMalloc (Moffitt, ASPLOS 2023, sections 4 and 5) for canonical order, dominance,
// section inference, unallocated floor and decomposition; flush candidates as the best fit of
// Burke, Kendall and Whitwell (Operations Research 52, 2004) for strips; the room above each level,
// passing over and pins are ours.
#pragma once

#include <cstdint>
#include <vector>

#include "instances/numbers.h"
#include "solvers/layout/failed_states.h"
#include "solvers/layout/params.h"
#include "solvers/layout/state.h"

namespace stowage {

class LayoutTree {
 public:
  enum class End { open, layout, exhausted };
  // Which of the buffers that may begin at a level is tried first: the first by the order, or the
  // one that leaves the fewest slivers beside it, the first of these by the order.
  enum class Choice { order, flush };

  // `order`: every buffer that is neither pinned nor idle. `failed`: of this capacity, for all
  // trees that search it. The arguments must outlive the tree.
  LayoutTree(const LayoutTable& table, const LayoutNeighbours& neighbours,
             const std::vector<int>& order, Bytes capacity, FailedStates& failed,
             Choice choice = Choice::order, const LayoutSearchParams& params = {});

  // Continues for at most so many nodes (placements tried). Exhausted: no layout stays within the
  // capacity.
  End run(std::int64_t nodes);

  std::int64_t nodes() const { return nodes_; }
  const LayoutState::Failures& failures() const { return state_.failures(); }
  // Of every buffer, once there is a layout.
  std::vector<Bytes> offsets() const;

 private:
  // Unplaced buffers of consecutive sections, by the order: waiting_[first..last).
  struct Component {
    std::size_t first = 0;
    std::size_t last = 0;
    SectionRange sections;
  };
  // A component to be solved after the current one, and the frame to return to if it cannot be.
  struct Pending {
    Component component;
    Bytes floor = -1;
    int fail_to = -1;
    int next = -1;
  };
  struct Frame {
    Component component;
    Bytes floor = -1;  // no buffer of the component will lie below it any more
    int tried = -1;    // the last candidate
    // Those that may begin at the level and are left to try, by the order:
    // candidates_[next..last). What could begin there but does not, begins at `later` at the
    // lowest.
    std::size_t next = 0;
    std::size_t last = 0;
    Bytes level = -1;
    Bytes later = 0;
    int left = 0;  // unplaced buffers of the component
    bool closed = false;
    int fail_to = -1;
    int pending = -1;
    StateKey key;            // of its beginning,
    std::size_t start = 0;   // as the size of the trail,
    std::int64_t nodes = 0;  // and those tried before it
    std::size_t trail = 0;   // sizes to go back to before the next candidate
    std::size_t waiting = 0;
    std::size_t pendings = 0;
    std::size_t candidates = 0;
  };
  void push(const Component& component, int left, Bytes floor, int fail_to, int pending);
  // Goes on to the next level of a frame. False if there is none, or no way to go on there.
  bool rise(Frame& frame);
  bool list_candidates(Frame& frame);
  // Looks at the sections around a candidate that hold nothing at the level yet: those that must be
  // covered there can only be covered by the candidate and those after it. Dead: that cannot be
  // done.
  enum class Cover { dead, without, with };
  Cover cover(const Frame& frame, int candidate);
  bool mark_musts(const Frame& frame, SectionRange sections);
  bool reach_up(const Frame& frame, SectionRange sections);
  void reach_down(SectionRange sections);
  // All that follows from the frame has been searched: it and its state have no layout.
  void give_up(const Frame& frame);
  // After a placement: goes on with what is left. False once everything is placed.
  bool descend();
  void inherit(const Frame& parent, Frame& frame);
  Component unplaced(const Component& component);
  int split(const Component& component, Bytes floor, int fail_to, int pending);

  const LayoutTable& table_;
  const std::int64_t kept_;  // nodes below a state that is kept once it has failed
  LayoutState state_;
  FailedStates& failed_;
  Choice choice_;
  std::vector<int> waiting_;
  std::vector<int> candidates_;
  std::vector<Pending> pendings_;
  std::vector<Frame> frames_;
  // Scratch of cover(): where the ranges end that begin in a section, as chains.
  struct Start {
    int end = 0;
    int older = -1;
  };
  std::vector<Start> starts_;
  std::vector<int> newest_;  // start of each section
  std::vector<std::uint8_t> must_;
  std::vector<std::uint8_t> from_below_;
  std::vector<std::uint8_t> from_above_;
  std::vector<FailedStates::PassedOver> passed_over_;  // scratch of give_up()
  std::int64_t nodes_ = 0;
  End end_ = End::open;
};

}  // namespace stowage

// One depth-first search for a layout within a capacity, with one static order of the buffers.
//
// Buffers are placed bottom-up. Every layout can be pushed down until no single buffer can be moved
// lower. A pushed-down layout is rebuilt exactly by placing its buffers in ascending offset, each
// at the lowest offset above its placed neighbours. With alignment and pins, "lowest" means aligned
// and clear of the pinned buffers. Proof: suppose a buffer of the pushed-down layout is not at this
// offset m. Then it can be moved down to m. At m it avoids the placed neighbours and the pinned
// buffers. The neighbours yet to be placed lie above its old offset, and so above m + size. Hence
// only pushed-down layouts need to be searched, in that order.
//
// Each buffer that may begin at the lowest level is either placed there or lies higher.
// The order of these decisions affects only the time. A branch is cut in four cases:
//   - It would place a buffer at offset o although another buffer fits entirely below o, or
//     although its twin is unplaced. The other buffer could be moved down, and twins can be
//     exchanged.
//   - Some buffer no longer fits, or the buffers above some level of a section do not fit
//     (state.h). A buffer that was passed over must rest on a buffer yet to be placed. A buffer
//     without unplaced neighbours is never passed over.
//   - Its state, or a state that leaves at least as much room, has failed before (failed_states.h).
//   - A section would overflow if no buffer began in it at this level, and the remaining candidates
//     cannot cover all such sections side by side.
// Sections that no unplaced buffer connects are solved one after the other. If one of them has no
// solution, the search returns to the decision that separated it. The stack is explicit, so depth
// costs no recursion. The search can be interrupted and continued, and it depends only on the
// nodes. The file is private to the search. Source: MiniMalloc (Moffitt, ASPLOS 2023, sections 4
// and 5) for canonical order, dominance, section inference, unallocated floor and decomposition;
// flush candidates as in the best fit of Burke, Kendall and Whitwell (Operations Research 52, 2004)
// for strips. The room above each level, passing over and pins are stowage's own.
#pragma once

#include <cstdint>
#include <vector>

#include "instances/numeric/numbers.h"
#include "solvers/layout/params.h"
#include "solvers/layout/tree/failed_states.h"
#include "solvers/layout/tree/state.h"

namespace stowage {

class LayoutTree {
 public:
  enum class End { open, layout, exhausted };
  // The candidate at a level that is tried first: the first by the order, or the one that leaves
  // the fewest slivers beside it (ties by the order).
  enum class Choice { order, flush };

  // `order` lists every buffer that is neither pinned nor idle. `failed` belongs to this capacity
  // and is shared by all trees that search it. The arguments must outlive this object.
  LayoutTree(const LayoutTable& table, const LayoutNeighbours& neighbours,
             const std::vector<int>& order, Bytes capacity, FailedStates& failed,
             Choice choice = Choice::order, const LayoutSearchParams& params = {});

  // Continues for at most `nodes` nodes (placements tried). Returns `exhausted` if no layout fits
  // the capacity.
  End run(std::int64_t nodes);

  std::int64_t nodes() const { return nodes_; }
  const LayoutState::Failures& failures() const { return state_.failures(); }
  // Returns the offset of every buffer. Requires that a layout was found.
  std::vector<Bytes> offsets() const;

 private:
  // The unplaced buffers of consecutive sections, in the order: waiting_[first..last).
  struct Component {
    std::size_t first = 0;
    std::size_t last = 0;
    SectionRange sections;
  };
  // A component to solve after the current one, and the frame to return to if it has no solution.
  struct Pending {
    Component component;
    Bytes floor = -1;
    int fail_to = -1;
    int next = -1;
  };
  struct Frame {
    Component component;
    Bytes floor = -1;  // no further buffer of the component will lie below it
    int tried = -1;    // the last candidate tried, or -1
    // The candidates that may begin at the level and are left to try, in the order:
    // candidates_[next..last). A buffer that could begin there but does not begins at `later` or
    // above.
    std::size_t next = 0;
    std::size_t last = 0;
    Bytes level = -1;
    Bytes later = 0;
    int left = 0;  // unplaced buffers of the component
    bool closed = false;
    int fail_to = -1;
    int pending = -1;
    StateKey key;            // key at the start of the frame
    std::size_t start = 0;   // size of the trail at the start of the frame
    std::int64_t nodes = 0;  // nodes tried before the frame
    std::size_t trail = 0;   // sizes to restore before the next candidate
    std::size_t waiting = 0;
    std::size_t pendings = 0;
    std::size_t candidates = 0;
  };
  void push(const Component& component, int left, Bytes floor, int fail_to, int pending);
  // Advances a frame to its next level. Returns false if there is no further level, or no layout
  // continues there.
  bool rise(Frame& frame);
  bool list_candidates(Frame& frame);
  // Checks the uncovered sections around a candidate at the level. Sections that must be covered
  // can be covered only by this candidate and later ones. Returns `dead` if they cannot be covered,
  // `without` if they can be covered only without this candidate, and `with` otherwise.
  enum class Cover { dead, without, with };
  Cover cover(const Frame& frame, int candidate);
  bool mark_musts(const Frame& frame, SectionRange sections);
  bool reach_up(const Frame& frame, SectionRange sections);
  void reach_down(SectionRange sections);
  // Records that all continuations of the frame have failed, and returns to the frame to resume.
  void give_up(const Frame& frame);
  // Continues with the remaining buffers after a placement. Returns false if all buffers are
  // placed.
  bool descend();
  void inherit(const Frame& parent, Frame& frame);
  Component unplaced(const Component& component);
  int split(const Component& component, Bytes floor, int fail_to, int pending);

  const LayoutTable& table_;
  // number of nodes below a failed state from which the state is recorded
  const std::int64_t kept_;
  LayoutState state_;
  FailedStates& failed_;
  Choice choice_;
  std::vector<int> waiting_;
  std::vector<int> candidates_;
  std::vector<Pending> pendings_;
  std::vector<Frame> frames_;
  // Scratch memory of cover(): the ends of the ranges that begin in a section, as linked lists.
  struct Start {
    int end = 0;
    int older = -1;
  };
  std::vector<Start> starts_;
  std::vector<int> newest_;  // last start in each section
  std::vector<std::uint8_t> must_;
  std::vector<std::uint8_t> from_below_;
  std::vector<std::uint8_t> from_above_;
  std::vector<FailedStates::PassedOver> passed_over_;  // scratch memory of give_up()
  std::int64_t nodes_ = 0;
  End end_ = End::open;
};

}  // namespace stowage

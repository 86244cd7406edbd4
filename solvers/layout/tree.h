// One depth-first search for a layout within a capacity, with one static order of the buffers.
//
// Buffers are placed bottom-up: every layout can be pushed down until no single buffer can be moved
// lower, and a pushed-down layout is rebuilt exactly by placing its buffers in ascending
// (offset, rank), each at the lowest offset above its placed neighbours. With alignment and pinned
// buffers this stays true: "lowest" then means aligned and clear of the pinned ones. Were a buffer
// of the pushed-down layout not at this offset m, it could be moved down to m: there it avoids the
// placed neighbours and the pinned ones, and the neighbours yet to be placed lie above where it was
// and so above m + size. Hence only pushed-down layouts need be searched, in that order, and a
// branch is cut when
//   - it would place a buffer at o although another fits entirely below o (that one could be moved
//     down), or although its twin of smaller rank waits (exchange them),
//   - some buffer or section no longer fits (state.h); a buffer that was passed over must
//     rest on one yet to be placed, and one without unplaced neighbours is never passed over.
// Sections that no unplaced buffer connects are solved one after the other; when one of them has no
// solution, the search returns to the decision that cut it off. The stack is explicit: depth costs
// no recursion. The search can be interrupted and continued, and its course depends only on the
// nodes. Not for use outside the search.
// Source: MiniMalloc (Moffitt, ASPLOS 2023, sections 4 and 5) for canonical order, dominance,
// section inference, unallocated floor and decomposition; passing over and pins are ours.
#pragma once

#include <cstdint>
#include <vector>

#include "instances/numbers.h"
#include "solvers/layout/state.h"

namespace stowage {

class LayoutTree {
 public:
  enum class End { open, layout, exhausted };

  // `order`: every buffer that is neither pinned nor idle. The arguments must outlive the
  // tree.
  LayoutTree(const LayoutTable& table, const LayoutNeighbours& neighbours,
             const std::vector<int>& order, Bytes capacity);

  // Continues for at most so many nodes (placements tried). Exhausted: no layout stays within the
  // capacity.
  End run(std::int64_t nodes);

  std::int64_t nodes() const { return nodes_; }
  const LayoutState::Failures& failures() const { return state_.failures(); }
  // Of every buffer, once there is a layout.
  std::vector<Bytes> offsets() const;

 private:
  // Unplaced buffers of consecutive sections, by rank: waiting_[first..last).
  struct Component {
    std::size_t first = 0;
    std::size_t last = 0;
    SectionRange sections;
  };
  // In which order buffers are placed.
  struct Key {
    Bytes offset = -1;
    int rank = 0;
    auto operator<=>(const Key&) const = default;
  };
  // A component to be solved after the current one, and the frame to return to if it cannot be.
  struct Pending {
    Component component;
    Key cursor;
    int fail_to = -1;
    int next = -1;
  };
  struct Frame {
    Component component;
    Key cursor;      // the last candidate tried; the next one has a larger key
    int tried = -1;  // that candidate
    int left = 0;    // unplaced buffers of the component
    bool closed = false;
    int fail_to = -1;
    int pending = -1;
    std::size_t trail = 0;  // sizes to go back to before the next candidate
    std::size_t waiting = 0;
    std::size_t pendings = 0;
  };
  void push(const Component& component, int left, Key cursor, int fail_to, int pending);
  // The next candidate of the top frame, or -1. What begins above its level begins at `next` at the
  // lowest.
  struct Candidate {
    int buffer = -1;
    Bytes next = 0;
  };
  Candidate candidate(const Frame& frame) const;
  // Looks at the sections at the level of a candidate, those around it or, where the level is new,
  // all: what must begin there can only be the candidate and those after it. Dead: some section
  // that must be covered cannot be.
  enum class Cover { dead, without, with };
  Cover cover(const Frame& frame, Candidate candidate);
  // After a placement: goes on with what is left. False once everything is placed.
  bool descend();
  void list_beginnings(const std::vector<int>& order);
  Component unplaced(const Component& component);
  int split(const Component& component, Key cursor, int fail_to, int pending);

  const LayoutTable& table_;
  LayoutState state_;
  std::vector<int> rank_;
  std::vector<int> waiting_;
  std::vector<Pending> pendings_;
  std::vector<Frame> frames_;
  // Scratch of cover(): where the ranges end that begin in a section, as chains.
  struct Start {
    int end = 0;
    int older = -1;
  };
  struct Beginning {
    int end = 0;
    int buffer = -1;
  };
  // The ranges that begin in section s: beginnings_[first_beginning_[s]..first_beginning_[s + 1]).
  std::vector<Beginning> beginnings_;
  std::vector<std::size_t> first_beginning_;
  std::vector<Start> starts_;
  std::vector<int> newest_;  // start of each section
  std::vector<std::uint8_t> from_below_;
  std::vector<std::uint8_t> from_above_;
  std::int64_t nodes_ = 0;
  End end_ = End::open;
};

}  // namespace stowage

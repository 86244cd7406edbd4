// What was found to have no layout: sets of unplaced buffers with how low each could lie.
//
// Orders and restarts of one capacity reach the same state by other ways: what lies below a buffer
// does not matter to what comes above, only where it ends. A state that failed refutes each one
// with the same unplaced buffers and lowest offsets, whose bounds are no lower: a pushed-down
// layout (tree.h) that goes on from there keeps the bounds of the one that failed, and so was
// looked for. What else a frame knows adds nothing. Its components, thresholds and twins follow
// from unplaced buffers and lowest offsets. Cuts that read where placed buffers end exclude nothing
// but what the capacity does. Its floor follows from the bounds: whoever could lie below it was
// passed over, and cannot lie at its lowest offset; the lowest of all below the floor would have to
// rest on another one below it. An entry may rest on entries before it.
//
//   FailedStates failed;
//   failed.add(key, passed_over);        // no layout goes on from there
//   if (failed.refutes(key, state)) ...  // nor from here
//
// A key is a sum with random factors over the unplaced buffers and their lowest offsets
// (state.h): two that differ have one key with a chance of 2^-128, times the square of the largest
// power of two that divides all differences of offsets, unless the instance was made to fit the
// factors. Of the states with the same place in the table the last is kept. Not for use outside the
// search.
// Source: transposition tables (Zobrist, 1970); universal hashing (Carter and Wegman, 1979).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "instances/units.h"
#include "solvers/layout/state_key.h"

namespace stowage {

class LayoutState;

class FailedStates {
 public:
  // A buffer that cannot lie at its lowest offset.
  struct PassedOver {
    int buffer = 0;
    Bytes bound = 0;
  };

  // `passed_over`: all of the unplaced buffers that are.
  void add(const StateKey& key, std::span<const PassedOver> passed_over);
  bool refutes(const StateKey& key, const LayoutState& state) const;

 private:
  struct Entry {
    StateKey key;
    std::int64_t begin = -1;  // of its bounds, counted from the first ever written; -1: no entry
    std::int64_t count = 0;
  };
  std::vector<Entry> entries_;
  std::vector<PassedOver> bounds_;  // a ring
  std::int64_t written_ = 0;
};

}  // namespace stowage

// Table of failed states of the layout search: unplaced buffers with their lowest offsets and
// bounds, from which no layout exists.
//
// Trees with different orders, and restarts, reach the same state at one capacity on different
// paths. The buffers above depend only on the ends of the placed buffers. A failed state refutes
// every state with the same unplaced buffers and lowest offsets whose bounds are no lower. Proof: a
// pushed-down layout (tree.h) that continues such a state keeps the bounds of the failed state, so
// the search below that state would have found it. The rest of a frame adds no information:
//   - Components, thresholds and twins follow from the unplaced buffers and lowest offsets.
//   - Cuts that read the ends of placed buffers exclude only layouts above the capacity.
//   - The floor follows from the bounds. A buffer that could lie below the floor was passed over
//     and cannot lie at its lowest offset. The lowest of all buffers below the floor would have to
//     rest on another buffer below the floor.
// The proof of an entry may depend on earlier entries.
//
//   FailedStates failed;
//   failed.add(key, passed_over);        // no layout continues this state
//   if (failed.refutes(key, state)) ...  // no layout continues this state either
//
// A key is a sum with random factors over the unplaced buffers and their lowest offsets (state.h).
// Two different states have the same key with probability 2^-128, times the square of the largest
// power of two that divides all differences of offsets. This does not hold for an instance
// constructed against the factors. The table keeps the last state of each slot. The file is private
// to the search. Source: transposition tables (Zobrist, 1970); universal hashing (Carter and
// Wegman, 1979).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "instances/units.h"
#include "solvers/layout/tree/state_key.h"

namespace stowage {

class LayoutState;

class FailedStates {
 public:
  // An unplaced buffer that cannot lie at its lowest offset, with its lower bound.
  struct PassedOver {
    int buffer = 0;
    Bytes bound = 0;
  };

  // Adds a failed state. `passed_over` lists all unplaced buffers that cannot lie at their lowest
  // offsets.
  void add(const StateKey& key, std::span<const PassedOver> passed_over);
  bool refutes(const StateKey& key, const LayoutState& state) const;

 private:
  struct Entry {
    StateKey key;
    // number of its first bound, counted over all bounds written so far; -1: no entry
    std::int64_t begin = -1;
    std::int64_t count = 0;
  };
  std::vector<Entry> entries_;
  std::vector<PassedOver> bounds_;  // ring buffer
  std::int64_t written_ = 0;
};

}  // namespace stowage

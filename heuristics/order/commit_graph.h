// What the walks of a commit search share, and what each of them finds. Not used but by
// commit_search.h and commit_walk.h.
//
//   CommitGraph graph(table);
//   graph.begin(targets);   // of the next walk
//
// Thread safety: an object belongs to one thread.
#pragma once

#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "instances/numbers.h"
#include "instances/order/least_live.h"
#include "instances/order/table.h"

namespace stowage {

enum class CommitEnd {
  found,      // steps are an order of all targets within the capacity
  none,       // there is no such order; each has a step that needs least_overflow at least
  exhausted,  // of states, or of the budget
};

struct CommitFound {
  CommitEnd end = CommitEnd::exhausted;
  std::vector<int> steps;  // if there is no order, what each one can begin with
  Bytes least_overflow = 0;
  std::int64_t states = 0;
  // If there is no order: what each one can end with, from which end the sets in between were gone
  // through, and how many there are.
  std::vector<int> last;
  bool from_end = false;
  std::int64_t between = 0;
};

// What all walks through one graph share.
struct CommitGraph {
  explicit CommitGraph(const OrderTable& its)
      : table(its),
        least(its),
        wanted(at(its.operators()), 0),
        places(at(its.operators()), kNoPlace) {
    std::mt19937_64 random(0);
    marks.reserve(at(its.operators()));
    for (int op = 0; op < its.operators(); ++op) marks.push_back(random());
  }

  void begin(std::span<const int> targets) {
    ++walks;
    for (const int op : targets) wanted[at(op)] = walks;
  }

  const OrderTable& table;
  LeastLive least;
  std::vector<std::uint64_t> marks;  // of operators: a set has the exclusive or of its members'
  std::vector<int> wanted;           // the walk in which an operator is a target
  static constexpr int kNoPlace = -1;
  std::vector<int> places;  // of an operator in a walk's list of what may run
  int walks = 0;
};

}  // namespace stowage

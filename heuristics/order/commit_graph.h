// State that the walks of a commit search share, and the result of a walk. The file is
// private to commit_search.h and commit_walk.h.
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

#include "instances/numeric/numbers.h"
#include "instances/order/memory/least_live_cut.h"
#include "instances/order/planning_table.h"

namespace stowage {

enum class CommitEnd {
  found,      // steps are an order of all targets within the capacity
  none,       // no order fits; each order has a step that needs at least least_overflow bytes
  exhausted,  // the limit on states or the budget is used up
};

struct CommitFound {
  CommitEnd end = CommitEnd::exhausted;
  // an order of all targets; if no order fits, a prefix that every order can have
  std::vector<int> steps;
  Bytes least_overflow = 0;
  std::int64_t states = 0;
  // If no order fits: a suffix that every order can have, the end from which the search visited the
  // sets between prefix and suffix, and the number of these sets.
  std::vector<int> last;
  bool from_end = false;
  std::int64_t between = 0;
};

// State that all walks through one graph share.
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
  // random mark of each operator; the mark of a set is the exclusive or of its members' marks
  std::vector<std::uint64_t> marks;
  std::vector<int> wanted;  // number of the last walk in which the operator was a target
  static constexpr int kNoPlace = -1;
  std::vector<int> places;  // index of each operator in the current walk's list of ready operators
  int walks = 0;
};

}  // namespace stowage

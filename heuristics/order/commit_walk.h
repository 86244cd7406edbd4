// The walk of a commit search from one end of an order. The file is private to commit_search.h,
// whose opening comment states the method.
//
//   CommitGraph graph(table);
//   graph.begin(targets);
//   const CommitFound found =
//       CommitWalk<ForwardSteps>(graph, memory, targets, capacity).run(1000, budget);
//
// Thread safety: an object belongs to one thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <queue>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "heuristics/order/commit_graph.h"
#include "heuristics/order/params.h"
#include "instances/budget.h"
#include "instances/numeric/numbers.h"
#include "instances/order/memory/running_memory.h"
#include "instances/order/planning_table.h"

namespace stowage {

// Walks from one end of the order: ForwardSteps from the start, BackwardSteps from the end. To run
// an operator means to take one step in that direction.
template <class Steps>
class CommitWalk {
 public:
  CommitWalk(CommitGraph& graph, OrderMemory& memory, std::span<const int> targets, Bytes capacity)
      : graph_(graph),
        table_(graph.table),
        memory_(memory),
        steps_(memory),
        capacity_(capacity),
        left_(targets.size()) {
    for (const int op : targets) {
      if (steps_.ready(op)) put(op);
    }
  }
  CommitWalk(const CommitWalk&) = delete;
  CommitWalk& operator=(const CommitWalk&) = delete;
  ~CommitWalk() {
    for (const int op : ready_) graph_.places[at(op)] = CommitGraph::kNoPlace;
  }

  CommitFound run(std::int64_t most_states, const Budget& budget) {
    CommitEnd end = CommitEnd::found;
    settle();
    while (left_ > 0 && end == CommitEnd::found) {
      end = explore(most_states, budget);
      if (end == CommitEnd::found) settle();
    }
    go_to(0);
    for (auto op = done_.rbegin(); op != done_.rend(); ++op) steps_.undo(*op);
    return {.end = end,
            .steps = std::move(done_),
            .least_overflow = end == CommitEnd::none ? least_overflow_ : 0,
            .states = all_states_,
            .last = {},
            .from_end = std::is_same_v<Steps, BackwardSteps>,
            .between = std::ssize(states_)};
  }

 private:
  static constexpr int kNoState = -1;
  // initial size of the hash table; a power of two
  static constexpr std::size_t kFewestChains = 64;

  struct State {
    int parent = kNoState;
    // index in ops_ of the first operator that runs after the parent state
    std::uint32_t first = 0;
    std::uint32_t count = 0;
    int total = 0;  // operators since the last commit
    Bytes live = 0;
    std::uint64_t mark = 0;  // exclusive or of the marks of the operators that have run
    int beside = kNoState;   // next state of the same hash chain
  };
  // Orders the queue: the least live memory first, then the most operators, then the state found
  // first.
  using Entry = std::tuple<Bytes, int, int>;

  bool wanted(int op) const { return graph_.wanted[at(op)] == graph_.walks; }
  bool fits(int op) const { return steps_.need(op) <= capacity_; }

  // Adds an operator to the unordered list of ready operators.
  void put(int op) {
    graph_.places[at(op)] = static_cast<int>(ready_.size());
    ready_.push_back(op);
  }
  void drop(int op) {
    const int place = graph_.places[at(op)];
    graph_.places[at(op)] = CommitGraph::kNoPlace;
    const int last = ready_.back();
    ready_.pop_back();
    if (last == op) return;
    ready_[at(place)] = last;
    graph_.places[at(last)] = place;
  }

  void run_listed(int op) {
    steps_.run(op);
    drop(op);
    for (const int next : steps_.next(op)) {
      if (wanted(next) && steps_.ready(next)) put(next);
    }
  }
  void undo_listed(int op) {
    for (const int next : steps_.next(op)) {
      if (graph_.places[at(next)] != CommitGraph::kNoPlace) drop(next);
    }
    steps_.undo(op);
    put(op);
  }

  // Runs every ready operator that fits and does not raise the live memory, without return [OC1].
  void settle() {
    for (bool more = true; more;) {
      more = false;
      for (std::size_t k = 0; k < ready_.size();) {
        const int op = ready_[k];
        if (!fits(op) || steps_.growth(op) > 0) {
          ++k;
          continue;
        }
        run_listed(op);
        done_.push_back(op);
        --left_;
        more = true;
      }
    }
  }

  CommitEnd explore(std::int64_t most_states, const Budget& budget) {
    states_.assign(1, {.live = steps_.live()});
    ops_.clear();
    chains_.assign(kFewestChains, kNoState);
    chain(0);
    queue_ = {};
    queue_.push({steps_.live(), 0, 0});
    least_overflow_ = std::numeric_limits<Bytes>::max();
    for (std::int64_t expanded = 0; !queue_.empty(); ++expanded) {
      if (std::ssize(states_) > most_states) return CommitEnd::exhausted;
      if (expanded % order_fixed::kClockStates == 0 && budget.exhausted())
        return CommitEnd::exhausted;
      const int state = std::get<2>(queue_.top());
      queue_.pop();
      if (const int reached = expand(state); reached != kNoState) {
        commit(reached);
        return CommitEnd::found;
      }
    }
    return CommitEnd::none;
  }

  std::vector<int> path_to(int state) const {
    std::vector<int> path;
    for (; state > 0; state = states_[at(state)].parent) {
      const State& its = states_[at(state)];
      for (std::uint32_t k = its.count; k-- > 0;) path.push_back(ops_[its.first + k]);
    }
    std::reverse(path.begin(), path.end());
    return path;
  }

  std::span<const int> ops_of(const State& state) const {
    return std::span(ops_).subspan(state.first, state.count);
  }

  // Undoes and runs operators to get from the current state to `state`, by way of their last common
  // ancestor.
  void go_to(int state) {
    way_.clear();
    while (at_ != state) {
      if (states_[at(at_)].total < states_[at(state)].total) {
        way_.push_back(state);
        state = states_[at(state)].parent;
        continue;
      }
      const std::span<const int> ops = ops_of(states_[at(at_)]);
      for (auto op = ops.rbegin(); op != ops.rend(); ++op) undo_listed(*op);
      at_ = states_[at(at_)].parent;
    }
    for (auto next = way_.rbegin(); next != way_.rend(); ++next) {
      for (const int op : ops_of(states_[at(*next)])) run_listed(op);
      at_ = *next;
    }
  }

  // Returns a successor of the state to which the search can commit, or kNoState.
  int expand(int state) {
    go_to(state);
    tries_ = ready_;
    std::sort(tries_.begin(), tries_.end());
    for (const int op : tries_) {
      if (!fits(op)) {
        least_overflow_ = std::min(least_overflow_, steps_.need(op));
        continue;
      }
      if (const int reached = visit(state, op); reached != kNoState) return reached;
    }
    return kNoState;
  }

  // Adds the state after `op` and after the operators that then raise nothing. Returns the state if
  // the search can commit to it, otherwise kNoState.
  int visit(int parent, int op) {
    run_now_.clear();
    close(op);
    std::uint64_t mark = states_[at(parent)].mark;
    for (const int done : run_now_) mark ^= graph_.marks[at(done)];
    const int total = states_[at(parent)].total + static_cast<int>(run_now_.size());
    const bool good = steps_.live() <= states_[0].live || at(total) == left_;
    int reached = kNoState;
    if (good || !known(mark, total)) {
      const int index = static_cast<int>(states_.size());
      states_.push_back({.parent = parent,
                         .first = static_cast<std::uint32_t>(ops_.size()),
                         .count = static_cast<std::uint32_t>(run_now_.size()),
                         .total = total,
                         .live = steps_.live(),
                         .mark = mark});
      chain(index);
      ops_.insert(ops_.end(), run_now_.begin(), run_now_.end());
      ++all_states_;
      if (good) {
        reached = index;
      } else {
        queue_.push({steps_.live(), -total, index});
      }
    }
    for (auto done = run_now_.rbegin(); done != run_now_.rend(); ++done) steps_.undo(*done);
    return reached;
  }

  // Runs `op`, then each operator that fits, raises nothing, and became ready or cheaper by a run.
  void close(int op) {
    steps_.run(op);
    run_now_.push_back(op);
    const auto try_now = [this](int next) {
      if (!wanted(next) || !steps_.ready(next) || !fits(next) || steps_.growth(next) > 0) return;
      steps_.run(next);
      run_now_.push_back(next);
    };
    for (std::size_t k = 0; k < run_now_.size(); ++k) {
      const int done = run_now_[k];
      for (const int next : steps_.next(done)) try_now(next);
      for (const int t : table_.touched(done)) {
        if (!steps_.changes(t)) continue;
        for (const int next : table_.touchers(t)) try_now(next);
      }
    }
  }

  int& chain_of(std::uint64_t mark) { return chains_[mark & (chains_.size() - 1)]; }

  // Inserts a new state into the hash chain of its mark. There are at least as many chains as
  // states.
  void chain(int state) {
    if (states_.size() <= chains_.size()) {
      State& its = states_[at(state)];
      its.beside = std::exchange(chain_of(its.mark), state);
      return;
    }
    chains_.assign(4 * chains_.size(), kNoState);
    for (int each = 0; each <= state; ++each) {
      State& its = states_[at(each)];
      its.beside = std::exchange(chain_of(its.mark), each);
    }
  }

  // Returns true if the set of operators that have run is the set of a known state. Sets with equal
  // marks are compared member by member, because a proof depends on the result.
  bool known(std::uint64_t mark, int total) {
    for (int state = chain_of(mark); state != kNoState; state = states_[at(state)].beside) {
      const State& its = states_[at(state)];
      if (its.mark == mark && its.total == total && has_run(state)) return true;
    }
    return false;
  }

  bool has_run(int state) const {
    for (; state > 0; state = states_[at(state)].parent) {
      for (const int op : ops_of(states_[at(state)])) {
        if (!steps_.done(op)) return false;
      }
    }
    return true;
  }

  // Commits to the largest set of least live memory on the path to the state. The members can run
  // in the path's order within the capacity, because without the other operators no step needs more
  // [OC2].
  void commit(int state) {
    std::vector<int> path = path_to(state);
    go_to(state);
    if (path.size() > 1 && path.size() < left_) {
      std::vector<int> members = least(path);
      if (members.size() < path.size()) {
        go_to(0);
        std::ranges::sort(members);
        std::erase_if(path, [&](int op) { return !std::ranges::binary_search(members, op); });
        for (const int op : path) run_listed(op);
      }
    }
    at_ = 0;
    left_ -= path.size();
    done_.insert(done_.end(), path.begin(), path.end());
  }

  std::vector<int> least(const std::vector<int>& path) {
    if constexpr (std::is_same_v<Steps, ForwardSteps>) {
      return graph_.least.largest_least(path, memory_);
    } else {
      return graph_.least.outside_smallest_least(path, memory_);
    }
  }

  CommitGraph& graph_;
  const OrderTable& table_;
  OrderMemory& memory_;
  Steps steps_;
  const Bytes capacity_;
  std::size_t left_;        // number of targets that have not run
  std::vector<int> done_;   // committed operators, in order
  std::vector<int> ready_;  // targets that may run next
  std::int64_t all_states_ = 0;

  // The members below belong to one search between two commits.
  std::vector<State> states_;
  std::vector<int> ops_;
  int at_ = 0;  // the state whose operators have run
  // first state of each hash chain, indexed by the lowest bits of the mark
  std::vector<int> chains_;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue_;
  Bytes least_overflow_ = std::numeric_limits<Bytes>::max();
  std::vector<int> run_now_;  // operators that visit() has run
  std::vector<int> way_;      // path of go_to(): states, the last one first
  std::vector<int> tries_;    // ready operators that expand() tries
};

}  // namespace stowage

#include "instances/order/verify/search_proof_check.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "instances/order/verify/running_memory_reference.h"

namespace stowage {
namespace {

std::size_t member(std::int64_t i) { return static_cast<std::size_t>(i); }
std::size_t number_of(FlowRule rule) { return static_cast<std::size_t>(rule); }

class SearchedCheck {
 public:
  SearchedCheck(const OrderInstance& instance, const OrderReferenceModel& truth,
                const Precedences& precedences, const SearchedSets& searched, Bytes bound,
                ViolationList& found)
      : instance_(instance),
        truth_(truth),
        precedences_(precedences),
        searched_(searched),
        bound_(bound),
        found_(found),
        set_(instance, truth, precedences),
        open_(instance.operators.size(), true) {}

  void run(FlowFinder& finder) {
    if (bound_ < 0) {
      search("", text(bound_) + " bytes", "a bound of 0 bytes at least");
      return;
    }
    const std::int64_t most = most_states_of(instance_);
    if (searched_.states < 0 || searched_.states > most) {
      search("/states", text(searched_.states) + " states",
             "from 0 to " + text(most) + " for this graph");
      return;
    }
    if (!list("/first", searched_.first) || !list("/last", searched_.last)) return;
    if (!run_all("/first", searched_.first)) return;
    const Bytes behind_first = set_.live();
    const std::vector<std::int64_t> between = run_between();
    const Bytes before_last = set_.live();
    if (!run_all("/last", searched_.last)) return;
    if (std::ranges::count(set_.done(), true) < set_.count()) {
      commit("/last", "operators behind which others run", "an end of an order");
      return;
    }
    if (!is_least("/first", finder, Before::never, behind_first, searched_.first)) return;
    if (!is_least("/last", finder, Before::always, before_last, searched_.last)) return;
    take_back(searched_.last);
    if (!searched_.from_end) take_back(between);
    left_ = std::ssize(between);
    go_through();
  }

 private:
  static constexpr std::int64_t kMaxWork =
      1'000'000'000;  // work as RunningMemoryReference counts it: some seconds

  struct State {
    std::vector<std::int64_t> steps;  // from the state before
    std::int64_t next = 0;            // the first operator of the list that has not been tried
  };

  void commit(const std::string& where, std::string have, std::string need) {
    found_.add(number_of(FlowRule::commit), [&] {
      return Description{"/certificate/searched" + where, std::move(have), std::move(need)};
    });
  }
  void search(const std::string& where, std::string have, std::string need) {
    found_.add(number_of(FlowRule::search), [&] {
      return Description{"/certificate/searched" + where, std::move(have), std::move(need)};
    });
  }

  // Checks that `ops` are operators, and in no list yet.
  bool list(const std::string& where, const std::vector<std::int64_t>& ops) {
    for (std::size_t k = 0; k < ops.size(); ++k) {
      const bool there = ops[k] >= 0 && ops[k] < set_.count();
      if (there && open_[member(ops[k])]) {
        open_[member(ops[k])] = false;
        continue;
      }
      commit(where + "/" + text(k), text(ops[k]), "an operator, each once");
      return false;
    }
    return true;
  }

  bool run_all(const std::string& where, const std::vector<std::int64_t>& ops) {
    for (std::size_t k = 0; k < ops.size(); ++k) {
      const std::int64_t op = ops[k];
      if (!set_.may_run(op)) {
        commit(where + "/" + text(k), "an operator that cannot run there",
               "one whose predecessors have run");
        return false;
      }
      if (set_.need(op, false) >= bound_) {
        commit(where + "/" + text(k), text(set_.need(op, false)) + " bytes at its step",
               "less than " + text(bound_));
        return false;
      }
      set_.run(op);
    }
    return true;
  }

  // Runs as many of the other operators as can run now, and returns them.
  std::vector<std::int64_t> run_between() {
    std::vector<std::int64_t> ran;
    for (std::int64_t op = 0; op < set_.count(); ++op) {
      if (open_[member(op)] && set_.may_run(op)) run_from(op, ran);
    }
    return ran;
  }
  void run_from(std::int64_t op, std::vector<std::int64_t>& ran) {
    const std::size_t first = ran.size();
    set_.run(op);
    ran.push_back(op);
    for (std::size_t k = first; k < ran.size(); ++k) {
      for (const std::int64_t next : precedences_.behind(ran[k])) {
        if (!open_[member(next)] || !set_.may_run(next)) continue;
        set_.run(next);
        ran.push_back(next);
      }
    }
  }

  void take_back(const std::vector<std::int64_t>& ops) {
    for (auto op = ops.rbegin(); op != ops.rend(); ++op) set_.take_back(*op);
  }

  // Checks that no set between the current one without `ops` and with all of them has less than
  // `live` live bytes.
  bool is_least(const std::string& where, FlowFinder& finder, Before others, Bytes live,
                const std::vector<std::int64_t>& ops) {
    if (ops.empty()) return true;
    std::vector<Before> side(instance_.operators.size(), others);
    for (const std::int64_t op : ops) side[member(op)] = Before::maybe;
    const auto [tensors, along_precedences] = finder.flow(side);
    ViolationList wrong(kFlowRuleNames);
    const Bytes least =
        flow_value(instance_, truth_, precedences_, side, tensors, along_precedences, wrong);
    const bool good = std::move(wrong).take().empty();
    if (good && least >= live) return true;
    commit(where, good ? text(least) + " bytes live on the way" : "a flow that does not add up",
           "no less than " + text(live) + ", which it comes to");
    return false;
  }

  bool may_step(std::int64_t op) const {
    if (!open_[member(op)]) return false;
    return searched_.from_end ? set_.may_return(op) : set_.may_run(op);
  }
  bool fits(std::int64_t op) const { return set_.need(op, searched_.from_end) < bound_; }
  void step(std::int64_t op, std::vector<std::int64_t>& steps) {
    searched_.from_end ? set_.take_back(op) : set_.run(op);
    --left_;
    steps.push_back(op);
  }
  void undo(const std::vector<std::int64_t>& steps) {
    for (auto op = steps.rbegin(); op != steps.rend(); ++op) {
      searched_.from_end ? set_.run(*op) : set_.take_back(*op);
      ++left_;
    }
  }

  // Makes one step, and then every step that fits and raises nothing, until no such step is left
  // [OC1]. Their order does not matter: such steps never make the growth of other steps larger.
  std::vector<std::int64_t> steps_by(std::int64_t op) {
    const Bytes before = set_.live();
    std::vector<std::int64_t> steps;
    std::vector<std::int64_t> later;  // steps that raise nothing, but do not fit yet
    const auto try_now = [&](std::int64_t other) {
      if (!may_step(other) || set_.growth(other, searched_.from_end) > 0) return;
      if (fits(other)) {
        step(other, steps);
      } else {
        later.push_back(other);
      }
    };
    step(op, steps);
    for (std::size_t k = 0; k < steps.size();) {
      for (; k < steps.size(); ++k) set_.changed_by(steps[k], searched_.from_end, try_now);
      for (const std::int64_t other : std::exchange(later, {})) try_now(other);
      if (k < steps.size() || set_.live() >= before) continue;
      // Other operators that raised nothing before did not fit then, so try them again.
      for (std::int64_t other = 0; other < set_.count(); ++other) try_now(other);
    }
    return steps;
  }

  // Searches depth first, until the other end is reached, or the limit of sets or of work.
  void go_through() {
    std::unordered_set<std::vector<bool>> known = {set_.done()};
    std::vector<State> way = {State{}};
    bool through = left_ == 0;
    while (!through && !way.empty() && std::ssize(known) <= searched_.states &&
           set_.work() <= kMaxWork) {
      std::int64_t& next = way.back().next;
      while (next < set_.count() && !(may_step(next) && fits(next))) ++next;
      if (next == set_.count()) {
        set_.count_work(set_.count());
        undo(way.back().steps);
        way.pop_back();
        continue;
      }
      std::vector<std::int64_t> steps = steps_by(next++);
      through = left_ == 0;
      set_.count_work(set_.count() / 64);
      if (known.insert(set_.done()).second) {
        way.push_back({.steps = std::move(steps)});
      } else {
        undo(steps);
      }
    }
    if (through) {
      search("", "an order whose steps all need less", "none below " + text(bound_) + " bytes");
    } else if (std::ssize(known) > searched_.states) {
      search("/states", "more than " + text(searched_.states) + " sets", "as many as there are");
    } else if (!way.empty()) {
      search("/states", "sets that take too long to go through",
             "fewer, or longer `first` and `last`");
    }
  }

  const OrderInstance& instance_;
  const OrderReferenceModel& truth_;
  const Precedences& precedences_;
  const SearchedSets& searched_;
  const Bytes bound_;
  ViolationList& found_;
  RunningMemoryReference set_;
  std::vector<bool> open_;  // by operator: in neither list
  std::int64_t left_ = 0;   // operators that are left until the other end
};

}  // namespace

void check_searched(const OrderInstance& instance, const OrderReferenceModel& truth,
                    const Precedences& precedences, FlowFinder& finder,
                    const SearchedSets& searched, Bytes bound, ViolationList& found) {
  SearchedCheck(instance, truth, precedences, searched, bound, found).run(finder);
}

}  // namespace stowage

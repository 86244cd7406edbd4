// Properties of the optimum under a change of the instance whose effect is known without solving:
// more memory cannot make a step slower, twice the costs are twice the time.
//
//   const Answer before = answer(instance), after = answer(richer);
//   expect(Trend::not_up, before, after);
//
// An answer is an interval, [bound, objective], that holds the optimum. Two intervals are compared
// with the relation even if they are not closed; proven optima must satisfy it exactly. The
// oracle's answers on the same pair must satisfy it too.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>

#include "instances/families.h"
#include "instances/scatter/verify/verify.h"
#include "solvers/milp/solver.h"
#include "solvers/solve.h"

namespace stowage {

struct Answer {
  double bound = 0;
  double objective = std::numeric_limits<double>::infinity();  // infinite without a plan
  bool infeasible = false;
  bool proven = false;
};

// Returns the answer of `auto` within a node limit. The plan is verified again.
template <class InstanceT>
Answer answer(const InstanceT& instance) {
  // Most scatter steps stay open without a backend, and a node is then a round of an increasing
  // number of moves.
  const bool rounds = std::is_same_v<InstanceT, ScatterInstance> && built_backends().empty();
  Budget budget({.node_limit = rounds ? 20 : 2000});
  const Outcome outcome = solve(Instance(instance), {}, budget);
  Answer answer{.bound = outcome.bound,
                .infeasible = outcome.status == Status::infeasible,
                .proven = outcome.status == Status::optimal};
  if (outcome.plan) {
    const auto& plan = std::get<typename PlanOf<InstanceT>::type>(*outcome.plan);
    EXPECT_TRUE(verify(instance, plan).empty());
    answer.objective = objective_of(plan);
  }
  EXPECT_NE(outcome.status, Status::error) << outcome.detail;
  return answer;
}

// Returns the oracle's answer, which is exact.
template <class InstanceT>
Answer oracle_answer(const InstanceT& instance) {
  const auto plan = brute_force(instance);
  if (!plan) return {.infeasible = true};
  return {.bound = objective_of(*plan), .objective = objective_of(*plan), .proven = true};
}

// The expected change of the optimum: to `factor` times its value, or at most that, or at least
// that.
enum class Trend { equal, not_up, not_down };

inline void expect(Trend moves, const Answer& before, const Answer& after, double factor = 1) {
  // Proofs close gaps to kOptimalityGap; sums of times are rounded.
  const double slack = 1 + 2 * kOptimalityGap;
  if (moves != Trend::not_down) {
    EXPECT_LE(after.bound, factor * before.objective * slack);
    EXPECT_FALSE(after.infeasible && std::isfinite(before.objective)) << "became infeasible";
    if (before.proven && after.proven) {
      EXPECT_LE(after.objective, factor * before.objective * slack);
    }
  }
  if (moves != Trend::not_up) {
    EXPECT_LE(factor * before.bound, after.objective * slack);
    EXPECT_FALSE(before.infeasible && std::isfinite(after.objective)) << "became feasible";
    if (before.proven && after.proven) {
      EXPECT_LE(factor * before.objective, after.objective * slack);
    }
  }
}

// An instance and its answers, compared with changed instances.
template <class InstanceT>
class Metamorphosis {
 public:
  explicit Metamorphosis(const InstanceT& instance)
      : instance_(instance), solved_(answer(instance)), known_(oracle_answer(instance)) {
    expect(Trend::equal, known_, solved_);
  }

  // `change` edits a copy of the instance; the result must be one that the reader would accept.
  template <class Change>
  void after(const std::string& what, Trend moves, Change change, double factor = 1) {
    SCOPED_TRACE(what);
    InstanceT changed = instance_;
    change(changed);
    if (changed == instance_) return;
    ++compared_;
    expect(moves, known_, oracle_answer(changed), factor);
    expect(moves, solved_, answer(changed), factor);
  }

  bool proven() const { return solved_.proven || solved_.infeasible; }
  int compared() const { return compared_; }

 private:
  InstanceT instance_;
  Answer solved_;
  Answer known_;
  int compared_ = 0;
};

}  // namespace stowage

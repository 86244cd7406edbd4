// The patterns of a pattern LP (solvers/scatter/bounds/makespan_profile_lp.h, pattern_dive.h): sets
// of sequences for one group of a degree. They outlive the LP that generated them.
//
//   PatternPool pool(table, PatternPool::Times::of_groups);
//   pool.learn(step);
//   for (const PatternPool::Pattern& pattern : pool.all()) ...
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "formulations/scatter/pattern.h"
#include "heuristics/scatter/working_plan.h"
#include "instances/scatter/table/planning_table.h"

namespace stowage {

class PatternPool {
 public:
  struct Pattern {
    int config = 0;
    std::vector<PatternAmount> amounts;  // ascending kind
    Ms time = 0;
    std::int64_t used = 0;  // last solve with this pattern in its solution
  };
  enum class Times { of_sequences, of_groups };  // time without or with the group's overhead

  // Starts with each kind of sequence alone at every configuration that holds it. `table` must
  // outlive this.
  PatternPool(const ScatterTable& table, Times times);

  // Adds the groups of a plan that are not in the pool.
  void learn(const WorkingStep& step);

  bool knows(int config, const std::vector<PatternAmount>& amounts) const;
  // Adds a pattern, even if the pool has it.
  void add(int config, std::vector<PatternAmount> amounts);

  const std::vector<Pattern>& all() const { return patterns_; }
  const Pattern& operator[](std::size_t index) const { return patterns_[index]; }
  std::size_t size() const { return patterns_.size(); }

  // Begins a solve. If the pool has at least `many` patterns, first removes those that were in no
  // solution of the last `solves` solves. Invalidates indices.
  void begin_solve(std::size_t many, std::int64_t solves);
  void use(std::size_t index);

 private:
  const ScatterTable& table_;
  Times times_;
  std::vector<Pattern> patterns_;
  std::int64_t solves_ = 0;
};

}  // namespace stowage

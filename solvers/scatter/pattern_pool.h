// The patterns that a pattern LP (profile_lp.h, repack.h) chooses from: sets of sequences for one
// group of a degree. They outlive the LP that they were found for.
//
//   PatternPool pool(table, PatternPool::Times::of_groups);
//   pool.learn(step);
//   for (const PatternPool::Pattern& pattern : pool.all()) ...
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "formulations/scatter/pattern.h"
#include "heuristics/scatter/draft.h"
#include "instances/scatter/table.h"

namespace stowage {

class PatternPool {
 public:
  struct Pattern {
    int level = 0;
    std::vector<PatternAmount> amounts;  // ascending kind
    Ms time = 0;
    std::int64_t used = 0;  // the last solve that had it in a solution
  };
  enum class Times { of_sequences, of_groups };  // a group's has the overhead besides

  // Begins with every kind of sequence alone in every degree that holds it. `table` must outlive
  // this.
  PatternPool(const ScatterTable& table, Times times);

  // Adds the groups of a plan that are not in it yet.
  void learn(const StepDraft& step);

  bool knows(int level, const std::vector<PatternAmount>& amounts) const;
  // Also what it knows already.
  void add(int level, std::vector<PatternAmount> amounts);

  const std::vector<Pattern>& all() const { return patterns_; }
  const Pattern& operator[](std::size_t index) const { return patterns_[index]; }
  std::size_t size() const { return patterns_.size(); }

  // A solve begins. If there are `many` patterns it first forgets those that no solution of so many
  // solves had, but not those of the beginning. Indices change.
  void begin_solve(std::size_t many, std::int64_t solves);
  void use(std::size_t index);

 private:
  const ScatterTable& table_;
  Times times_;
  std::vector<Pattern> patterns_;
  std::int64_t solves_ = 0;
};

}  // namespace stowage

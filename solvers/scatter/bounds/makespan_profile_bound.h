// A certified bound on a step of few micro-batches, by a search over makespans T_0 >= T_1 >= ...
//
//   ScatterProfileBound search(instance, MilpBackend::cbc, plan.objective_ms,
//                              [&](const ScatterCertificate& better) { ... });
//   search.improve(budget);
//
// The makespans are searched box by box, the weakest box first. makespan_profile_lp.h bounds each
// box.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "formulations/scatter/bounds.h"
#include "instances/scatter/certificate.h"
#include "instances/scatter/instance.h"
#include "solvers/scatter/bounds/makespan_profile_lp.h"
#include "solvers/scatter/bounds/step_lp_bound.h"

namespace stowage {

class ScatterProfileBound {
 public:
  static constexpr std::size_t kMostLengths = 80;

  // `upper` is the objective of a known plan. If the step has more than `most_lengths` lengths, its
  // sequences are lowered to about as many (ScatterTable::lowered()). Requires that every sequence
  // fits some configuration. `instance` must outlive this.
  ScatterProfileBound(const ScatterInstance& instance, MilpBackend backend, Ms upper,
                      CertificateSink sink, std::size_t most_lengths = kMostLengths);

  // Returns true if micro-batches are few enough for this search.
  bool promising() const;

  // Returns the largest number of micro-batches of a plan faster than the known one.
  int most_micro_batches() const;

  // Continues until the budget ends. A box counts as a node. Returns false if no more can be
  // gained.
  bool improve(Budget& budget);

  // Lowers `upper` to the objective of a better plan.
  void lower_upper(Ms upper) { upper_ = std::min(upper_, upper); }
  // Adds the groups of a plan to the patterns.
  void learn(const WorkingStep& step) { lp_.learn(step); }

  Ms bound() const { return best_; }
  // Returns the makespans of the pattern LP where the bound is weakest, or an empty list.
  std::vector<Ms> weakest() const;

 private:
  struct Leaf {  // a box that is not split
    std::size_t tree = 0;
    std::size_t node = 0;
    std::vector<Ms> low;
    std::vector<Ms> high;
    std::vector<Ms> makespans;  // of the box's LP
    Ms bound = 0;
    bool solved = false;
  };

  void begin();
  // Returns a bound in ms on steps of at least `count` micro-batches.
  Ms beyond(int count) const { return step_of_more(table_, count); }
  void close(Leaf& leaf) const;
  bool solve(Leaf& leaf, Budget& budget);
  void split(const Leaf& leaf);
  void publish();

  ScatterTable table_;
  int fewest_;
  ScatterTable lowered_;  // of few lengths, for the LP
  Ms alone_;              // bound on the longest makespan; 0 if it counts once
  ScatterProfileLp lp_;
  Ms upper_;
  CertificateSink sink_;
  std::vector<ProfileTree> trees_;
  std::vector<Leaf> leaves_;
  Ms beyond_ = 0;  // bound on steps of more micro-batches than the trees cover
  Ms best_ = 0;
};

}  // namespace stowage

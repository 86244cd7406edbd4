// A certified bound on a step of few micro-batches: which makespans T_0 >= T_1 >= ... are possible
// at all?
//
//   ScatterProfileBound search(instance, MilpBackend::cbc, plan.objective_ms,
//                              [&](const ScatterCertificate& better) { ... });
//   search.improve(budget);
//
// Makespans are searched box by box, the weakest first; profile_lp.h bounds each.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "formulations/scatter/bounds.h"
#include "instances/scatter/certificate.h"
#include "instances/scatter/instance.h"
#include "solvers/scatter/profile_lp.h"
#include "solvers/scatter/step_bound.h"

namespace stowage {

class ScatterProfileBound {
 public:
  // `upper` is a known plan's objective. Requires every sequence to fit some level. `instance` must
  // outlive this.
  ScatterProfileBound(const ScatterInstance& instance, MilpBackend backend, Ms upper,
                      CertificateSink sink);

  // Whether there are few enough micro-batches, and lengths, for this to promise anything.
  bool promising() const;

  // No plan faster than the known one has more.
  int most_micro_batches() const;

  // Goes on until the budget ends, a box counting as a node. False if there is nothing
  // left to gain.
  bool improve(Budget& budget);

  // A better plan was found.
  void lower_upper(Ms upper) { upper_ = std::min(upper_, upper); }
  // Patterns of a plan: a good beginning.
  void learn(const StepDraft& step) { lp_.learn(step); }

  Ms bound() const { return best_; }
  // Makespans that the pattern LP thinks possible where the bound is weakest; empty if there are
  // none.
  std::vector<Ms> weakest() const;

 private:
  struct Leaf {  // not split
    std::size_t tree = 0;
    std::size_t node = 0;
    std::vector<Ms> low;
    std::vector<Ms> high;
    std::vector<Ms> makespans;  // of its LP
    Ms bound = 0;
    bool solved = false;
  };

  void begin();
  // What steps of so many micro-batches or more take at least.
  Ms beyond(int count) const { return step_of_more(table_, count); }
  void close(Leaf& leaf) const;
  bool solve(Leaf& leaf, Budget& budget);
  void split(const Leaf& leaf);
  void publish();

  ScatterTable table_;
  int fewest_;
  Ms alone_;  // no longest makespan is shorter; 0 where it does not count besides
  ScatterProfileLp lp_;
  Ms upper_;
  CertificateSink sink_;
  std::vector<ProfileTree> trees_;
  std::vector<Leaf> leaves_;
  Ms beyond_ = 0;  // of more micro-batches than have a tree
  Ms best_ = 0;
};

}  // namespace stowage

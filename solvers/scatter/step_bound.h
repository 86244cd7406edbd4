// The step LP of formulations/scatter/step_lp.h turned into a certified bound on the step.
//
//   ScatterStepBound search(instance, {.backend = backend}, plan.objective_ms,
//                           [&](const ScatterCertificate& better) { ... });
//   while (search.improve(part_of_the_budget)) look_for_plans();
//
// First the LP on finer and finer grids of makespans, then branching on how many micro-batches last
// some makespan or more, the weakest case first. What is still open is always covered, so that
// every certificate is a proof of its own.
//
// In a pipeline of p stages the LP bounds the sum of makespans, and the longest counts p - 1 times
// besides. It is branched on first: whether no micro-batch lasts some makespan or more, or one
// does. A case of longest makespans from l up to u takes p - 1 times l and a sum of makespans below
// u.
#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <vector>

#include "formulations/scatter/step_lp.h"
#include "instances/budget.h"
#include "instances/numbers.h"
#include "instances/scatter/certificate.h"
#include "instances/scatter/instance.h"
#include "instances/scatter/table.h"
#include "solvers/lp/solver.h"

namespace stowage {

struct StepBoundOptions {
  std::optional<MilpBackend> backend;  // none: the dense simplex, for small models
  double resolution = 65;              // sequences are merged up to this part of the step's area
  double ratio = 1.25;                 // of successive makespans to begin with
  int breaks = 4;                      // longest kinds that put their times alone into the grid
  int refinements = 0;                 // of the grid before branching, at most
  bool refine_cases = true;            // the grid whenever a case of longest makespans is split
};

// Coarse: some ten to thirty milliseconds for a step of 512 sequences, with 30 linear programmes.
StepBoundOptions quick_step_bound();

// Called with certificates of increasing bounds. They are not yet tested by check_certificate.
using CertificateSink = std::function<void(const ScatterCertificate&)>;

class ScatterStepBound {
 public:
  // `upper` is a known plan's objective: bounds beyond it are of no interest. Requires every
  // sequence to fit some level. `instance` must outlive this.
  ScatterStepBound(const ScatterInstance& instance, const StepBoundOptions& options, Ms upper,
                   CertificateSink sink);

  // Goes on until the budget ends, a linear programme counting as a node. False if there is nothing
  // left to gain, because the bound has reached `upper` or the method its end.
  bool improve(Budget& budget);

  // A better plan was found.
  void lower_upper(Ms upper) { upper_ = std::min(upper_, upper); }

  Ms bound() const { return best_; }

 private:
  static constexpr double kApart = 1.004;  // ratio of successive makespans at least
  static constexpr double kPenalty = 10;   // objectives per micro-batch too many

  // A node of the search tree. Inner nodes keep nothing but their condition and children.
  struct Node {
    bool is_leaf = true;
    StepCondition condition;  // of the child `more`, if this is no leaf
    std::size_t fewer = 0;
    std::size_t more = 0;
    bool solved = false;     // to the end, not up to a limit
    bool coarse = false;     // to be refined before anything else
    bool stalled = false;    // with rows to add, which gain nothing at first
    int barren = 0;          // efforts in a row that gained nothing
    bool exhausted = false;  // nothing left to branch on or to refine
    bool rough = false;      // solved as far as a case needs that is to be split
    Ms longest_from = 0;     // of the longest makespan, where that counts besides
    Ms longest_to = kInfinity;
    double value = 0;  // proven by `prices`, of the sum of makespans
    CertificateLeaf prices;
    std::optional<ScatterStepLp> lp;
    LpResult result;
  };

  static LpBasis first_basis_of(const ScatterStepLp& lp);
  std::vector<Ms> first_grid() const;
  void add_breaks(int kind, Ms from, Ms to, std::vector<Ms>& points) const;
  std::vector<Ms> refined_grid(const Node& node) const;
  bool open_root(Budget& budget);
  std::size_t weakest_leaf() const;
  std::optional<StepCondition> condition_for(const Node& node) const;
  double bound_of(const Node& node) const {
    return node.value + table_.again() * node.longest_from;
  }
  // Cases of longest makespans (step_cases.cc).
  bool wide(const Node& node) const;
  Ms cut_of(const Node& node) const;
  void cut(Node& node);
  Node shorter_than(const Node& node, Ms cut) const;
  Node longer_than(const Node& node, Ms cut) const;
  bool branch(Node& node, Budget& budget);
  bool refine(Node& node, Budget& budget);
  bool deepen(Node& node, Budget& budget);
  bool solve(Node& node, Budget& budget);
  void publish();

  StepBoundOptions options_;
  CertificateSink sink_;
  ScatterTable table_;
  std::int64_t fewest_;
  Ms alone_;  // no longest makespan is shorter; 0 where it does not count besides
  Ms upper_;
  Ms best_ = 0;
  int refinements_ = 0;
  std::deque<Node> nodes_;  // references into it outlive growth
};

}  // namespace stowage

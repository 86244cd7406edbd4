// Turns the step LP of formulations/scatter/lp/step_lp.h into a certified bound on the step.
//
//   ScatterStepBound search(instance, {.backend = backend}, plan.objective_ms,
//                           [&](const ScatterCertificate& better) { ... });
//   while (search.improve(part_of_the_budget)) look_for_plans();
//
// The search solves the LP on finer and finer grids of makespans. Then it branches on how many
// micro-batches last some makespan or more, the weakest case first. The open cases always cover all
// steps, so that every certificate is a complete proof.
//
// In a pipeline of p stages the LP bounds the sum of makespans, and the longest makespan counts p -
// 1 more times. So the search first branches on the longest makespan: either every micro-batch is
// shorter than some makespan, or one is not. A case of longest makespans from l to u adds p - 1
// times l, and its micro-batches last at most u.
#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <vector>

#include "formulations/scatter/lp/step_lp.h"
#include "instances/budget.h"
#include "instances/numeric/numbers.h"
#include "instances/scatter/certificate.h"
#include "instances/scatter/instance.h"
#include "instances/scatter/table/planning_table.h"
#include "solvers/lp/solver.h"

namespace stowage {

struct StepBoundOptions {
  std::optional<MilpBackend> backend;  // nullopt: the dense simplex, for small models
  double resolution = 65;    // sequences are merged up to the step's area divided by this number
  double ratio = 1.25;       // ratio of successive makespans of the first grid
  bool few_degrees = false;  // begin with ScatterTable::few_degrees()
  int breaks = 4;            // number of longest kinds whose times alone are grid points
  int refinements = 0;       // refinements of the grid before branching, at most
  bool refine_cases = true;  // refine the grid whenever a case of longest makespans is split
};

// Returns coarse options: 30 linear programmes for a step of 512 sequences take 10 to 30 ms.
StepBoundOptions quick_step_bound();

// Receives certificates of increasing bounds that check_certificate() has not tested.
using CertificateSink = std::function<void(const ScatterCertificate&)>;

class ScatterStepBound {
 public:
  // `upper` is the objective of a known plan. Bounds beyond it are not improved. Requires that
  // every sequence fits some configuration. `instance` must outlive this.
  ScatterStepBound(const ScatterInstance& instance, const StepBoundOptions& options, Ms upper,
                   CertificateSink sink);

  // Continues until the budget ends, or until `enough` is true for the present bound; it is called
  // after each linear programme or pair of them. A linear programme counts as a node. Returns false
  // if no more can be gained: the bound has reached `upper`, or no case can be split or refined.
  using Enough = std::function<bool(Ms bound)>;
  bool improve(Budget& budget, const Enough& enough = nullptr);

  // Lowers `upper` to the objective of a better plan.
  void lower_upper(Ms upper) { upper_ = std::min(upper_, upper); }

  Ms bound() const { return best_; }

 private:
  static constexpr double kApart = 1.004;  // least ratio of successive makespans
  // Penalty per micro-batch that violates a condition, in objectives.
  static constexpr double kPenalty = 10;

  // A node of the search tree. An inner node stores only its condition and children.
  struct Node {
    bool is_leaf = true;
    StepCondition condition;  // of the child `more`, if this is an inner node
    std::size_t fewer = 0;
    std::size_t more = 0;
    bool solved = false;     // solved completely, not only up to a limit
    bool coarse = false;     // must be refined first
    bool stalled = false;    // rows remain that gained nothing at first
    int barren = 0;          // consecutive refinements without gain
    bool exhausted = false;  // nothing left to branch on or to refine
    bool rough = false;      // solved roughly, since it will be split
    Ms longest_from = 0;     // lower end of the longest makespan, in a pipeline
    Ms longest_to = kInfinity;
    double value = 0;  // bound on the sum of makespans by `prices`
    CertificateLeaf prices;
    std::optional<ScatterStepLp> lp;
    LpResult result;
  };

  static LpBasis first_basis_of(const ScatterStepLp& lp);
  std::vector<Ms> first_grid() const;
  void add_thrifty_configs();
  void add_breaks(int kind, Ms from, Ms to, std::vector<Ms>& points) const;
  std::vector<Ms> refined_grid(const Node& node) const;
  bool open_root(Budget& budget);
  std::size_t weakest_leaf() const;
  std::optional<StepCondition> condition_for(const Node& node) const;
  double bound_of(const Node& node) const {
    return node.value + table_.longest_weight() * node.longest_from;
  }
  // Cases of longest makespans, see longest_makespan_branching.cc.
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
  std::vector<std::size_t> configs_;  // those that have groups in the LP
  std::int64_t fewest_;
  Ms alone_;  // bound on the longest makespan; 0 if it counts once
  Ms upper_;
  Ms best_ = 0;
  int refinements_ = 0;
  std::deque<Node> nodes_;  // references to elements stay valid
};

}  // namespace stowage

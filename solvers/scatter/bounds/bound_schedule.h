// The schedule of the certified bounds of one scatter solve: which bound search runs, when and how
// long. Not installed.
//
//   ScatterBoundSchedule bounding(run);
//   bounding.quick();                                      // for `fast`
//   bounding.best_first(limited);                                  // for exact methods
//   if (!run.done()) bounding.other_search();
//   while (!run.done()) bounding.resume();
//
// The step LP (step_lp_bound.h) bounds any step. The search by makespans (makespan_profile_bound.h)
// bounds steps of few micro-batches, where it is stronger. A bound is raised only after the checker
// has confirmed its certificate.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "instances/scatter/certificate.h"
#include "solvers/scatter/bounds/makespan_profile_bound.h"
#include "solvers/scatter/bounds/step_lp_bound.h"
#include "solvers/scatter/solve_context.h"

namespace stowage {

// All functions but the constructor require an incumbent with a plan.
class ScatterBoundSchedule {
 public:
  // `run` must outlive this.
  explicit ScatterBoundSchedule(ScatterSolveContext& run) : run_(run) {}

  // Raises the bound by a few linear programmes of the step LP. If they close a good part of the
  // gap, it runs one more batch of them.
  void quick();
  void quick_by_makespans();

  // Runs the stronger of the two searches for this step. `limited`: a limit may end the solve
  // before a proof.
  void best_first(bool limited);

  // After best_first(): true if it ran the search by makespans. weakest() returns the makespans
  // where that search has its weakest bound, or an empty list.
  bool by_makespans() const { return by_makespans_; }
  std::vector<Ms> weakest() const;

  // Runs the search that best_first() did not run, for a share of the remaining time
  // (BoundParams::other_share).
  void other_search();

  // Continues each search that could still raise the bound.
  void resume();

  const std::optional<ScatterCertificate>& certificate() const { return certificate_; }

 private:
  void search(bool makespans, double share);
  bool raise_step_while_worthwhile(double share, std::int64_t lps);
  double spent_share() const;
  void begin_step(StepBoundOptions options);
  bool raise_step(Budget& part, const ScatterStepBound::Enough& enough = nullptr);
  void begin_profile();
  bool raise_profile(Budget& part);
  void confirm(const char* name);

  ScatterSolveContext& run_;
  std::optional<ScatterStepBound> step_;
  std::optional<ScatterProfileBound> profile_;
  std::optional<ScatterCertificate> found_;        // last certificate of a search
  std::optional<ScatterCertificate> certificate_;  // last certificate that passed the check
  bool by_makespans_ = false;
  bool all_degrees_ = false;  // the step LP has groups of all degrees, not of few
  std::int64_t boxes_ = 0;    // boxes per run
  bool step_rises_ = false;   // the step LP may gain more
  bool profile_rises_ = false;
};

}  // namespace stowage

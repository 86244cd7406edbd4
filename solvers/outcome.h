// The result of a solve, with the part of it that is proven.
//
//   status      optimal     a verified plan whose objective equals the bound to kOptimalityGap
//               feasible    a verified plan
//               infeasible  proven that no plan exists
//               unknown     no plan and no proof
//               error       a failure and no plan; `detail` names the failure. After a failure
//                           with a plan, the status is feasible and stopped_by is error.
//   stopped_by  proof | gap | time_limit | node_limit | interrupted | heuristic_end | error
//
// A time limit is a result, not an error, and proves nothing.
//
// Thread safety: plain data; its functions read their arguments and nothing else; any number of
// threads may call them at once.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "instances/budget.h"
#include "instances/instance.h"
#include "instances/proof.h"
#include "instances/result.h"
#include "instances/violation.h"

namespace stowage {

enum class Status { optimal, feasible, infeasible, unknown, error };
enum class StoppedBy { proof, gap, time_limit, node_limit, interrupted, heuristic_end, error };

std::string_view to_string(Status status);
std::string_view to_string(StoppedBy stopped_by);

// Returns the limit that was reached as the reason why the work stopped, or `otherwise` if no limit
// was.
StoppedBy stopped_by(StopReason reason, StoppedBy otherwise);

// The gap below which objective and bound count as equal.
inline constexpr double kOptimalityGap = 1e-6;

// Returns (objective - bound) / max(|objective|, |bound|), or 0 if they are equal: the only
// definition of the gap. It does not depend on the unit: a step in microseconds has the gap of the
// same step in seconds.
double relative_gap(double objective, double bound);

// The state of the solve at an improvement of plan or bound.
struct Improvement {
  double seconds = 0;
  double bound = 0;                 // best so far
  std::optional<double> objective;  // best so far
  std::int64_t nodes = 0;
  char source = ' ';  // H heuristic, L local search, B bound, M MILP, S start plan, C choice by
                      // simulated time
  std::string by;     // method or certificate
};

// Totals of all runs of a stage of the solve.
struct StageReport {
  std::string name;  // one of stages()
  std::int64_t runs = 0;
  double seconds = 0;
  std::int64_t nodes = 0;
  double plan_gained = 0;   // decrease of the objective, in its unit
  bool first_plan = false;  // the stage found the first plan of the solve
  double bound_gained = 0;  // increase of the bound, in the objective's unit
};

struct Outcome {
  // These are defined in outcome.cc, so that including files need not compile the plans of all
  // families.
  Outcome();
  Outcome(const Outcome& other);
  Outcome(Outcome&& other) noexcept;
  Outcome& operator=(const Outcome& other);
  Outcome& operator=(Outcome&& other) noexcept;
  ~Outcome();

  Status status = Status::unknown;
  StoppedBy stopped_by = StoppedBy::error;
  std::optional<Plan> plan;         // verified; carries objective, bound and bound_by
  std::optional<double> objective;  // objective of the plan
  double bound = 0;
  std::string bound_by;  // names the certificate of `bound`
  // The certificate of a bound that has one, for example "step-lp" and "patterns". It may prove
  // less than `bound`, since a bound of a MILP has no certificate.
  std::optional<Certificate> certificate;
  std::vector<NamedBound> bounds;  // all computed bounds, weakest first
  // A bound on all plans of the requested method, if the method is a baseline that fixes part of
  // the plan by rule. It is no bound on the instance.
  std::optional<double> method_bound;
  // A bound in ms on the end of the simulated 1F1B schedule of any plan of the instance, if there
  // is a plan with pipeline stages, which states its own end.
  std::optional<double> simulated_bound;
  std::string method;    // the requested method
  std::string found_by;  // the method that found the plan
  double seconds = 0;
  std::int64_t nodes = 0;
  std::string detail;              // a sentence for people; not empty if the status is error
  std::string remedy;              // if infeasible: the change to make, for people
  std::vector<InputError> errors;  // errors of the instance or the options, if the status is error
  // If infeasible: ids that fit no group, if they are the reason.
  std::vector<std::int64_t> unplaceable;
  std::optional<InfeasibilityProof> infeasibility;  // if infeasible: its proof, if not `none`
  std::vector<Violation> violations;  // violations of the last candidate that failed verification
  std::vector<Improvement> improvements;  // in order of time
  std::vector<StageReport> stages;        // in the order in which they first ran

  std::optional<double> gap() const;  // relative_gap() of the plan, or nullopt without a plan
};

}  // namespace stowage

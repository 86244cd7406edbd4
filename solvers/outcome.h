// What a solve found out, and how much of it is proven.
//
// status      optimal     a verified plan whose objective equals the bound to kOptimalityGap
//             feasible    a verified plan
//             infeasible  proven that no plan exists
//             unknown     no plan and no proof
//             error       something failed and there is no plan; `detail` says what. If there is
//                         a plan, the status is feasible
//                         and stopped_by is error.
// stopped_by  proof | gap | time_limit | node_limit | interrupted | heuristic_end | error
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

// What stopped the work: the limit that was reached, or `otherwise` if none was.
StoppedBy stopped_by(StopReason reason, StoppedBy otherwise);

// The gap below which objective and bound count as equal.
inline constexpr double kOptimalityGap = 1e-6;

// (objective - bound) / max(|objective|, |bound|), 0 where they are equal: the one definition of
// the gap. Relative whatever the unit: a step of microseconds has the gap of the same step in
// seconds.
double relative_gap(double objective, double bound);

// The state of the solve when something got better.
struct Improvement {
  double seconds = 0;
  double bound = 0;                 // best so far
  std::optional<double> objective;  // best so far
  std::int64_t nodes = 0;
  char source = ' ';  // H heuristic, L local search, B bound, M MILP, S start plan
  std::string by;     // method or certificate
};

// What a stage of the solve did, in all its runs together.
struct StageReport {
  std::string name;  // one of stages()
  std::int64_t runs = 0;
  double seconds = 0;
  std::int64_t nodes = 0;
  double plan_gained = 0;   // by how much the objective fell, in its unit
  bool first_plan = false;  // there was no plan before
  double bound_gained = 0;  // by how much the bound rose, in the objective's unit
};

struct Outcome {
  // In outcome.cc, so that who includes this need not compile what a plan of each family consists
  // of.
  Outcome();
  Outcome(const Outcome& other);
  Outcome(Outcome&& other) noexcept;
  Outcome& operator=(const Outcome& other);
  Outcome& operator=(Outcome&& other) noexcept;
  ~Outcome();

  Status status = Status::unknown;
  StoppedBy stopped_by = StoppedBy::error;
  std::optional<Plan> plan;         // verified; carries objective, bound and bound_by
  std::optional<double> objective;  // of the plan
  double bound = 0;
  std::string bound_by;  // names the certificate of `bound`
  // The proof of a bound that has one, as "step-lp" and "patterns" have. It may be less than
  // `bound`, whose own certificate cannot be written down if it is a MILP's.
  std::optional<Certificate> certificate;
  std::vector<NamedBound> bounds;  // all that were computed, weakest first
  // No plan of the method asked for can be better, with any solver: of a baseline that fixes
  // part of the plan by rule. Not a bound on the instance.
  std::optional<double> method_bound;
  std::string method;    // what was asked for
  std::string found_by;  // what found the plan
  double seconds = 0;
  std::int64_t nodes = 0;
  std::string detail;                     // a sentence for people; never empty for error
  std::string remedy;                     // of infeasible: what to change, for people
  std::vector<InputError> errors;         // of the instance or the options: status error
  std::vector<std::int64_t> unplaceable;  // ids that fit no group, if that is why: infeasible
  std::optional<InfeasibilityProof> infeasibility;  // of infeasible: what proves it, if not `none`
  std::vector<Violation> violations;      // of the last candidate that failed verification
  std::vector<Improvement> improvements;  // in order of time
  std::vector<StageReport> stages;        // in the order in which they first ran

  std::optional<double> gap() const;  // relative_gap of the plan, if there is one
};

}  // namespace stowage

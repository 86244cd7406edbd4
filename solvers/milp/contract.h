// The words of every MILP solve: what is asked, what is answered, and what a backend must offer.
//
// A backend gets a tidied and scaled model and may trust it; it is itself trusted with nothing:
// run_checked (backend.h) measures every answer against the original model.
#pragma once

#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "formulations/milp/model.h"
#include "instances/budget.h"

namespace stowage {

// optimal: gap closed to 1e-9 relative by the backend's own proof; feasible: a point, no proof;
// unknown: no point and no proof; error: the backend failed or lied, see detail.
enum class MilpStatus { optimal, feasible, infeasible, unbounded, unknown, error };

inline bool has_point(MilpStatus status) {
  return status == MilpStatus::optimal || status == MilpStatus::feasible;
}

struct MilpParams {
  double gap = 0;             // relative gap at which to stop; the status is then `feasible`
  std::uint64_t seed = 0;     // used by CBC; GLPK has no random choices
  std::vector<double> start;  // a feasible point or empty; an infeasible one is ignored and said
  double cutoff = milp::kInfinity;  // objective of interest: prune what cannot be below it
  // Where to write the model, as LP, when a backend's point fails the recheck; empty: nowhere.
  std::string dump_directory;
};

struct MilpResult {
  MilpStatus status = MilpStatus::unknown;
  bool gap_reached = false;             // stopped on MilpParams::gap
  StopReason limit = StopReason::none;  // which budget limit ended the run, if one did
  double objective = milp::kInfinity;   // of `values`, offset included
  double bound = -milp::kInfinity;      // proven lower bound, offset included
  std::vector<double> values;           // one per variable, integers exactly integral
  std::int64_t nodes = 0;
  std::string detail;  // why, in words; never empty for error
};

// Told about each new incumbent (values given) and each better bound (values empty). Called from
// the thread that runs solve_milp or a thread it waits for; must not throw.
struct MilpEvent {
  double objective = milp::kInfinity;
  double bound = -milp::kInfinity;
  const std::vector<double>* values = nullptr;
};
using MilpObserver = std::function<void(const MilpEvent&)>;

// A backend failed in its own code; what() is its own words.
class BackendError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

// One call of a backend. The model has at least one variable and one row, only finite numbers, no
// duplicate terms, no fixed variable, integral bounds on integers. `params.start` is empty or
// feasible for `model`; start and cutoff are in the units of `model`.
struct MilpTask {
  const milp::Model& model;
  const MilpParams& params;
  Budget& budget;                // nodes must be counted, limits and the interrupt honoured
  const MilpObserver& observer;  // never empty; in the units of `model`
};

// The answer is in the units of `model`. Two statuses are read in a narrower sense than in the
// public contract: `infeasible` means "nothing below the cutoff" when a cutoff was given, and
// `unbounded` means that the relaxation is unbounded. May throw anything derived from
// std::exception.
using MilpRun = std::function<MilpResult(const MilpTask&)>;

}  // namespace stowage

// The types of every MILP solve: the input, the result, and the interface of a backend.
//
// A backend receives a tidied and scaled model that it may trust. Its answers are not trusted:
// run_checked() (backend.h) checks every answer against the original model.
#pragma once

#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "formulations/milp/model.h"
#include "instances/budget.h"

namespace stowage {

// optimal: the backend proved a gap of at most 1e-9 relative. feasible: a point without proof.
// unknown: neither point nor proof. error: the backend failed or returned a false result, see
// detail.
enum class MilpStatus { optimal, feasible, infeasible, unbounded, unknown, error };

inline bool has_point(MilpStatus status) {
  return status == MilpStatus::optimal || status == MilpStatus::feasible;
}

struct MilpParams {
  double gap = 0;             // relative gap at which to stop; the status is then `feasible`
  std::uint64_t seed = 0;     // used by CBC; GLPK has no random choices
  std::vector<double> start;  // a feasible point or empty; an infeasible one is ignored with a note
  double cutoff = milp::kInfinity;  // prunes points whose objective is not below it
  // Directory for the model, as LP, if a backend's point fails the recheck. Empty: the model is not
  // written.
  std::string dump_directory;
};

struct MilpResult {
  MilpStatus status = MilpStatus::unknown;
  bool gap_reached = false;             // stopped on MilpParams::gap
  StopReason limit = StopReason::none;  // budget limit that ended the run, or none
  double objective = milp::kInfinity;   // objective of `values`, offset included
  double bound = -milp::kInfinity;      // proven lower bound, offset included
  std::vector<double> values;           // one per variable, integers exactly integral
  std::int64_t nodes = 0;
  std::string detail;  // the reason in words; not empty if the status is error
};

// A new incumbent (values given) or a better bound (values empty). Observers are called from the
// thread that runs solve_milp() or from a thread that it waits for, and must not throw.
struct MilpEvent {
  double objective = milp::kInfinity;
  double bound = -milp::kInfinity;
  const std::vector<double>* values = nullptr;
};
using MilpObserver = std::function<void(const MilpEvent&)>;

// A backend failed in its own code. what() is its own message.
class BackendError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

// One call of a backend. The model has at least one variable and one row, only finite numbers, no
// duplicate terms, no fixed variable, and integral bounds on integers. `params.start` is empty or
// feasible for `model`. Start and cutoff are in the units of `model`.
struct MilpTask {
  const milp::Model& model;
  const MilpParams& params;
  Budget& budget;                // the backend must count nodes and obey limits and interrupt
  const MilpObserver& observer;  // not empty; in the units of `model`
};

// Returns the result in the units of `model`. Two statuses have a narrower meaning than in the
// public contract. With a cutoff, `infeasible` means that no point is below the cutoff. `unbounded`
// means that the relaxation is unbounded. May throw any std::exception.
using MilpRun = std::function<MilpResult(const MilpTask&)>;

}  // namespace stowage

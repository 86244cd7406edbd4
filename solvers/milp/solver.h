// One contract for every MILP backend, and the checks that no backend is trusted without.
//
//   Budget budget({.time_limit_s = 10});
//   MilpResult r = solve_milp(MilpBackend::cbc, model, {.gap = 0.001}, budget);
//   if (has_point(r.status)) use(r.values, r.objective, r.bound);
//
// solve_milp tidies the model first (finite numbers, summed duplicates, singleton rows folded into
// bounds, integer bounds rounded inwards, scaling), and afterwards rounds the integers, recomputes
// the objective, measures every original row in long double and clips the bound by logic. A point
// that fails the recheck is MilpStatus::error, never a plan. A backend that calls a model
// infeasible although a feasible start was given has failed: error as well.
//
// Thread safety: any number of threads may solve at once, each model with its own arguments; they
// may share a Budget. Backends get threads of their own. CBC sets OpenBLAS, where that is the
// process's BLAS, to one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "formulations/milp/model.h"
#include "instances/budget.h"

namespace stowage {

enum class MilpBackend { cbc, glpk };

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

std::string_view name(MilpBackend backend);
std::vector<MilpBackend> built_backends();  // those compiled in, preferred one first

// Requires `backend` to be in built_backends(). LPs (no integer variable) are welcome.
MilpResult solve_milp(MilpBackend backend, const milp::Model& model, const MilpParams& params,
                      Budget& budget, const MilpObserver& observer = {});

}  // namespace stowage

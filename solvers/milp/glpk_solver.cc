#include "solvers/milp/glpk_solver.h"

#include <glpk.h>

#include <algorithm>
#include <cfloat>
#include <string>
#include <utility>
#include <vector>

#include "formulations/milp/scaling.h"
#include "solvers/milp/glpk_session.h"

namespace stowage {
namespace {

// Largest trusted ratio of coefficients. GLPK returned wrong results from 6e4 on, with integer
// models made for this purpose. CBC returned none there.
constexpr double kTrustedSpread = 3e4;

struct Solve {
  Solve(const MilpTask& of, int branching_rule)
      : task(of), branching(branching_rule), problem(glp_create_prob()) {}

  MilpResult run() {
    load();
    glp_scale_prob(problem, GLP_SF_AUTO);
    const bool integral = glp_get_num_int(problem) > 0;
    if (!solve_relaxation(integral)) return std::move(result);
    if (!integral) {
      result.status = MilpStatus::optimal;
      result.objective = result.bound = glp_get_obj_val(problem);
      for (int j = 1; j <= columns(); ++j) result.values.push_back(glp_get_col_prim(problem, j));
      return std::move(result);
    }
    result.bound = glp_get_obj_val(problem);
    branch_and_cut();
    return std::move(result);
  }

  int columns() const { return glp_get_num_cols(problem); }

  void load() {
    const auto& variables = task.model.variables();
    glp_set_obj_dir(problem, GLP_MIN);
    glp_set_obj_coef(problem, 0, task.model.offset());
    glp_add_cols(problem, static_cast<int>(variables.size()));
    for (int j = 1; j <= columns(); ++j) {
      const milp::Variable& v = variables[static_cast<std::size_t>(j - 1)];
      // Set the kind first: GLP_BV would overwrite the bounds, GLP_IV does not.
      if (v.integer) glp_set_col_kind(problem, j, GLP_IV);
      glp_set_col_bnds(problem, j, glpk_bound_type(v.lower, v.upper), v.lower, v.upper);
      glp_set_obj_coef(problem, j, v.objective);
    }
    for (const milp::Row& row : task.model.rows()) {
      // A range with two different sides becomes two rows, because GLPK's handling of ranges
      // returned wrong results on small integer models.
      if (glpk_bound_type(row.lower, row.upper) == GLP_DB) {
        add_row(row.terms, GLP_LO, row.lower, 0);
        add_row(row.terms, GLP_UP, 0, row.upper);
      } else {
        add_row(row.terms, glpk_bound_type(row.lower, row.upper), row.lower, row.upper);
      }
    }
    const bool integral = glp_get_num_int(problem) > 0;
    if (integral && task.params.cutoff < kInfinity) add_cutoff();
  }

  void add_row(const std::vector<milp::Term>& terms, int type, double lower, double upper) {
    std::vector<int> index{0};  // GLPK counts from 1
    std::vector<double> value{0};
    for (const milp::Term& term : terms) {
      index.push_back(term.variable + 1);
      value.push_back(term.coefficient);
    }
    const int i = glp_add_rows(problem, 1);
    glp_set_row_bnds(problem, i, type, lower, upper);
    glp_set_mat_row(problem, i, static_cast<int>(terms.size()), index.data(), value.data());
  }

  // GLPK has no cutoff, so the objective becomes a row.
  void add_cutoff() {
    std::vector<milp::Term> terms;
    for (int j = 0; j < columns(); ++j) {
      const double cost = task.model.variables()[static_cast<std::size_t>(j)].objective;
      if (cost != 0) terms.push_back({j, cost});
    }
    add_row(terms, GLP_UP, 0, task.params.cutoff - task.model.offset());
  }

  // Returns true if the root is optimal. Otherwise sets `result`.
  bool solve_relaxation(bool integral) {
    glp_smcp parm;
    glp_init_smcp(&parm);
    parm.msg_lev = GLP_MSG_OFF;
    parm.tol_bnd = 1e-7;
    const auto simplex = [&](int milliseconds) {
      parm.tm_lim = milliseconds;
      return glp_simplex(problem, &parm);
    };
    int code = within_glpk_limit(task.budget, simplex);
    if (code != 0 && code != GLP_ETMLIM) {  // numerical trouble: try again from a fresh basis
      glp_adv_basis(problem, 0);
      parm.meth = GLP_DUALP;
      code = within_glpk_limit(task.budget, simplex);
    }
    if (code == GLP_ETMLIM) {
      result.limit = StopReason::time_limit;
      return false;
    }
    if (code != 0) throw BackendError("GLPK simplex failed with code " + std::to_string(code));
    switch (glp_get_status(problem)) {
      case GLP_OPT:
        if (const StopReason stop = task.budget.stop_reason();
            integral && stop != StopReason::none) {
          result.limit = stop;
          result.bound = glp_get_obj_val(problem);
          return false;
        }
        return true;
      case GLP_NOFEAS:
        result.status = MilpStatus::infeasible;
        return false;
      case GLP_UNBND:
        result.status = MilpStatus::unbounded;
        return false;
      default:
        throw BackendError("GLPK left its root relaxation undecided");
    }
  }

  void branch_and_cut() {
    glp_iocp parm;
    glp_init_iocp(&parm);
    parm.msg_lev = GLP_MSG_OFF;
    parm.br_tech = branching;
    parm.gmi_cuts = parm.mir_cuts = parm.clq_cuts = parm.cov_cuts = GLP_ON;
    parm.tol_int = 1e-9;  // the default, 1e-5, accepts points that violate rows after rounding
    parm.tol_obj = 1e-9;  // the default accepts points 1e-7 above the optimum as optimal
    parm.mip_gap = task.params.gap;
    parm.cb_func = [](glp_tree* tree, void* self) { static_cast<Solve*>(self)->callback(tree); };
    parm.cb_info = this;
    const int code = within_glpk_limit(task.budget, [&](int milliseconds) {
      parm.tm_lim = milliseconds;
      start_given = false;
      return glp_intopt(problem, &parm);
    });
    const int status = glp_mip_status(problem);
    const bool found = status == GLP_OPT || status == GLP_FEAS;
    if (found) {
      result.objective = glp_mip_obj_val(problem);
      for (int j = 1; j <= columns(); ++j) result.values.push_back(glp_mip_col_val(problem, j));
    }
    switch (code) {
      case 0:
        result.status = found ? MilpStatus::optimal : MilpStatus::infeasible;
        result.bound = result.objective;  // the last callback lags behind the proof
        return;
      case GLP_EMIPGAP:
        result.gap_reached = true;
        break;
      case GLP_ETMLIM:
        result.limit = StopReason::time_limit;
        break;
      case GLP_ESTOP:
        result.limit = stopped;
        break;
      default:
        throw BackendError("GLPK branch and cut failed with code " + std::to_string(code));
    }
    result.status = found ? MilpStatus::feasible : MilpStatus::unknown;
    if (found) result.bound = std::min(result.bound, result.objective);
  }

  void callback(glp_tree* tree) {
    switch (glp_ios_reason(tree)) {
      case GLP_ISELECT:
        note_bound(tree);
        stopped = task.budget.stop_reason();
        if (stopped != StopReason::none) return glp_ios_terminate(tree);
        task.budget.count_nodes(1);
        ++result.nodes;
        return;
      case GLP_IHEUR:
        if (!start_given && !task.params.start.empty()) give_start(tree);
        return;
      case GLP_IBINGO:
        note_bound(tree);
        note_incumbent();
        return;
      case GLP_IROWGEN:
        // Cut rounds can be long. Nodes are only counted at selection, so that a node limit always
        // ends the run at the same place.
        stopped = task.budget.stop_reason();
        if (stopped == StopReason::node_limit) stopped = StopReason::none;
        if (stopped != StopReason::none) glp_ios_terminate(tree);
        return;
      default:
        return;
    }
  }

  // The bound is valid because the incumbent, if any, is considered at the end.
  void note_bound(glp_tree* tree) {
    const int node = glp_ios_best_node(tree);
    if (node == 0) return;
    const double bound = glp_ios_node_bound(tree, node);
    if (bound <= -DBL_MAX || bound <= result.bound) return;
    result.bound = bound;
    task.observer({.bound = bound});
  }

  void give_start(glp_tree* tree) {
    start_given = true;
    std::vector<double> values{0};  // counts from 1
    values.insert(values.end(), task.params.start.begin(), task.params.start.end());
    glp_ios_heur_sol(tree, values.data());
  }

  void note_incumbent() {
    std::vector<double> values;
    for (int j = 1; j <= columns(); ++j) values.push_back(glp_mip_col_val(problem, j));
    task.observer({.objective = glp_mip_obj_val(problem), .values = &values});
  }

  const MilpTask& task;
  int branching;
  glp_prob* problem;  // freed by its thread, see glpk_session.h
  MilpResult result;
  StopReason stopped = StopReason::none;
  bool start_given = false;
};

// Runs one solve on a separate thread. Adds the solved nodes to `nodes`, also if it throws.
MilpResult attempt(const MilpTask& task, int branching, std::int64_t& nodes) {
  MilpResult result;
  on_glpk_thread([&] {
    Solve solve(task, branching);
    try {
      result = solve.run();
    } catch (...) {
      nodes += solve.result.nodes;
      throw;
    }
    nodes += result.nodes;
  });
  return result;
}

}  // namespace

MilpResult run_glpk(const MilpTask& task) {
  std::int64_t nodes = 0;
  MilpResult result;
  try {
    result = attempt(task, GLP_BR_PCH, nodes);
  } catch (const BackendError&) {
    // Pseudo-costs divide by the step of a branch, and GLPK asserts that it is not zero. With this
    // tight integrality tolerance, a branch can leave its variable unchanged. The other branching
    // rule does not divide. Other errors occur again.
    result = attempt(task, GLP_BR_DTH, nodes);
  }
  result.nodes = nodes;
  const milp::RangeReport ranges = milp::coefficient_ranges(task.model);
  if (result.detail.empty() && ranges.rows.ratio() > kTrustedSpread) {
    result.detail = "coefficients far apart for GLPK: " + milp::to_string(ranges);
  }
  return result;
}

}  // namespace stowage

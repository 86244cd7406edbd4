#include "solvers/lp/glpk_simplex.h"

#include <glpk.h>

#include <algorithm>
#include <vector>

#include "solvers/milp/glpk_session.h"

namespace stowage {
namespace {

// The dual method of GLPK 5.0 cycles on some degenerate models. The primal method has not been
// observed to cycle. Other models need a few iterations per row.
constexpr int kIterationsPerLine = 50;  // iterations per row and column
constexpr int kFewIterations = 10'000;

int to_glpk(LpPlace place) {
  switch (place) {
    case LpPlace::basic:
      return GLP_BS;
    case LpPlace::upper:
      return GLP_NU;
    case LpPlace::free:
      return GLP_NF;
    case LpPlace::lower:
      break;
  }
  return GLP_NL;
}

LpPlace from_glpk(int status) {
  switch (status) {
    case GLP_BS:
      return LpPlace::basic;
    case GLP_NU:
      return LpPlace::upper;
    case GLP_NF:
      return LpPlace::free;
    default:
      return LpPlace::lower;
  }
}

void load(const milp::Model& model, glp_prob* problem) {
  glp_set_obj_dir(problem, GLP_MIN);
  glp_set_obj_coef(problem, 0, model.offset());
  glp_add_cols(problem, static_cast<int>(model.variables().size()));
  int j = 0;
  for (const milp::Variable& v : model.variables()) {
    ++j;
    glp_set_col_bnds(problem, j, glpk_bound_type(v.lower, v.upper), v.lower, v.upper);
    glp_set_obj_coef(problem, j, v.objective);
  }
  glp_add_rows(problem, static_cast<int>(model.rows().size()));
  std::vector<int> index;
  std::vector<double> value;
  int i = 0;
  for (const milp::Row& row : model.rows()) {
    ++i;
    glp_set_row_bnds(problem, i, glpk_bound_type(row.lower, row.upper), row.lower, row.upper);
    index.assign(1, 0);  // GLPK counts from 1
    value.assign(1, 0);
    for (const milp::Term& term : row.terms) {
      index.push_back(term.variable + 1);
      value.push_back(term.coefficient);
    }
    glp_set_mat_row(problem, i, static_cast<int>(row.terms.size()), index.data(), value.data());
  }
}

LpResult solve(const milp::Model& model, const LpBasis& start, const Budget& budget) {
  glp_prob* problem = glp_create_prob();  // freed by the session
  load(model, problem);
  for (std::size_t j = 0; j < start.variables.size(); ++j) {
    glp_set_col_stat(problem, static_cast<int>(j + 1), to_glpk(start.variables[j]));
  }
  for (std::size_t i = 0; i < start.rows.size(); ++i) {
    glp_set_row_stat(problem, static_cast<int>(i + 1), to_glpk(start.rows[i]));
  }
  glp_smcp parm;
  glp_init_smcp(&parm);
  parm.msg_lev = GLP_MSG_OFF;
  parm.meth = GLP_DUALP;
  parm.it_lim = std::max(
      kFewIterations, kIterationsPerLine * (glp_get_num_rows(problem) + glp_get_num_cols(problem)));
  const auto simplex = [&](int milliseconds) {
    parm.tm_lim = milliseconds;
    return glp_simplex(problem, &parm);
  };
  int code = within_glpk_limit(budget, simplex);
  // The basis was refused, or the method cycles: start from GLPK's own basis.
  if (code != 0 && code != GLP_ETMLIM) {
    glp_adv_basis(problem, 0);
    parm.meth = GLP_PRIMAL;
    code = within_glpk_limit(budget, simplex);
  }
  if (code == GLP_ETMLIM) return {.limit = StopReason::time_limit, .detail = "stopped at a limit"};
  if (code != 0 || glp_get_status(problem) != GLP_OPT) {
    return {.detail = "GLPK simplex ended with code " + std::to_string(code) + ", status " +
                      std::to_string(glp_get_status(problem))};
  }
  LpResult result{.optimal = true, .objective = glp_get_obj_val(problem)};
  for (int j = 1; j <= glp_get_num_cols(problem); ++j) {
    result.values.push_back(glp_get_col_prim(problem, j));
    result.basis.variables.push_back(from_glpk(glp_get_col_stat(problem, j)));
  }
  for (int i = 1; i <= glp_get_num_rows(problem); ++i) {
    result.duals.push_back(glp_get_row_dual(problem, i));
    result.basis.rows.push_back(from_glpk(glp_get_row_stat(problem, i)));
  }
  return result;
}

}  // namespace

LpResult run_glpk_simplex(const milp::Model& model, const LpBasis& start, Budget& budget) {
  LpResult result;
  on_glpk_thread([&] { result = solve(model, start, budget); });
  return result;
}

}  // namespace stowage

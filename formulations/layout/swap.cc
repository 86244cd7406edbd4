#include "formulations/layout/swap.h"

#include <algorithm>
#include <cmath>

namespace stowage {
namespace {

double always(const SwapProblem& problem) {
  return static_cast<double>(problem.input_bytes) + static_cast<double>(problem.attention_bytes);
}

}  // namespace

double swap_room(const SwapProblem& problem) {
  const double link = problem.bytes_per_ms * problem.layer_ms - always(problem);
  if (problem.layers <= 2) return link;
  const double host = static_cast<double>(problem.host_bytes) / (problem.layers - 2);
  return std::min(link, host - always(problem));
}

std::optional<double> swap_fraction(const SwapProblem& problem) {
  const double room = swap_room(problem);
  if (room < 0) return std::nullopt;
  double others = 0;
  for (const SwapTensor& tensor : problem.tensors) others += static_cast<double>(tensor.bytes);
  return others <= room ? 1 : room / others;
}

SwapLp build_swap_lp(const SwapProblem& problem) {
  SwapLp lp;
  // In units of the largest tensor, or the coefficients would leave the range solvers work in.
  double unit = 1;
  double cost = 0;
  for (const SwapTensor& tensor : problem.tensors) {
    unit = std::max(unit, static_cast<double>(tensor.bytes));
    cost += tensor.recompute_ms;
  }
  milp::Row link{.name = "M1",
                 .upper = (problem.bytes_per_ms * problem.layer_ms - always(problem)) / unit};
  milp::Row host{.name = "M2"};
  if (problem.layers > 2) {
    host.upper =
        (static_cast<double>(problem.host_bytes) / (problem.layers - 2) - always(problem)) / unit;
  }
  for (const SwapTensor& tensor : problem.tensors) {
    const int fraction = lp.model.add_variable(
        {.name = "alpha_" + tensor.name, .upper = 1, .objective = -tensor.recompute_ms});
    lp.fraction.push_back(fraction);
    const double share = static_cast<double>(tensor.bytes) / unit;
    link.terms.push_back({fraction, share});
    host.terms.push_back({fraction, share});
  }
  lp.model.set_offset(cost);
  for (milp::Row* row : {&link, &host}) {
    if (std::isfinite(row->upper)) lp.model.add_row(std::move(*row));
  }
  return lp;
}

}  // namespace stowage

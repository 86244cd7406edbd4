#include "formulations/scatter/class_lp.h"

#include <string>
#include <utility>

#include "instances/scatter/cost_model.h"

namespace stowage {

ScatterClassLp build_scatter_class_lp(const ScatterInstance& instance,
                                      std::span<const LengthClass> classes, Ms limit,
                                      bool integral) {
  ScatterClassLp out;
  std::vector<milp::Row> covered;
  for (std::size_t q = 0; q < classes.size(); ++q) {
    const double count = classes[q].count;
    covered.push_back({.name = "L1_q" + std::to_string(q), .lower = count, .upper = count});
  }
  for (const int degree : instance.cluster.degrees) {
    const std::string suffix = "_d" + std::to_string(degree);
    const Ms left = limit - group_overhead_ms(instance, degree);
    const Tokens capacity = group_capacity(instance, degree);
    // No upper bound: the model always has a solution, so that "infeasible" can only be a failure
    // of the solver and never passes for a refutation.
    const int groups = out.model.add_variable(
        {.name = "n" + suffix, .objective = double(degree), .integer = integral});
    out.groups.push_back(groups);
    milp::Row time{.name = "L2" + suffix, .upper = 0, .terms = {{groups, -left}}};
    milp::Row memory{
        .name = "L3" + suffix, .upper = 0, .terms = {{groups, -static_cast<double>(capacity)}}};
    for (std::size_t q = 0; q < classes.size(); ++q) {
      const Ms cost = sequence_ms(instance, classes[q].length, degree);
      if (classes[q].length > capacity || cost > left) continue;
      const int share = out.model.add_variable(
          {.name = "x" + suffix + "_q" + std::to_string(q), .upper = double(classes[q].count)});
      covered[q].terms.push_back({share, 1});
      time.terms.push_back({share, cost});
      memory.terms.push_back({share, static_cast<double>(classes[q].length)});
    }
    out.model.add_row(std::move(time));
    out.model.add_row(std::move(memory));
  }
  for (milp::Row& row : covered) {
    if (row.terms.empty()) out.possible = false;
    out.model.add_row(std::move(row));
  }
  return out;
}

}  // namespace stowage

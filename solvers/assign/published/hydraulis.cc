#include "solvers/assign/published/hydraulis.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "formulations/assign/hydraulis_milp.h"
#include "heuristics/assign/working_plan.h"
#include "instances/numeric/numbers.h"

namespace stowage {
namespace {

// Largest number of variables of one ILP, which has one for each row and sequence. Clp reads no
// clock during its presolve: at 500,000 variables it overran the limit by a second or two.
constexpr std::size_t kMaxVariables = 100'000;

Ms longest_row(const std::vector<WorkingRow>& rows) {
  Ms longest = 0;
  for (const WorkingRow& row : rows) longest = std::max(longest, row.work);
  return longest;
}

// Returns the point of the model that corresponds to these rows.
std::vector<double> encode(const HydraulisRows& milp, std::span<const int> positions,
                           const std::vector<WorkingRow>& rows) {
  std::vector<double> values(milp.model.variables().size(), 0);
  values[0] = longest_row(rows);
  for (std::size_t j = 0; j < rows.size(); ++j) {
    for (const int position : rows[j].positions) {
      const auto i = std::ranges::lower_bound(positions, position) - positions.begin();
      values[at(milp.in_row[j][static_cast<std::size_t>(i)])] = 1;
    }
  }
  return values;
}

}  // namespace

HydraulisResult hydraulis_by_milp(const AssignInstance& instance, const HydraulisOptions& options,
                                  Budget& budget) {
  const AssignTable table(instance);
  HydraulisResult result;
  const RowPacker packer = [&](const AssignTable& t, int scheme, std::span<const int> positions,
                               int rows) -> std::optional<std::vector<WorkingRow>> {
    auto start = fit_rows(t, scheme, positions, rows);
    const auto even = even_rows(t, scheme, positions, rows);
    const bool full = even && std::ranges::none_of(*even, [](const WorkingRow& row) {
                        return row.positions.empty();
                      });
    if (full && (!start || longest_row(*even) < longest_row(*start))) start = even;
    if (rows == 1 || budget.exhausted()) return start;
    if (at(rows) > kMaxVariables / positions.size()) {
      ++result.too_large;
      return start;
    }
    const HydraulisRows milp = build_hydraulis_rows(t, scheme, positions, rows);
    Budget limit = budget.part(options.milp_seconds, budget.nodes_left());
    MilpParams params{.seed = options.seed};
    if (start) params.start = encode(milp, positions, *start);
    const MilpResult solved = solve_milp(options.backend, milp.model, params, limit);
    ++result.milps;
    if (solved.limit != StopReason::none) ++result.milps_stopped;
    if (solved.status == MilpStatus::error) result.detail = solved.detail;
    if (!has_point(solved.status)) return start;
    std::vector<WorkingRow> made(at(rows));
    for (std::size_t j = 0; j < made.size(); ++j) {
      for (std::size_t i = 0; i < positions.size(); ++i) {
        if (solved.values[at(milp.in_row[j][i])] > 0.5) {
          append(t, scheme, positions[i], made[j]);
        }
      }
    }
    return made;
  };
  if (const auto draft = hydraulis(table, options.score, packer, options.seed, budget)) {
    result.plan = to_plan(instance, table, *draft, budget);
  }
  return result;
}

}  // namespace stowage

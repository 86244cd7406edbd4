#include "heuristics/scatter/construct/starts/start_field.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "heuristics/scatter/improve/rule_repair.h"

namespace stowage {
namespace {

// Starts of another micro-batch count survive up to this ratio to the best.
constexpr double kNear = 1.015;

}  // namespace

std::optional<WorkingStep> best_of(const ScatterTable& table, std::vector<WorkingStep>& field) {
  if (field.empty()) return std::nullopt;
  return std::move(*std::ranges::min_element(field, {}, by_time(table)));
}

void add_start(const ScatterTable& table, std::optional<WorkingStep> step,
               std::vector<WorkingStep>& field) {
  if (step) step = repaired_in_best_forms(table, *std::move(step));
  if (step) field.push_back(*std::move(step));
}

void add_if_best(const ScatterTable& table, WorkingStep step, std::vector<WorkingStep>& field) {
  std::optional<WorkingStep> made = repaired_in_best_forms(table, std::move(step));
  if (!made) return;
  const Ms time = step_ms(table, *made);
  const auto is_beaten = [&](const WorkingStep& known) { return time < step_ms(table, known); };
  if (std::ranges::all_of(field, is_beaten)) field.push_back(*std::move(made));
}

void keep_best(const ScatterTable& table, std::vector<WorkingStep>& field, std::size_t count) {
  if (field.empty()) return;
  std::ranges::stable_sort(field, {}, by_time(table));
  const std::size_t leading = field.front().size();
  const Ms near = kNear * step_ms(table, field.front());
  std::set<std::size_t> seen;
  std::stable_partition(field.begin(), field.end(), [&](const WorkingStep& step) {
    const bool may_win =
        table.longest_weight() == 0 ? step.size() <= leading : step_ms(table, step) <= near;
    return may_win && seen.insert(step.size()).second;
  });
  field.resize(std::min(field.size(), count));
}

}  // namespace stowage

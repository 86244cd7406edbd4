#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <utility>

#include "instances/audit/verdict.h"
#include "instances/partition/bound_check.h"
#include "instances/proof/violation_list.h"

namespace stowage {
namespace {

constexpr std::array<std::string_view, 4> kVerdictRules = {"now", "planned", "bound", "lost"};
enum VerdictRule : std::size_t { kNow, kPlanned, kBoundOfWork, kLost };

// Returns the cost of a row. Each sequence of a padded row has the length of the longest.
long double cost_of_row(const TrainerWork& work, const AuditCost& cost,
                        const std::vector<std::int64_t>& row) {
  Tokens longest = 0;
  for (const std::int64_t id : row) {
    longest = std::max(longest, work.lengths[static_cast<std::size_t>(id)]);
  }
  long double sum = 0;
  for (const std::int64_t id : row) {
    const Tokens own = work.lengths[static_cast<std::size_t>(id)];
    const auto s = static_cast<long double>(work.kind == WorkKind::batch_rebalance ? longest : own);
    sum +=
        s * (static_cast<long double>(cost.linear) + static_cast<long double>(cost.quadratic) * s);
  }
  return sum;
}

}  // namespace

std::vector<Violation> verify(const TrainerWork& work, const AuditCost& cost,
                              const AuditVerdict& verdict) {
  ViolationList found(kVerdictRules);
  const auto expect = [&](VerdictRule rule, const char* where, double have, double need) {
    if (std::abs(have - need) <= 1e-12 * std::max(std::abs(need), 1.0)) return;
    found.add(rule, [&] { return Description{where, text(have), text(need)}; });
  };
  long double slowest = 0;
  for (const auto& rank : work.ids) {
    long double sum = 0;
    for (const auto& row : rank) sum += cost_of_row(work, cost, row);
    slowest = std::max(slowest, sum);
  }
  const auto now = static_cast<double>(slowest);
  expect(kNow, "/now", verdict.now, now);
  if (!(verdict.planned >= verdict.bound && verdict.planned <= now)) {
    found.add(kPlanned, [&] {
      return Description{"/planned", text(verdict.planned),
                         text(verdict.bound) + " to " + text(now)};
    });
  }
  std::vector<std::int64_t> costs;
  for (const Tokens s : work.lengths) costs.push_back(cost.linear * s + cost.quadratic * s * s);
  const auto bound = checked_bin_bound(verdict.bound_by, std::move(costs),
                                       static_cast<std::int64_t>(work.ids.size()), 0);
  if (!bound || verdict.bound > static_cast<double>(*bound)) {
    found.add(kBoundOfWork, [&] {
      return Description{"/bound", text(verdict.bound) + " by " + verdict.bound_by,
                         bound ? "at most " + text(*bound) : "average or pigeonhole"};
    });
  }
  expect(kLost, "/lost_at_least", verdict.lost_at_least, now > 0 ? 1 - verdict.planned / now : 0);
  expect(kLost, "/lost_at_most", verdict.lost_at_most, now > 0 ? 1 - verdict.bound / now : 0);
  return std::move(found).take();
}

}  // namespace stowage

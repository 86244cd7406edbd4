#include "solvers/assign/starvation.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace stowage {
namespace {

// Sequences that the scheme holds: those from a place of the table on, the longest first.
int held_by(const AssignTable& table, int scheme) {
  int longer = 0;  // the first of them lies in [longer, fits]
  int fits = table.size();
  while (longer < fits) {
    const int middle = longer + (fits - longer) / 2;
    if (table.holds(scheme, middle)) {
      fits = middle;
    } else {
      longer = middle + 1;
    }
  }
  return table.size() - fits;
}

// What a scheme holds, a wider one holds as well, so that the narrow ones ask first for what there
// is: Hall's condition.
bool starves_a_replica(const AssignTable& table, int strategy) {
  struct Need {
    int held = 0;             // sequences that the scheme holds
    std::int64_t wanted = 0;  // by its replicas
  };
  std::vector<Need> needs;
  for (const SchemeGroup& group : table.groups(strategy)) {
    needs.push_back({held_by(table, group.scheme),
                     std::int64_t{group.count} * table.constraints().rows_multiple_of});
  }
  std::ranges::sort(needs, {}, &Need::held);
  std::int64_t wanted = 0;
  return std::ranges::any_of(needs, [&](const Need& need) {
    wanted += need.wanted;
    return wanted > need.held;
  });
}

}  // namespace

bool starves(const AssignTable& table) {
  const RowConstraints& rule = table.constraints();
  // Only replicas with rows count then, and there is one unless there is nothing to do.
  if (rule.allow_empty) return table.size() > 0 && table.size() < rule.rows_multiple_of;
  for (int strategy = 0; strategy < table.strategies(); ++strategy) {
    if (table.usable(strategy) && !starves_a_replica(table, strategy)) return false;
  }
  return true;
}

}  // namespace stowage

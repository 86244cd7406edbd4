#include "solvers/assign/explain/starvation.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace stowage {
namespace {

// Returns the number of sequences that the scheme admits. These are all sequences from some
// position of the table on, because the longest come first.
int held_by(const AssignTable& table, int scheme) {
  int longer = 0;  // the first admitted position lies in [longer, fits]
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

// Returns true if the strategy violates Hall's condition. A wider scheme admits every sequence that
// a narrower one admits, so the narrow schemes are counted first.
bool starves_a_replica(const AssignTable& table, int strategy) {
  struct Need {
    int held = 0;             // sequences that the scheme admits
    std::int64_t wanted = 0;  // sequences that its replicas need
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
  // If replicas may be empty, only replicas with rows count, and any sequence needs at least one.
  if (rule.allow_empty) return table.size() > 0 && table.size() < rule.rows_multiple_of;
  for (int strategy = 0; strategy < table.strategies(); ++strategy) {
    if (table.usable(strategy) && !starves_a_replica(table, strategy)) return false;
  }
  return true;
}

}  // namespace stowage

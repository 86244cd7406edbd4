#include "heuristics/assign/construct/first_fit.h"

#include <algorithm>
#include <numeric>

#include "heuristics/assign/construct/row_packing.h"
#include "instances/numeric/numbers.h"

namespace stowage {
namespace {

// The shortest time tried, as a share of the given time. First-fit gains less than 10 %.
constexpr double kLeast = 0.9;
// Bisection steps, which narrow the interval to less than a thousandth of the given time.
constexpr int kBisections = 8;

std::optional<Dispatch> within(const AssignTable& table, const std::vector<int>& schemes,
                               const std::vector<int>& order, Ms time) {
  Dispatch sets(schemes.size());
  std::vector<LoadSum> loads(schemes.size());
  for (int position = 0; position < table.size(); ++position) {
    const auto home = std::ranges::find_if(order, [&](int replica) {
      const int scheme = schemes[at(replica)];
      if (!table.holds(scheme, position)) return false;
      LoadSum load = loads[at(replica)];
      load.add(table, scheme, position);
      if (load.work > time || even_time(table.schemes()[at(scheme)], load, RowCounts{}) > time) {
        return false;
      }
      loads[at(replica)] = load;
      return true;
    });
    if (home == order.end()) return std::nullopt;
    sets[at(*home)].push_back(position);
  }
  return sets;
}

}  // namespace

std::optional<Dispatch> first_fit(const AssignTable& table, int strategy, Ms time,
                                  const Budget& budget) {
  std::vector<int> schemes;  // scheme of each replica
  for (const SchemeGroup& group : table.groups(strategy)) {
    schemes.insert(schemes.end(), at(group.count), group.scheme);
  }
  std::vector<int> order(schemes.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, std::ranges::greater{}, [&](int replica) {
    return table.schemes()[at(schemes[at(replica)])].max_tokens;
  });
  std::optional<Dispatch> best = within(table, schemes, order, time);
  Ms low = time * kLeast;
  Ms high = time;
  for (int k = 0; best && k < kBisections && !budget.exhausted(); ++k) {
    const Ms middle = low + (high - low) / 2;
    if (auto sets = within(table, schemes, order, middle)) {
      best = std::move(sets);
      high = middle;
    } else {
      low = middle;
    }
  }
  return best;
}

}  // namespace stowage

// The order that a solution of the MIP stands for.
#include <algorithm>
#include <utility>

#include "formulations/order/mip.h"
#include "instances/numeric/numbers.h"

namespace stowage {

std::vector<int> decode(const OrderMip& mip, const OrderTable& table,
                        const std::vector<double>& values) {
  // An operator that comes earlier has a larger sum.
  std::vector<std::pair<double, int>> by_step;
  for (int op = 0; op < table.operators(); ++op) {
    double step =
        static_cast<double>(mip.first[at(op)]) + static_cast<double>(mip.done[at(op)].size());
    for (const int variable : mip.done[at(op)]) step -= values[at(variable)];
    by_step.emplace_back(step, op);
  }
  std::sort(by_step.begin(), by_step.end());
  // Tolerances may break a precedence, so the next operator is the first one that may run.
  std::vector<int> order;
  std::vector<char> done(by_step.size(), 0);
  while (order.size() < by_step.size()) {
    const auto next = std::ranges::find_if(by_step, [&](const auto& entry) {
      return done[at(entry.second)] == 0 &&
             std::ranges::all_of(table.before(entry.second),
                                 [&](int first) { return done[at(first)] != 0; });
    });
    done[at(next->second)] = 1;
    order.push_back(next->second);
  }
  return order;
}

}  // namespace stowage

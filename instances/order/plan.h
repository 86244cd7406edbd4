// The order plan: which operator runs when, and which ones run again.
//
// Thread safety: plain data; its functions read their arguments and nothing else; any number of
// threads may call them at once.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "instances/units.h"

namespace stowage {

struct OrderPlan {
  std::string name;                 // of the instance
  std::string instance_hash;        // hash of the instance (json.h); valid for that one only
  Bytes peak_bytes = 0;             // the most that any step needs
  std::optional<Ms> time_ms;        // of all runs; of objective time alone
  Bytes bound_bytes = 0;            // objective peak: no plan of this instance has a smaller peak
  Ms bound_ms = 0;                  // objective time: none takes less time
  std::string bound_by;             // the certificate's name
  std::vector<std::int64_t> order;  // indices of the operators, the first to run first; an operator
                                    // that stands there again runs again

  bool operator==(const OrderPlan&) const = default;
};

// What a plan of any family says of itself, in the unit of its instance's objective.
inline double objective_of(const OrderPlan& plan) {
  return plan.time_ms ? *plan.time_ms : static_cast<double>(plan.peak_bytes);
}
inline double bound_of(const OrderPlan& plan) {
  return plan.time_ms ? plan.bound_ms : static_cast<double>(plan.bound_bytes);
}
inline void state_bound(OrderPlan& plan, double bound, std::string by) {
  if (plan.time_ms) {
    plan.bound_ms = bound;
  } else {
    plan.bound_bytes = static_cast<Bytes>(bound);  // exact: bytes stay within 2^53
  }
  plan.bound_by = std::move(by);
}

}  // namespace stowage

#include "instances/scatter/cost_model.h"

#include <algorithm>

namespace stowage {

Ms sequence_ms(const ScatterInstance& instance, Tokens length, int degree) {
  const ScatterCost& cost = instance.cost;
  const auto s = static_cast<double>(length);
  Ms ms = (cost.quadratic_ms * s * s + cost.linear_ms * s) / degree;
  if (degree > 1 && cost.all_to_all.mib_per_token > 0) {
    ms += cost.all_to_all.mib_per_token * s / (degree * cost.all_to_all.mib_per_ms.at(degree));
  }
  return ms;
}

Ms group_overhead_ms(const ScatterInstance& instance, int degree) {
  const auto& latency = instance.cost.all_to_all.latency_ms;
  const auto found = latency.find(degree);
  return instance.cost.fixed_ms + (found == latency.end() ? 0 : found->second);
}

}  // namespace stowage

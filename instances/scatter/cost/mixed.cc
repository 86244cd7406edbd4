#include "instances/scatter/cost/mixed.h"

#include <algorithm>
#include <utility>

#include "instances/scatter/cost/cost_model.h"
#include "instances/scatter/table/group_form.h"

namespace stowage {

Ms hidden_exchange_ms(const ScatterInstance& instance, Tokens tokens) {
  const GroupForm form{instance.cluster.devices,
                       instance.cost.exchange ? ExchangeKind::all_to_all : ExchangeKind::none};
  return instance.mixed->hidden_share * all_to_all_ms(instance, tokens, form);
}

std::optional<MixedTimes> mixed_times(const ScatterInstance& instance,
                                      std::span<const ScatterGroup> groups) {
  if (!instance.mixed) return std::nullopt;
  Ms longest = 0;
  const ScatterGroup* shared = nullptr;
  for (const ScatterGroup& group : groups) {
    if (!is_shared_row(instance, group.degree)) {
      longest = std::max(longest, group.time_ms);
    } else if (std::exchange(shared, &group) != nullptr) {
      return std::nullopt;
    }
  }
  if (shared == nullptr || groups.size() == 1) return std::nullopt;
  const GroupForm form{shared->degree, shared->exchange};
  const Ms hidden = hidden_exchange_ms(instance, shared->tokens);
  const Ms before = group_overhead_ms(instance, form);
  return MixedTimes{.before = before,
                    .hidden = hidden,
                    .beside = std::max(hidden, longest - group_overhead_ms(instance, 1)),
                    .shared = std::max(0.0, shared->time_ms - hidden - before)};
}

Ms makespan_ms(const ScatterInstance& instance, std::span<const ScatterGroup> groups) {
  if (const auto mixed = mixed_times(instance, groups)) {
    return mixed->before + mixed->beside + mixed->shared;
  }
  Ms longest = 0;
  for (const ScatterGroup& group : groups) longest = std::max(longest, group.time_ms);
  return longest;
}

double busy_device_ms(const ScatterInstance& instance, std::span<const ScatterGroup> groups) {
  const auto mixed = mixed_times(instance, groups);
  double busy = 0;
  if (!mixed) {
    for (const ScatterGroup& group : groups) busy += group.time_ms * group.degree;
    return busy;
  }
  // A device whose own row is shorter exchanges or idles until the longest one ends.
  busy = instance.cluster.devices * (mixed->before + mixed->hidden + mixed->shared);
  for (const ScatterGroup& group : groups) {
    if (is_shared_row(instance, group.degree)) continue;
    busy += std::max(0.0, group.time_ms - group_overhead_ms(instance, 1) - mixed->hidden);
  }
  return busy;
}

std::vector<std::vector<std::size_t>> groups_at_once(const ScatterInstance& instance,
                                                     std::span<const ScatterGroup> groups) {
  const bool mixed = mixed_times(instance, groups).has_value();
  std::vector<std::vector<std::size_t>> lists(mixed ? 2 : 1);
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const bool shared = mixed && is_shared_row(instance, groups[g].degree);
    (shared ? lists.front() : lists.back()).push_back(g);
  }
  return lists;
}

}  // namespace stowage

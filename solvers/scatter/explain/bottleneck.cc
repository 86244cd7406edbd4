// Computes the bottleneck of a scatter plan: the slowest group of every micro-batch, and any move
// or swap of its sequences that would end the step earlier.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "instances/json/limits.h"
#include "instances/json/text.h"
#include "instances/numeric/numbers.h"
#include "instances/scatter/cost/cost_model.h"
#include "instances/scatter/cost/mixed.h"
#include "instances/scatter/json/json.h"
#include "instances/scatter/table/device_pools.h"
#include "instances/scatter/table/planning_table.h"
#include "solvers/explain/family_explain.h"
#include "solvers/scatter/explain/explain.h"
#include "solvers/scatter/explain/group_text.h"
#include "solvers/scatter/explain/mixed_moves.h"
#include "solvers/scatter/explain/scatter_moves.h"

namespace stowage {
namespace {

constexpr std::size_t kListed = 50;  // micro-batches listed; the others are only counted

// Returns the tokens that each sequence takes besides its length, for example " beside 3 for each
// sequence". Empty if it takes none.
std::string counting(Tokens sequence_tokens) {
  return sequence_tokens == 0 ? ""
                              : " beside " + std::to_string(sequence_tokens) + " for each sequence";
}

// Returns, for a longest micro-batch in a pipeline, the text that its makespan counts several
// times. Otherwise empty.
std::string longest_text(const ScatterInstance& instance, const ScatterPlan& plan, std::size_t b) {
  if (instance.pipeline_stages == 1) return "";
  const auto longest =
      std::ranges::max_element(plan.micro_batches, {}, &ScatterMicroBatch::makespan_ms);
  if (plan.micro_batches[b].makespan_ms < longest->makespan_ms) return "";
  return "; no micro-batch is longer, so that it counts " +
         std::to_string(instance.pipeline_stages) + " times, once for each stage";
}

// Returns, for a group that offloads activations, how much leaves for the host and how long the
// group waits for copies. Otherwise empty.
std::string offload_text(const ScatterInstance& instance, GroupForm form,
                         const ScatterGroup& group) {
  if (!(group.offload > 0)) return "";
  const Ms stall =
      std::max(0.0, group.time_ms - row_without_copies_ms(instance, group.sequences, form));
  const Mib mib =
      group.offload * offload_mib(instance, form) * static_cast<double>(group.tokens) / form.degree;
  return "; " + plain_number(mib / 1024) + " GiB of each device leave for the host, and it waits " +
         plain_number(stall) + " ms for copies";
}

Finding slowest_group(const ScatterInstance& instance, const ScatterPlan& plan, std::size_t b) {
  const ScatterMicroBatch& batch = plan.micro_batches[b];
  std::size_t slowest = 0;
  Ms second = 0;
  const double busy = busy_device_ms(instance, batch.groups);
  for (std::size_t g = 0; g < batch.groups.size(); ++g) {
    if (batch.groups[g].time_ms > batch.groups[slowest].time_ms) slowest = g;
  }
  for (std::size_t g = 0; g < batch.groups.size(); ++g) {
    if (g != slowest) second = std::max(second, batch.groups[g].time_ms);
  }
  const ScatterGroup& group = batch.groups[slowest];
  // If sequences run one by one and tokens have no limit, memory limits no group.
  const GroupForm form = *form_of(instance, batch, group);
  const GroupRoom room = room_of_group(instance, form);
  const Tokens beside = room.sequence_tokens * std::ssize(group.sequences);
  const Tokens capacity = std::min(room.capacity - beside, room.most_tokens);
  const std::string of = capacity < kMaxExact ? " of " + std::to_string(capacity) : "";
  const double idle = 1 - busy / (batch.makespan_ms * instance.cluster.devices);
  std::string text =
      "degree " + std::to_string(group.degree) + exchange_text(group.exchange) + " with " +
      plain_count(static_cast<std::int64_t>(group.sequences.size()), "sequence") + ", " +
      std::to_string(group.tokens) + of + " tokens" + counting(room.sequence_tokens) + ", takes " +
      plain_number(group.time_ms) + " ms";
  if (const auto mixed = mixed_times(instance, batch.groups)) {
    text += " alone; own rows and the exchange that they hide take " + plain_number(mixed->beside) +
            " ms, the rest of the shared row " + plain_number(mixed->shared) +
            " ms, and its fixed time and latency " + plain_number(mixed->before) + " ms";
  } else if (batch.groups.size() > 1)
    text += "; the next slowest group takes " + plain_number(second) + " ms";
  if (!batch.recomputation.empty()) text += "; it recomputes " + in_quotes(batch.recomputation);
  text += offload_text(instance, form, group);
  if (batch.makespan_ms > 0) {
    text +=
        "; the devices idle " + plain_number(100 * std::max(idle, 0.0)) + " % of the micro-batch";
  }
  return {group_pointer(b, slowest), text + longest_text(instance, plan, b)};
}

}  // namespace

Bottleneck binding_of(const ScatterInstance& instance, const ScatterPlan& plan) {
  Bottleneck binding;
  for (std::size_t b = 0; b < std::min(plan.micro_batches.size(), kListed); ++b) {
    binding.parts.push_back(slowest_group(instance, plan, b));
  }
  if (plan.micro_batches.size() > kListed) {
    binding.parts.push_back(
        {"/micro_batches", "and the slowest groups of " +
                               std::to_string(plan.micro_batches.size() - kListed) +
                               " more micro-batches"});
  }
  binding.moves = instance.mixed ? mixed_moves(instance, plan) : scatter_moves(instance, plan);
  return binding;
}

// Adds a node. If nodes differ, it is of the last kind, whose first rank must stay a multiple of
// each degree that fits into the kind. Returns false if it does not.
static bool add_node_of_last_kind(Cluster& cluster) {
  if (cluster.kinds.empty()) return true;
  ++cluster.kinds.back().nodes;
  const int last = static_cast<int>(cluster.kinds.size()) - 1;
  const int first = first_rank_of_kind(cluster, last);
  return std::ranges::all_of(cluster.degrees, [&](int degree) {
    return degree > cluster.devices - first || first % degree == 0;
  });
}

std::vector<Change> changes_of(const ScatterInstance& instance, const ScatterPlan& plan) {
  // An instance with more resources still admits the plan.
  const auto with = [&](std::string where, std::string text, ScatterInstance changed) {
    ScatterPlan start = plan;
    start.instance_hash = instance_hash(changed);
    return Change{std::move(where), std::move(text), std::move(changed), Plan(std::move(start))};
  };
  std::vector<Change> changes;
  ScatterInstance changed = instance;
  const Mib more = std::min(1024.0, a_little_of(instance.cluster.memory_mib));
  changed.cluster.memory_mib += more;
  bool in_range = changed.cluster.memory_mib <= static_cast<double>(kMaxExact);
  for (DeviceKind& kind : changed.cluster.kinds) {
    kind.memory_mib += more;
    in_range = in_range && kind.memory_mib <= static_cast<double>(kMaxExact);
  }
  // A measured table may end where memory ends now, so more memory would leave the table.
  if (more > 0 && in_range && instance.cost.table.empty()) {
    changes.push_back(
        with("/cluster/memory_mib", shortest(more) + " MiB more memory on each device", changed));
  }
  if (instance.mixed) return changes;  // the exchange of all devices of a larger cluster is unknown
  changed = instance;
  const int node = std::max(instance.cluster.devices_per_node, 1);
  changed.cluster.devices += node;
  // A second node may make groups of the first node more expensive, which invalidates the plan's
  // times.
  const bool same_links =
      !instance.cost.exchange || std::ranges::all_of(instance.cluster.degrees, [&](int degree) {
        return may_cross_nodes(instance.cluster, degree) ==
               may_cross_nodes(changed.cluster, degree);
      });
  if (changed.cluster.devices <= kMaxDevices && same_links &&
      add_node_of_last_kind(changed.cluster)) {
    changes.push_back(with("/cluster/devices",
                           "one more node of " + std::to_string(node) +
                               (node == 1 ? " device" : " devices") +
                               (instance.cluster.kinds.empty() ? "" : ", of the last kind"),
                           changed));
  }
  return changes;
}

}  // namespace stowage

#include "solvers/configure/failover.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <optional>
#include <utility>

#include "heuristics/strategy/configurations.h"
#include "instances/numeric/numbers.h"
#include "instances/strategy/cost/stage_costs.h"
#include "instances/strategy/json/json.h"
#include "instances/strategy/plan_builder.h"
#include "instances/strategy/planning_table.h"
#include "instances/verify.h"
#include "solvers/configure/assignment.h"
#include "solvers/configure/configure.h"
#include "solvers/solve.h"

namespace stowage {
namespace {

constexpr double kReplanMibBytes = 1 << 20;

// Returns for each node of the cluster the devices that are not lost.
std::vector<std::vector<std::int64_t>> devices_left(const StrategyCluster& cluster,
                                                    std::span<const std::int64_t> lost) {
  std::vector<std::vector<std::int64_t>> left(at(cluster.nodes));
  for (std::int64_t device = 0; device < cluster.devices(); ++device) {
    if (std::ranges::find(lost, device) != lost.end()) continue;
    left[at(device / cluster.devices_per_node)].push_back(device);
  }
  return left;
}

// RP5. The devices of a node, or of several nodes, send one after another.
Ms move_ms_of(const StrategyCluster& cluster, const Relocation& moves) {
  const StrategyBandwidth& bandwidth = cluster.mib_per_ms;
  return moves.moved_mib / (cluster.nodes > 1 ? bandwidth.across : bandwidth.inside);
}

// Returns the old configuration with as many replicas as fit.
std::vector<StrategyPlan> old_again(const StrategyTable& table, const StrategyPlan& old) {
  std::vector<StagePlan> stages;
  for (const StrategyStage& stage : old.stages) {
    stages.push_back({stage.layers, choice_of(stage)});
  }
  std::vector<StrategyPlan> plans;
  for (const StrategyClass& its : table.classes()) {
    if (its.pp != old.pp || its.v != old.v) continue;
    for (const StrategyLayout& layout : table.layouts(its)) {
      StrategyLayout wanted = layout_of(old);
      wanted.dp = layout.dp;
      if (layout != wanted) continue;
      StrategyPlan plan = compose_strategy(StageCosts(table, its, layout), stages);
      if (fits(table.instance(), plan)) plans.push_back(std::move(plan));
    }
  }
  return plans;
}

std::vector<StrategyPlan> plans_on(const StrategyInstance& instance, const StrategyPlan& old,
                                   Budget& budget) {
  const StrategyTable table(instance);
  std::vector<StrategyPlan> plans = old_again(table, old);
  const Outcome best = solve(Instance(instance), {}, budget);
  if (best.plan) plans.push_back(std::get<StrategyPlan>(*best.plan));
  const std::size_t all = std::numeric_limits<std::size_t>::max();
  for (StrategyPlan& plan : fastest_homogeneous(table, all, Budget())) {
    plans.push_back(std::move(plan));
  }
  std::erase_if(plans, [](const StrategyPlan& plan) { return !is_uniform(plan); });
  for (StrategyPlan& plan : plans) {
    plan.name = instance.name;
    plan.instance_hash = instance_hash(instance);
    state_bound(plan, 0, "");
  }
  std::erase_if(plans, [&](const StrategyPlan& plan) {
    return !verify(Instance(instance), Plan(plan)).empty();
  });
  return plans;
}

}  // namespace

std::vector<StrategyCluster> remaining_clusters(const StrategyCluster& cluster,
                                                std::span<const std::int64_t> lost) {
  std::vector<std::int64_t> sizes;
  for (const std::vector<std::int64_t>& node : devices_left(cluster, lost)) {
    if (!node.empty()) sizes.push_back(std::ssize(node));
  }
  std::ranges::sort(sizes, std::greater());
  std::vector<StrategyCluster> clusters;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (i + 1 < sizes.size() && sizes[i + 1] == sizes[i]) continue;
    StrategyCluster remaining = cluster;
    remaining.nodes = static_cast<std::int64_t>(i) + 1;
    remaining.devices_per_node = sizes[i];
    clusters.push_back(remaining);
  }
  std::ranges::stable_sort(clusters, std::greater(), &StrategyCluster::devices);
  return clusters;
}

std::vector<StrategyCluster> usable_clusters(const StrategyInstance& instance,
                                             std::span<const std::int64_t> lost) {
  const std::vector<StrategyCluster> remaining = remaining_clusters(instance.cluster, lost);
  std::int64_t per_node = 0;
  for (const StrategyCluster& its : remaining) per_node = std::max(per_node, its.devices_per_node);
  std::vector<StrategyCluster> usable;
  // Clusters with at most this many nodes are part of a cluster with larger nodes.
  std::int64_t contained = 0;
  for (; per_node > 0; --per_node) {
    std::int64_t nodes = 0;
    for (const StrategyCluster& its : remaining) {
      if (its.devices_per_node >= per_node) nodes = std::max(nodes, its.nodes);
    }
    for (; nodes > contained; --nodes) {
      StrategyInstance part = instance;
      part.cluster.nodes = nodes;
      part.cluster.devices_per_node = per_node;
      if (StrategyTable(part).classes().empty()) continue;
      usable.push_back(part.cluster);
      contained = nodes;
    }
  }
  return usable;
}

Relocation least_move(const HeldStates& before, const StrategyCluster& cluster,
                      std::span<const std::int64_t> lost, const HeldStates& after,
                      std::int64_t per_node) {
  const std::vector<std::vector<std::int64_t>> left = devices_left(cluster, lost);
  const std::vector<std::vector<double>> shared = after.shared_bytes(before);
  const std::int64_t nodes = after.devices() / per_node;
  std::vector<std::int64_t> old_nodes;  // old nodes with room for a new node
  for (std::int64_t node = 0; node < cluster.nodes; ++node) {
    if (std::ssize(left[at(node)]) >= per_node) old_nodes.push_back(node);
  }
  // The cost of a new node on an old node: that of the best assignment of its ranks to the devices
  // there.
  std::vector<std::vector<Assignment>> inside(at(nodes));
  std::vector<std::vector<double>> costs(at(nodes));
  for (std::int64_t node = 0; node < nodes; ++node) {
    for (const std::int64_t old_node : old_nodes) {
      std::vector<std::vector<double>> lacking;
      for (std::int64_t rank = node * per_node; rank < (node + 1) * per_node; ++rank) {
        lacking.emplace_back();
        for (const std::int64_t device : left[at(old_node)]) {
          lacking.back().push_back(after.bytes(rank) - shared[at(rank)][at(device)]);
        }
      }
      inside[at(node)].push_back(least_assignment(lacking));
      costs[at(node)].push_back(inside[at(node)].back().cost);
    }
  }
  const Assignment of_nodes = least_assignment(costs);
  Relocation moves;
  double most = 0;
  for (std::int64_t node = 0; node < nodes; ++node) {
    const std::int64_t place = of_nodes.columns[at(node)];
    const std::vector<std::int64_t>& devices = left[at(old_nodes[at(place)])];
    for (const std::int64_t column : inside[at(node)][at(place)].columns) {
      const std::int64_t rank = std::ssize(moves.device_of_rank);
      const std::int64_t device = devices[at(column)];
      moves.device_of_rank.push_back(device);
      most = std::max(most, after.bytes(rank) - shared[at(rank)][at(device)]);
    }
  }
  std::vector<std::int64_t> holders;
  for (const std::vector<std::int64_t>& node : left) {
    holders.insert(holders.end(), node.begin(), node.end());
  }
  const double missing = before.missing_bytes(holders);
  moves.lost_mib = missing / kReplanMibBytes;
  moves.moved_mib = (of_nodes.cost - missing) / kReplanMibBytes;
  moves.most_mib = most / kReplanMibBytes;
  return moves;
}

std::vector<Replanned> replan(const StrategyInstance& instance, const StrategyPlan& plan,
                              std::span<const std::int64_t> lost, const ReplanOptions& options,
                              Budget& budget) {
  std::vector<Replanned> all;
  for (const StrategyCluster& cluster : usable_clusters(instance, lost)) {
    StrategyInstance smaller = instance;
    smaller.cluster = cluster;
    for (StrategyPlan& candidate : plans_on(smaller, plan, budget)) {
      all.push_back({.instance = smaller, .plan = std::move(candidate)});
    }
  }
  std::ranges::stable_sort(all, {}, [](const Replanned& each) { return each.plan.step_ms; });
  const HeldStates before(instance, plan);
  std::vector<Replanned> kept;
  for (Replanned& each : all) {
    // A move has no negative cost, so slower plans cannot improve the list.
    if (kept.size() == options.most && each.plan.step_ms >= kept.back().cost_ms) break;
    const StrategyCluster& cluster = each.instance.cluster;
    each.moves = least_move(before, instance.cluster, lost, HeldStates(each.instance, each.plan),
                            cluster.devices_per_node);
    each.move_ms = move_ms_of(cluster, each.moves);
    each.cost_ms = each.plan.step_ms + options.weight * each.move_ms;
    const auto place = std::ranges::upper_bound(kept, each.cost_ms, {}, &Replanned::cost_ms);
    const bool same = std::ranges::any_of(kept, [&](const Replanned& other) {
      return other.instance == each.instance && other.plan == each.plan;
    });
    if (same) continue;
    kept.insert(place, std::move(each));
    if (kept.size() > options.most) kept.pop_back();
  }
  return kept;
}

}  // namespace stowage

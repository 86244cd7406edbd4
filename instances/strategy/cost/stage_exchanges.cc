// The exchanges of stages, of instances/strategy/cost/stage_costs.h.
#include <algorithm>

#include "instances/strategy/cost/stage_costs.h"

namespace stowage {
namespace {

constexpr double kBytesOfOneMib = 1 << 20;

}  // namespace

// Returns all ranks if their span divides a node, otherwise the number that a node has room for.
std::int64_t StageCosts::ranks_in_node(std::int64_t ranks, std::int64_t stride) const {
  const std::int64_t node = table_->instance().cluster.devices_per_node;
  const std::int64_t span = ranks * stride;
  if (span <= node && node % span == 0) return ranks;
  return std::min(ranks, std::max<std::int64_t>(1, node / stride));
}

// A ring over several nodes leaves each of them over the cards of all its ranks (version 2).
double StageCosts::bandwidth(std::int64_t ranks, std::int64_t stride) const {
  const StrategyCluster& cluster = table_->instance().cluster;
  const std::int64_t node = cluster.devices_per_node;
  const std::int64_t span = ranks * stride;
  const StrategyBandwidth& links = cluster.mib_per_ms;
  if (span <= node && node % span == 0) return links.inside * kBytesOfOneMib;
  if (detail() == nullptr) return links.across * kBytesOfOneMib;
  const auto cards = static_cast<double>(ranks_in_node(ranks, stride));
  return std::min(links.inside, cards * links.across) * kBytesOfOneMib;
}

double StageCosts::link() const {
  const StrategyCluster& cluster = table_->instance().cluster;
  return (cluster.nodes == 1 ? cluster.mib_per_ms.inside : cluster.mib_per_ms.across) *
         kBytesOfOneMib;
}

// Returns the time of all-to-alls among cp ranks, of `bytes` bytes of a device for all of them.
// Version 2 uses the links of a node and the card to other nodes at once, as T11 does.
Ms StageCosts::turned_ms(double bytes) const {
  const auto cp = static_cast<double>(layout_.cp);
  if (detail() == nullptr) return bytes * (cp - 1) / cp / bandwidth(layout_.cp, layout_.tp);
  const StrategyBandwidth& links = table_->instance().cluster.mib_per_ms;
  const auto near = static_cast<double>(ranks_in_node(layout_.cp, layout_.tp));
  return bytes * std::max((near - 1) / cp / links.inside, (cp - near) / cp / links.across) /
         kBytesOfOneMib;
}

// In each pass of a ring, a rank computes cp blocks of attention and sends cp - 1 times.
Ms StageCosts::ring_ms(double bytes, Ms attention) const {
  const StrategyCluster& cluster = table_->instance().cluster;
  const std::int64_t span = layout_.cp * layout_.tp;
  const bool inside = span <= cluster.devices_per_node && cluster.devices_per_node % span == 0;
  const StrategyBandwidth& links = cluster.mib_per_ms;
  const auto cp = static_cast<double>(layout_.cp);
  const Ms sent = bytes / ((inside ? links.inside : links.across) * kBytesOfOneMib);
  return (cp - 1) * std::max(0.0, sent - attention / cp);
}

// Returns the ms of an all-to-all among ep ranks, for each byte that a device has for all of them.
// A device sends to ranks of its node and of other nodes at once, each over its own links. T11
double StageCosts::dispatch_ms() const {
  const StrategyCluster& cluster = table_->instance().cluster;
  const std::int64_t node = cluster.devices_per_node;
  const std::int64_t span = layout_.tp * layout_.ep;
  std::int64_t near = 1;  // ranks of the group in one node
  if (span <= node && node % span == 0) {
    near = layout_.ep;
  } else if (node % layout_.tp == 0 && span % node == 0) {
    near = node / layout_.tp;
  }
  const auto ranks = static_cast<double>(layout_.ep);
  const auto inside = static_cast<double>(near - 1) / ranks / cluster.mib_per_ms.inside;
  const auto across = static_cast<double>(layout_.ep - near) / ranks / cluster.mib_per_ms.across;
  return std::max(inside, across) / kBytesOfOneMib;
}

// Returns the time of collectives among `shards` neighbours that move `bytes` bytes of each
// parameter of a stage, two bytes per collective. T8
Ms StageCosts::states_ms(double bytes, const Parameters& parameters, double layers,
                         double shards) const {
  const auto tp = static_cast<double>(layout_.tp);
  const auto group = static_cast<std::int64_t>(shards);
  const double expert_shards = shards / static_cast<double>(layout_.ep);
  const Ms shared =
      bytes * (shards - 1) / shards * parameters.shared / tp / bandwidth(group, layout_.tp);
  const Ms experts =
      bytes * (expert_shards - 1) / expert_shards * parameters.experts / tp /
      static_cast<double>(layout_.ep) /
      bandwidth(std::max<std::int64_t>(1, group / layout_.ep), layout_.tp * layout_.ep);
  if (detail() == nullptr) return shared + experts;
  const double nodes = shards / static_cast<double>(ranks_in_node(group, layout_.tp));
  return shared + experts + bytes / 2 * layers * detail()->message_ms * (nodes - 1);
}

// Returns the time in which the ranks that have the same part of the states sum its gradients.
// Source of the tree: NCCL 2.4 (double binary trees). T17
Ms StageCosts::replicas_ms(const Parameters& parameters, double layers) const {
  const auto tp = static_cast<double>(layout_.tp);
  const double replicas = group_ / shards_;
  const auto ranks = static_cast<std::int64_t>(replicas);
  const std::int64_t stride = layout_.tp * layout_.shard;
  const double part = parameters.shared / tp / shards_ +
                      parameters.experts / tp / static_cast<double>(layout_.ep) / expert_shards_;
  const Ms sums = 4 * (replicas - 1) / replicas * part / bandwidth(ranks, stride);
  if (detail() == nullptr) return sums;
  // Sums of few bytes go up and down a tree of the nodes; parts of states go around a ring.
  const double nodes = replicas / static_cast<double>(ranks_in_node(ranks, stride));
  double depth = 0;
  for (double reached = 1; reached < nodes; reached *= 2) ++depth;
  return sums + 2 * layers * detail()->message_ms * depth;
}

Ms StageCosts::exchange_ms(std::int64_t zero, const Parameters& parameters, double layers) const {
  if (zero == 0) return states_ms(4, parameters, layers, group_);
  const Ms inside = zero == 3 ? 0 : states_ms(4, parameters, layers, shards_);
  return layout_.shard == 0 ? inside : inside + replicas_ms(parameters, layers);
}

// Returns the time in which the optimizer updates a device's share of the states, once a step. T16
Ms StageCosts::update_ms(std::int64_t zero, const Parameters& parameters) const {
  if (detail() == nullptr) return 0;
  const auto tp = static_cast<double>(layout_.tp);
  const double shared = parameters.shared / tp / (zero == 0 ? 1 : shards_);
  const double experts =
      parameters.experts / tp / static_cast<double>(layout_.ep) / (zero == 0 ? 1 : expert_shards_);
  return detail()->update_bytes * (shared + experts) /
             (detail()->memory_mib_per_ms * kBytesOfOneMib) +
         detail()->update_ms;
}

}  // namespace stowage

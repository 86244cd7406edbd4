#include "instances/scatter/table/device_pools.h"

#include <algorithm>

namespace stowage {
namespace {

int kinds(const Cluster& cluster) { return static_cast<int>(cluster.kinds.size()); }

// Returns the kind of a rank of the cluster.
int kind_of(const Cluster& cluster, int rank) {
  int kind = 0;
  while (rank >= first_rank_of_kind(cluster, kind + 1)) ++kind;
  return kind;
}

// Returns the place of the ranks [first, first + degree).
GroupPlace place_of_ranks(const Cluster& cluster, int first, int degree) {
  GroupPlace place{.first_rank = first, .devices = std::vector<int>(cluster.kinds.size(), 0)};
  bool any = false;
  for (int kind = 0; kind < kinds(cluster); ++kind) {
    const int begin = std::max(first, first_rank_of_kind(cluster, kind));
    const int end = std::min(first + degree, first_rank_of_kind(cluster, kind + 1));
    if (begin >= end) continue;
    const DeviceKind& own = cluster.kinds[static_cast<std::size_t>(kind)];
    place.devices[static_cast<std::size_t>(kind)] = end - begin;
    place.speed = any ? std::min(place.speed, own.speed) : own.speed;
    place.memory_mib = any ? std::min(place.memory_mib, own.memory_mib) : own.memory_mib;
    any = true;
  }
  return place;
}

}  // namespace

int places(const Cluster& cluster) { return std::max(1, 2 * kinds(cluster) - 1); }

int first_rank_of_kind(const Cluster& cluster, int kind) {
  int rank = 0;
  for (int before = 0; before < kind; ++before) {
    rank += cluster.kinds[static_cast<std::size_t>(before)].nodes * cluster.devices_per_node;
  }
  return rank;
}

std::optional<GroupPlace> group_place(const Cluster& cluster, int degree, int place) {
  const int own = kinds(cluster);
  if (place < own) {
    const int first = first_rank_of_kind(cluster, place);
    if (first_rank_of_kind(cluster, place + 1) - first < degree) return std::nullopt;
    return place_of_ranks(cluster, first, degree);
  }
  const int border = first_rank_of_kind(cluster, place - own + 1);
  const int first = border / degree * degree;
  if (first == border || first + degree > cluster.devices) return std::nullopt;
  // Belongs to an earlier kind.
  if (first < first_rank_of_kind(cluster, place - own)) return std::nullopt;
  return place_of_ranks(cluster, first, degree);
}

std::optional<int> place_at(const Cluster& cluster, int degree, int first_rank) {
  if (cluster.kinds.empty()) return 0;
  if (degree < 1 || first_rank < 0 || first_rank % degree != 0 ||
      first_rank > cluster.devices - degree) {
    return std::nullopt;
  }
  const int first = kind_of(cluster, first_rank);
  const int last = kind_of(cluster, first_rank + degree - 1);
  return first == last ? first : kinds(cluster) + first;
}

}  // namespace stowage

// The forms that a plan may give its groups, and the devices of each: a part of reference_model.h.
// Not installed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "instances/scatter/instance.h"
#include "instances/scatter/plan.h"
#include "instances/scatter/table/group_form.h"
#include "instances/scatter/verify/padding_reference.h"

namespace stowage {

class ScatterFormReference : public ScatterPaddingReference {
 public:
  using ScatterPaddingReference::ScatterPaddingReference;

  // Returns every form that a plan may give a group, by degree.
  std::vector<GroupForm> forms() const {
    std::vector<GroupForm> all;
    for (const int degree : degrees()) {
      std::vector<int> places{0};
      if (!instance_.cluster.kinds.empty()) places = places_of(degree);
      for (int way = 0; way < ways_to_recompute(); ++way) {
        for (const ExchangeKind kind :
             {ExchangeKind::none, ExchangeKind::all_to_all, ExchangeKind::ring,
              ExchangeKind::all_gather, ExchangeKind::two_level}) {
          if (!may_exchange({degree, kind})) continue;
          for (const int place : places) all.emplace_back(degree, kind, way, place);
        }
      }
    }
    return all;
  }

  // Returns the place of a group: 0 if all devices are alike. With K kinds, it is the kind if the
  // group has devices of one kind, and K + k if it has devices of kind k and of later kinds.
  // Returns nullopt if it has no place.
  std::optional<int> place(int degree, int first_rank) const {
    const Cluster& cluster = instance_.cluster;
    if (cluster.kinds.empty()) return 0;
    if (degree < 1 || first_rank < 0 || first_rank % degree != 0 ||
        std::int64_t{first_rank} + degree > cluster.devices) {
      return std::nullopt;
    }
    const std::size_t first = kind_of_rank(first_rank);
    const std::size_t last = kind_of_rank(first_rank + degree - 1);
    return static_cast<int>(first == last ? first : cluster.kinds.size() + first);
  }

  int ways_to_recompute() const {
    const std::size_t listed = instance_.model.recomputation.size();
    return listed == 0 ? 1 : static_cast<int>(listed);
  }

  // Returns the recomputation mode that the micro-batch names; nullopt for an unknown name. If
  // there are no modes to choose from, the name must be empty.
  std::optional<int> way_to_recompute(const ScatterMicroBatch& micro_batch) const {
    const auto& ways = instance_.model.recomputation;
    if (ways.empty() && micro_batch.recomputation.empty()) return 0;
    for (std::size_t way = 0; way < ways.size(); ++way) {
      if (ways[way].name == micro_batch.recomputation) return static_cast<int>(way);
    }
    return std::nullopt;
  }

  // Returns whether a group of this degree may exchange in this way.
  bool may_exchange(GroupForm form) const {
    const auto& exchange = instance_.cost.exchange;
    if (!exchange || form.degree == 1) return form.exchange == ExchangeKind::none;
    const auto kinds = exchange->kinds.find(form.degree);
    if (kinds == exchange->kinds.end()) return false;
    return std::find(kinds->second.begin(), kinds->second.end(), form.exchange) !=
           kinds->second.end();
  }

  // Calls `visit` with the kind of each rank of a group of the form, unless it has no place.
  template <class Visit>
  void each_rank_kind(GroupForm form, Visit visit) const {
    for (int first = 0; first + form.degree <= instance_.cluster.devices; first += form.degree) {
      if (place(form.degree, first) != form.place) continue;
      for (int rank = first; rank < first + form.degree; ++rank) visit(kind_of_rank(rank));
      return;
    }
  }

 protected:
  // Returns the recomputation mode of the form; without a choice, no factors and the model's
  // activations.
  Recomputation recomputed(GroupForm form) const {
    const ModelMemory& model = instance_.model;
    if (!model.recomputation.empty()) {
      return model.recomputation.at(static_cast<std::size_t>(form.recomputation));
    }
    return {.activation_mib_per_token = model.activation_mib_per_token};
  }

  double speed_of(GroupForm form) const {
    if (instance_.cluster.kinds.empty()) return 1;
    double least = std::numeric_limits<double>::infinity();
    each_rank_kind(form, [&](std::size_t kind) {
      least = std::min(least, instance_.cluster.kinds[kind].speed);
    });
    return least;
  }

 private:
  std::size_t kind_of_rank(int rank) const {
    std::size_t kind = 0;
    int node = rank / instance_.cluster.devices_per_node;
    while (node >= instance_.cluster.kinds[kind].nodes)
      node -= instance_.cluster.kinds[kind++].nodes;
    return kind;
  }

  std::vector<int> places_of(int degree) const {
    std::vector<int> all;
    for (int first = 0; first + degree <= instance_.cluster.devices; first += degree) {
      all.push_back(*place(degree, first));
    }
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
  }
};

}  // namespace stowage

// The least device-time of each length, and the weights of loads and kinds that make their sum
// large.
#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "instances/scatter/table/planning_table.h"

namespace stowage {

// Chooses weights with a large sum of areas: one configuration after another, twice.
void ScatterTable::choose_weights() {
  constexpr std::array<double, 5> kWeights = {1, 0, 0.5, 0.75, 0.25};
  find_areas();
  double most = total_area();
  const std::size_t kinds = kinds_.size();
  for (int round = 0; round < 2; ++round) {
    // The least areas over the configurations before each, and over those from each on.
    std::vector<double> before(kinds, kInfinity);
    std::vector<double> from((configs_.size() + 1) * kinds, kInfinity);
    for (std::size_t own = configs_.size(); own-- > 0;) {
      for (std::size_t kind = 0; kind < kinds; ++kind) {
        from[own * kinds + kind] = std::min(from[(own + 1) * kinds + kind], area_on(kind, own));
      }
    }
    for (std::size_t own = 0; own < configs_.size(); ++own) {
      GroupConfig& config = configs_[own];
      double best = config.weight;
      for (const double weight : kWeights) {
        config.weight = weight;
        double area = 0;
        for (std::size_t kind = 0; kind < kinds; ++kind) {
          const double others = std::min(before[kind], from[(own + 1) * kinds + kind]);
          area += std::min(others, area_on(kind, own)) * kinds_[kind].count;
        }
        if (area <= most) continue;
        most = area;
        best = weight;
      }
      config.weight = best;
      for (std::size_t kind = 0; kind < kinds; ++kind) {
        before[kind] = std::min(before[kind], area_on(kind, own));
      }
    }
  }
}

// Chooses the weights of kinds: by their speed, by its root or equal, whichever has the largest sum
// of areas.
void ScatterTable::weigh_kinds() {
  if (!several_kinds()) return;
  const std::vector<int> devices = devices_of_kinds();
  std::vector<double> best;
  double most = -1;
  for (const double exponent : {1.0, 0.5, 0.0}) {
    double all = 0;
    for (std::size_t kind = 0; kind < devices.size(); ++kind) {
      all += devices[kind] * std::pow(cluster_.kinds[kind].speed, exponent);
    }
    kind_weights_.clear();
    for (const DeviceKind& kind : cluster_.kinds) {
      kind_weights_.push_back(std::pow(kind.speed, exponent) * devices_ / all);
    }
    weigh_configs();
    find_areas();
    const double area = total_area();
    if (area <= most) continue;
    most = area;
    best = kind_weights_;
  }
  kind_weights_ = std::move(best);
  weigh_configs();
}

void ScatterTable::weigh_configs() {
  for (int config = 0; config < static_cast<int>(configs_.size()); ++config) {
    const std::vector<int> devices = devices_of_kinds(config);
    double& weighted = configs_[at(config)].weighted_devices;
    weighted = 0;
    for (std::size_t kind = 0; kind < devices.size(); ++kind) {
      weighted += devices[kind] * kind_weights_[kind];
    }
  }
}

// Returns the device-time of a sequence of this kind on the configuration, infinite if it has no
// room for it.
double ScatterTable::area_on(std::size_t kind, std::size_t config) const {
  if (kinds_[kind].length > configs_[config].longest) return kInfinity;
  const Ms cost = kind_least_cost(static_cast<int>(kind), static_cast<int>(config));
  return configs_[config].weighted_devices * cost;
}

void ScatterTable::find_areas() {
  for (std::size_t kind = 0; kind < kinds_.size(); ++kind) {
    kinds_[kind].area = kInfinity;
    for (std::size_t config = 0; config < configs_.size(); ++config) {
      kinds_[kind].area = std::min(kinds_[kind].area, area_on(kind, config));
    }
  }
}

double ScatterTable::total_area() const {
  double area = 0;
  for (const DistinctLength& kind : kinds_) area += kind.area * kind.count;
  return area;
}

}  // namespace stowage

// Planes below and near the measured times of each configuration, which are affine costs of a
// group.
#include <algorithm>
#include <array>
#include <cmath>
#include <memory>

#include "instances/scatter/table/planning_table.h"

namespace stowage {

// With a table: sets the costs of sequences by the planes near the times.
void ScatterTable::find_costs() {
  for (int kind = 0; kind < static_cast<int>(kinds_.size()); ++kind) {
    for (std::size_t config = 0; config < configs_.size(); ++config) {
      const AffineTime& near = configs_[config].near;
      const Load& sums = loads_[row(kind) + config];
      cost_[row(kind) + config] = near.token_ms * sums.compute + near.square_ms * sums.transfer;
    }
  }
}

// Returns the same number of planes below the grid of each configuration. Each is the highest at
// some place where groups of the step may be: filled to some share, with lengths like all that it
// holds or shorter.
std::vector<std::vector<AffineTime>> ScatterTable::planes_below() {
  constexpr std::array<double, 4> kFull = {1, 0.6, 0.3, 0.1};
  const Tokens tokens = total_tokens();
  std::vector<std::vector<AffineTime>> planes;  // by configuration
  for (std::size_t l = 0; l < configs_.size(); ++l) {
    GroupConfig& config = configs_[l];
    const auto held = std::ranges::find_if(
        kinds_, [&](const DistinctLength& kind) { return kind.length <= config.longest; });
    const DistinctLength& longest = held == kinds_.end() ? kinds_.back() : *held;
    const RowShapes shapes{.shortest = static_cast<double>(kinds_.back().length),
                           .longest = static_cast<double>(longest.length)};
    const std::vector<GridPoint> all = corners(*grids_[l], shapes);
    const auto most = static_cast<double>(std::min({config.capacity, config.most_tokens, tokens}));
    config.near = nearest(*grids_[l], all, most);
    planes.emplace_back();
    double held_tokens = 0;
    double held_squares = 0;
    for (auto kind = held; kind != kinds_.end(); ++kind) {
      const auto length = static_cast<double>(kind->length);
      held_tokens += kind->count * length;
      held_squares += kind->count * length * length;
    }
    const double mean =  // length of the sequence of a token
        held_tokens > 0 ? held_squares / held_tokens : shapes.shortest;
    for (const double like : {mean, std::sqrt(mean * shapes.shortest)}) {
      for (const double full : kFull) {
        planes.back().push_back(highest_below(all, full * most, full * most * like));
      }
    }
  }
  return planes;
}

// Takes planes with which the area of the step is large: first the same place for all
// configurations, then one configuration after another.
void ScatterTable::choose_planes(const ScatterInstance& instance) {
  for (GroupConfig& config : configs_) {
    grids_.push_back(std::make_shared<const TimeGrid>(instance.cost.table.at(config.degree)));
    config.below = AffineTime{};
  }
  if (kinds_.empty()) return;
  const std::vector<std::vector<AffineTime>> planes = planes_below();
  const Tokens capacity = std::max<Tokens>(1, batch_capacity());
  const auto batches = std::ceil(static_cast<double>(total_held_) / static_cast<double>(capacity));
  double most = -kInfinity;
  // Returns whether the chosen planes give the step a larger bound than before.
  const auto better = [&] {
    least_overhead_ = std::ranges::min(configs_, {}, &GroupConfig::least_overhead).least_overhead;
    find_areas();
    const double area = batches * devices_ * least_overhead_ + total_area();
    return area > most && (most = area, true);
  };
  const auto take = [&](std::size_t config, std::size_t plane) {
    configs_[config].below = planes[config][plane];
    configs_[config].least_overhead = planes[config][plane].ms;
  };
  const auto take_all = [&](std::size_t plane) {
    for (std::size_t config = 0; config < configs_.size(); ++config) take(config, plane);
  };
  std::size_t for_all = 0;
  for (std::size_t plane = 0; plane < planes.front().size(); ++plane) {
    take_all(plane);
    if (better()) for_all = plane;
  }
  take_all(for_all);
  for (std::size_t config = 0; config < configs_.size(); ++config) {
    std::size_t best = for_all;
    for (std::size_t plane = 0; plane < planes[config].size(); ++plane) {
      take(config, plane);
      if (better()) best = plane;
    }
    take(config, best);
  }
  most = -kInfinity;
  better();
  find_costs();
}

}  // namespace stowage

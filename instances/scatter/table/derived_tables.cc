// Tables that are made of another table: a part of the step, a relaxation, fewer lengths, and one
// recomputation mode.
#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>
#include <vector>

#include "instances/scatter/table/planning_table.h"

namespace stowage {

ScatterTable ScatterTable::part(std::span<const int> positions, int devices,
                                Ms longest_elsewhere) const {
  ScatterTable part;
  part.longest_weight_ = longest_weight_;
  part.offload_ = offload_;
  part.longest_elsewhere_ = std::max(longest_elsewhere, longest_elsewhere_);
  part.devices_ = devices;
  part.cluster_ = cluster_;
  part.kind_weights_ = kind_weights_;
  part.device_tokens_ = device_tokens_;
  part.packed_ = packed_;
  part.chooses_recomputation_ = chooses_recomputation_;
  part.even_ = even_;
  part.pads_by_form_ = pads_by_form_;
  part.no_idle_ranks_ = no_idle_ranks_;
  part.equal_sequences_ = equal_sequences_;
  part.least_overhead_ = kInfinity;
  for (const GroupConfig& config : configs_) {
    if (config.degree > devices) break;
    part.configs_.push_back(config);
    part.least_overhead_ = std::min(part.least_overhead_, config.least_overhead);
  }
  std::vector<Load> loads(part.configs_.size());
  for (const int position : positions) {
    if (part.kinds_.empty() || part.kinds_.back().length != length(position)) {
      for (std::size_t config = 0; config < loads.size(); ++config) {
        loads[config] = load(position, static_cast<int>(config));
      }
    }
    part.append(position, length(position), loads);
  }
  if (additive()) part.loads_.clear();
  if (measured()) {
    part.grids_.assign(grids_.begin(), grids_.begin() + std::ssize(part.configs_));
    part.find_costs();
  }
  part.find_held();
  part.find_areas();
  part.list_modes();
  return part;
}

ScatterTable ScatterTable::relaxed() const {
  ScatterTable table = *this;
  table.loads_.clear();
  table.grids_.clear();
  table.modes_.clear();
  table.offload_.reset();
  for (GroupConfig& config : table.configs_) config.overhead = config.least_overhead;
  for (int kind = 0; kind < static_cast<int>(kinds_.size()); ++kind) {
    for (int config = 0; config < static_cast<int>(configs_.size()); ++config) {
      table.cost_[row(kind) + at(config)] = kind_least_cost(kind, config);
    }
  }
  return table;
}

ScatterTable ScatterTable::merged(std::size_t most) const {
  if (kinds_.size() <= most) return *this;
  std::vector<std::size_t> first;
  for (double wider = 1e-3; wider < 1; wider *= 1.5) {
    first = runs_of_kinds([&](std::size_t longest, std::size_t kind) {
      return static_cast<double>(kinds_[longest].length) <=
             (1 + wider) * static_cast<double>(kinds_[kind].length);
    });
    if (first.size() <= most) break;
  }
  return of_runs(first, /*of_longest=*/true);
}

ScatterTable ScatterTable::lowered(std::size_t most) const {
  if (kinds_.size() <= most) return *this;
  std::vector<double> area;  // least of a sequence of each kind, in device-ms
  for (std::size_t kind = 0; kind < kinds_.size(); ++kind) {
    double& least = area.emplace_back(kInfinity);
    for (std::size_t config = 0; config < configs_.size(); ++config) {
      if (kinds_[kind].length > configs_[config].longest) continue;
      least = std::min(
          least, configs_[config].weighted_devices * cost_[row(static_cast<int>(kind)) + config]);
    }
  }
  // The runs that lose no more area than `loss` each.
  const auto runs = [&](double loss) {
    double before = 0;  // area of the run
    std::int64_t count = 0;
    return runs_of_kinds([&](std::size_t longest, std::size_t kind) {
      if (kind == longest + 1) {
        count = kinds_[longest].count;
        before = static_cast<double>(count) * area[longest];
      }
      if (before - static_cast<double>(count) * area[kind] > loss) return false;
      count += kinds_[kind].count;
      before += static_cast<double>(kinds_[kind].count) * area[kind];
      return true;
    });
  };
  constexpr int kHalvings = 30;
  double high = static_cast<double>(size()) * *std::ranges::max_element(area);
  std::vector<std::size_t> first = runs(high);
  double low = 0;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = (low + high) / 2;
    std::vector<std::size_t> finer = runs(middle);
    if (finer.size() > most) {
      low = middle;
    } else {
      high = middle;
      first = std::move(finer);
    }
  }
  return of_runs(first, /*of_longest=*/false);
}

// Returns the first kinds of runs of successive kinds. `joins` is called with the first kind of a
// run and each later one until it returns false. The kinds of a run fit the same configurations.
std::vector<std::size_t> ScatterTable::runs_of_kinds(
    const std::function<bool(std::size_t longest, std::size_t kind)>& joins) const {
  const auto held = [&](std::size_t kind) {
    return std::ranges::count_if(
        configs_, [&](const GroupConfig& config) { return kinds_[kind].length <= config.longest; });
  };
  std::vector<std::size_t> first;
  for (std::size_t kind = 0; kind < kinds_.size(); ++kind) {
    if (first.empty() || held(first.back()) != held(kind) || !joins(first.back(), kind)) {
      first.push_back(kind);
    }
  }
  return first;
}

// Returns the table in which the kinds of a run are one kind: the longest of them, or the shortest
// with the least cost of any of them.
ScatterTable ScatterTable::of_runs(const std::vector<std::size_t>& first, bool of_longest) const {
  ScatterTable table = *this;
  table.kinds_.clear();
  table.cost_.clear();
  table.loads_.clear();
  for (std::size_t own = 0; own < first.size(); ++own) {
    const std::size_t end = own + 1 < first.size() ? first[own + 1] : kinds_.size();
    DistinctLength& kind = table.kinds_.emplace_back(kinds_[first[own]]);
    kind.length = kinds_[of_longest ? first[own] : end - 1].length;
    kind.count = 0;
    for (std::size_t k = first[own]; k < end; ++k) kind.count += kinds_[k].count;
    std::fill_n(table.kind_of_.begin() + kind.first, kind.count, static_cast<int>(own));
    const auto from = static_cast<std::ptrdiff_t>(row(static_cast<int>(first[own])));
    const auto to = from + std::ssize(configs_);
    table.cost_.insert(table.cost_.end(), cost_.begin() + from, cost_.begin() + to);
    if (!loads_.empty()) {
      table.loads_.insert(table.loads_.end(), loads_.begin() + from, loads_.begin() + to);
    }
    for (std::size_t k = first[own] + 1; k < end && !of_longest; ++k) {
      for (std::size_t config = 0; config < configs_.size(); ++config) {
        Ms& least = table.cost_[table.cost_.size() - configs_.size() + config];
        least = std::min(least, cost_[row(static_cast<int>(k)) + config]);
      }
    }
  }
  table.find_held();
  table.find_areas();
  table.list_modes();
  return table;
}

bool ScatterTable::has_many_degrees() const {
  int count = 0;
  for (std::size_t config = 0; config < configs_.size(); ++config) {
    if (config == 0 || configs_[config].degree != configs_[config - 1].degree) ++count;
  }
  return count > kMostPowers && !several_kinds();
}

std::vector<std::size_t> ScatterTable::few_degrees() const {
  std::vector<std::size_t> all(configs_.size());
  std::iota(all.begin(), all.end(), 0);
  if (several_kinds()) return all;
  std::vector<std::size_t> few;
  int last = 0;
  for (const std::size_t config : all) {
    const int degree = configs_[config].degree;
    if (degree != last && degree < 2 * last && degree != configs_.back().degree) continue;
    few.push_back(config);
    last = degree;
  }
  const auto is_held = [&](const DistinctLength& kind) {
    return std::ranges::any_of(
        few, [&](std::size_t config) { return kind.length <= configs_[config].longest; });
  };
  return std::ranges::all_of(kinds_, is_held) ? few : all;
}

ScatterTable ScatterTable::with_configs(const std::vector<std::size_t>& kept) const {
  ScatterTable table = *this;
  table.modes_.clear();
  table.keep_configs(kept);
  table.least_overhead_ = kInfinity;
  for (const GroupConfig& config : table.configs_) {
    table.least_overhead_ = std::min(table.least_overhead_, config.least_overhead);
  }
  if (measured()) {
    table.grids_.clear();
    for (const std::size_t config : kept) table.grids_.push_back(grids_[config]);
  }
  table.find_held();
  table.find_areas();
  table.list_modes();
  return table;
}

// Numbers the modes that are left, and makes a table of each if there are several.
void ScatterTable::list_modes() {
  std::vector<int> left;
  for (const GroupConfig& config : configs_) left.push_back(config.recomputation);
  std::ranges::sort(left);
  left.erase(std::unique(left.begin(), left.end()), left.end());
  mode_.clear();
  for (const GroupConfig& config : configs_) {
    mode_.push_back(
        static_cast<int>(std::ranges::lower_bound(left, config.recomputation) - left.begin()));
  }
  mode_count_ = static_cast<int>(left.size());
  modes_.clear();
  if (left.size() < 2) return;
  std::vector<ScatterTable> modes;
  for (int mode = 0; mode < static_cast<int>(left.size()); ++mode) {
    ScatterTable& own = modes.emplace_back(*this);
    std::vector<std::size_t> kept;
    for (std::size_t config = 0; config < configs_.size(); ++config) {
      if (mode_[config] == mode) kept.push_back(config);
    }
    own.keep_configs(kept);
    own.mode_.assign(kept.size(), 0);
    own.mode_count_ = 1;
    own.device_tokens_ = 0;
    own.least_overhead_ = kInfinity;
    for (const GroupConfig& config : own.configs_) {
      own.device_tokens_ = std::max(own.device_tokens_, config.each);
      own.least_overhead_ = std::min(own.least_overhead_, config.overhead);
    }
    own.find_held();
    own.even_ = true;
    own.find_even();
    own.find_areas();
  }
  modes_ = std::move(modes);
}

}  // namespace stowage

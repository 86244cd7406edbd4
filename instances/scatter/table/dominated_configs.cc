// Configurations and recomputation modes that no plan needs, because others are never worse.
#include <algorithm>
#include <utility>

#include "instances/numeric/numbers.h"
#include "instances/scatter/table/planning_table.h"

namespace stowage {

// Returns whether `own` has room for all groups of `their` configuration. If its capacity is larger
// but each sequence takes more of it, it has less room only from some number of sequences on. It is
// enough if the other configuration does not hold that many of the shortest sequences.
bool ScatterTable::holds_as_much(const GroupConfig& own, const GroupConfig& their) const {
  if (own.longest < their.longest) return false;
  if (their.multiple % own.multiple != 0) return false;
  if (own.most_tokens < std::min(their.most_tokens, their.capacity)) return false;
  const Tokens larger = own.capacity - their.capacity;
  const Tokens more = own.sequence_tokens - their.sequence_tokens;
  if (more <= 0) return larger >= more;
  if (larger < 0) return false;
  const Tokens count = larger / more + 1;
  if (count > std::min<Tokens>(size(), their.sequences)) return true;
  Tokens least = 0;  // tokens of the shortest `count` sequences
  Tokens left = count;
  for (std::size_t kind = kinds_.size(); kind-- > 0 && left > 0;) {
    const Tokens taken = std::min<Tokens>(left, kinds_[kind].count);
    least += taken * their.padded(kinds_[kind].length);
    left -= taken;
  }
  const auto beside = checked_mul(count, their.sequence_tokens);
  return !beside || least > their.capacity - *beside;
}

// Returns whether a group on `configuration` is never slower than on `other`, and never holds less.
bool ScatterTable::dominates(std::size_t config, std::size_t other) const {
  const GroupConfig& own = configs_[config];
  const GroupConfig& their = configs_[other];
  if (own.degree != their.degree || own.overhead > their.overhead) return false;
  if (own.row_token.compute > their.row_token.compute) return false;
  if (own.row_token.transfer > their.row_token.transfer) return false;
  if (own.place != their.place) return false;  // each kind has a limited number of devices
  if (own.resident < their.resident || own.device_mib > their.device_mib) return false;
  if (!holds_as_much(own, their)) return false;
  for (std::size_t first = 0; first < loads_.size(); first += configs_.size()) {
    const Load& here = loads_[first + config];
    const Load& there = loads_[first + other];
    if (here.compute > there.compute || here.transfer > there.transfer) return false;
  }
  return true;
}

void ScatterTable::leave_out_dominated() {
  std::vector<std::size_t> kept;
  for (std::size_t config = 0; config < configs_.size(); ++config) {
    bool useful = true;
    for (std::size_t other = 0; other < configs_.size() && useful; ++other) {
      // Among equal configurations the first is kept.
      useful = other == config || configs_[other].recomputation != configs_[config].recomputation ||
               !dominates(other, config) || (other > config && dominates(config, other));
    }
    if (useful) kept.push_back(config);
  }
  keep_configs(kept);
}

// Drops whole modes only: a micro-batch may need a mode for one group, and with it configurations
// for its other groups that are worse than those of another mode.
void ScatterTable::leave_out_dominated_modes() {
  const auto modes = static_cast<std::size_t>(configs_.back().recomputation) + 1;
  std::vector<bool> used(modes, true);
  const auto is_dominated_by = [&](int mode, int other) {
    for (std::size_t config = 0; config < configs_.size(); ++config) {
      if (configs_[config].recomputation != mode) continue;
      bool found = false;
      for (std::size_t own = 0; own < configs_.size() && !found; ++own) {
        found = configs_[own].recomputation == other && dominates(own, config);
      }
      if (!found) return false;
    }
    return true;
  };
  for (int mode = 0; mode < static_cast<int>(modes); ++mode) {
    for (int other = 0; other < static_cast<int>(modes) && used[at(mode)]; ++other) {
      if (other == mode || !used[at(other)]) continue;
      used[at(mode)] = !is_dominated_by(mode, other);
    }
  }
  std::vector<std::size_t> kept;
  for (std::size_t config = 0; config < configs_.size(); ++config) {
    if (used[at(configs_[config].recomputation)]) kept.push_back(config);
  }
  keep_configs(kept);
}

void ScatterTable::keep_configs(const std::vector<std::size_t>& kept) {
  if (kept.size() == configs_.size()) return;
  std::vector<GroupConfig> configs;
  for (const std::size_t config : kept) configs.push_back(configs_[config]);
  std::vector<Ms> costs;
  std::vector<Load> loads;
  for (std::size_t first = 0; first < cost_.size(); first += configs_.size()) {
    for (const std::size_t config : kept) {
      costs.push_back(cost_[first + config]);
      if (!loads_.empty()) loads.push_back(loads_[first + config]);
    }
  }
  configs_ = std::move(configs);
  cost_ = std::move(costs);
  loads_ = std::move(loads);
}

}  // namespace stowage

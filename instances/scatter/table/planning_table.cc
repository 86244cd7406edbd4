// Longer than 300 lines: the cost and room of configurations and their elimination depend on each
// other.
#include "instances/scatter/table/planning_table.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include "instances/numeric/numbers.h"
#include "instances/scatter/table/device_pools.h"

namespace stowage {
namespace {

// Returns ids by descending length, ties by id. If lengths are not much larger than their number,
// they are counted: a million sequences then take a tenth of the time of sorting.
std::vector<std::int64_t> longest_first(const std::vector<Tokens>& lengths) {
  std::vector<std::int64_t> order(lengths.size());
  const Tokens longest = lengths.empty() ? 0 : std::ranges::max(lengths);
  if (longest / 16 < static_cast<Tokens>(lengths.size()) + 1024) {
    std::vector<std::size_t> next(static_cast<std::size_t>(longest) + 2, 0);
    for (const Tokens length : lengths) ++next[static_cast<std::size_t>(longest - length) + 1];
    std::partial_sum(next.begin(), next.end(), next.begin());
    for (std::size_t id = 0; id < lengths.size(); ++id) {
      order[next[static_cast<std::size_t>(longest - lengths[id])]++] =
          static_cast<std::int64_t>(id);
    }
    return order;
  }
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, std::greater<>{},
                           [&](std::int64_t id) { return lengths[static_cast<std::size_t>(id)]; });
  return order;
}

// Drops a limit that follows from the other, if no sequence is shorter than `shortest` tokens: n
// sequences have at least n times that, and n is at least one.
GroupRoom needed_limits(GroupRoom room, Tokens shortest) {
  if (room.sequence_tokens == 0) return room;
  const auto most = checked_mul(room.most_tokens, shortest + room.sequence_tokens);
  const auto memory = checked_mul(room.capacity, shortest);
  if (most && (!memory || *most <= *memory)) {
    room.capacity = room.most_tokens;
    room.sequence_tokens = 0;
    room.most_tokens = kMaxExact;
  } else if (room.capacity - room.sequence_tokens <= room.most_tokens) {
    room.most_tokens = kMaxExact;
  }
  return room;
}

}  // namespace

ScatterTable::ScatterTable(const ScatterInstance& instance)
    : devices_(instance.cluster.devices),
      packed_(instance.rules.packed),
      chooses_recomputation_(stowage::recomputations(instance) > 1),
      no_idle_ranks_(instance.rules.no_idle_ranks),
      equal_sequences_(instance.rules.equal_sequences),
      multiple_(instance.rules.micro_batches_multiple_of),
      longest_weight_(instance.pipeline_stages - 1),
      offload_(instance.model.offload) {
  if (!instance.cluster.kinds.empty()) cluster_ = instance.cluster;
  const std::vector<Tokens> padded = padded_lengths(instance);
  const Tokens shortest = padded.empty() ? 1 : std::ranges::min(padded);
  Tokens most = kMaxExact;
  least_overhead_ = kInfinity;
  for (const GroupForm form : group_forms(instance)) {
    const GroupRoom room = needed_limits(room_of_group(instance, form), shortest);
    const Tokens multiple = sequence_multiple(instance, form);
    if (!instance.rules.packed || offload_) {
      // More room than for the whole step makes no difference, and much larger numbers harm a
      // solver. Memory may not limit it: sequences run one by one, or all activations can leave.
      most = 0;
      for (const Tokens length : padded) most += round_up(length, multiple);
      most = std::max<Tokens>(1, most);
    }
    configs_.push_back({.degree = form.degree,
                        .overhead = group_overhead_ms(instance, form),
                        .capacity = std::min(room.capacity, most),
                        .longest = room.longest,
                        .sequences = instance.rules.max_sequences_per_group,
                        .exchange = form.exchange,
                        .sequence_tokens = room.sequence_tokens,
                        .most_tokens = room.most_tokens,
                        .recomputation = form.recomputation,
                        .place = form.place,
                        .weighted_devices = double(form.degree),
                        .multiple = instance.padding ? multiple : 1,
                        .row_multiple = row_multiple(instance, form)});
    if (offload_) {
      GroupConfig& own = configs_.back();
      own.resident = checked_mul(resident_tokens(instance, form), form.degree).value_or(kMaxExact);
      own.device_mib = token_mib(instance, form) / form.degree;
    }
    pads_by_form_ = instance.padding.has_value();
    if (const Tokens row = configs_.back().row_multiple; row > 1) {
      Load& token = configs_.back().row_token;
      token = row_padding_load(instance, 1, form);
      token = {token.compute / double(row - 1), token.transfer / double(row - 1),
               offload_ ? 1.0 : 0.0};
    }
    // Computed as on one device, because a product beyond the range would lose the tokens per
    // device.
    Tokens each = instance.rules.max_tokens_per_rank;
    if (packed_) {
      const Tokens in_memory = tokens_per_device(instance, form);
      each = room.sequence_tokens > 0 ? in_memory : std::min(each, in_memory);
    }
    configs_.back().each = std::min(each, most);
    configs_.back().least_overhead = configs_.back().overhead;
    device_tokens_ = std::max(device_tokens_, configs_.back().each);
    least_overhead_ = std::min(least_overhead_, configs_.back().overhead);
  }
  const std::vector<std::int64_t> order = longest_first(padded);
  ids_.reserve(order.size());
  kind_of_.reserve(order.size());
  std::vector<Load> loads(configs_.size());
  for (const std::int64_t id : order) {
    const Tokens length = padded[static_cast<std::size_t>(id)];
    if (kinds_.empty() || kinds_.back().length != length) {
      for (std::size_t config = 0; config < configs_.size(); ++config) {
        loads[config] = sequence_load(instance, length, configs_[config].form());
      }
    }
    append(id, length, loads);
  }
  find_held();
  find_even();
  if (!instance.cost.table.empty()) {
    choose_planes(instance);
    list_modes();
    return;
  }
  leave_out_dominated();
  leave_out_dominated_modes();
  const auto same = [](const Load& load) { return load.compute == load.transfer; };
  if (!offload_ && std::ranges::all_of(loads_, same)) {
    loads_.clear();
  } else {
    choose_weights();
  }
  weigh_kinds();
  find_areas();
  list_modes();
}

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
  const auto alike = [&](std::size_t longer, std::size_t kind, double spread) {
    const auto held = [&](std::size_t of) {
      return std::ranges::count_if(
          configs_, [&](const GroupConfig& config) { return kinds_[of].length <= config.longest; });
    };
    return static_cast<double>(kinds_[longer].length) <=
               spread * static_cast<double>(kinds_[kind].length) &&
           held(longer) == held(kind);
  };
  std::vector<std::size_t> first;  // kind of each merged kind
  for (double wider = 1e-3; wider < 1; wider *= 1.5) {
    first.clear();
    for (std::size_t kind = 0; kind < kinds_.size(); ++kind) {
      if (first.empty() || !alike(first.back(), kind, 1 + wider)) first.push_back(kind);
    }
    if (first.size() <= most) break;
  }
  ScatterTable table = *this;
  table.kinds_.clear();
  table.cost_.clear();
  table.loads_.clear();
  for (std::size_t own = 0; own < first.size(); ++own) {
    const std::size_t end = own + 1 < first.size() ? first[own + 1] : kinds_.size();
    DistinctLength& kind = table.kinds_.emplace_back(kinds_[first[own]]);
    kind.count = 0;
    for (std::size_t k = first[own]; k < end; ++k) kind.count += kinds_[k].count;
    std::fill_n(table.kind_of_.begin() + kind.first, kind.count, static_cast<int>(own));
    const auto from = static_cast<std::ptrdiff_t>(row(static_cast<int>(first[own])));
    const auto to = from + std::ssize(configs_);
    table.cost_.insert(table.cost_.end(), cost_.begin() + from, cost_.begin() + to);
    if (loads_.empty()) continue;
    table.loads_.insert(table.loads_.end(), loads_.begin() + from, loads_.begin() + to);
  }
  table.find_held();
  table.find_areas();
  table.list_modes();
  return table;
}

void ScatterTable::append(std::int64_t id, Tokens length, std::span<const Load> loads) {
  if (kinds_.empty() || kinds_.back().length != length) {
    kinds_.push_back({.length = length, .first = size()});
    for (const Load& load : loads) cost_.push_back(load.time());
    loads_.insert(loads_.end(), loads.begin(), loads.end());
  }
  ++kinds_.back().count;
  kind_of_.push_back(static_cast<int>(kinds_.size()) - 1);
  ids_.push_back(id);
}

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

// Chooses weights with a large sum of areas: one configuration after another, twice.
void ScatterTable::choose_weights() {
  constexpr std::array<double, 5> kWeights = {1, 0, 0.5, 0.75, 0.25};
  find_areas();
  double most = total_area();
  for (int round = 0; round < 2; ++round) {
    for (GroupConfig& config : configs_) {
      double best = config.weight;
      for (const double weight : kWeights) {
        config.weight = weight;
        find_areas();
        if (total_area() <= most) continue;
        most = total_area();
        best = weight;
      }
      config.weight = best;
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

void ScatterTable::find_areas() {
  for (std::size_t k = 0; k < kinds_.size(); ++k) {
    kinds_[k].area = kInfinity;
    for (std::size_t config = 0; config < configs_.size(); ++config) {
      if (kinds_[k].length > configs_[config].longest) continue;
      const Ms cost = kind_least_cost(static_cast<int>(k), static_cast<int>(config));
      kinds_[k].area = std::min(kinds_[k].area, configs_[config].weighted_devices * cost);
    }
  }
}

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

Tokens ScatterTable::total_tokens() const {
  Tokens tokens = 0;
  for (const DistinctLength& kind : kinds_) tokens += kind.length * kind.count;
  return tokens;
}

void ScatterTable::find_held() {
  Tokens& held = total_held_;
  held = 0;
  for (const DistinctLength& kind : kinds_) {
    std::optional<Tokens> least;  // of the configurations that hold it
    for (const GroupConfig& config : configs_) {
      if (kind.length > config.longest) continue;
      least = std::min(least.value_or(kMaxExact),
                       config.padded(kind.length) - kind.length + config.sequence_tokens);
    }
    const auto own = checked_mul(kind.length + least.value_or(0), kind.count);
    held = std::min(checked_add(held, own.value_or(kMaxExact)).value_or(kMaxExact), kMaxExact);
  }
}

void ScatterTable::find_even() {
  const auto of_degree = [](Tokens each, int degree) {
    return std::min(checked_mul(each, degree).value_or(kMaxExact), kMaxExact);
  };
  if (pads_by_form_) even_ = false;
  std::map<int, Tokens> longest;  // by degree
  for (const GroupConfig& config : configs_) {
    if (config.sequence_tokens > 0) even_ = false;
    if (packed_ && config.longest != config.capacity) even_ = false;
    Tokens& own = longest[config.degree];
    own = std::max(own, config.longest);
  }
  const auto& [least, shortest] = *longest.begin();
  for (const auto& [degree, own] : longest) {
    if (own == kMaxExact) continue;
    if (own != of_degree(shortest / least, degree)) even_ = false;
  }
}

std::vector<int> ScatterTable::devices_of_kinds() const {
  std::vector<int> devices;
  for (const DeviceKind& kind : cluster_.kinds) {
    devices.push_back(kind.nodes * cluster_.devices_per_node);
  }
  return devices;
}

std::vector<int> ScatterTable::devices_of_kinds(int config) const {
  if (!several_kinds()) return {};
  return group_place(cluster_, configs_[at(config)].degree, configs_[at(config)].place)->devices;
}

Load ScatterTable::row_load(int config, Tokens tokens) const {
  const GroupConfig& own = configs_[at(config)];
  if (own.row_multiple == 1) return {};
  const auto padding = static_cast<double>(round_up(tokens, own.row_multiple) - tokens);
  return {padding * own.row_token.compute, padding * own.row_token.transfer,
          padding * own.row_token.beyond};
}

// If x MiB leave each device, x <= f out T and x <= (1 - f) in T, and the load lasts W <= T, then
// W + max(0, x / out - f W) + max(0, x / in - (1 - f) W) <= W + f (T - W) + (1 - f) (T - W) = T.
Tokens ScatterTable::capacity_within(int config, Ms limit) const {
  const GroupConfig& own = configs_[at(config)];
  if (!offload_) return own.packed_capacity();
  const double out = offload_->forward_share * offload_->out_mib_per_ms;
  const double in = (1 - offload_->forward_share) * offload_->in_mib_per_ms;
  const double away = std::floor(std::min(out, in) * std::max(limit, 0.0) / own.device_mib);
  if (away >= static_cast<double>(own.packed_capacity())) return own.packed_capacity();
  const auto held = checked_add(own.resident, static_cast<Tokens>(away)).value_or(kMaxExact);
  return std::min(own.packed_capacity(), held);
}

Ms ScatterTable::least_stall(Tokens tokens, double micro_batches, Ms work) const {
  if (!offload_) return 0;
  double resident = 0;  // most tokens that memory holds on a device
  Mib mib = kInfinity;  // least MiB of a token on its device
  for (const GroupConfig& config : configs_) {
    resident = std::max(resident, static_cast<double>(config.resident) / config.degree);
    mib = std::min(mib, config.device_mib * config.degree);
  }
  const double beyond = static_cast<double>(tokens) / devices_ - micro_batches * resident;
  return beyond > 0 ? offload_stall_ms(*offload_, work, beyond * mib) : 0;
}

double ScatterTable::total_area() const {
  double area = 0;
  for (const DistinctLength& kind : kinds_) area += kind.area * kind.count;
  return area;
}

int ScatterTable::config_of(GroupForm form) const {
  const auto exact = std::ranges::find(configs_, form, &GroupConfig::form);
  if (exact != configs_.end()) return static_cast<int>(exact - configs_.begin());
  const bool left = std::ranges::any_of(configs_, [&](const GroupConfig& config) {
    return config.recomputation == form.recomputation;
  });
  int best = -1;
  for (int l = 0; l < static_cast<int>(configs_.size()); ++l) {
    const GroupConfig& config = configs_[at(l)];
    if (config.degree != form.degree || config.place != form.place) continue;
    if (left && config.recomputation != form.recomputation) continue;
    if (best < 0 || config.capacity > configs_[at(best)].capacity) best = l;
  }
  return best;
}

Ms ScatterTable::alone(int kind) const {
  Ms least = kInfinity;
  for (std::size_t config = 0; config < configs_.size(); ++config) {
    if (kinds_[at(kind)].length > configs_[config].longest) continue;
    if (measured() || offload_) {
      const int l = static_cast<int>(config);
      least = std::min(least, time(l, empty_load(l) + kind_load(kind, l)));
      continue;
    }
    least = std::min(least, configs_[config].overhead + kind_cost(kind, static_cast<int>(config)));
  }
  return least;
}

}  // namespace stowage

// How the table is filled from an instance, and what groups of its configurations have room for.
#include "instances/scatter/table/planning_table.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <optional>

#include "instances/numeric/numbers.h"
#include "instances/scatter/cost/mixed.h"
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
  if (instance.mixed) hidden_token_ms_ = hidden_exchange_ms(instance, 1);
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

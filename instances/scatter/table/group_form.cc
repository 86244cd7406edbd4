#include "instances/scatter/table/group_form.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "instances/scatter/table/device_pools.h"

namespace stowage {

std::span<const std::string_view> exchange_names() {
  static constexpr std::array<std::string_view, 5> kNames = {"none", "all_to_all", "ring",
                                                             "all_gather", "two_level"};
  return kNames;
}

std::vector<GroupForm> group_forms(const ScatterInstance& instance) {
  std::vector<GroupForm> forms;
  const auto add = [&](GroupForm form) {
    for (int place = 0; place < places(instance.cluster); ++place) {
      form.place = place;
      const bool alike = instance.cluster.kinds.empty();
      if (alike || group_place(instance.cluster, form.degree, place)) forms.push_back(form);
    }
  };
  const std::optional<Exchange>& exchange = instance.cost.exchange;
  for (const int degree : allowed_degrees(instance)) {
    for (int choice = 0; choice < recomputations(instance); ++choice) {
      if (degree == 1 || !exchange) {
        add({degree, ExchangeKind::none, choice});
        continue;
      }
      for (const ExchangeKind kind : exchange->kinds.at(degree)) {
        add({degree, kind, choice});
      }
    }
  }
  return forms;
}

int recomputations(const ScatterInstance& instance) {
  return std::max(1, static_cast<int>(instance.model.recomputation.size()));
}

std::string recomputation_name(const ScatterInstance& instance, int index) {
  const std::vector<Recomputation>& choices = instance.model.recomputation;
  return choices.empty() ? std::string() : choices[static_cast<std::size_t>(index)].name;
}

int recomputation_index(const ScatterInstance& instance, std::string_view name) {
  const std::vector<Recomputation>& choices = instance.model.recomputation;
  if (choices.empty()) return name.empty() ? 0 : -1;
  const auto found = std::ranges::find(choices, name, &Recomputation::name);
  return found == choices.end() ? -1 : static_cast<int>(found - choices.begin());
}

bool may_cross_nodes(const Cluster& cluster, int degree) {
  const int node = cluster.devices_per_node;
  if (degree == 1 || cluster.devices <= node) return false;
  return !cluster.aligned || degree > node || node % degree != 0;
}

bool can_exchange(const Cluster& cluster, GroupForm form) {
  const int node = cluster.devices_per_node;
  if (form.exchange != ExchangeKind::two_level) return form.degree > 1;
  return cluster.aligned && node > 1 && form.degree > node && form.degree % node == 0;
}

std::optional<GroupForm> form_of(const ScatterInstance& instance,
                                 const ScatterMicroBatch& micro_batch, const ScatterGroup& group) {
  const int index = recomputation_index(instance, micro_batch.recomputation);
  const std::optional<int> place = place_at(instance.cluster, group.degree, group.first_rank);
  if (index < 0 || !place) return std::nullopt;
  return GroupForm{group.degree, group.exchange, index, *place};
}

Tokens sequence_multiple(const ScatterInstance& instance, GroupForm form) {
  if (!instance.padding) return instance.pad_multiple;
  const Padding& padding = *instance.padding;
  Tokens multiple = padding.sequence_multiple;
  if (padding.per_degree) {
    const bool two_chunks = form.exchange == ExchangeKind::ring ||
                            form.exchange == ExchangeKind::all_gather ||
                            form.exchange == ExchangeKind::two_level;
    const int own = padding.device_multiple;
    const Tokens share = two_chunks ? std::lcm(2, std::max(own, 1)) : own;
    if (share > 0) multiple = std::lcm(multiple, share * form.degree);
  }
  if (!instance.rules.packed) {  // each sequence is a row
    multiple = std::lcm(multiple, padding.row_multiple);
    if (padding.per_degree) multiple = std::lcm(multiple, Tokens{form.degree});
  }
  return multiple;
}

Tokens row_multiple(const ScatterInstance& instance, GroupForm form) {
  if (!instance.padding || !instance.rules.packed) return 1;
  const Padding& padding = *instance.padding;
  Tokens row = padding.row_multiple;
  if (padding.per_degree) row = std::lcm(row, Tokens{form.degree});
  return sequence_multiple(instance, form) % row == 0 ? 1 : row;  // 1: nothing is left to pad
}

Tokens padded_length(const ScatterInstance& instance, Tokens length, GroupForm form) {
  return round_up(length, sequence_multiple(instance, form));
}

Tokens most_padded_length(const ScatterInstance& instance, Tokens length) {
  if (!instance.padding) return padded_length(instance, length);
  Tokens most = 0;
  for (const GroupForm form : group_forms(instance)) {
    most = std::max(most, padded_length(instance, length, form));
  }
  return most;
}

namespace {

Tokens in_range(double tokens) {
  if (!(tokens > 0)) return 0;
  return tokens >= static_cast<double>(kMaxExact) ? kMaxExact : static_cast<Tokens>(tokens);
}

Tokens of_degree(Tokens each, int degree) {
  return std::min(checked_mul(each, degree).value_or(kMaxExact), kMaxExact);
}

}  // namespace

Mib token_mib(const ScatterInstance& instance, GroupForm form) {
  const ModelMemory& model = instance.model;
  const auto choice = static_cast<std::size_t>(form.recomputation);
  Mib each = model.recomputation.empty() ? model.activation_mib_per_token
                                         : model.recomputation[choice].activation_mib_per_token;
  if (model.logits_chunk_tokens == 0) each += model.logits_mib_per_token;
  switch (form.exchange) {
    case ExchangeKind::none:
    case ExchangeKind::all_to_all:
      return each;
    case ExchangeKind::ring:
    case ExchangeKind::two_level:
      return each + model.keys_values_mib_per_token;
    case ExchangeKind::all_gather:
      return each + model.keys_values_mib_per_token * form.degree;
  }
  return each;
}

Mib fixed_mib(const ScatterInstance& instance) {
  const ModelMemory& model = instance.model;
  return model.states_mib +
         model.logits_mib_per_token * static_cast<double>(model.logits_chunk_tokens);
}

Mib offload_mib(const ScatterInstance& instance, GroupForm form) {
  const ModelMemory& model = instance.model;
  if (!model.offload) return 0;
  const auto choice = static_cast<std::size_t>(form.recomputation);
  const Mib activations = model.recomputation.empty()
                              ? model.activation_mib_per_token
                              : model.recomputation[choice].activation_mib_per_token;
  return std::min(model.offload->mib_per_token, activations);
}

Tokens resident_tokens(const ScatterInstance& instance, GroupForm form) {
  const Cluster& cluster = instance.cluster;
  Mib memory = cluster.memory_mib;
  if (!cluster.kinds.empty()) {
    const auto place = group_place(cluster, form.degree, form.place);
    memory = place ? place->memory_mib : 0;
  }
  const Mib room = memory - fixed_mib(instance);
  return in_range(std::floor(room / token_mib(instance, form)));
}

Tokens tokens_per_device(const ScatterInstance& instance, GroupForm form) {
  const Tokens resident = resident_tokens(instance, form);
  if (!instance.model.offload) return resident;
  const Mib each = token_mib(instance, form);
  const double all = static_cast<double>(resident) * each / (each - offload_mib(instance, form));
  const Tokens most = std::max(resident, in_range(std::floor(all)));
  if (!instance.model.offload->host_mib) return most;
  const Tokens away = in_range(std::floor(*instance.model.offload->host_mib / each));
  return std::min(most, checked_add(resident, away).value_or(kMaxExact));
}

double least_offload(const ScatterInstance& instance, GroupForm form, Tokens tokens) {
  if (!instance.model.offload) return 0;
  const Tokens away = tokens - of_degree(resident_tokens(instance, form), form.degree);
  if (away <= 0) return 0;
  const double share = static_cast<double>(away) * token_mib(instance, form) /
                       (static_cast<double>(tokens) * offload_mib(instance, form));
  return std::min(share, 1.0);
}

Tokens sequence_tokens(const ScatterInstance& instance, GroupForm form) {
  const Mib each = instance.model.sequence_mib * form.degree;
  const Tokens tokens = in_range(std::ceil(each / token_mib(instance, form)));
  return std::min(round_up(tokens, row_multiple(instance, form)), kMaxExact);
}

std::vector<int> allowed_degrees(const ScatterInstance& instance) {
  std::vector<int> degrees;
  for (const int degree : instance.cluster.degrees) {
    if (degree >= instance.rules.min_degree) degrees.push_back(degree);
  }
  return degrees;
}

GroupRoom room_of_group(const ScatterInstance& instance, GroupForm form) {
  GroupRoom room{.capacity = of_degree(tokens_per_device(instance, form), form.degree),
                 .sequence_tokens = sequence_tokens(instance, form),
                 .most_tokens = of_degree(instance.rules.max_tokens_per_rank, form.degree)};
  if (const Tokens row = row_multiple(instance, form); row > 1) {
    room.capacity -= room.capacity % row;
    if (room.most_tokens < kMaxExact) room.most_tokens -= room.most_tokens % row;
  }
  room.longest =
      std::min(std::max<Tokens>(room.capacity - room.sequence_tokens, 0), room.most_tokens);
  if (instance.padding) room.longest -= room.longest % sequence_multiple(instance, form);
  if (!instance.rules.packed) {
    room.capacity = room.most_tokens;
    room.sequence_tokens = 0;
  }
  if (room.sequence_tokens > 0) return room;
  room.capacity = std::min(room.capacity, room.most_tokens);
  room.most_tokens = kMaxExact;
  return room;
}

Tokens group_capacity(const ScatterInstance& instance, GroupForm form) {
  const GroupRoom room = room_of_group(instance, form);
  return instance.rules.packed ? room.longest : room.capacity;
}

Tokens longest_in_group(const ScatterInstance& instance, GroupForm form) {
  return room_of_group(instance, form).longest;
}

GroupForm largest_form(const ScatterInstance& instance) {
  GroupForm largest;
  Tokens longest = -1;
  for (const GroupForm form : group_forms(instance)) {
    const Tokens own = longest_in_group(instance, form);
    if (own < longest || (own == longest && form.degree == largest.degree)) continue;
    longest = own;
    largest = form;
  }
  return largest;
}

std::optional<ScatterInstance> without_offload(const ScatterInstance& instance) {
  if (!instance.model.offload) return std::nullopt;
  ScatterInstance plain = instance;
  plain.model.offload.reset();
  if (!unplaceable_sequences(plain).empty()) return std::nullopt;
  return plain;
}

std::vector<std::int64_t> unplaceable_sequences(const ScatterInstance& instance) {
  const Tokens largest = longest_in_group(instance, largest_form(instance));
  const std::vector<Tokens> padded = padded_lengths(instance);
  std::vector<std::int64_t> ids;
  for (std::size_t id = 0; id < padded.size(); ++id) {
    if (padded[id] > largest) ids.push_back(static_cast<std::int64_t>(id));
  }
  return ids;
}

}  // namespace stowage

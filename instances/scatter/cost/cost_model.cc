#include "instances/scatter/cost/cost_model.h"

#include <algorithm>

#include "instances/scatter/table/device_pools.h"

namespace stowage {
namespace {

// The factors on the work and the volumes of a group of the form.
struct Factors {
  double quadratic = 1;
  double linear = 1;
  double exchange = 1;
};

Factors factors_of(const ScatterInstance& instance, GroupForm form) {
  const std::vector<Recomputation>& choices = instance.model.recomputation;
  if (choices.empty()) return {};
  const Recomputation& own = choices[static_cast<std::size_t>(form.recomputation)];
  return {own.quadratic_factor, own.linear_factor, own.exchange_factor};
}

// Returns `each` times the pairs of tokens that attention reads, on one device.
Ms attention_ms(const ScatterCost& cost, Ms each, Tokens length) {
  const auto s = static_cast<double>(round_up(length, cost.tile_tokens));
  const Ms all = each * s * s;
  const double outside = s - static_cast<double>(cost.window.tokens);
  if (cost.window.share == 0 || outside <= 0) return all;
  return all - cost.window.share * (each * outside * outside);
}

// Returns the speed of the slowest device of a group, relative to the cost.
double slowest_speed(const Cluster& cluster, GroupForm form) {
  if (cluster.kinds.empty()) return 1;
  const auto place = group_place(cluster, form.degree, form.place);
  return place ? place->speed : 1;
}

struct Link {
  double mib_per_ms = 0;
  Ms latency = 0;  // of a message
};

Link inside(const Exchange& exchange) {
  return {exchange.inside_mib_per_ms, exchange.inside_latency_ms};
}
Link across(const Exchange& exchange) {
  return {exchange.across_mib_per_ms, exchange.across_latency_ms};
}

// Returns the slowest link between two devices of a group.
Link slowest_link(const ScatterInstance& instance, int degree) {
  const Exchange& exchange = *instance.cost.exchange;
  return may_cross_nodes(instance.cluster, degree) ? across(exchange) : inside(exchange);
}

// Returns the time of `mib` over the link; 0 for 0 MiB, also without a bandwidth.
Ms sending_ms(Mib mib, const Link& link) { return mib > 0 ? mib / link.mib_per_ms : 0; }

// Returns the load of a sequence whose attention is cut into `rounds`, each of which sends
// `round_ms`.
Load ring_load(Ms work, Ms attention, int rounds, Ms round_ms) {
  return {work, work + (rounds - 1) * (round_ms - attention / rounds)};
}

// Returns the load if compute may hide a share of an exchange of `sent` ms, or be hidden by it.
Load overlapped(Ms work, Ms sent, double overlap) {
  return {work + (1 - overlap) * sent, (1 - overlap) * work + sent};
}

// Returns the load of a sequence in a packed row, or of tokens between sequences, which have no
// attention.
Load packed_load(const ScatterInstance& instance, Tokens length, GroupForm form,
                 bool attends = true) {
  const ScatterCost& cost = instance.cost;
  const int degree = form.degree;
  const auto s = static_cast<double>(length);
  const Factors factors = factors_of(instance, form);
  const double speed = slowest_speed(instance.cluster, form);
  const Ms attention =
      attends ? attention_ms(cost, factors.quadratic * cost.quadratic_ms, length) / speed : 0;
  Ms ms = (attention + factors.linear * cost.linear_ms * s / speed) / degree +
          (attends ? cost.sequence_fixed_ms : 0);
  if (cost.split_ms > 0) {
    ms += factors.quadratic * cost.split_ms * s / speed * (degree - 1) / degree;
  }
  if (!cost.exchange) {
    ms += all_to_all_ms(instance, length, form);
    return {ms, ms};
  }
  const Exchange& exchange = *cost.exchange;
  const Link link = slowest_link(instance, degree);
  const double share = s / degree;  // tokens on a device
  const Mib keys = factors.exchange * exchange.keys_values_mib_per_token * share;
  switch (form.exchange) {
    case ExchangeKind::none:
      break;
    case ExchangeKind::all_to_all:
      return overlapped(ms, all_to_all_ms(instance, length, form), exchange.overlap);
    case ExchangeKind::all_gather:
      return overlapped(ms, sending_ms(keys * (degree - 1), link), exchange.overlap);
    case ExchangeKind::ring:
      return ring_load(ms, attention / degree, degree, sending_ms(keys, link));
    case ExchangeKind::two_level: {
      const int node = instance.cluster.devices_per_node;
      const Mib queries = factors.exchange * all_to_all_volume(exchange, node) * share;
      ms += sending_ms(queries * (node - 1) / node, inside(exchange));
      return ring_load(ms, attention / degree, degree / node, sending_ms(keys, across(exchange)));
    }
  }
  return {ms, ms};
}

// Returns fixed_ms and the latencies, paid once per group or once per sequence.
Ms overhead_ms(const ScatterInstance& instance, GroupForm form) {
  const ScatterCost& cost = instance.cost;
  if (!cost.table.empty()) return cost.table.at(form.degree).ms.front();
  if (!cost.exchange) {
    const auto& latency = cost.all_to_all.latency_ms;
    const auto found = latency.find(form.degree);
    return cost.fixed_ms + (found == latency.end() ? 0 : found->second);
  }
  const Exchange& exchange = *cost.exchange;
  const Ms message = slowest_link(instance, form.degree).latency;
  switch (form.exchange) {
    case ExchangeKind::none:
      break;
    case ExchangeKind::all_to_all:
    case ExchangeKind::all_gather:
      return cost.fixed_ms + message;
    case ExchangeKind::ring:
      return cost.fixed_ms + (form.degree - 1) * message;
    case ExchangeKind::two_level: {
      const int nodes = form.degree / instance.cluster.devices_per_node;
      return cost.fixed_ms + inside(exchange).latency + (nodes - 1) * across(exchange).latency;
    }
  }
  return cost.fixed_ms;
}

}  // namespace

Ms all_to_all_ms(const ScatterInstance& instance, Tokens tokens, GroupForm form) {
  const ScatterCost& cost = instance.cost;
  const int degree = form.degree;
  if (degree == 1) return 0;
  const Factors factors = factors_of(instance, form);
  const auto s = static_cast<double>(tokens);
  if (!cost.exchange) {
    if (!(cost.all_to_all.mib_per_token > 0)) return 0;
    return factors.exchange * cost.all_to_all.mib_per_token * s /
           (degree * cost.all_to_all.mib_per_ms.at(degree));
  }
  if (form.exchange != ExchangeKind::all_to_all) return 0;
  const Mib queries = factors.exchange * all_to_all_volume(*cost.exchange, degree) * (s / degree);
  return sending_ms(queries * (degree - 1) / degree, slowest_link(instance, degree));
}

Load sequence_load(const ScatterInstance& instance, Tokens length, GroupForm form) {
  if (instance.padding) length = padded_length(instance, length, form);
  const auto tokens = static_cast<double>(length);
  const double beyond = instance.model.offload ? tokens : 0;
  if (!instance.cost.table.empty()) return {tokens, tokens * tokens, beyond};
  Load load = packed_load(instance, length, form);
  load.beyond = beyond;
  if (instance.rules.packed) return load;
  const Ms alone = load.time() + overhead_ms(instance, form);
  return {alone, alone};
}

Load row_padding_load(const ScatterInstance& instance, Tokens tokens, GroupForm form) {
  const Tokens padding = round_up(tokens, row_multiple(instance, form)) - tokens;
  if (padding == 0) return {};
  const auto more = static_cast<double>(padding);
  const double beyond = instance.model.offload ? more : 0;
  if (!instance.cost.table.empty()) return {more, 0, beyond};
  Load load = packed_load(instance, padding, form, false);
  load.beyond = beyond;
  return load;
}

Load empty_load(const ScatterInstance& instance, GroupForm form) {
  const bool offloads = instance.model.offload.has_value();
  const double held = offloads ? double(form.degree) * double(resident_tokens(instance, form)) : 0;
  if (!instance.cost.table.empty()) return {0, 0, -held};
  const Ms overhead = group_overhead_ms(instance, form);
  return {overhead, overhead, -held};
}

Ms group_ms(const ScatterInstance& instance, GroupForm form, const Load& load) {
  const auto& table = instance.cost.table;
  const Ms work =
      table.empty() ? load.time() : table.at(form.degree).at(load.compute, load.transfer);
  if (!(load.beyond > 0)) return work;
  const Mib mib = load.beyond * token_mib(instance, form) / form.degree;
  return work + offload_stall_ms(*instance.model.offload, work, mib);
}

Ms row_without_copies_ms(const ScatterInstance& instance, std::span<const std::int64_t> ids,
                         GroupForm form) {
  Load load = empty_load(instance, form);
  Tokens tokens = 0;
  for (const std::int64_t id : ids) {
    const Tokens length =
        padded_length(instance, instance.lengths[static_cast<std::size_t>(id)], form);
    load += sequence_load(instance, length, form);
    tokens += length;
  }
  load += row_padding_load(instance, tokens, form);
  load.beyond = 0;
  return group_ms(instance, form, load);
}

Ms sequence_ms(const ScatterInstance& instance, Tokens length, GroupForm form) {
  Load load = sequence_load(instance, length, form);
  if (instance.cost.table.empty()) return load.time();
  load.beyond = 0;
  return group_ms(instance, form, load) - group_overhead_ms(instance, form);
}

Ms group_overhead_ms(const ScatterInstance& instance, GroupForm form) {
  return instance.rules.packed ? overhead_ms(instance, form) : 0;
}

}  // namespace stowage

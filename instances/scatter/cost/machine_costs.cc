#include "instances/scatter/cost/machine_costs.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "instances/scatter/table/group_form.h"

namespace stowage {
namespace {

constexpr double kMibBytes = 1 << 20;
constexpr double kFlopsPerMs = 1e9;    // of a TFLOP/s
constexpr int kDevicesPerNode = 8;     // of all machines
constexpr Tokens kLogitsChunk = 1024;  // assumed
constexpr double kExposedShare = 0.2;  // of ZeRO-3's exchange, assumed
constexpr int kMessagesPerLayer = 4;   // of a layer's attention, forward and backward
// Of version 1 of the formulas, assumed.
constexpr Ms kInsideMessageMs = 0.02;
constexpr Ms kAcrossMessageMs = 0.05;
// Of version 2. No published table has the latency between nodes: it is assumed to be above the one
// inside by as much as in version 1.
constexpr Ms kMoreAcrossMs = 0.03;
constexpr double kSplitTokens = 640;  // instances/data/published/attention.csv

// Rounds to four digits: the assumptions are less precise than that.
double four_digits(double value) {
  if (!(value > 0)) return value;
  const double scale = std::pow(10.0, 3 - std::floor(std::log10(value)));
  return std::round(value * scale) / scale;
}

double as_double(std::int64_t number) { return static_cast<double>(number); }

}  // namespace

ModelMemory machine_memory(const TransformerShape& shape, int devices) {
  const double h = shape.hidden;
  const double attention = 8 * h + 4.0 * shape.query_width() + 4.0 * shape.key_value_width();
  double feed_forward = (shape.gated ? 6.0 : 4.0) * shape.feed_forward;
  if (shape.experts > 0) feed_forward = (feed_forward + 4 * h) * shape.active_experts;
  return {.states_mib = four_digits(16 * as_double(parameters(shape)) / devices / kMibBytes),
          .activation_mib_per_token =
              four_digits((attention + feed_forward) * shape.layers / kMibBytes),
          .logits_mib_per_token = four_digits(8.0 * shape.vocabulary / kMibBytes),
          .logits_chunk_tokens = kLogitsChunk,
          .keys_values_mib_per_token = four_digits(4.0 * shape.key_value_width() / kMibBytes)};
}

ScatterCost machine_cost(const TransformerShape& shape, const Machine& machine, int devices,
                         std::int64_t formulas) {
  const double layers = shape.layers;
  const double products = as_double(active_layer_parameters(shape)) * layers +
                          static_cast<double>(shape.hidden) * shape.vocabulary;
  const double q = shape.query_width();
  const double k = shape.key_value_width();
  // A ring over whole nodes uses the network cards of all devices of a node.
  const double link =
      devices > kDevicesPerNode
          ? std::min(machine.inside_mib_per_ms(), kDevicesPerNode * machine.across_mib_per_ms())
          : machine.inside_mib_per_ms();
  const double shared = 6 * as_double(parameters(shape)) * (1 - 1.0 / devices) / kMibBytes;
  ScatterCost cost;
  cost.quadratic_ms = four_digits(7 * q * layers / (machine.quadratic_tflops() * kFlopsPerMs));
  cost.linear_ms = four_digits(6 * products / (machine.linear_tflops() * kFlopsPerMs));
  cost.fixed_ms = four_digits(kExposedShare * shared / link);
  cost.exchange =
      Exchange{.all_to_all_mib_per_token = four_digits(8 * (q + k) * layers / kMibBytes),
               .keys_values_mib_per_token = four_digits(12 * k * layers / kMibBytes),
               .inside_mib_per_ms = four_digits(machine.inside_mib_per_ms()),
               .across_mib_per_ms = four_digits(machine.across_mib_per_ms()),
               .inside_latency_ms = kMessagesPerLayer * layers * kInsideMessageMs,
               .across_latency_ms = kMessagesPerLayer * layers * kAcrossMessageMs};
  if (formulas > 1) {
    Exchange& exchange = *cost.exchange;
    const double messages = kMessagesPerLayer * layers;
    exchange.inside_mib_per_ms = four_digits(machine.collective_mib_per_ms());
    exchange.inside_latency_ms = messages * machine.message_ms;
    exchange.across_latency_ms = messages * (machine.message_ms + kMoreAcrossMs);
    cost.split_ms = four_digits(kSplitTokens * cost.quadratic_ms);
  }
  cost.exchange->inside_latency_ms = four_digits(cost.exchange->inside_latency_ms);
  cost.exchange->across_latency_ms = four_digits(cost.exchange->across_latency_ms);
  return cost;
}

void set_volumes_by_devices(ScatterInstance& instance, const TransformerShape& shape) {
  Exchange& exchange = *instance.cost.exchange;
  const int heads = shape.kv_heads > 0 ? shape.kv_heads : shape.heads;
  const auto volume = [&](int devices) {
    const double copies = std::max(1.0, static_cast<double>(devices) / heads);
    return four_digits(8 * (shape.query_width() + shape.key_value_width() * copies) * shape.layers /
                       kMibBytes);
  };
  std::map<int, Mib> volumes;
  bool repeated = false;
  for (const auto& [degree, kinds] : exchange.kinds) {
    for (const ExchangeKind kind : kinds) {
      const bool two_level = kind == ExchangeKind::two_level;
      if (!two_level && kind != ExchangeKind::all_to_all) continue;
      const int devices = two_level ? instance.cluster.devices_per_node : degree;
      volumes[devices] = volume(devices);
      repeated = repeated || devices > heads;
    }
  }
  if (!repeated) return;
  exchange.all_to_all_mib_per_token = 0;
  exchange.all_to_all_by_devices = std::move(volumes);
}

void set_exchange_kinds(ScatterInstance& instance, int heads) {
  const Cluster& cluster = instance.cluster;
  for (const int degree : cluster.degrees) {
    if (degree == 1) continue;
    ExchangeKind kind = ExchangeKind::ring;
    if (heads % degree == 0) {
      kind = ExchangeKind::all_to_all;
    } else if (heads % cluster.devices_per_node == 0 &&
               can_exchange(cluster, {degree, ExchangeKind::two_level})) {
      kind = ExchangeKind::two_level;
    }
    instance.cost.exchange->kinds[degree] = {kind};
  }
}

}  // namespace stowage

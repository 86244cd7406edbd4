// The memory of stages beside states, of instances/strategy/cost/stage_costs.h.
#include <algorithm>

#include "instances/strategy/cost/stage_costs.h"

namespace stowage {
namespace {

constexpr double kBytesOfMib = 1 << 20;

}  // namespace

// Returns the bytes that layers keep of a token beside activation_bytes(), on a device that has all
// of it. M3
double StageCosts::kept_bytes(const StrategyLayer& layers, StrategyRecompute recompute) const {
  if (recompute == StrategyRecompute::full) return 0;
  const StrategyModel& model = table_->instance().model;
  const double repeated = model.sequence_parallel ? 1 : static_cast<double>(layout_.tp);
  const double sent = 2 * repeated * static_cast<double>(model.hidden) * layers.copies;
  const bool less = recompute == StrategyRecompute::selective && model.flash_attention;
  if (detail() == nullptr) return sent + (less ? layers.kept_selective : layers.kept);
  return detail()->activation_factor * (sent + (less ? layers.held_selective : layers.held));
}

double StageCosts::in_flight(std::int64_t stage, std::int64_t layers) const {
  const auto p = static_cast<double>(class_.pp);
  const auto v = static_cast<double>(class_.v);
  const auto m = static_cast<double>(class_.micro_batches);
  const auto s = static_cast<double>(stage);
  if (class_.v == 1) return std::min(m, p - s);
  const double chunks = std::min(m * v, 2 * (p - s - 1) + (v - 1) * p + 1);
  const bool end = stage == 0 || stage == class_.pp - 1;
  if (layers % class_.v == 0 || !end || (layers + 1) % class_.v != 0) return chunks / v;
  // The chunk with the embedding or the head has one layer less. When the most layers are in
  // flight, the first chunk has 2 p - 1 passes among them, or m if there are fewer. The last chunk
  // has none, or one if no micro-batches follow the first p.
  const double of_last = class_.micro_batches == class_.pp ? 1 : 0;
  const double short_ones = stage == 0 ? std::min(m, 2 * p - 1) : of_last;
  const auto its = static_cast<double>(layers);
  return (chunks * (its + 1) / v - short_ones) / its;
}

double StageCosts::activation_bytes(const Row& row, StrategyRecompute recompute) const {
  const StrategyModel& model = table_->instance().model;
  const auto hidden = static_cast<double>(model.hidden);
  const auto queries = static_cast<double>(model.queries_width());
  const auto tp = static_cast<double>(layout_.tp);
  const double repeated = model.sequence_parallel ? 1 : tp;  // each of tp ranks has all of it
  const double factor = detail() == nullptr ? 1 : detail()->activation_factor;
  if (recompute == StrategyRecompute::full) return factor * 2 * repeated * hidden * row.tokens;
  const bool selective = recompute == StrategyRecompute::selective;
  const bool less = selective && model.flash_attention;
  // Version 1 counts the feed-forward part here, four times as wide as the model.
  const double feed_forward = detail() == nullptr ? (less ? 8 : 16) * hidden : 0;
  const double numbers = 10 * repeated * hidden + (less ? 6 : 8) * queries + feed_forward;
  const bool square = !selective && !model.flash_attention;
  return factor * numbers * row.tokens +
         (square ? 5 * static_cast<double>(model.heads) * row.squares : 0);
}

Mib StageCosts::logits_mib(std::int64_t chunks, const Row& row) const {
  return (detail() == nullptr ? 8 : 10) * static_cast<double>(table_->instance().model.vocabulary) *
         row.tokens / static_cast<double>(chunks) / kBytesOfMib;
}

// Returns a layer's activations, or those of one part of the row with the keys and values of the
// whole row.
double StageCosts::again_bytes(const Span& span, const Row& row, std::int64_t chunks) const {
  const double whole = activation_bytes(row, StrategyRecompute::none) +
                       span.widest[static_cast<std::size_t>(StrategyRecompute::none)] * row.tokens;
  if (chunks == 1) return whole;
  const auto kv_width = static_cast<double>(table_->instance().model.key_value_width());
  return whole / static_cast<double>(chunks) + 4 * kv_width * row.tokens;
}

// Returns the keys and values that a ring receives beside a rank's own. M4
double StageCosts::received_bytes(const Row& row) const {
  if (!in_ring()) return 0;
  return 4 * static_cast<double>(table_->instance().model.key_value_width()) * row.tokens;
}

Mib StageCosts::micro_batch_mib(std::int64_t stage, std::int64_t first, std::int64_t layers,
                                const StageChoice& choice) const {
  return row_bytes(span(stage, first, layers), heaviest_, choice.recompute) / kBytesOfMib;
}

double StageCosts::row_bytes(const Span& its, const Row& row, StrategyRecompute recompute) const {
  return its.layers * activation_bytes(row, recompute) +
         kept_bytes(its.sum, recompute) * row.tokens;
}

StageCosts::OnHost StageCosts::on_host(const Span& its, double in_flight, const StageChoice& choice,
                                       Mib without) const {
  const StrategyCluster& cluster = table_->instance().cluster;
  const Mib all = in_flight * row_bytes(its, heaviest_, choice.recompute) / kBytesOfMib;
  const Mib excess = without - cluster.memory_mib;
  if (!(excess > 0) || !(all > 0)) return {.share = 0, .memory_mib = without};
  const double layer = activation_bytes(heaviest_, choice.recompute) +
                       its.widest[static_cast<std::size_t>(choice.recompute)] * heaviest_.tokens;
  Mib most = std::max(0.0, all - 2 * layer / kBytesOfMib);
  if (cluster.offload->host_mib) most = std::min(most, *cluster.offload->host_mib);
  if (excess > most) return {.share = most / all, .memory_mib = without - most};
  return {.share = excess / all, .memory_mib = cluster.memory_mib};
}

}  // namespace stowage

// What stages need of memory beside states: the third part of table.h.
#include <algorithm>

#include "instances/strategy/table.h"

namespace stowage {
namespace {

constexpr double kBytesOfMib = 1 << 20;

}  // namespace

// What layers keep of a token beside activation_bytes(), on a device that has all of it. M3
double StageCosts::kept_bytes(const StrategyLayer& layers, StrategyRecompute recompute) const {
  if (recompute == StrategyRecompute::full) return 0;
  const StrategyModel& model = table_->instance().model;
  const double repeated = model.sequence_parallel ? 1 : static_cast<double>(layout_.tp);
  const double sent = 2 * repeated * static_cast<double>(model.hidden) * layers.copies;
  const bool less = recompute == StrategyRecompute::selective && model.flash_attention;
  return sent + (less ? layers.kept_selective : layers.kept);
}

double StageCosts::in_flight(std::int64_t stage) const {
  const auto p = static_cast<double>(class_.pp);
  const auto v = static_cast<double>(class_.v);
  const auto m = static_cast<double>(class_.micro_batches);
  const auto s = static_cast<double>(stage);
  if (class_.v == 1) return std::min(m, p - s);
  return std::min(m * v, 2 * (p - s - 1) + (v - 1) * p + 1) / v;
}

double StageCosts::activation_bytes(const Row& row, StrategyRecompute recompute) const {
  const StrategyModel& model = table_->instance().model;
  const auto hidden = static_cast<double>(model.hidden);
  const auto tp = static_cast<double>(layout_.tp);
  const double repeated = model.sequence_parallel ? 1 : tp;  // tp ranks each have all of it
  if (recompute == StrategyRecompute::full) return 2 * repeated * hidden * row.tokens;
  const double square = 5 * static_cast<double>(model.heads) * row.squares;
  const bool selective = recompute == StrategyRecompute::selective;
  if (model.flash_attention) {
    return (10 * repeated + (selective ? 14 : 24)) * hidden * row.tokens;
  }
  return (10 * repeated + 24) * hidden * row.tokens + (selective ? 0 : square);
}

Mib StageCosts::logits_mib(std::int64_t chunks, const Row& row) const {
  return 8 * static_cast<double>(table_->instance().model.vocabulary) * row.tokens /
         static_cast<double>(chunks) / kBytesOfMib;
}

// A layer's activations, or those of one part of the row and the keys and values of all of it.
double StageCosts::again_bytes(const Span& span, const Row& row, std::int64_t chunks) const {
  const double whole = activation_bytes(row, StrategyRecompute::none) + span.widest * row.tokens;
  if (chunks == 1) return whole;
  const auto kv_width = static_cast<double>(table_->instance().model.key_value_width());
  return whole / static_cast<double>(chunks) + 4 * kv_width * row.tokens;
}

Mib StageCosts::micro_batch_mib(std::int64_t stage, std::int64_t first, std::int64_t layers,
                                const StageChoice& choice) const {
  const Span its = span(stage, first, layers);
  return (its.layers * activation_bytes(heaviest_, choice.recompute) +
          kept_bytes(its.sum, choice.recompute) * heaviest_.tokens) /
         kBytesOfMib;
}

}  // namespace stowage

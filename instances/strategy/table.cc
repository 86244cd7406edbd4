#include "instances/strategy/table.h"

#include <algorithm>
#include <array>
#include <utility>

namespace stowage {
namespace {

constexpr double kMibBytes = 1 << 20;
constexpr double kSelectiveShare = 0.04;  // of the products, computed again with FlashAttention
constexpr double kFlops = 1e9;            // in a ms, of a TFLOP/s

std::vector<std::int64_t> sorted(std::vector<std::int64_t> values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

std::vector<std::int64_t> divisors(std::int64_t number) {
  std::vector<std::int64_t> found;
  for (std::int64_t d = 1; d * d <= number; ++d) {
    if (number % d != 0) continue;
    found.push_back(d);
    found.push_back(number / d);
  }
  return sorted(std::move(found));
}

// Two projections of the width and two of keys and values, and the feed-forward.
double layer_parameters(const StrategyModel& model, const StrategyBlock& block) {
  const auto hidden = static_cast<double>(model.hidden);
  return hidden * (2 * hidden + 2 * static_cast<double>(model.key_value_width()) +
                   (block.gated ? 3 : 2) * static_cast<double>(block.ffn));
}

}  // namespace

StrategyTable::StrategyTable(const StrategyInstance& instance) : instance_(instance) {
  for (const StrategyBlock& block : instance.model.blocks) {
    parameters_.insert(parameters_.end(), at(block.count), layer_parameters(instance.model, block));
  }
  before_ = {0};
  for (const double each : parameters_) {
    equal_layers_ = equal_layers_ && each == parameters_.front();
    before_.push_back(before_.back() + each);
  }
  for (const Tokens length : instance.lengths) {
    tokens_ += length;
    squares_ += static_cast<double>(length) * static_cast<double>(length);
    longest_ = std::max(longest_, length);
  }
  const StrategyOptions& options = instance.options;
  tp_ = sorted(options.tp);
  cp_ = sorted(options.cp);
  logit_chunks_ = sorted(options.logit_chunks);
  std::vector<StrategyRecompute> recomputes = options.recompute;
  std::sort(recomputes.begin(), recomputes.end());
  recomputes.erase(std::unique(recomputes.begin(), recomputes.end()), recomputes.end());
  for (const std::int64_t zero : sorted(options.zero)) {
    for (const StrategyRecompute recompute : recomputes) choices_.push_back({zero, recompute});
  }
  const std::int64_t sequences = std::ssize(instance.lengths);
  std::vector<std::int64_t> counts = divisors(sequences);
  if (!options.micro_batches.empty()) {
    std::vector<std::int64_t> wanted = sorted(options.micro_batches);
    std::erase_if(wanted, [&](std::int64_t m) { return sequences % m != 0; });
    counts = std::move(wanted);
  }
  for (const std::int64_t pp : sorted(options.pp)) {
    if (instance.cluster.devices() % pp != 0) continue;
    for (const std::int64_t v : sorted(options.v)) {
      if (pp * v > layers() || layers() % v != 0 || (v > 1 && pp == 1) ||
          (v > 1 && !equal_layers_ && layers() % (pp * v) != 0)) {
        continue;
      }
      for (const std::int64_t m : counts) {
        const StrategyClass its{pp, v, m};
        if (v > 1 && m % pp != 0) continue;
        if (!layouts(its).empty()) classes_.push_back(its);
      }
    }
  }
}

std::vector<StrategyLayout> StrategyTable::layouts(const StrategyClass& its) const {
  std::vector<StrategyLayout> found;
  const std::int64_t devices = instance_.cluster.devices() / its.pp;
  const std::int64_t sequences = std::ssize(instance_.lengths);
  for (const std::int64_t tp : tp_) {
    for (const std::int64_t cp : cp_) {
      const std::int64_t ranks = tp * cp;  // at most 10^12
      if (devices % ranks != 0 || instance_.model.heads % ranks != 0) continue;
      const std::int64_t dp = devices / ranks;
      if (sequences % (its.micro_batches * dp) == 0) found.push_back({tp, cp, dp});
    }
  }
  return found;
}

StageCosts::StageCosts(const StrategyTable& table, const StrategyClass& its,
                       const StrategyLayout& layout)
    : table_(&table),
      class_(its),
      layout_(layout),
      group_(static_cast<double>(layout.dp * layout.cp)) {
  const auto ranks = static_cast<double>(layout.tp * layout.cp);
  const double rows = static_cast<double>(its.micro_batches) * static_cast<double>(layout.dp);
  const auto longest = static_cast<double>(table.longest());
  mean_ = {static_cast<double>(table.tokens()) / rows / ranks, table.squares() / rows / ranks};
  longest_ = {longest / ranks, longest * longest / ranks};
  heaviest_ = {std::max(mean_.tokens, longest_.tokens), std::max(mean_.squares, longest_.squares)};
}

StageCosts::Span StageCosts::span(std::int64_t stage, std::int64_t first,
                                  std::int64_t layers) const {
  Span span{.layers = static_cast<double>(layers)};
  if (table_->equal_layers()) {
    span.largest = table_->parameters(0);
    span.parameters = span.layers * span.largest;
    return span;
  }
  const auto add = [&](std::int64_t from, std::int64_t count) {
    span.parameters += table_->parameters_before(from + count) - table_->parameters_before(from);
    for (std::int64_t layer = from; layer < from + count; ++layer) {
      span.largest = std::max(span.largest, table_->parameters(layer));
    }
  };
  if (class_.v == 1) {
    add(first, layers);
    return span;
  }
  const std::int64_t chunk = layers / class_.v;
  for (std::int64_t c = 0; c < class_.v; ++c) add((c * class_.pp + stage) * chunk, chunk);
  return span;
}

// Embedding and head; tied ones are there once only where one stage has both.
double StageCosts::extra_parameters(std::int64_t stage) const {
  const StrategyModel& model = table_->instance().model;
  const double matrix = static_cast<double>(model.vocabulary) * static_cast<double>(model.hidden);
  const bool first = stage == 0;
  const bool last = stage == class_.pp - 1;
  if (first && last && model.tied) return matrix;
  return matrix * ((first ? 1 : 0) + (last ? 1 : 0));
}

// Of the slowest link among so many neighbouring devices. T5
double StageCosts::bandwidth(std::int64_t ranks) const {
  const StrategyCluster& cluster = table_->instance().cluster;
  const bool inside = ranks <= cluster.devices_per_node && cluster.devices_per_node % ranks == 0;
  return (inside ? cluster.mib_per_ms.inside : cluster.mib_per_ms.across) * kMibBytes;
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
         static_cast<double>(chunks) / kMibBytes;
}

Ms StageCosts::stage_ms(std::int64_t stage, const Span& span, const Row& row,
                        const StageChoice& choice, double parameters) const {
  const StrategyInstance& instance = table_->instance();
  const StrategyModel& model = instance.model;
  const auto hidden = static_cast<double>(model.hidden);
  const auto tp = static_cast<double>(layout_.tp);
  const auto cp = static_cast<double>(layout_.cp);
  const double width = hidden / tp;
  const double rate = instance.cost.linear_tflops * kFlops;
  const double lin =
      2 * span.parameters * row.tokens / (rate * width / (width + instance.cost.half_width));
  const double att = span.layers * (model.causal ? 2 : 4) * hidden * row.squares /
                     (instance.cost.attention_tflops * kFlops);
  const double gathered = span.layers * 8 * hidden * row.tokens * (tp - 1) / bandwidth(layout_.tp);
  const double turned = span.layers * 4 * (hidden + static_cast<double>(model.key_value_width())) *
                        row.tokens * (cp - 1) / cp / bandwidth(layout_.tp * layout_.cp);
  double ms = 3 * lin + (model.flash_attention ? 3.5 : 3) * att +
              gathered * (model.sequence_parallel ? 2.5 : 2) + 2 * turned;
  if (choice.recompute == StrategyRecompute::full) ms += lin + att + gathered + turned;
  if (choice.recompute == StrategyRecompute::selective) {
    ms += model.flash_attention ? kSelectiveShare * lin : att;
  }
  if (stage == class_.pp - 1) {
    ms += 6 * static_cast<double>(model.vocabulary) * hidden * row.tokens / rate;
  }
  if (class_.pp > 1) {
    ms += 4 * static_cast<double>(class_.v) * hidden * row.tokens /
          bandwidth(instance.cluster.devices());
  }
  if (choice.zero < 3) return ms;
  const double gather =
      6 * (group_ - 1) / group_ * parameters / tp / bandwidth(layout_.tp * layout_.cp * layout_.dp);
  return ms + std::max(0.0, gather - instance.cost.overlap * ms);
}

StageCost StageCosts::of(std::int64_t stage, std::int64_t first, std::int64_t layers,
                         const StageChoice& choice) const {
  return cost_of(stage, first, layers, choice, mean_, longest_, heaviest_);
}

StageCost StageCosts::with_row(std::int64_t stage, std::int64_t first, std::int64_t layers,
                               const StageChoice& choice, const Row& row) const {
  return cost_of(stage, first, layers, choice, row, row, row);
}

StageCost StageCosts::cost_of(std::int64_t stage, std::int64_t first, std::int64_t layers,
                              const StageChoice& choice, const Row& mean, const Row& longest,
                              const Row& heaviest) const {
  const Span its = span(stage, first, layers);
  const auto tp = static_cast<double>(layout_.tp);
  const double parameters = its.parameters + extra_parameters(stage);
  StageCost cost{.time_ms = stage_ms(stage, its, mean, choice, parameters),
                 .longest_ms = stage_ms(stage, its, longest, choice, parameters)};
  if (choice.zero < 3) {
    cost.exchange_ms = 4 * (group_ - 1) / group_ * parameters / tp /
                       bandwidth(layout_.tp * layout_.cp * layout_.dp);
  }
  const std::array<double, 4> state_bytes = {18, 6 + 12 / group_, 2 + 16 / group_, 18 / group_};
  double bytes = state_bytes[at(choice.zero)] * parameters / tp;
  bytes += in_flight(stage) * its.layers * activation_bytes(heaviest, choice.recompute);
  if (choice.recompute == StrategyRecompute::full) {
    bytes += activation_bytes(heaviest, StrategyRecompute::none);
  }
  if (choice.zero == 3) bytes += 4 * its.largest / tp;
  cost.memory_mib = bytes / kMibBytes;
  if (stage == class_.pp - 1)
    cost.memory_mib += logits_mib(table_->logit_chunks().back(), heaviest);
  return cost;
}

Ms StageCosts::step(std::span<const StageCost> stages) const {
  const auto v = static_cast<double>(class_.v);
  double sum = 0;
  double slowest = 0;
  double longest = 0;
  double left = 0;
  for (const StageCost& stage : stages) {
    sum += stage.time_ms;
    slowest = std::max(slowest, stage.time_ms);
    longest += stage.longest_ms;
    left = std::max(left, exposed(stage));
  }
  const double steady = sum / v + (static_cast<double>(class_.micro_batches) - 1 / v) * slowest;
  return std::max(steady, longest) + left;
}

}  // namespace stowage

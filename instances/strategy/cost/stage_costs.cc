#include "instances/strategy/cost/stage_costs.h"

#include <algorithm>
#include <array>

#include "instances/strategy/planning_table.h"

namespace stowage {
namespace {

constexpr double kMibBytes = 1 << 20;
constexpr double kAreaRounding = 1e-9;  // a sum may differ by this with the order of its terms

// Returns the bytes per parameter whose states `devices` devices share, with a gradient of
// `gradient` bytes. M1
double state_bytes(std::int64_t zero, double devices, double gradient) {
  const std::array<double, 4> bytes = {14 + gradient, 2 + gradient + 12 / devices,
                                       2 + (12 + gradient) / devices, (14 + gradient) / devices};
  return bytes[at(zero)];
}

using MeasuredRun = std::array<const StrategyMeasured*, kStrategyRecomputes.size()>;

std::vector<MeasuredRun> measured_runs(const StrategyTable& table, const StrategyLayout& layout) {
  const std::vector<StrategyMeasured>& all = table.instance().cost.measured;
  if (all.empty()) return {};
  std::vector<MeasuredRun> runs(table.runs().size(), MeasuredRun{});
  for (std::size_t k = 0; k < runs.size(); ++k) {
    for (const StrategyMeasured& each : all) {
      if (each.block != table.runs()[k].block || each.tp != layout.tp || each.cp != layout.cp) {
        continue;
      }
      runs[k][static_cast<std::size_t>(each.recompute)] = &each;
    }
  }
  return runs;
}

}  // namespace

StageCosts::StageCosts(const StrategyTable& table, const StrategyClass& its,
                       const StrategyLayout& layout)
    : table_(&table),
      class_(its),
      layout_(layout),
      group_(static_cast<double>(layout.dp * layout.cp)),
      shards_(static_cast<double>(layout.sharding_ranks())),
      expert_shards_(shards_ / static_cast<double>(layout.ep)) {
  const auto ranks = static_cast<double>(layout.tp * layout.cp);
  const double rows = static_cast<double>(its.micro_batches) * static_cast<double>(layout.dp);
  const auto longest = static_cast<double>(table.longest());
  mean_ = {static_cast<double>(table.tokens()) / rows / ranks, table.squares() / rows / ranks};
  longest_ = {longest / ranks, longest * longest / ranks};
  heaviest_ = {std::max(mean_.tokens, longest_.tokens), std::max(mean_.squares, longest_.squares)};
  if (layout.ep == 1) measured_ = measured_runs(table, layout);
}

StageCosts::Span StageCosts::span(std::int64_t stage, std::int64_t first,
                                  std::int64_t layers) const {
  Span span{.layers = static_cast<double>(layers)};
  span.widest.fill(-kInfinity);
  const std::size_t modes = table_->instance().cluster.offload ? span.widest.size() : 1;
  // Layers are added, and never subtracted from larger sums: those of experts may be so large that
  // a difference would lose the other terms.
  const auto add = [&](std::int64_t from, std::int64_t count) {
    for (std::size_t k = 0; k < table_->runs().size(); ++k) {
      const StrategyRun& run = table_->runs()[k];
      const std::int64_t its = std::min(run.end, from + count) - std::max(run.first, from);
      if (its <= 0) continue;
      StrategyLayer all = run.layer;
      all *= static_cast<double>(its);
      span.sum += all;
      if (!measured_.empty()) span.runs.emplace_back(k, static_cast<double>(its));
      span.largest = std::max(
          span.largest, run.layer.shared + run.layer.experts / static_cast<double>(layout_.ep));
      for (std::size_t mode = 0; mode < modes; ++mode) {
        span.widest[mode] = std::max(span.widest[mode],
                                     kept_bytes(run.layer, static_cast<StrategyRecompute>(mode)));
      }
    }
  };
  if (table_->equal_layers()) {  // any of them
    add(0, layers);
    return span;
  }
  if (class_.v == 1) {
    add(first, layers);
    return span;
  }
  const std::int64_t chunk = layers / class_.v;
  for (std::int64_t c = 0; c < class_.v; ++c) add((c * class_.pp + stage) * chunk, chunk);
  return span;
}

// Returns the parameters of embedding and head. Tied ones count once if one stage has both.
double StageCosts::extra_parameters(std::int64_t stage) const {
  const StrategyModel& model = table_->instance().model;
  const double matrix = static_cast<double>(model.vocabulary) * static_cast<double>(model.hidden);
  const bool first = stage == 0;
  const bool last = stage == class_.pp - 1;
  if (first && last && model.tied) return matrix;
  return matrix * ((first ? 1 : 0) + (last ? 1 : 0));
}

StageCosts::Parameters StageCosts::parameters_of(std::int64_t stage, const Span& span) const {
  return {.shared = span.sum.shared + extra_parameters(stage), .experts = span.sum.experts};
}

Ms StageCosts::stage_ms(std::int64_t stage, const Span& span, const Row& row,
                        const StageChoice& choice, const Parameters& parameters) const {
  double ms = layers_ms(span, row, choice);
  if (stage == class_.pp - 1) ms += head_ms(row);
  if (class_.pp > 1) ms += sent_ms(row);
  if (choice.zero < 3) return ms;
  return ms + std::max(0.0, states_ms(6, parameters, span.layers, shards_) -
                                table_->instance().cost.overlap * ms);
}

PassTimes StageCosts::passes(std::int64_t stage, std::int64_t first, std::int64_t layers,
                             const StageChoice& choice) const {
  const Span its = span(stage, first, layers);
  const Parameters parameters = parameters_of(stage, its);
  PassTimes times = layer_passes(its, choice);
  if (stage == class_.pp - 1) {
    times.forward += head_ms(mean_) / 3;
    times.weights += head_ms(mean_) / 3;
  }
  if (class_.pp > 1) times.forward += sent_ms(mean_) / 2;
  times.forward += streamed_ms(its, choice.stream_chunks);
  const Ms all = stage_ms(stage, its, mean_, choice, parameters);
  if (choice.zero == 3) {  // gathered forward and backward, scattered backward
    const Ms without =
        stage_ms(stage, its, mean_, {2, choice.recompute, choice.stream_chunks}, parameters);
    times.forward += (all - without) / 3;
  }
  times.backward = all - times.forward - times.weights;
  if (!table_->instance().cluster.offload) return times;
  const double share = of(stage, first, layers, choice).offload;
  const Waits copies = waits(share, row_bytes(its, mean_, choice.recompute), all);
  times.forward += copies.out;
  times.backward += copies.in;
  return times;
}

StageCost StageCosts::of(std::int64_t stage, std::int64_t first, std::int64_t layers,
                         const StageChoice& choice) const {
  const Span its = span(stage, first, layers);
  StageCost cost = cost_of(stage, its, layers, choice, mean_, longest_, heaviest_);
  if (!table_->instance().cluster.offload) return cost;
  const OnHost host = on_host(its, in_flight(stage, layers), choice, cost.memory_mib);
  cost.offload = host.share;
  cost.memory_mib = host.memory_mib;
  const auto wait = [&](const Row& row, Ms work) {
    const Waits copies = waits(host.share, row_bytes(its, row, choice.recompute), work);
    return copies.out + copies.in;
  };
  cost.time_ms += wait(mean_, cost.time_ms);
  cost.longest_ms += wait(longest_, cost.longest_ms);
  return cost;
}

StageCost StageCosts::with_row(std::int64_t stage, std::int64_t first, std::int64_t layers,
                               const StageChoice& choice, const Row& row) const {
  return cost_of(stage, span(stage, first, layers), layers, choice, row, row, row);
}

StageCost StageCosts::cost_of(std::int64_t stage, const Span& its, std::int64_t layers,
                              const StageChoice& choice, const Row& mean, const Row& longest,
                              const Row& heaviest) const {
  const auto tp = static_cast<double>(layout_.tp);
  const Parameters parameters = parameters_of(stage, its);
  StageCost cost{.time_ms = stage_ms(stage, its, mean, choice, parameters),
                 .longest_ms = stage_ms(stage, its, longest, choice, parameters)};
  cost.exchange_ms = exchange_ms(choice.zero, parameters, its.layers);
  cost.update_ms = update_ms(choice.zero, parameters);
  const double gradient = detail() == nullptr ? 4 : static_cast<double>(detail()->gradient_bytes);
  double bytes = state_bytes(choice.zero, shards_, gradient) * parameters.shared / tp;
  bytes += state_bytes(choice.zero, expert_shards_, gradient) * parameters.experts / tp /
           static_cast<double>(layout_.ep);
  const double held = in_flight(stage, layers);
  bytes += held * its.layers * activation_bytes(heaviest, choice.recompute);
  bytes += held * kept_bytes(its.sum, choice.recompute) * heaviest.tokens;
  if (choice.recompute == StrategyRecompute::full) {
    bytes += again_bytes(its, heaviest, choice.stream_chunks);
  }
  bytes += received_bytes(heaviest);
  if (choice.zero == 3) bytes += 4 * its.largest / tp;
  cost.memory_mib = bytes / kMibBytes + (detail() == nullptr ? 0 : detail()->fixed_mib);
  if (stage == class_.pp - 1)
    cost.memory_mib += logits_mib(table_->logit_chunks().back(), heaviest);
  return cost;
}

// The times of the stages sum to at least the time of all layers in one stage: with level 3, a
// smaller stage may hide less of its exchange. Measured runs may each have another quickest choice.
Ms StageCosts::area() const {
  if (class_.v > 1 && !table_->equal_layers()) return 0;
  Ms least = kInfinity;
  if (measured_.empty()) {
    const Span all = span(class_.pp - 1, 0, table_->layers());
    const Parameters parameters = parameters_of(class_.pp - 1, all);
    for (const StageChoice& choice : choices()) {  // without waits for copies
      least = std::min(least, stage_ms(class_.pp - 1, all, mean_, choice, parameters));
    }
  } else {
    least = head_ms(mean_) + (class_.pp > 1 ? sent_ms(mean_) : 0);
    for (const auto& [run, layers] : span(0, 0, table_->layers()).runs) {
      Span its = span_of(run, layers);
      its.runs = {{run, layers}};
      Ms quickest = kInfinity;
      for (const StageChoice& choice : choices()) {
        quickest = std::min(quickest, layers_ms(its, mean_, choice));
      }
      least += quickest;
    }
  }
  const auto p = static_cast<double>(class_.pp);
  const double rounds =
      static_cast<double>(class_.micro_batches) + (p - 1) / static_cast<double>(class_.v);
  return least * rounds / p * (1 - kAreaRounding);
}

bool StageCosts::may_have(std::int64_t stage, std::int64_t layers) const {
  if (layers < 1) return false;
  if (class_.v == 1) return true;
  const bool whole = layers % class_.v == 0;
  if (!table_->equal_layers()) return whole && layers * class_.pp == table_->layers();
  const bool end = stage == 0 || stage == class_.pp - 1;
  return whole || (end && table_->has_vocabulary() && (layers + 1) % class_.v == 0);
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

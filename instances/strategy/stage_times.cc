// What layers take: the fourth part of table.h.
#include "instances/strategy/measured.h"
#include "instances/strategy/table.h"

namespace stowage {
namespace {

constexpr double kSelectiveShare = 0.04;  // of the products, computed again with FlashAttention
constexpr double kFlopsPerMs = 1e9;       // of a TFLOP/s

}  // namespace

// Products of few tokens are slow as those of little width are: each part after the first takes
// what so many tokens more would take, in each of the passes.
Ms StageCosts::streamed_ms(const Span& span, std::int64_t chunks) const {
  if (chunks == 1) return 0;
  const double more = static_cast<double>(chunks - 1) * table_->instance().cost.half_width;
  return forward_of(span, {.tokens = more / static_cast<double>(layout_.tp)}).lin;
}

StageCosts::Parts StageCosts::forward_of(const Span& span, const Row& row) const {
  const StrategyInstance& instance = table_->instance();
  const StrategyModel& model = instance.model;
  const auto hidden = static_cast<double>(model.hidden);
  const auto tp = static_cast<double>(layout_.tp);
  const auto cp = static_cast<double>(layout_.cp);
  const double width = hidden / tp;
  const double rate = instance.cost.linear_tflops * kFlopsPerMs;
  return {
      .lin = 2 * span.sum.active * row.tokens / (rate * width / (width + instance.cost.half_width)),
      .att = span.layers * (model.causal ? 2 : 4) * hidden * row.squares /
             (instance.cost.attention_tflops * kFlopsPerMs),
      .gathered = span.sum.parts / 2 * 8 * hidden * row.tokens * (tp - 1) / bandwidth(layout_.tp),
      .turned = span.layers * 4 * (hidden + static_cast<double>(model.key_value_width())) *
                row.tokens * (cp - 1) / cp / bandwidth(layout_.tp * layout_.cp),
      .dispatched = span.sum.copies * 4 * hidden * row.tokens * dispatch_ms()};
}

Ms StageCosts::head_ms(const Row& row) const {
  const StrategyInstance& instance = table_->instance();
  return 6 * static_cast<double>(instance.model.vocabulary) *
         static_cast<double>(instance.model.hidden) * row.tokens /
         (instance.cost.linear_tflops * kFlopsPerMs);
}

Ms StageCosts::sent_ms(const Row& row) const {
  const StrategyInstance& instance = table_->instance();
  return 4 * static_cast<double>(class_.v) * static_cast<double>(instance.model.hidden) *
         row.tokens / bandwidth(instance.cluster.devices());
}

// T1 to T6, T11 and T13 by the rates.
Ms StageCosts::derived_ms(const Span& span, const Row& row, const StageChoice& choice) const {
  const StrategyModel& model = table_->instance().model;
  const Parts part = forward_of(span, row);
  double ms = 3 * part.lin + (model.flash_attention ? 3.5 : 3) * part.att +
              part.gathered * (model.sequence_parallel ? 2.5 : 2) + 2 * part.turned +
              2 * part.dispatched;
  if (choice.recompute == StrategyRecompute::full) {
    ms += part.lin + part.att + part.gathered + part.turned + part.dispatched;
    ms += 4 * streamed_ms(span, choice.stream_chunks);
  }
  if (choice.recompute == StrategyRecompute::selective) {
    ms += model.flash_attention ? kSelectiveShare * part.lin : part.att;
  }
  return ms;
}

StageCosts::Span StageCosts::span_of(std::size_t run, double layers) const {
  Span span{.layers = layers, .sum = table_->runs()[run].layer};
  span.sum *= layers;
  return span;
}

// The same with T14 where it was measured.
Ms StageCosts::layers_ms(const Span& span, const Row& row, const StageChoice& choice) const {
  if (measured_.empty()) return derived_ms(span, row, choice);
  const auto ranks = static_cast<double>(layout_.tp * layout_.cp);
  Ms ms = 0;
  for (const auto& [run, layers] : span.runs) {
    const Span its = span_of(run, layers);
    if (const StrategyMeasured* entry = measured(run, choice.recompute)) {
      ms += layers * measured_ms(*entry, row.tokens * ranks, row.squares * ranks) +
            4 * streamed_ms(its, choice.stream_chunks);
    } else {
      ms += derived_ms(its, row, choice);
    }
  }
  return ms;
}

// Forward and weights. What was measured is split as what follows from the rates.
PassTimes StageCosts::layer_passes(const Span& span, const StageChoice& choice) const {
  const Parts part = forward_of(span, mean_);
  PassTimes times{.forward = part.lin + part.att + part.gathered + part.turned + part.dispatched,
                  .weights = part.lin};
  if (measured_.empty()) return times;
  times = {};
  const StageChoice whole{choice.zero, choice.recompute};  // T13 comes on top
  for (const auto& [run, layers] : span.runs) {
    const Span its = span_of(run, layers);
    const Parts own = forward_of(its, mean_);
    Span measured_span = its;
    measured_span.runs = {{run, layers}};
    const Ms derived = derived_ms(its, mean_, whole);
    const double share = derived > 0 ? layers_ms(measured_span, mean_, whole) / derived : 1;
    times.forward += share * (own.lin + own.att + own.gathered + own.turned + own.dispatched);
    times.weights += share * own.lin;
  }
  return times;
}

}  // namespace stowage

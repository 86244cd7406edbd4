// The times of layers, of instances/strategy/cost/stage_costs.h.
#include <algorithm>

#include "instances/strategy/cost/measured.h"
#include "instances/strategy/cost/stage_costs.h"

namespace stowage {
namespace {

constexpr double kSelectiveShare = 0.04;  // of the products, computed again with FlashAttention
constexpr double kFlopsPerMs = 1e9;       // of a TFLOP/s
constexpr double kBytesInMib = 1 << 20;
constexpr double kSelectivePass = 0.3;  // of T15, computed again
constexpr double kForward = 1.0 / 3;    // of a stage's time, while activations leave
constexpr double kHeadBytes = 12;       // of a logit, read and written in both passes

}  // namespace

// Products of few tokens are as slow as those of little width. In each pass, every part after the
// first costs as much as `half_width` / tp more tokens. In version 2 it also costs the fixed time
// of a pass.
Ms StageCosts::streamed_ms(const Span& span, std::int64_t chunks) const {
  if (chunks == 1) return 0;
  const auto parts = static_cast<double>(chunks - 1);
  const double more = parts * table_->instance().cost.half_width;
  const Ms lin = forward_of(span, {.tokens = more / static_cast<double>(layout_.tp)}).lin;
  return detail() == nullptr ? lin : lin + parts * span.layers * detail()->pass_ms;
}

// Functions between products read and write memory. If tp ranks do not share them, each rank runs
// all of them. T15
Ms StageCosts::between_ms(const Row& row) const {
  if (detail() == nullptr) return 0;
  const StrategyModel& model = table_->instance().model;
  const double repeated = model.sequence_parallel ? 1 : (static_cast<double>(layout_.tp) + 2) / 3;
  return detail()->pass_bytes * static_cast<double>(model.hidden) * row.tokens * repeated /
             (detail()->memory_mib_per_ms * kBytesInMib) +
         detail()->pass_ms;
}

StageCosts::Parts StageCosts::forward_of(const Span& span, const Row& row) const {
  const StrategyInstance& instance = table_->instance();
  const StrategyModel& model = instance.model;
  const auto hidden = static_cast<double>(model.hidden);
  const auto queries = static_cast<double>(model.queries_width());
  const auto tp = static_cast<double>(layout_.tp);
  const double width = hidden / tp;
  const double rate = instance.cost.linear_tflops * kFlopsPerMs;
  double active = span.sum.active;
  Ms att = span.layers * (model.causal ? 2 : 4) * queries * row.squares /
           (instance.cost.attention_tflops * kFlopsPerMs);
  if (detail() != nullptr) {
    active += (detail()->expert_slowdown - 1) * span.sum.picked;
    if (!model.flash_attention) {  // two products of the whole square, which is stored between them
      att = span.layers * row.squares *
            (4 * queries / rate + detail()->square_bytes * static_cast<double>(model.heads) /
                                      (detail()->memory_mib_per_ms * kBytesInMib));
    }
  }
  const auto pairs = static_cast<double>(model.key_value_width());
  Ms turned = 0;
  Ms turned_back = 0;
  if (in_ring()) {  // keys and values, and backward their gradients as well
    const double sent = span.layers * 4 * pairs * row.tokens;
    turned = ring_ms(sent, att);
    turned_back = ring_ms(2 * sent, (model.flash_attention ? 2.5 : 2) * att);
  } else {
    turned = turned_ms(span.layers * 4 * (queries + pairs) * row.tokens);
    turned_back = turned;
  }
  return {.lin = 2 * active * row.tokens / (rate * width / (width + instance.cost.half_width)),
          .att = att,
          .gathered =
              span.sum.parts / 2 * 8 * hidden * row.tokens * (tp - 1) / bandwidth(layout_.tp, 1),
          .turned = turned,
          .turned_back = turned_back,
          .dispatched = span.sum.copies * 4 * hidden * row.tokens * dispatch_ms(),
          .between = span.layers * between_ms(row)};
}

Ms StageCosts::head_ms(const Row& row) const {
  const StrategyInstance& instance = table_->instance();
  const auto vocabulary = static_cast<double>(instance.model.vocabulary);
  const Ms products = 6 * vocabulary * static_cast<double>(instance.model.hidden) * row.tokens /
                      (instance.cost.linear_tflops * kFlopsPerMs);
  if (detail() == nullptr) return products;
  return products +
         kHeadBytes * vocabulary * row.tokens / (detail()->memory_mib_per_ms * kBytesInMib);
}

Ms StageCosts::sent_ms(const Row& row) const {
  const StrategyInstance& instance = table_->instance();
  return 4 * static_cast<double>(class_.v) * static_cast<double>(instance.model.hidden) *
         row.tokens / link();
}

// T1 to T6, T11 and T13 by the rates.
Ms StageCosts::derived_ms(const Span& span, const Row& row, const StageChoice& choice) const {
  const StrategyModel& model = table_->instance().model;
  const Parts part = forward_of(span, row);
  double ms = 3 * part.lin + (model.flash_attention ? 3.5 : 3) * part.att +
              part.gathered * (model.sequence_parallel ? 2.5 : 2) +
              (part.turned + part.turned_back) + 2 * part.dispatched + 3 * part.between;
  if (choice.recompute == StrategyRecompute::full) {
    ms += part.sum();
    ms += 4 * streamed_ms(span, choice.stream_chunks);
  }
  if (choice.recompute == StrategyRecompute::selective) {
    ms += kSelectivePass * part.between;
    if (!model.flash_attention) ms += part.att;
    if (model.flash_attention && detail() == nullptr) ms += kSelectiveShare * part.lin;
  }
  return ms;
}

StageCosts::Span StageCosts::span_of(std::size_t run, double layers) const {
  Span span{.layers = layers, .sum = table_->runs()[run].layer};
  span.sum *= layers;
  return span;
}

// Returns the same, with T14 where the layers were measured.
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

// Returns the forward and weights parts. Measured times are split in the ratio of the derived ones.
PassTimes StageCosts::layer_passes(const Span& span, const StageChoice& choice) const {
  const Parts part = forward_of(span, mean_);
  PassTimes times{.forward = part.sum(), .weights = part.lin};
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
    times.forward += share * own.sum();
    times.weights += share * own.lin;
  }
  return times;
}

StageCosts::Waits StageCosts::waits(double share, double bytes, Ms work) const {
  if (!(share > 0)) return {};
  const StrategyOffload& offload = *table_->instance().cluster.offload;
  const Mib moved = share * bytes / kBytesInMib;
  return {.out = std::max(0.0, moved / offload.out_mib_per_ms - kForward * work),
          .in = std::max(0.0, moved / offload.in_mib_per_ms - (1 - kForward) * work)};
}

}  // namespace stowage

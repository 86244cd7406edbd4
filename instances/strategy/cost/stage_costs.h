// The costs of stages in one class and layout of a strategy.
//
//   const StrategyTable table(instance);
//   for (const StrategyClass& its : table.classes()) {
//     for (const StrategyLayout& layout : table.layouts(its)) {
//       const StageCosts costs(table, its, layout);
//       const StageCost first = costs.of(0, 0, 16, {.zero = 1});   // stage 0 with 16 layers
//     }
//   }
//
// Formulas are numbered in docs/reference/strategy.md. The verifier has its own.
//
// Thread safety: does not change after its construction.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "instances/numeric/numbers.h"
#include "instances/pipeline/passes.h"
#include "instances/strategy/cost/layer.h"
#include "instances/strategy/instance.h"
#include "instances/strategy/planning_table.h"

namespace stowage {

struct StageCost {
  Ms time_ms = 0;      // T9
  Ms longest_ms = 0;   // T9
  Ms exchange_ms = 0;  // T8
  Mib memory_mib = 0;  // M6
  Ms update_ms = 0;    // T16
  double offload = 0;  // M7
};

// The share of a device of the sequences of a micro-batch: x of their tokens, and y of the sum of
// their squares.
struct StrategyRow {
  double tokens = 0;
  double squares = 0;
};

// The costs of stages in one class and layout, with the most logit chunks of the options: more
// chunks need less memory and no time.
class StageCosts {
 public:
  // `table` must outlive this object.
  StageCosts(const StrategyTable& table, const StrategyClass& its, const StrategyLayout& layout);

  const StrategyTable& table() const { return *table_; }
  const StrategyClass& of_class() const { return class_; }
  const StrategyLayout& layout() const { return layout_; }
  std::span<const StageChoice> choices() const { return table_->choices(class_); }

  // Returns whether the stage may have `layers` layers. If v > 1, v must divide them. If layers are
  // equal, v may instead divide them plus the embedding in the first stage, or plus the head in the
  // last. If layers differ, all stages must have the same number.
  bool may_have(std::int64_t stage, std::int64_t layers) const;

  // Returns the cost of stage `stage` with `layers` layers from `first` on. Requires
  // may_have(stage, layers). Chunks of unequal layers lie where the pipeline has them, and `first`
  // is ignored.
  StageCost of(std::int64_t stage, std::int64_t first, std::int64_t layers,
               const StageChoice& choice) const;

  // Returns the cost of a stage whose rows are all `row` and stay on the device. Both times are the
  // time of `row`. Memory is that of the rows in flight, with the most logit chunks of the options.
  StageCost with_row(std::int64_t stage, std::int64_t first, std::int64_t layers,
                     const StageChoice& choice, const StrategyRow& row) const;

  // Returns the time of a mean micro-batch (T9) split into passes. `weights` are the products of
  // the weights' gradients, a third of all products; attention has no weights. `forward` is the
  // forward part, and all the rest is `backward`.
  PassTimes passes(std::int64_t stage, std::int64_t first, std::int64_t layers,
                   const StageChoice& choice) const;

  // Returns the activations that a stage holds of the heaviest micro-batch, in MiB. M2, M3
  Mib micro_batch_mib(std::int64_t stage, std::int64_t first, std::int64_t layers,
                      const StageChoice& choice) const;

  // Returns the part of an exchange that compute does not hide (T8), plus the optimizer's update
  // (T16).
  Ms exposed(const StageCost& cost) const {
    return std::max(0.0,
                    cost.exchange_ms - table_->instance().cost.overlap_of_step() * cost.time_ms) +
           cost.update_ms;
  }

  // Returns a bound on the time of the stages of this class and layout, for any memory: all layers
  // with the quickest choice, shared evenly. 0 if layers that differ are dealt in chunks. SB1
  Ms area() const;

  // Returns the time of the step of these stages. T10
  Ms step(std::span<const StageCost> stages) const;

  // Returns the memory of the logits with `chunks` chunks: of the heaviest row, or of `row`. M5
  Mib logits_mib(std::int64_t chunks) const { return logits_mib(chunks, heaviest_); }
  Mib logits_mib(std::int64_t chunks, const StrategyRow& row) const;

  // Returns the micro-batches whose activations a stage with `layers` layers holds at once. M2
  double in_flight(std::int64_t stage, std::int64_t layers) const;

 private:
  using Row = StrategyRow;
  struct Span {
    double layers = 0;
    StrategyLayer sum;
    double largest = 0;  // parameters of a layer that level 3 gathers on tp devices
    // The largest kept_bytes() of a layer, by recomputation; without offload of the first alone.
    std::array<double, kStrategyRecomputes.size()> widest = {};
    std::vector<std::pair<std::size_t, double>> runs;  // layers of each, if some are measured
  };
  // The parameters of a stage: those whose states dp cp ranks share, and those of experts.
  struct Parameters {
    double shared = 0;
    double experts = 0;
  };
  StageCost cost_of(std::int64_t stage, const Span& its, std::int64_t layers,
                    const StageChoice& choice, const Row& mean, const Row& longest,
                    const Row& heaviest) const;
  struct OnHost {
    double share = 0;    // of the activations of a stage
    Mib memory_mib = 0;  // of the device, with the other activations
  };
  // Returns the least share that must be on the host where the stage needs `without` MiB with all
  // activations on the device, or the largest share that may leave if that is less. M7
  OnHost on_host(const Span& its, double in_flight, const StageChoice& choice, Mib without) const;
  // Returns the bytes that the layers keep of a row of one micro-batch. M2, M3
  double row_bytes(const Span& its, const Row& row, StrategyRecompute recompute) const;
  struct Waits {
    Ms out = 0;  // of the forward pass
    Ms in = 0;   // of the backward pass
  };
  // Returns the waits for copies of a row that has `bytes` of activations and takes `work` ms
  // without copies, if `share` of its activations leaves. T18
  Waits waits(double share, double bytes, Ms work) const;
  Span span(std::int64_t stage, std::int64_t first, std::int64_t layers) const;
  double extra_parameters(std::int64_t stage) const;
  // Returns the bytes per ms of a ring of `ranks` ranks, each `stride` devices behind the one
  // before. T5, T8
  double bandwidth(std::int64_t ranks, std::int64_t stride) const;
  std::int64_t ranks_in_node(std::int64_t ranks, std::int64_t stride) const;
  double link() const;               // between stages, bytes per ms. T7
  Ms turned_ms(double bytes) const;  // T6
  // Returns the time in ms of a ring's exchanges beyond the `attention` ms that hide them. Each
  // rank sends `bytes` bytes to its neighbour between two blocks. T6
  Ms ring_ms(double bytes, Ms attention) const;
  bool in_ring() const { return layout_.cp_exchange == StrategyExchange::ring; }
  double dispatch_ms() const;
  double kept_bytes(const StrategyLayer& layers, StrategyRecompute recompute) const;
  Ms states_ms(double bytes, const Parameters& parameters, double layers, double shards) const;
  Ms replicas_ms(const Parameters& parameters, double layers) const;
  // Returns the time of the exchange of states once a step. T8
  Ms exchange_ms(std::int64_t zero, const Parameters& parameters, double layers) const;
  Ms update_ms(std::int64_t zero, const Parameters& parameters) const;  // T16
  Ms between_ms(const Row& row) const;                                  // T15, of one layer
  // Times of the layers of a stage for one micro-batch, forward: T1, T2, T5, T6, T11, T15.
  struct Parts {
    Ms lin = 0;
    Ms att = 0;
    Ms gathered = 0;
    Ms turned = 0;
    Ms turned_back = 0;  // T6 of the backward pass, which is not in sum()
    Ms dispatched = 0;
    Ms between = 0;  // T15

    Ms sum() const { return lin + att + gathered + turned + dispatched + between; }
  };
  Parts forward_of(const Span& span, const Row& row) const;
  Parameters parameters_of(std::int64_t stage, const Span& span) const;
  Ms head_ms(const Row& row) const;  // forward and backward. T7
  Ms sent_ms(const Row& row) const;  // T7
  const StrategyDetail* detail() const {
    const auto& detail = table_->instance().cost.detail;
    return detail ? &*detail : nullptr;
  }
  Ms stage_ms(std::int64_t stage, const Span& span, const Row& row, const StageChoice& choice,
              const Parameters& parameters) const;
  double activation_bytes(const Row& row, StrategyRecompute recompute) const;
  Ms derived_ms(const Span& span, const Row& row, const StageChoice& choice) const;
  Ms layers_ms(const Span& span, const Row& row, const StageChoice& choice) const;
  const StrategyMeasured* measured(std::size_t run, StrategyRecompute recompute) const {
    return measured_.empty() ? nullptr : measured_[run][static_cast<std::size_t>(recompute)];
  }
  PassTimes layer_passes(const Span& span, const StageChoice& choice) const;
  Span span_of(std::size_t run, double layers) const;
  Ms streamed_ms(const Span& span, std::int64_t chunks) const;  // T13, one of the four passes
  double again_bytes(const Span& span, const Row& row, std::int64_t chunks) const;  // M4
  double received_bytes(const Row& row) const;

  const StrategyTable* table_;
  StrategyClass class_;
  StrategyLayout layout_;
  double group_;          // devices that have the same parameters: dp cp
  double shards_;         // parts into which ZeRO divides states
  double expert_shards_;  // parts into which ZeRO divides the states of experts
  Row mean_;
  Row longest_;
  Row heaviest_;
  // The measured entry of each run and recomputation; empty if nothing is measured. T14
  std::vector<std::array<const StrategyMeasured*, kStrategyRecomputes.size()>> measured_;
};

}  // namespace stowage

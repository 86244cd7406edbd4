// Converts a parallel configuration to the scatter instances of its steps. A strategy plan leaves
// open which devices compute which sequences of a step, and that is the scatter problem.
//
//   const StrategyTable table(instance);
//   const Handover handover(table, plan);
//   const ScatterInstance step = handover.step("step-0", lengths);     // check(step) is empty
//   const PricedStep price = handover.price(step, scatter_plan);
//
// A rank of the scatter instance is tp devices, which compute together, and a stage has dp cp
// ranks. Groups replace cp. Their degrees are those of options.cp that divide the ranks, such that
// tp times the degree divides the heads, and each is a multiple of the next smaller one. Times are
// T1 to T7 of docs/reference/strategy.md in the slowest stage. Memory is M1 to M5 in the stage
// with room for the fewest tokens.
//
// Two facts that a scatter instance cannot express are approximated, and priced by T9 and T10
// afterwards. ZeRO level 3 gathers parameters for each micro-batch, and `fixed_ms` contains the
// part that a mean micro-batch does not hide. A pipeline with v chunks has (p - 1) / v bubbles,
// rounded up here.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "instances/scatter/instance.h"
#include "instances/scatter/plan.h"
#include "instances/strategy/cost/stage_costs.h"
#include "instances/strategy/plan.h"
#include "instances/strategy/planning_table.h"

namespace stowage {

// The time and memory of a planned step in its configuration.
struct PricedStep {
  Ms step_ms = 0;      // T10 of the planned micro-batches
  Ms bubble_ms = 0;    // part for filling and draining the pipeline
  Ms exchange_ms = 0;  // part that would vanish without exchanges
  Ms idle_ms = 0;      // part in which a mean rank waits for the longest group of its micro-batch
  double memory_share = 0;  // largest share of a device's memory
};

class Handover {
 public:
  // Requires a plan that the verifier accepts, of an instance with FlashAttention: without it,
  // attention stores a square of the length, for which scatter instances have no coefficient. The
  // memory per token is multiplied by `activation_factor`. `table` must outlive this.
  Handover(const StrategyTable& table, const StrategyPlan& plan, double activation_factor = 1);
  Handover(const Handover&) = delete;
  Handover& operator=(const Handover&) = delete;

  ScatterInstance step(std::string name, std::vector<Tokens> lengths) const;

  // Requires a verified plan of a step made by step().
  PricedStep price(const ScatterInstance& step, const ScatterPlan& plan) const;

  const StrategyPlan& plan() const { return plan_; }
  double activation_factor() const { return activation_factor_; }

  // Return the stage with room for the fewest tokens, and the number of micro-batches that it holds
  // at once.
  std::int64_t tightest_stage() const { return tightest_; }
  double in_flight() const {
    return costs_.at(1).in_flight(tightest_, plan_.stages[at(tightest_)].layers);
  }
  Mib room_mib() const;  // memory beside the states

 private:
  StageCost of_stage(const StageCosts& costs, std::int64_t stage, const StrategyRow& row) const;
  void set_memory();
  void set_times(const std::vector<int>& degrees);
  void set_ring(const std::vector<int>& degrees);
  StageCosts costs_of(const StrategyTable& table, std::int64_t degree) const;

  const StrategyTable& table_;
  StrategyInstance unhindered_;  // the instance with exchanges that take no time
  std::optional<StrategyTable> unhindered_table_;
  StrategyPlan plan_;
  double activation_factor_;
  std::vector<std::int64_t> first_;  // first layer of each stage
  std::map<int, StageCosts> costs_;  // by degree; always contains degree 1
  std::map<int, StageCosts> unhindered_costs_;
  std::int64_t tightest_ = 0;
  ScatterInstance pattern_;  // the instance of a step without lengths
};

}  // namespace stowage

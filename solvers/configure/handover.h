// From a parallel configuration to the steps that are planned in it: what a strategy plan leaves
// open is how the sequences of each step are dealt to devices, and that is a scatter instance.
//
//   const StrategyTable table(instance);
//   const Handover handover(table, plan);
//   const ScatterInstance step = handover.step("step-0", lengths);     // check(step) is empty
//   const PricedStep price = handover.price(step, scatter_plan);
//
// A rank of the scatter instance is tp devices, which compute as one, and there are dp cp of them
// in a stage. Its groups take the place of cp: their degrees are those of options.cp that divide
// the ranks, with tp times the degree dividing the heads, and each a multiple of the next smaller
// one. Times are T1 to T7 of instances/strategy/README.md in the slowest stage, memory is M1 to M5
// in the stage that has room for the fewest tokens.
//
// What a scatter instance cannot say is approximated, and priced by T9 and T10 afterwards: level 3
// of ZeRO gathers parameters for each micro-batch, of which `fixed_ms` has what a mean micro-batch
// does not hide; with v chunks a pipeline has (p - 1) / v bubbles, rounded up here.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "instances/scatter/instance.h"
#include "instances/scatter/plan.h"
#include "instances/strategy/plan.h"
#include "instances/strategy/table.h"

namespace stowage {

// What a planned step takes in its configuration, and where the time goes.
struct PricedStep {
  Ms step_ms = 0;           // T10, of the micro-batches as they were planned
  Ms bubble_ms = 0;         // of it: filling and draining the pipeline
  Ms exchange_ms = 0;       // of it: what no exchange would save
  Ms idle_ms = 0;           // of it: a mean rank waits for the longest group of its micro-batch
  double memory_share = 0;  // of a device's memory, at its most
};

class Handover {
 public:
  // Requires a plan that the verifier accepts, of an instance with FlashAttention: the square that
  // attention stores without it is none of a scatter instance's coefficients. What a token needs is
  // multiplied by `activation_factor`. `table` must outlive this.
  Handover(const StrategyTable& table, const StrategyPlan& plan, double activation_factor = 1);
  Handover(const Handover&) = delete;
  Handover& operator=(const Handover&) = delete;

  ScatterInstance step(std::string name, std::vector<Tokens> lengths) const;

  // Requires a verified plan of a step that this made.
  PricedStep price(const ScatterInstance& step, const ScatterPlan& plan) const;

  const StrategyPlan& plan() const { return plan_; }
  double activation_factor() const { return activation_factor_; }

  // The stage that has room for the fewest tokens, and the micro-batches that it holds at once.
  std::int64_t tightest_stage() const { return tightest_; }
  double in_flight() const {
    return costs_.at(1).in_flight(tightest_, plan_.stages[at(tightest_)].layers);
  }
  Mib room_mib() const;  // what its states leave

 private:
  StageCost of_stage(const StageCosts& costs, std::int64_t stage, const StrategyRow& row) const;
  void set_memory();
  void set_times(const std::vector<int>& degrees);
  StageCosts costs_of(const StrategyTable& table, std::int64_t degree) const;

  const StrategyTable& table_;
  StrategyInstance unhindered_;  // the same with exchanges that take no time
  std::optional<StrategyTable> unhindered_table_;
  StrategyPlan plan_;
  double activation_factor_;
  std::vector<std::int64_t> first_;  // layer of each stage
  std::map<int, StageCosts> costs_;  // by degree; of 1 always
  std::map<int, StageCosts> unhindered_costs_;
  std::int64_t tightest_ = 0;
  ScatterInstance pattern_;  // without lengths
};

}  // namespace stowage

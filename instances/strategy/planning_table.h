// The lookup table of strategy planners: the classes and layouts that the options of an instance
// allow. The cost of a stage in them is in cost/stage_costs.h.
//
// Thread safety: does not change after its construction.
#pragma once

#include <algorithm>
#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "instances/numeric/numbers.h"
#include "instances/pipeline/passes.h"
#include "instances/strategy/cost/layer.h"
#include "instances/strategy/instance.h"
#include "instances/strategy/plan.h"

namespace stowage {

// A choice of stages, chunks and micro-batches, within which layers and other choices may change.
struct StrategyClass {
  std::int64_t pp = 1;
  std::int64_t v = 1;
  std::int64_t micro_batches = 1;

  auto operator<=>(const StrategyClass&) const = default;
};

struct StrategyLayout {
  std::int64_t tp = 1;
  std::int64_t cp = 1;
  std::int64_t dp = 1;
  std::int64_t ep = 1;
  std::int64_t shard = 0;  // ranks of dp cp among which ZeRO divides states; 0 means all of them
  StrategyExchange cp_exchange = StrategyExchange::all_to_all;

  bool operator==(const StrategyLayout&) const = default;

  // Returns the number of ranks among which ZeRO divides the states of a stage.
  std::int64_t sharding_ranks() const { return shard == 0 ? dp * cp : shard; }
};

inline StrategyLayout layout_of(const StrategyPlan& plan) {
  return {plan.tp, plan.cp, plan.dp, plan.ep, plan.shard, plan.cp_exchange};
}

struct StageChoice {
  std::int64_t zero = 0;
  StrategyRecompute recompute = StrategyRecompute::none;
  std::int64_t stream_chunks = 1;  // above 1 only with full recomputation
};

inline StageChoice choice_of(const StrategyStage& stage) {
  return {stage.zero, stage.recompute, stage.stream_chunks};
}

// Equal layers that follow one another: from `first` on, before `end`.
struct StrategyRun {
  std::int64_t first = 0;
  std::int64_t end = 0;
  StrategyLayer layer;
  std::int64_t block = 0;  // the first of its blocks
};

class StrategyTable {
 public:
  // Requires a valid instance, as the reader returns it, which outlives the table.
  explicit StrategyTable(const StrategyInstance& instance);

  const StrategyInstance& instance() const { return instance_; }
  // The classes that have a layout, by stages, chunks, micro-batches.
  const std::vector<StrategyClass>& classes() const { return classes_; }
  // Returns the layouts of a class, by tp, then by cp, then by its exchange, then by ep, then by
  // shard. `its` may be any class.
  std::vector<StrategyLayout> layouts(const StrategyClass& its) const;
  // Returns whether tp cp ranks may share the heads of attention.
  bool may_share_heads(std::int64_t tp, std::int64_t cp) const;
  // Returns the exchanges that the options allow for cp ranks, each with tp ranks that share heads.
  std::vector<StrategyExchange> exchanges(std::int64_t tp, std::int64_t cp) const;
  // The choices by ZeRO level, then by recomputation, the least first, then by stream chunks, the
  // fewest first.
  const std::vector<StageChoice>& choices() const { return choices_; }
  // Returns the choices that a class may use, the first ones of all: with two stages or more there
  // is a largest ZeRO level.
  std::span<const StageChoice> choices(const StrategyClass& its) const {
    return std::span(choices_).first(its.pp > 1 ? of_pipelines_ : choices_.size());
  }
  bool may_use(const StrategyClass& its, const StageChoice& choice) const {
    return its.pp == 1 || choice.zero <= instance_.options.pipeline_zero;
  }
  const std::vector<std::int64_t>& logit_chunks() const { return logit_chunks_; }  // ascending

  // All layers in order, in the fewest runs of equal layers.
  const std::vector<StrategyRun>& runs() const { return runs_; }
  std::int64_t layers() const { return runs_.back().end; }
  bool equal_layers() const { return runs_.size() == 1; }
  // Returns whether the model has an embedding and a head, which may count as layers of a chunk.
  bool has_vocabulary() const { return instance_.model.vocabulary > 0; }

  Tokens tokens() const { return tokens_; }
  double squares() const { return squares_; }  // of all lengths, summed
  Tokens longest() const { return longest_; }

 private:
  bool may_share_experts(const StrategyLayout& layout) const;
  // Returns the values of StrategyLayout::shard that the options allow, ascending.
  std::vector<std::int64_t> shards_of(const StrategyLayout& layout) const;
  // Returns whether layers can be dealt to the chunks of `pp` stages, as may_have() allows.
  bool may_deal(std::int64_t pp, std::int64_t v) const;

  const StrategyInstance& instance_;
  std::vector<StrategyRun> runs_;
  Tokens tokens_ = 0;
  double squares_ = 0;
  Tokens longest_ = 0;
  std::vector<StrategyClass> classes_;
  std::vector<std::int64_t> tp_;
  std::vector<std::int64_t> cp_;
  std::vector<std::int64_t> ep_;
  std::vector<std::int64_t> shard_;
  std::int64_t common_experts_ = 0;  // greatest common divisor of expert counts; 0 without experts
  std::vector<StageChoice> choices_;
  std::size_t of_pipelines_ = 0;  // number of choices that two stages or more may use
  std::vector<std::int64_t> logit_chunks_;
};

}  // namespace stowage

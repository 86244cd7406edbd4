#include "solvers/configure/rank_layout.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "instances/json/errors.h"
#include "instances/layout/trace.h"
#include "instances/numbers.h"

namespace stowage {
namespace {

// What lives where the backward passes of layers begin: kept from the forward passes.
Bytes kept_bytes(const LayoutInstance& layout) {
  std::int64_t turn = std::numeric_limits<std::int64_t>::max();
  for (const std::vector<std::int64_t>& occurrence : layout.layers.back().occurrences) {
    for (const std::int64_t buffer : occurrence) {
      turn = std::min(turn, layout.buffers[at(buffer)].lower);
    }
  }
  Bytes kept = 0;
  for (const Buffer& buffer : layout.buffers) {
    if (buffer.lower < turn && turn < buffer.upper) kept += buffer.size;
  }
  return kept;
}

}  // namespace

Result<RankLayout> rank_layout(const StrategyInstance& instance, const Handover& handover,
                               Tokens tokens) {
  const StrategyModel& model = instance.model;
  const StrategyBlock& block = model.blocks.front();
  for (const StrategyBlock& other : model.blocks) {
    if (other.routed()) {
      return InputError{code::kGenerator, "/blocks",
                        "must be without experts for a trace of buffers: what they hold depends on "
                        "the routing"};
    }
    if (other.dense_ffn() == block.dense_ffn() && other.gated == block.gated) continue;
    return InputError{code::kGenerator, "/blocks", "must be alike for a trace of buffers, differ"};
  }
  const StrategyPlan& plan = handover.plan();
  const std::int64_t its = handover.tightest_stage();
  const StrategyStage& stage = plan.stages[at(its)];
  const bool head = its == plan.pp - 1 && model.vocabulary > 0;
  const std::int64_t chunks = head ? std::min<std::int64_t>(plan.logit_chunks, 1024) : 1;
  const TransformerShape shape{.name = "",
                               .layers = static_cast<int>(stage.layers),
                               .hidden = static_cast<int>(model.hidden),
                               .heads = static_cast<int>(model.heads),
                               .feed_forward = static_cast<int>(block.dense_ffn()),
                               .vocabulary = static_cast<int>(model.vocabulary),
                               .gated = block.gated};
  TransformerStep step{.model = instance.name,
                       .tokens = round_up(tokens, plan.tp * chunks),
                       .ranks = static_cast<int>(plan.tp),
                       .layers = static_cast<int>(stage.layers),
                       .whole_step = head,
                       .recompute = stage.recompute == StrategyRecompute::full ? Recompute::full
                                    : stage.recompute == StrategyRecompute::selective
                                        ? Recompute::selective
                                        : Recompute::none,
                       .split = plan.tp > 1 ? SequenceSplit::megatron : SequenceSplit::ulysses,
                       .logit_chunks = static_cast<int>(chunks)};
  // Key heads that do not divide among the ranks count as all of them: too much, never too little.
  const std::int64_t width = model.hidden / model.heads;
  if (width > 0 && model.key_value_width() % width == 0) {
    const std::int64_t key_heads = model.key_value_width() / width;
    if (model.heads % key_heads == 0 && key_heads % plan.tp == 0) {
      step.kv_heads = static_cast<int>(key_heads);
    }
  }
  Result<LayoutInstance> layout = trace_layout(trace_operations(step, shape), 1);
  if (!layout) return layout.errors();
  RankLayout made{.instance = *std::move(layout)};
  const double waiting = std::max(0.0, handover.in_flight() - 1);
  made.waiting_bytes =
      static_cast<Bytes>(std::ceil(waiting * static_cast<double>(kept_bytes(made.instance))));
  return made;
}

}  // namespace stowage

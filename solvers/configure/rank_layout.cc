#include "solvers/configure/rank_layout.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "instances/layout/generate/transformer_trace.h"
#include "instances/numeric/numbers.h"

namespace stowage {
namespace {

// Returns the bytes that the forward passes of layers write and the backward passes read.
Bytes kept_bytes(const TransformerOperations& step, const LayoutInstance& layout) {
  const auto turned = std::ranges::find_if(step.operations, &Operation::backward);
  const std::int64_t turn = turned - step.operations.begin();
  std::int64_t end = turn;  // end of the forward passes; later operations keep no bytes
  while (end > 0 && step.operations[at(end - 1)].layer == Operation::kNoLayer) --end;
  Bytes kept = 0;
  for (const Buffer& buffer : layout.buffers) {
    if (buffer.lower < end && turn < buffer.upper) kept += buffer.size;
  }
  return kept;
}

// Returns the feed-forward parts of the layers of a stage, in order.
std::vector<FeedForward> parts_of(const StrategyModel& model, const StrategyPlan& plan,
                                  std::int64_t stage) {
  std::vector<FeedForward> all;
  for (const StrategyBlock& block : model.blocks) {
    FeedForward part{.width = static_cast<int>(block.dense_ffn()), .gated = block.gated};
    if (block.routed()) {
      part.experts = static_cast<int>(block.experts->count);
      part.top_k = static_cast<int>(block.experts->top_k);
      part.expert_width = static_cast<int>(block.experts->ffn);
    }
    all.insert(all.end(), at(block.count), part);
  }
  std::int64_t before = 0;
  for (std::int64_t s = 0; s < stage; ++s) before += plan.stages[at(s)].layers;
  const bool alike =
      std::ranges::all_of(all, [&](const auto& part) { return part == all.front(); });
  const std::int64_t chunks = alike ? 1 : plan.v;
  const std::int64_t its = plan.stages[at(stage)].layers / chunks;
  std::vector<FeedForward> parts;
  for (std::int64_t c = 0; c < chunks; ++c) {
    // Chunks are dealt to the stages in turn, with equal numbers of layers.
    const std::int64_t first = chunks == 1 ? before : (c * plan.pp + stage) * its;
    parts.insert(parts.end(), all.begin() + first, all.begin() + first + its);
  }
  return parts;
}

}  // namespace

Result<RankLayout> rank_layout(const StrategyInstance& instance, const Handover& handover,
                               Tokens tokens) {
  const StrategyModel& model = instance.model;
  const StrategyPlan& plan = handover.plan();
  const std::int64_t its = handover.tightest_stage();
  const StrategyStage& stage = plan.stages[at(its)];
  const bool head = its == plan.pp - 1 && model.vocabulary > 0;
  const std::int64_t chunks = head ? std::min<std::int64_t>(plan.logit_chunks, 1024) : 1;
  const std::int64_t parts = std::min<std::int64_t>(stage.stream_chunks, 1024);
  const TransformerShape shape{.name = "",
                               .layers = static_cast<int>(stage.layers),
                               .hidden = static_cast<int>(model.hidden),
                               .heads = static_cast<int>(model.heads),
                               .vocabulary = static_cast<int>(model.vocabulary),
                               .head_dim = static_cast<int>(model.queries_width() / model.heads)};
  TransformerStep step{.model = instance.name,
                       .tokens = round_up(tokens, plan.tp * std::lcm(chunks, parts)),
                       .ranks = static_cast<int>(plan.tp),
                       .layers = static_cast<int>(stage.layers),
                       .whole_step = head,
                       .recompute = stage.recompute == StrategyRecompute::full ? Recompute::full
                                    : stage.recompute == StrategyRecompute::selective
                                        ? Recompute::selective
                                        : Recompute::none,
                       .split = plan.tp > 1 ? SequenceSplit::megatron : SequenceSplit::ulysses,
                       .logit_chunks = static_cast<int>(chunks),
                       .stream_chunks = static_cast<int>(parts),
                       .shared_experts = plan.ep > 1};
  // If the key heads do not divide among the ranks, all key heads are counted: an upper bound on
  // the memory.
  const std::int64_t width = model.queries_width() / model.heads;
  if (width > 0 && model.key_value_width() % width == 0) {
    const std::int64_t key_heads = model.key_value_width() / width;
    if (model.heads % key_heads == 0 && key_heads % plan.tp == 0) {
      step.kv_heads = static_cast<int>(key_heads);
    }
  }
  const Result<TransformerOperations> traced =
      trace_operations(step, shape, parts_of(model, plan, its));
  Result<LayoutInstance> layout = trace_layout(traced, 1);
  if (!layout) return layout.errors();
  RankLayout made{.instance = *std::move(layout)};
  const double waiting = std::max(0.0, handover.in_flight() - 1);
  made.waiting_bytes = static_cast<Bytes>(
      std::ceil(waiting * static_cast<double>(kept_bytes(*traced, made.instance))));
  return made;
}

}  // namespace stowage

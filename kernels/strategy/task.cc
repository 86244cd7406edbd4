#include "kernels/strategy/task.h"

#include "instances/numeric/numbers.h"
#include "instances/pipeline/passes.h"
#include "kernels/block/synthetic.h"
#include "kernels/block/weight_shards.h"
#include "kernels/run/scaled_plan.h"

namespace stowage::kernels {
namespace {

std::vector<std::string> check_rows(const StrategyTask& task) {
  std::vector<std::string> problems;
  std::vector<int> times(task.lengths.size());
  for (const auto& replicas : task.rows) {
    if (replicas.size() != at(task.dp)) return {"a micro-batch has no row for each replica"};
    for (const std::vector<std::int64_t>& row : replicas) {
      Tokens tokens = 0;
      for (const std::int64_t id : row) {
        if (id < 0 || at(id) >= times.size())
          return {"a row names a sequence that `lengths` does not have"};
        ++times[at(id)];
        tokens += task.lengths[at(id)];
      }
      if (tokens > kMaxBatchRows) problems.push_back("a row is too long to be executed");
    }
  }
  for (std::size_t id = 0; id < times.size(); ++id) {
    if (times[id] == 1) continue;
    problems.push_back("sequence " + std::to_string(id) + " is in " + std::to_string(times[id]) +
                       " rows");
  }
  return problems;
}

}  // namespace

int StrategyTask::all_layers() const {
  int all = 0;
  for (const int count : layers) all += count;
  return all;
}

int StrategyTask::first_layer(int part) const {
  int first = 0;
  for (int before = 0; before < part; ++before) first += part_layers(before);
  return first;
}

std::vector<std::int32_t> StrategyTask::cu_seqlens(int micro_batch, int replica) const {
  std::vector<std::int32_t> cu = {0};
  for (const std::int64_t id : rows[at(micro_batch)][at(replica)]) {
    cu.push_back(cu.back() + static_cast<std::int32_t>(lengths[at(id)]));
  }
  return cu;
}

StrategyPlace place_of(const StrategyTask& task, int rank) {
  return {.stage = rank / (task.dp * task.cp * task.tp),
          .replica = rank / (task.cp * task.tp) % task.dp,
          .slice = rank / task.tp % task.cp,
          .shard = rank % task.tp};
}

std::vector<std::string> check(const StrategyTask& task) {
  std::vector<std::string> problems = check(task.block);
  if (!problems.empty()) return problems;
  std::int64_t ranks = 1;
  for (const int degree : {task.pp, task.v, task.tp, task.cp, task.dp}) {
    if (degree < 1 || degree > kMaxStrategyRanks) return {"a degree is out of range"};
    if (degree != task.v) ranks *= degree;
    if (ranks > kMaxStrategyRanks) {
      return {"more than " + std::to_string(kMaxStrategyRanks) + " ranks"};
    }
  }
  if (task.layers.size() != at(task.pp) || task.recompute.size() != at(task.pp) ||
      task.order.size() != at(task.pp)) {
    return {"not every stage has layers, a recomputation and an order"};
  }
  if (std::int64_t{task.micro_batches()} * task.parts() > kMaxStrategyPasses) {
    return {"more than " + std::to_string(kMaxStrategyPasses) + " passes"};
  }
  for (const int count : task.layers) {
    if (count >= 1 && count <= kMaxStrategyLayers && count % task.v == 0) continue;
    problems.push_back("a stage has " + std::to_string(count) + " layers, which " +
                       std::to_string(task.v) + " chunks do not divide");
  }
  for (const Tokens length : task.lengths) {
    if (length < 1 || length > kMaxBatchRows) return {"a length is out of range"};
  }
  if (task.vocabulary < 0 || task.vocabulary > kWidestVocabulary ||
      task.vocabulary % task.tp != 0 || task.logit_chunks < 1) {
    problems.push_back("tp does not divide the vocabulary, or no chunk of logits is left");
  }
  for (const std::string& problem : check_shards(task.block, task.tp)) problems.push_back(problem);
  if (task.block.heads % (task.tp * task.cp) != 0) {
    problems.push_back("tp cp does not divide the heads");
  }
  if (task.v > 1 && (task.pp == 1 || task.micro_batches() % task.pp != 0)) {
    problems.push_back("with chunks there are stages, whose number divides the micro-batches");
  }
  for (const std::string& problem : check_rows(task)) problems.push_back(problem);
  return problems;
}

std::vector<std::vector<StagePass>> planned_order(int pp, int v, int micro_batches) {
  const PassTimes one{.forward = 1, .backward = 1, .weights = 0};
  const PassPipeline pipeline{
      .stages = pp,
      .chunks = v,
      .schedule = v > 1 ? PassSchedule::interleaved : PassSchedule::one_f_one_b,
      .rows = std::vector(at(micro_batches), std::vector(at(std::int64_t{pp} * v), one))};
  std::vector<std::vector<StagePass>> order(at(pp));
  simulate_passes(pipeline, [&order](const PassDone& pass) {
    order[pass.stage].push_back({.forward = pass.kind == PassDone::Kind::forward,
                                 .chunk = static_cast<int>(pass.chunk),
                                 .micro_batch = static_cast<int>(pass.row)});
  });
  return order;
}

std::int64_t chunk_tokens(const StrategyTask& task, std::int64_t tokens) {
  return tokens / task.logit_chunks + (tokens % task.logit_chunks > 0 ? 1 : 0);
}

BlockWeights<float> layer_weights(const StrategyTask& task, int layer) {
  return synthetic_weights(task.block, task.seed + static_cast<std::uint64_t>(layer));
}

}  // namespace stowage::kernels

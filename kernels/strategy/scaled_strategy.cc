#include "kernels/strategy/scaled_strategy.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "instances/numeric/numbers.h"
#include "kernels/block/block_weights.h"
#include "kernels/memory/recorded_block.h"

namespace stowage::kernels {
namespace {

constexpr std::int64_t kMaxLayersInAll = 16;
constexpr int kFewestHeads = 4;
constexpr std::array<int, 4> kHeadDims = {16, 8, 4, 2};
constexpr Bytes kMaxWeightBytes = 1 << 30;
constexpr int kWidestFfn = 1 << 16;
constexpr double kWidestHead = 4096;

std::int64_t divided_up(std::int64_t number, std::int64_t by) { return (number + by - 1) / by; }

// Returns the smallest divisor of the layers of a chunk that leaves at most `few` layers, or one
// layer per chunk.
std::int64_t choose_layer_scale(const StrategyPlan& plan, std::int64_t few) {
  const std::int64_t most = std::max(few, plan.pp * plan.v);
  for (std::int64_t scale = 1;; ++scale) {
    std::int64_t all = 0;
    for (const StrategyStage& stage : plan.stages) {
      all += plan.v * divided_up(divided_up(stage.layers, plan.v), scale);
    }
    if (all <= most) return scale;
  }
}

// Returns the mean over layers of the feed-forward width that a token passes.
double mean_ffn(const StrategyModel& model) {
  double sum = 0;
  double layers = 0;
  for (const StrategyBlock& block : model.blocks) {
    const auto count = static_cast<double>(block.count);
    double width = static_cast<double>(block.dense_ffn());
    if (block.routed()) {
      width += static_cast<double>(block.experts->top_k) * static_cast<double>(block.experts->ffn);
    }
    sum += count * width;
    layers += count;
  }
  return sum / layers;
}

// Returns the largest number of kv heads that the ratio allows and that tp ranks can share.
int choose_kv_heads(int heads, double queries_per_kv, std::int64_t tp) {
  for (int kv = heads; kv > 1; --kv) {
    if (heads % kv != 0 || kv * queries_per_kv > heads * (1 + 1e-9)) continue;
    if (kv % tp == 0 || tp % kv == 0) return kv;
  }
  return 1;
}

BlockShape small_block(const StrategyModel& model, const StrategyPlan& plan, int head_dim) {
  const auto ranks = static_cast<int>(plan.tp * plan.cp);
  const int heads = ranks * ((kFewestHeads + ranks - 1) / ranks);
  const auto hidden = static_cast<double>(model.hidden);
  const double ratio = mean_ffn(model) / hidden;
  const auto tp = static_cast<double>(plan.tp);
  const double parts =
      std::clamp(std::round(ratio * heads * head_dim / tp), 1.0, std::floor(kWidestFfn / tp));
  return {
      .hidden = heads * head_dim,
      .heads = heads,
      .kv_heads = choose_kv_heads(heads,
                                  std::max(1.0, static_cast<double>(model.queries_width()) /
                                                    static_cast<double>(model.key_value_width())),
                                  plan.tp),
      .head_dim = head_dim,
      .ffn = static_cast<int>(parts * tp)};
}

// Returns a vocabulary in proportion to the hidden width, and a multiple of tp.
std::int64_t small_vocabulary(const StrategyModel& model, const StrategyPlan& plan, int hidden) {
  if (model.vocabulary == 0) return 0;
  const double wanted =
      static_cast<double>(model.vocabulary) * hidden / static_cast<double>(model.hidden);
  const auto width = static_cast<std::int64_t>(std::clamp(wanted, 2.0, kWidestHead));
  return divided_up(width, plan.tp) * plan.tp;
}

// Returns the bytes of weights and gradients of all ranks, of the reference rank, and of the
// collected result.
Bytes weight_bytes(const StrategyTask& task) {
  const auto sizes = weight_sizes(task.block);
  const std::int64_t floats =
      std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0}) * task.all_layers() +
      task.block.hidden * task.vocabulary;
  const std::int64_t copies = 2 * std::int64_t{task.dp} * task.cp + 6;
  return kFloatBytes * floats * copies;
}

void put_layers(const StrategyPlan& plan, std::int64_t few, ScaledStrategy& scaled) {
  scaled.layer_scale = choose_layer_scale(plan, few);
  scaled.task.layers.clear();
  for (const StrategyStage& stage : plan.stages) {
    scaled.task.layers.push_back(static_cast<int>(
        plan.v * divided_up(divided_up(stage.layers, plan.v), scaled.layer_scale)));
  }
}

// Selects the most layers, and for these the widest heads, whose weights fit in the limit. Returns
// false if no choice fits.
bool choose_model(const StrategyModel& model, const StrategyPlan& plan, ScaledStrategy& scaled) {
  StrategyTask& task = scaled.task;
  for (std::int64_t few = kMaxLayersInAll; few > 0; few /= 2) {
    put_layers(plan, few, scaled);
    for (const int head_dim : kHeadDims) {
      task.block = small_block(model, plan, head_dim);
      task.vocabulary = small_vocabulary(model, plan, task.block.hidden);
      if (weight_bytes(task) <= kMaxWeightBytes) return true;
    }
  }
  return false;
}

double work_of_step(const StrategyTask& task, const std::vector<Tokens>& lengths,
                    std::int64_t scale) {
  double layer = 0;
  double tokens = 0;
  for (const Tokens length : lengths) {
    const auto its = static_cast<double>(divided_up(length, scale));
    layer += block_flop(task.block, its);
    tokens += its;
  }
  return layer * task.all_layers() +
         6 * tokens * task.block.hidden * static_cast<double>(task.vocabulary);
}

std::int64_t choose_length_scale(const StrategyTask& task, const std::vector<Tokens>& lengths,
                                 double most) {
  std::int64_t low = 1;
  std::int64_t high = std::max<std::int64_t>(1, *std::ranges::max_element(lengths));
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    if (work_of_step(task, lengths, middle) <= most) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

// Distributes the sequences over all rows, longest first, in alternating direction. So rows have
// nearly equal numbers of sequences and similar lengths.
void deal_sequences(StrategyTask& task, std::int64_t micro_batches) {
  std::vector<std::int64_t> ids(task.lengths.size());
  std::iota(ids.begin(), ids.end(), 0);
  std::ranges::stable_sort(
      ids, [&](auto a, auto b) { return task.lengths[at(a)] > task.lengths[at(b)]; });
  task.rows.assign(at(micro_batches), std::vector<std::vector<std::int64_t>>(at(task.dp)));
  const std::size_t rows = at(micro_batches * task.dp);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const std::size_t place = i % rows;
    const std::size_t row = i / rows % 2 == 0 ? place : rows - 1 - place;
    task.rows[row / at(task.dp)][row % at(task.dp)].push_back(ids[i]);
  }
}

// Returns the features of the model that the executed block lacks.
std::vector<std::string> notes_on(const StrategyModel& model, const StrategyPlan& plan) {
  std::vector<std::string> notes;
  const auto any = [&](auto is) { return std::ranges::any_of(model.blocks, is); };
  if (model.vocabulary > 0) {
    notes.emplace_back("the embedding is not executed");
  }
  if (std::ranges::any_of(plan.stages,
                          [&](const StrategyStage& s) { return s.layers % plan.v != 0; })) {
    notes.emplace_back(
        "chunks with the embedding or the head are executed with as many layers as the others");
  }
  if (any([](const StrategyBlock& block) { return block.routed(); })) {
    notes.emplace_back("experts are executed as one feed-forward as wide as what a token meets");
  }
  if (any([&](const StrategyBlock& block) { return block.ffn != model.blocks.front().ffn; })) {
    notes.emplace_back("all layers are executed with their mean width of the feed-forward");
  }
  if (any([](const StrategyBlock& block) { return !block.gated; })) {
    notes.emplace_back("feed-forwards are executed with a gate");
  }
  if (!model.causal) notes.emplace_back("attention is executed with the causal mask");
  if (plan.tp > 1 && model.sequence_parallel) {
    notes.emplace_back("ranks of tp are executed with whole norms: without sequence parallelism");
  }
  if (plan.cp_exchange == StrategyExchange::ring) {
    notes.emplace_back("the ring of cp is executed as an all-to-all over heads");
  }
  if (std::ranges::any_of(plan.stages, [](const StrategyStage& s) { return s.zero > 1; })) {
    notes.emplace_back("ZeRO 2 and 3 are executed as 1: every rank has its weights and gradients");
  }
  if (std::ranges::any_of(plan.stages,
                          [](const StrategyStage& s) { return s.stream_chunks > 1; })) {
    notes.emplace_back("stream chunks are executed as one: layers go through all tokens at once");
  }
  if (std::ranges::any_of(plan.stages, [](const StrategyStage& s) { return s.offload > 0; })) {
    notes.emplace_back("activations that the plan has on the host stay on their rank");
  }
  return notes;
}

}  // namespace

ScaledStrategy scale_strategy(const StrategyInstance& instance, const StrategyPlan& plan,
                              const StrategyScale& wanted) {
  ScaledStrategy scaled;
  if (plan.pp * plan.tp * plan.cp * plan.dp > kMaxStrategyRanks) {
    scaled.problems.push_back("more than " + grouped(kMaxStrategyRanks) + " ranks");
    return scaled;
  }
  if (plan.micro_batches > kMaxStrategyPasses / (plan.pp * plan.v)) {
    scaled.problems.push_back("more than " + grouped(kMaxStrategyPasses) + " passes");
    return scaled;
  }
  StrategyTask& task = scaled.task;
  task.pp = static_cast<int>(plan.pp);
  task.v = static_cast<int>(plan.v);
  task.tp = static_cast<int>(plan.tp);
  task.cp = static_cast<int>(plan.cp);
  task.dp = static_cast<int>(plan.dp);
  task.logit_chunks = plan.logit_chunks;
  task.seed = wanted.seed;
  for (const StrategyStage& stage : plan.stages) task.recompute.push_back(stage.recompute);
  if (!choose_model(instance.model, plan, scaled)) {
    scaled.problems.push_back("the weights of " + counted(task.ranks(), "rank") + " need " +
                              grouped(weight_bytes(task) >> 20) + " MiB, more than " +
                              grouped(kMaxWeightBytes >> 20) + ": run a plan of fewer ranks");
    return scaled;
  }
  scaled.scale = wanted.scale > 0
                     ? wanted.scale
                     : choose_length_scale(task, instance.lengths, wanted.max_work_flop);
  scaled.work_flop = work_of_step(task, instance.lengths, scaled.scale);
  for (const Tokens length : instance.lengths) {
    task.lengths.push_back(divided_up(length, scaled.scale));
  }
  deal_sequences(task, plan.micro_batches);
  task.order = planned_order(task.pp, task.v, static_cast<int>(plan.micro_batches));
  scaled.notes = notes_on(instance.model, plan);
  if (wanted.scale == 0 && scaled.work_flop > wanted.max_work_flop) {
    scaled.notes.emplace_back("the work is above the wanted " +
                              significant(wanted.max_work_flop / 1e9) +
                              " GFLOP, with sequences of one token each");
  }
  scaled.problems = check(task);
  return scaled;
}

}  // namespace stowage::kernels

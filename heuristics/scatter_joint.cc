#include "heuristics/scatter_joint.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "heuristics/scatter_anneal.h"
#include "heuristics/scatter_bytescale.h"
#include "heuristics/scatter_coarse.h"
#include "heuristics/scatter_homogeneous.h"
#include "heuristics/scatter_megatron.h"
#include "heuristics/scatter_skrull.h"

namespace stowage {
namespace {

// Annealing finds the groups' degrees itself; a start only needs the chunks' rough shape.
constexpr GroupingEffort kQuick{.mixes = 0, .polish_rounds = 8};
constexpr double kPathWorthwhile = 1e-3;
constexpr int kPathSpread = 1;
constexpr int kMostRaced = 20000;  // sequences; larger steps trust their coarse plan
constexpr double kHopeful = 1.3;   // starts this much above the best one do not run
constexpr double kAmple = 8;       // sequences per device that need no extra moves
constexpr double kMostScarce = 4;
constexpr int kTokenCounts = 2;   // micro-batch counts tried by token-balanced chunks
constexpr int kSpreadCounts = 3;  // and by spread chunks

// 1 up to 512 sequences, then falling: how much less a sequence of a larger step gets.
double thrift(const ScatterTable& table) {
  return std::min(1.0, std::sqrt(512.0 / std::max(1, table.size())));
}

std::int64_t anneal_steps(const ScatterTable& table, double moves) {
  const double size = table.size();
  double steps = moves * size * std::min(size / 128, thrift(table));
  // With few sequences a device, hundreds of groups compete for each: more places to try.
  if (size >= 128) {
    steps *= std::pow(std::clamp(kAmple * table.devices() / size, 1.0, kMostScarce), 1.5);
  }
  return static_cast<std::int64_t>(steps);
}

void group_or_halve(const ScatterTable& table, std::span<const int> positions,
                    const GroupingEffort& effort, StepDraft& step) {
  if (positions.empty()) return;
  if (std::optional<MicroBatchDraft> batch = group_micro_batch(table, positions, effort)) {
    step.push_back(std::move(*batch));
    return;
  }
  // A single sequence that fits a level always groups, so this ends. Even and odd positions keep
  // long and short sequences in both halves.
  std::vector<int> halves[2];
  for (std::size_t i = 0; i < positions.size(); ++i) halves[i % 2].push_back(positions[i]);
  for (const auto& half : halves) group_or_halve(table, half, effort, step);
}

std::vector<StepDraft> over_shortest_paths(const ScatterTable& table, int rounds,
                                           const Budget& budget) {
  // Chunks are consecutive: first and last position name them.
  std::map<std::pair<int, int>, MicroBatchDraft> grouped;
  const ChunkCost cost = [&](std::span<const int> positions) {
    auto batch = group_micro_batch(table, positions, kQuick);
    if (!batch) return std::numeric_limits<Ms>::infinity();
    const Ms makespan = batch->makespan;
    grouped[{positions.front(), positions.back()}] = std::move(*batch);
    return makespan;
  };
  std::vector<StepDraft> steps;
  const PathEffort effort{rounds, kPathWorthwhile, kPathSpread};
  for (const Chunks& chunks : shortest_path_chunks(table, cost, effort, budget)) {
    StepDraft& step = steps.emplace_back();
    for (const std::vector<int>& chunk : chunks) {
      step.push_back(grouped.at({chunk.front(), chunk.back()}));
    }
  }
  return steps;
}

std::vector<StepDraft> starts(const ScatterTable& table, int path_rounds, const Budget& budget) {
  std::vector<StepDraft> all;
  // Estimates of long chunks are closer to the truth, and prices dearer.
  const int rounds = std::max(2, static_cast<int>(path_rounds * thrift(table)));
  const auto add = [&](std::optional<StepDraft> step) {
    if (step) all.push_back(std::move(*step));
  };
  add(batch_ada(table, 1));
  add(megatron(table));
  for (StepDraft& step : over_shortest_paths(table, rounds, budget)) {
    all.push_back(std::move(step));
  }
  const int fewest = fewest_micro_batches(table);
  for (int count = fewest; count < fewest + kTokenCounts; ++count) {
    add(group_chunks(table, token_chunks(table, count), kQuick, budget));
  }
  add(group_chunks(table, first_fit_chunks(table), kQuick, budget));
  for (int count = fewest; count < fewest + kSpreadCounts; ++count) {
    if (const auto chunks = spread_chunks(table, count)) {
      add(group_chunks(table, *chunks, kQuick, budget));
    }
  }
  return all;
}

}  // namespace

std::optional<StepDraft> group_chunks(const ScatterTable& table, const Chunks& chunks,
                                      const GroupingEffort& effort, const Budget& budget) {
  StepDraft step;
  for (const std::vector<int>& chunk : chunks) {
    if (budget.exhausted()) return std::nullopt;
    group_or_halve(table, chunk, effort, step);
  }
  return step;
}

std::optional<StepDraft> joint(const ScatterTable& table, const JointEffort& effort,
                               std::uint64_t seed, const Budget& budget) {
  const std::int64_t steps = anneal_steps(table, effort.moves);
  // Few moves per sequence could not mend what a hot start breaks.
  const double hot = AnnealEffort().hot * thrift(table);
  std::optional<StepDraft> safe = batch_ada(table);
  if (!safe || budget.exhausted()) return safe;
  std::vector<StepDraft> field{*std::move(safe)};
  for (auto* const published : {skrull, bytescale}) {
    if (std::optional<StepDraft> step = published(table)) field.push_back(std::move(*step));
  }
  const std::size_t baselines = field.size();
  if (const std::optional<Coarse> coarse = coarsen(table)) {
    if (const auto small = joint(coarse->table, effort, seed, budget)) {
      field.push_back(refine(table, *coarse, *small));
    }
  }
  if (field.size() == baselines || table.size() <= kMostRaced) {
    for (StepDraft& step : starts(table, effort.path_rounds, budget)) {
      field.push_back(std::move(step));
    }
  } else {
    std::ranges::stable_sort(field, {}, total);
    field.resize(1);
  }
  const Ms most = kHopeful * total(*std::ranges::min_element(field, {}, total));
  std::erase_if(field, [&](const StepDraft& step) { return total(step) > most; });
  int rounds = 1;
  for (std::size_t left = field.size(); left > 1; left = (left + 1) / 2) ++rounds;
  for (int round = 0; round < rounds; ++round) {
    const std::int64_t share = steps / (rounds * static_cast<std::int64_t>(field.size()));
    for (StepDraft& step : field) {
      anneal(table, step, {.steps = share, .hot = hot}, seed + static_cast<std::uint64_t>(round),
             budget);
    }
    std::ranges::stable_sort(field, {}, total);
    field.resize((field.size() + 1) / 2);
  }
  return std::move(field.front());
}

}  // namespace stowage

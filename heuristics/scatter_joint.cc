#include "heuristics/scatter_joint.h"

#include <algorithm>
#include <limits>
#include <random>
#include <utility>

#include "heuristics/scatter_polish.h"
#include "instances/random.h"

namespace stowage {
namespace {

constexpr int kPolishRounds = 32;
constexpr int kDissolveFailures = 6;

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

struct Place {
  std::size_t batch = 0;
  std::size_t group = 0;
};

// Where `position` costs least: first the growth of the makespan, then the group's finish. Nothing
// if no group of the batches has room.
std::optional<Place> cheapest(const ScatterTable& table, std::span<const MicroBatchDraft> batches,
                              int position) {
  std::optional<Place> best;
  std::pair<Ms, Ms> least{std::numeric_limits<Ms>::infinity(), 0};
  for (std::size_t b = 0; b < batches.size(); ++b) {
    const MicroBatchDraft& batch = batches[b];
    for (std::size_t g = 0; g < batch.groups.size(); ++g) {
      const GroupDraft& group = batch.groups[g];
      if (!has_room(table, group, position)) continue;
      const Ms finish = group.time + table.cost(position, group.level);
      const std::pair<Ms, Ms> price{std::max(0.0, finish - batch.makespan),
                                    finish - batch.makespan};
      if (price < least) {
        least = price;
        best = {b, g};
      }
    }
  }
  return best;
}

void take(const ScatterTable& table, MicroBatchDraft& batch, std::mt19937_64& random,
          std::vector<int>& taken) {
  std::vector<std::size_t> used;
  for (std::size_t g = 0; g < batch.groups.size(); ++g) {
    if (!batch.groups[g].positions.empty()) used.push_back(g);
  }
  if (used.empty()) return;
  GroupDraft& group = batch.groups[used[draw(random, used.size())]];
  const std::size_t index = draw(random, group.positions.size());
  taken.push_back(group.positions[index]);
  remove_sequence(table, group, index);
}

// Puts the longest back first. False if one finds no room.
bool put_back(const ScatterTable& table, std::span<MicroBatchDraft> batches,
              std::vector<int>& taken) {
  std::sort(taken.begin(), taken.end());
  for (MicroBatchDraft& batch : batches) batch.makespan = slowest(batch);
  for (const int position : taken) {
    const std::optional<Place> place = cheapest(table, batches, position);
    if (!place) return false;
    MicroBatchDraft& batch = batches[place->batch];
    add_sequence(table, batch.groups[place->group], position);
    batch.makespan = std::max(batch.makespan, batch.groups[place->group].time);
  }
  for (MicroBatchDraft& batch : batches) polish(table, batch, kPolishRounds);
  return true;
}

void drop_empty(StepDraft& step) {
  std::erase_if(step, [](const MicroBatchDraft& batch) {
    return std::ranges::all_of(batch.groups, &std::vector<int>::empty, &GroupDraft::positions);
  });
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

void exchange(const ScatterTable& table, StepDraft& step, int iterations, std::uint64_t seed,
              const Budget& budget) {
  std::mt19937_64 random(seed);
  for (int i = 0; i < iterations && step.size() > 1 && !budget.exhausted(); ++i) {
    const std::size_t a = draw(random, step.size());
    const std::size_t b = (a + 1 + draw(random, step.size() - 1)) % step.size();
    MicroBatchDraft pair[2] = {step[a], step[b]};
    std::vector<int> taken;
    const std::uint64_t out = 1 + draw(random, 6);
    for (std::uint64_t n = 0; n < out; ++n) take(table, pair[draw(random, 2)], random, taken);
    if (!put_back(table, pair, taken)) continue;
    if (pair[0].makespan + pair[1].makespan > step[a].makespan + step[b].makespan) continue;
    step[a] = std::move(pair[0]);
    step[b] = std::move(pair[1]);
  }
  drop_empty(step);
}

void dissolve(const ScatterTable& table, StepDraft& step, const GroupingEffort& effort,
              const Budget& budget) {
  for (int failures = 0; failures < kDissolveFailures && !budget.exhausted();) {
    if (step.size() < 2 || static_cast<std::size_t>(failures) == step.size()) return;
    std::ranges::stable_sort(step, {}, &MicroBatchDraft::makespan);
    const auto gone = step.begin() + failures;  // those before it could not be spared
    StepDraft rest(step.begin(), gone);
    rest.insert(rest.end(), gone + 1, step.end());
    const StepDraft before = rest;
    std::vector<int> taken = positions_of(*gone);
    if (put_back(table, rest, taken)) {
      for (std::size_t i = 0; i < rest.size(); ++i) {
        if (rest[i].makespan == before[i].makespan || budget.exhausted()) continue;
        auto regrouped = group_micro_batch(table, positions_of(rest[i]), effort);
        if (regrouped && regrouped->makespan < rest[i].makespan) rest[i] = std::move(*regrouped);
      }
      if (total(rest) < total(step)) {
        step = std::move(rest);
        continue;
      }
    }
    ++failures;
  }
}

}  // namespace stowage

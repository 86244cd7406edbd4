#include "solvers/strategy/stage_search.h"

#include <algorithm>
#include <utility>

#include "instances/numeric/numbers.h"

namespace stowage {
namespace {

constexpr double kBetter = 1 - 1e-12;  // a smaller gain may be rounding

}  // namespace

StageSearch::StageSearch(const StageCosts& costs)
    : costs_(costs), stages_(costs.of_class().pp), layers_(costs.table().layers()) {
  const std::int64_t firsts = costs.table().equal_layers() ? 1 : layers_;
  candidates_.resize(at(stages_ * firsts * (layers_ + 1)));
  known_.resize(candidates_.size(), 0);
}

// Returns the choices that fit the memory and that no other choice dominates.
const std::vector<StageSearch::Candidate>& StageSearch::candidates(std::int64_t stage,
                                                                   std::int64_t first,
                                                                   std::int64_t layers) {
  const bool equal = costs_.table().equal_layers();
  const std::int64_t row = equal ? stage : stage * layers_ + first;
  const std::size_t place = at(row * (layers_ + 1) + layers);
  std::vector<Candidate>& found = candidates_[place];
  if (known_[place] != 0) return found;
  known_[place] = 1;
  if (!costs_.may_have(stage, layers)) return found;
  for (const StageChoice& choice : costs_.choices()) {
    const StageCost cost = costs_.of(stage, first, layers, choice);
    if (cost.memory_mib > costs_.table().instance().cluster.memory_mib) continue;
    const auto beats = [&](const StageCost& a, const StageCost& b) {
      return a.time_ms <= b.time_ms && a.longest_ms <= b.longest_ms &&
             costs_.exposed(a) <= costs_.exposed(b);
    };
    if (std::ranges::any_of(found, [&](const Candidate& c) { return beats(c.cost, cost); })) {
      continue;
    }
    std::erase_if(found, [&](const Candidate& c) { return beats(cost, c.cost); });
    found.push_back({cost, choice});
  }
  return found;
}

void StageSearch::count_rest() {
  const auto width = at(layers_ + 1);
  const Rest none{std::vector<Ms>(width, kInfinity), std::vector<Ms>(width, kInfinity),
                  std::vector<Ms>(width, kInfinity)};
  rest_.assign(at(stages_ + 1), none);
  rest_.back().sum[at(layers_)] = 0;
  rest_.back().most[at(layers_)] = 0;
  rest_.back().alone[at(layers_)] = 0;
  for (std::int64_t stage = stages_ - 1; stage >= 0; --stage) {
    Rest& here = rest_[at(stage)];
    const Rest& behind = rest_[at(stage + 1)];
    for (std::int64_t first = stage; first < layers_; ++first) {
      for (std::int64_t layers = 1; first + layers <= layers_; ++layers) {
        const std::size_t end = at(first + layers);
        if (behind.sum[end] == kInfinity) continue;
        for (const Candidate& each : candidates(stage, first, layers)) {
          const std::size_t from = at(first);
          here.sum[from] = std::min(here.sum[from], each.cost.time_ms + behind.sum[end]);
          here.most[from] =
              std::min(here.most[from], std::max(each.cost.time_ms, behind.most[end]));
          here.alone[from] = std::min(here.alone[from], each.cost.longest_ms + behind.alone[end]);
        }
      }
    }
  }
}

// Returns a lower bound in ms on every complete pipeline that begins with the label.
Ms StageSearch::at_least(const Label& label, std::int64_t next_stage, std::int64_t end) const {
  const Rest& rest = rest_[at(next_stage)];
  const double chunk = 1 / static_cast<double>(costs_.of_class().v);
  const double rounds = static_cast<double>(costs_.of_class().micro_batches) - chunk;
  const Ms steady =
      chunk * (label.sum + rest.sum[at(end)]) + rounds * std::max(label.most, rest.most[at(end)]);
  return std::max(steady, label.alone + rest.alone[at(end)]) + label.tail;
}

bool StageSearch::extend(std::int64_t stage, std::int64_t begin, Ms below, Budget& budget) {
  const std::vector<Label>& from = labels_[at(stage)][at(begin)];
  for (std::int64_t layers = 1; begin + layers <= layers_ && !from.empty(); ++layers) {
    std::vector<Label>& to = labels_[at(stage + 1)][at(begin + layers)];
    for (const Candidate& each : candidates(stage, begin, layers)) {
      for (std::size_t parent = 0; parent < from.size(); ++parent) {
        const Label label{.sum = from[parent].sum + each.cost.time_ms,
                          .most = std::max(from[parent].most, each.cost.time_ms),
                          .alone = from[parent].alone + each.cost.longest_ms,
                          .tail = std::max(from[parent].tail, costs_.exposed(each.cost)),
                          .parent = parent,
                          .stage = {layers, each.choice}};
        if (at_least(label, stage + 1, begin + layers) >= below * kBetter) continue;
        const auto dominates = [](const Label& a, const Label& b) {
          return a.sum <= b.sum && a.most <= b.most && a.alone <= b.alone && a.tail <= b.tail;
        };
        if (std::ranges::any_of(to, [&](const Label& l) { return dominates(l, label); })) continue;
        std::erase_if(to, [&](const Label& l) { return dominates(label, l); });
        to.push_back(label);
        budget.count_nodes(1);
        if (budget.exhausted()) return false;
      }
    }
  }
  return true;
}

// Each label holds the layers of its stage, which give the end of the stage before.
std::vector<StagePlan> StageSearch::trace(std::size_t last) const {
  std::vector<StagePlan> stages(at(stages_));
  std::int64_t end = layers_;
  for (std::int64_t stage = stages_; stage > 0; --stage) {
    const Label& label = labels_[at(stage)][at(end)][last];
    stages[at(stage - 1)] = label.stage;
    last = label.parent;
    end -= label.stage.layers;
  }
  return stages;
}

StageSearch::Answer StageSearch::run(Ms below, Budget& budget) {
  count_rest();
  labels_.assign(at(stages_ + 1), std::vector<std::vector<Label>>(at(layers_ + 1)));
  labels_[0][0].push_back({});
  for (std::int64_t stage = 0; stage < stages_; ++stage) {
    for (std::int64_t begin = 0; begin < layers_; ++begin) {
      if (!extend(stage, begin, below, budget)) return {.stages = {}, .complete = false};
    }
  }
  const std::vector<Label>& ends = labels_[at(stages_)][at(layers_)];
  if (ends.empty()) return {};
  std::size_t best = 0;
  for (std::size_t k = 1; k < ends.size(); ++k) {
    if (at_least(ends[k], stages_, layers_) < at_least(ends[best], stages_, layers_)) best = k;
  }
  return {.stages = trace(best)};
}

}  // namespace stowage

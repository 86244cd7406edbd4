#include "formulations/strategy/mip.h"

#include <cstddef>
#include <string>
#include <utility>

#include "instances/numeric/numbers.h"

namespace stowage {
namespace {

using milp::Row;
using milp::Term;

// Calls take(stage, first, layers, choice, cost) for every range of layers and choice that fits.
// The folded form does not distinguish ranges of equal length.
template <class Take>
void each_that_fits(const StageCosts& costs, StrategyMipForm form, Take take) {
  const std::int64_t stages = costs.of_class().pp;
  const std::int64_t layers = costs.table().layers();
  const bool folded = form == StrategyMipForm::folded;
  for (std::int64_t stage = 0; stage < stages; ++stage) {
    const bool last = stage == stages - 1;
    const std::int64_t most_first = folded || stage == 0 ? 0 : layers - (stages - stage);
    for (std::int64_t first = folded ? 0 : stage; first <= most_first; ++first) {
      const std::int64_t most = layers - (folded ? stages - 1 : first + stages - 1 - stage);
      for (std::int64_t its = last && !folded ? most : 1; its <= most; ++its) {
        if (!costs.may_have(stage, its)) continue;
        for (const StageChoice& choice : costs.choices()) {
          const StageCost cost = costs.of(stage, first, its, choice);
          if (cost.memory_mib > costs.table().instance().cluster.memory_mib) continue;
          take(stage, first, its, choice, cost);
        }
      }
    }
  }
}

class StrategyMipBuilder {
 public:
  StrategyMipBuilder(const StageCosts& costs, StrategyMipForm form)
      : costs_(costs),
        form_(form),
        stages_(costs.of_class().pp),
        layers_(costs.table().layers()),
        times_(at(stages_)),
        lefts_(at(stages_)) {}

  StrategyMip build() {
    each_that_fits(
        costs_, form_,
        [this](std::int64_t stage, std::int64_t first, std::int64_t its, const StageChoice& choice,
               const StageCost& cost) { add_binary(stage, first, its, choice, cost); });
    for (const std::vector<Term>& terms : times_) out_.empty = out_.empty || terms.empty();
    if (out_.empty) return std::move(out_);
    if (form_ == StrategyMipForm::folded) {
      count_layers();
    } else {
      join_ranges();
    }
    add_times();
    return std::move(out_);
  }

 private:
  void add_binary(std::int64_t stage, std::int64_t first, std::int64_t its,
                  const StageChoice& choice, const StageCost& cost) {
    const std::string range = form_ == StrategyMipForm::folded ? "" : '_' + std::to_string(first);
    const std::string chunks =
        choice.stream_chunks > 1 ? 'd' + std::to_string(choice.stream_chunks) : "";
    const int binary = out_.model.add_variable(
        {.name = "f_" + std::to_string(stage) + range + '_' + std::to_string(its) + "_z" +
                 std::to_string(choice.zero) + 'r' +
                 std::to_string(static_cast<int>(choice.recompute)) + chunks,
         .upper = 1,
         .integer = true});
    out_.binaries.push_back({stage, first, {its, choice}});
    times_[at(stage)].push_back({binary, cost.time_ms});
    if (costs_.exposed(cost) > 0) lefts_[at(stage)].push_back({binary, costs_.exposed(cost)});
    alone_.push_back({binary, cost.longest_ms});
  }

  // SM1: a path from no layers to all layers through every stage.
  void join_ranges() {
    const auto width = at(layers_ + 1);
    // Index: stages before, layers before.
    std::vector<std::vector<Term>> nodes(at(stages_) * width);
    for (std::size_t k = 0; k < out_.binaries.size(); ++k) {
      const StrategyMip::Binary& each = out_.binaries[k];
      const int binary = static_cast<int>(k);
      nodes[at(each.stage) * width + at(each.first)].push_back({binary, 1});
      if (each.stage == stages_ - 1) continue;
      nodes[at(each.stage + 1) * width + at(each.first + each.its.layers)].push_back({binary, -1});
    }
    for (std::size_t node = 0; node < nodes.size(); ++node) {
      if (nodes[node].empty()) continue;
      const double begins = node == 0 ? 1 : 0;
      add_row("SM1_" + std::to_string(node / width) + '_' + std::to_string(node % width), begins,
              begins, std::move(nodes[node]));
    }
  }

  // SM2: one number of layers and one choice for each stage, and all layers together.
  void count_layers() {
    std::vector<std::vector<Term>> ones(at(stages_));
    std::vector<Term> all;
    for (std::size_t k = 0; k < out_.binaries.size(); ++k) {
      const int binary = static_cast<int>(k);
      ones[at(out_.binaries[k].stage)].push_back({binary, 1});
      all.push_back({binary, static_cast<double>(out_.binaries[k].its.layers)});
    }
    for (std::size_t s = 0; s < ones.size(); ++s) {
      add_row("SM2_" + std::to_string(s), 1, 1, std::move(ones[s]));
    }
    const auto layers = static_cast<double>(layers_);
    add_row("SM2", layers, layers, std::move(all));
  }

  void add_times() {
    const double chunk = 1 / static_cast<double>(costs_.of_class().v);
    const double rounds = static_cast<double>(costs_.of_class().micro_batches) - chunk;
    const int steady = out_.model.add_variable({.name = "T", .objective = 1});
    const int slowest = out_.model.add_variable({.name = "X"});
    const int left = out_.model.add_variable({.name = "Y", .objective = 1});
    std::vector<Term> sum;
    for (std::size_t s = 0; s < times_.size(); ++s) {
      std::vector<Term> terms = times_[s];
      sum.insert(sum.end(), terms.begin(), terms.end());
      terms.push_back({slowest, -1});
      add_row("SM3_" + std::to_string(s), -kInfinity, 0, std::move(terms));
      if (lefts_[s].empty()) continue;
      lefts_[s].push_back({left, -1});
      add_row("SM4_" + std::to_string(s), -kInfinity, 0, std::move(lefts_[s]));
    }
    std::vector<Term> mean = sum;
    mean.push_back({slowest, -static_cast<double>(stages_)});
    add_row("SM7", -kInfinity, 0, std::move(mean));
    for (Term& term : sum) term.coefficient *= chunk;
    sum.push_back({slowest, rounds});
    sum.push_back({steady, -1});
    add_row("SM5", -kInfinity, 0, std::move(sum));
    alone_.push_back({steady, -1});
    add_row("SM6", -kInfinity, 0, std::move(alone_));
  }

  void add_row(std::string name, double lower, double upper, std::vector<Term> terms) {
    out_.model.add_row(Row{std::move(name), lower, upper, std::move(terms)});
  }

  const StageCosts& costs_;
  const StrategyMipForm form_;
  const std::int64_t stages_;
  const std::int64_t layers_;
  StrategyMip out_;
  std::vector<std::vector<Term>> times_;  // by stage
  std::vector<std::vector<Term>> lefts_;
  std::vector<Term> alone_;
};

}  // namespace

std::int64_t strategy_mip_binaries(const StageCosts& costs, StrategyMipForm form) {
  std::int64_t count = 0;
  each_that_fits(costs, form,
                 [&](std::int64_t, std::int64_t, std::int64_t, const StageChoice&,
                     const StageCost&) { ++count; });
  return count;
}

StrategyMip build_strategy_mip(const StageCosts& costs, StrategyMipForm form) {
  return StrategyMipBuilder(costs, form).build();
}

std::vector<StagePlan> decode(const StrategyMip& mip, const std::vector<double>& values) {
  std::vector<StagePlan> stages;
  for (std::size_t k = 0; k < mip.binaries.size(); ++k) {
    if (values[k] < 0.5) continue;
    const StrategyMip::Binary& each = mip.binaries[k];
    if (at(each.stage) >= stages.size()) stages.resize(at(each.stage + 1));
    stages[at(each.stage)] = each.its;
  }
  return stages;
}

}  // namespace stowage

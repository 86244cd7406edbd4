#include "formulations/strategy/uniap.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include "instances/numeric/numbers.h"

namespace stowage {
namespace {

// The time and memory of a stage with one choice, as a sum of the stage's own part and of each
// layer's part.
struct Additive {
  Ms own_ms = 0;
  Mib own_mib = 0;
  std::vector<Ms> layer_ms;
  std::vector<Mib> layer_mib;
};

Additive additive(const StageCosts& costs, std::int64_t stage, const StageChoice& choice) {
  const std::int64_t layers = costs.table().layers();
  std::vector<StageCost> alone;
  for (std::int64_t l = 0; l < layers; ++l) alone.push_back(costs.of(stage, l, 1, choice));
  Additive sum;
  if (layers > 1) {
    // Two layers together take less than both alone. The difference is the stage's own part.
    // Working space is that of the layer that needs most.
    for (std::int64_t l = 0; l + 1 < layers; ++l) {
      const StageCost both = costs.of(stage, l, 2, choice);
      const StageCost& one = alone[at(l)];
      const StageCost& other = alone[at(l + 1)];
      const Ms ms = std::max(0.0, one.time_ms + other.time_ms - both.time_ms);
      const Mib mib = std::max(0.0, one.memory_mib + other.memory_mib - both.memory_mib);
      sum.own_ms = l == 0 ? ms : std::min(sum.own_ms, ms);
      sum.own_mib = l == 0 ? mib : std::min(sum.own_mib, mib);
    }
  }
  for (const StageCost& each : alone) {
    sum.layer_ms.push_back(std::max(0.0, each.time_ms - sum.own_ms));
    sum.layer_mib.push_back(std::max(0.0, each.memory_mib - sum.own_mib));
  }
  return sum;
}

using milp::Term;

class UniapBuilder {
 public:
  explicit UniapBuilder(const StageCosts& costs)
      : costs_(costs), stages_(costs.of_class().pp), layers_(costs.table().layers()) {}

  UniapMip build() {
    out_.its.assign(costs_.choices().begin(), costs_.choices().end());
    slowest_ = out_.model.add_variable(
        {.name = "X", .objective = static_cast<double>(costs_.of_class().micro_batches - 1)});
    place_layers();
    for (std::int64_t stage = 0; stage < stages_; ++stage) choose(stage);
    return std::move(out_);
  }

 private:
  int binary(const char* kind, std::int64_t a, std::int64_t b) {
    return out_.model.add_variable(
        {.name = kind + ('_' + std::to_string(a)) + '_' + std::to_string(b),
         .upper = 1,
         .integer = true});
  }

  void add_row(std::string name, double lower, double upper, std::vector<Term> terms) {
    out_.model.add_row({std::move(name), lower, upper, std::move(terms)});
  }

  // UA1 to UA3: every layer is on one stage, no layer is before the stage of the previous layer,
  // and no stage is empty.
  void place_layers() {
    std::vector<std::vector<Term>> of_stage(at(stages_));
    for (std::int64_t l = 0; l < layers_; ++l) {
      std::vector<Term> one;
      std::vector<Term> later;
      out_.places.emplace_back();
      for (std::int64_t s = 0; s < stages_; ++s) {
        const int place = binary("P", l, s);
        out_.places.back().push_back(place);
        one.push_back({place, 1});
        of_stage[at(s)].push_back({place, 1});
        later.push_back({place, static_cast<double>(s)});
        if (l > 0) later.push_back({out_.places[at(l - 1)][at(s)], -static_cast<double>(s)});
      }
      add_row("UA1_" + std::to_string(l), 1, 1, std::move(one));
      if (l > 0) add_row("UA2_" + std::to_string(l), 0, kInfinity, std::move(later));
    }
    for (std::int64_t s = 0; s < stages_; ++s) {
      add_row("UA3_" + std::to_string(s), 1, kInfinity, std::move(of_stage[at(s)]));
    }
  }

  // UA4 to UA7: one choice, its products with the layers, memory, and time.
  void choose(std::int64_t stage) {
    const std::string number = std::to_string(stage);
    std::vector<Term> one;
    std::vector<Term> mib;
    std::vector<Term> ms;
    std::vector<std::vector<Term>> products(at(layers_));
    out_.choices.emplace_back();
    for (std::size_t k = 0; k < out_.its.size(); ++k) {
      const Additive its = additive(costs_, stage, out_.its[k]);
      const int chosen = binary("S", stage, static_cast<std::int64_t>(k));
      out_.choices.back().push_back(chosen);
      one.push_back({chosen, 1});
      mib.push_back({chosen, its.own_mib});
      ms.push_back({chosen, its.own_ms});
      for (std::int64_t l = 0; l < layers_; ++l) {
        const std::string name =
            std::to_string(l) + '_' + number + '_' + std::to_string(static_cast<std::int64_t>(k));
        const int product = out_.model.add_variable({.name = "Z_" + name, .upper = 1});
        add_row("UA5_" + name, -kInfinity, 0, {{product, 1}, {chosen, -1}});
        products[at(l)].push_back({product, 1});
        mib.push_back({product, its.layer_mib[at(l)]});
        ms.push_back({product, its.layer_ms[at(l)]});
      }
    }
    for (std::int64_t l = 0; l < layers_; ++l) {
      products[at(l)].push_back({out_.places[at(l)][at(stage)], -1});
      add_row("UA5_" + std::to_string(l) + '_' + number, 0, 0, std::move(products[at(l)]));
    }
    add_row("UA4_" + number, 1, 1, std::move(one));
    add_row("UA6_" + number, -kInfinity, costs_.table().instance().cluster.memory_mib,
            std::move(mib));
    // The objective has each stage's time once, and the slowest stage's time for the other
    // micro-batches.
    const int time = out_.model.add_variable({.name = "t_" + number, .objective = 1});
    ms.push_back({time, -1});
    add_row("UA7_" + number, -kInfinity, 0, std::move(ms));
    add_row("UA7_" + number + "_X", -kInfinity, 0, {{time, 1}, {slowest_, -1}});
  }

  const StageCosts& costs_;
  const std::int64_t stages_;
  const std::int64_t layers_;
  int slowest_ = 0;
  UniapMip out_;
};

}  // namespace

std::int64_t uniap_products(const StageCosts& costs) {
  return costs.of_class().pp * costs.table().layers() * std::ssize(costs.choices());
}

UniapMip build_uniap(const StageCosts& costs) { return UniapBuilder(costs).build(); }

std::vector<StagePlan> decode(const UniapMip& mip, const std::vector<double>& values) {
  const auto chosen = [&](int binary) { return values[at(binary)] > 0.5; };
  std::vector<StagePlan> stages;
  for (const std::vector<int>& of_stage : mip.choices) {
    StagePlan stage;
    for (std::size_t k = 0; k < of_stage.size(); ++k) {
      if (chosen(of_stage[k])) stage.choice = mip.its[k];
    }
    stages.push_back(stage);
  }
  for (const std::vector<int>& of_layer : mip.places) {
    for (std::size_t s = 0; s < of_layer.size(); ++s)
      stages[s].layers += chosen(of_layer[s]) ? 1 : 0;
  }
  return stages;
}

}  // namespace stowage

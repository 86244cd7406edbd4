#include "formulations/strategy/bounds.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "instances/numeric/numbers.h"
#include "instances/strategy/cost/stage_split.h"

namespace stowage {
namespace {

// Memory that a check may accept by rounding counts as fitting here. This can only lower a bound.
constexpr double kMemorySlack = 1 + 2e-9;
constexpr double kBytesOfMib = 1 << 20;

double add(double a, double b) { return a + b; }

// Returns the least cost of a stage over all choices that fit, and writes the stage's costs to
// `kept`.
template <class Cost>
double least_of(const StageCosts& costs, std::int64_t stage, std::int64_t first,
                std::int64_t layers, Cost cost, StageCost* kept = nullptr) {
  double least = kInfinity;
  for (const StageChoice& choice : costs.choices()) {
    const StageCost its = costs.of(stage, first, layers, choice);
    if (its.memory_mib > costs.table().instance().cluster.memory_mib * kMemorySlack) continue;
    const double value = cost(its);
    if (value >= least) continue;
    least = value;
    if (kept != nullptr) *kept = its;
  }
  return least;
}

// Returns the steady state and the tail of the step, weighted by prices.
double steady_cost(const StageCosts& costs, const StageCost& its, double price) {
  const double chunk = 1 / static_cast<double>(costs.of_class().v);
  const double rounds = static_cast<double>(costs.of_class().micro_batches) - chunk;
  return (chunk + rounds * price) * its.time_ms + price * costs.exposed(its);
}

StageSplit steady_split(const StageCosts& costs, const std::vector<double>& prices) {
  return best_split(
      costs, 0.0,
      [&](std::int64_t stage, std::int64_t first, std::int64_t layers) {
        return least_of(costs, stage, first, layers, [&](const StageCost& its) {
          return steady_cost(costs, its, prices[at(stage)]);
        });
      },
      add);
}

struct Weakest {
  Ms ms = kInfinity;
  std::optional<StageCosts> costs;
};

Weakest weakest_of(const StrategyTable& table, const StrategyCertificate::Class& its) {
  const StrategyClass of_class{its.pp, its.v, its.micro_batches};
  Weakest weakest;
  for (const StrategyLayout& layout : table.layouts(of_class)) {
    const StageCosts costs(table, of_class, layout);
    if (weakest.costs && costs.area() >= weakest.ms) continue;
    const Ms bound = priced_bound(costs, its.prices);
    if (bound >= weakest.ms && weakest.costs) continue;
    weakest.ms = bound;
    weakest.costs.emplace(costs);
  }
  return weakest;
}

// Returns the least area bound of all layouts of a class.
Ms least_area(const StrategyTable& table, const StrategyCertificate::Class& its) {
  const StrategyClass of_class{its.pp, its.v, its.micro_batches};
  Ms least = kInfinity;
  for (const StrategyLayout& layout : table.layouts(of_class)) {
    least = std::min(least, StageCosts(table, of_class, layout).area());
  }
  return least;
}

// Returns the times of the stages in the cheapest split for these prices.
std::vector<Ms> cheapest_times(const StageCosts& costs, const std::vector<double>& prices) {
  std::vector<Ms> times;
  std::int64_t first = 0;
  for (const std::int64_t layers : steady_split(costs, prices).layers) {
    const auto stage = std::ssize(times);
    StageCost kept;
    least_of(
        costs, stage, first, layers,
        [&](const StageCost& its) { return steady_cost(costs, its, prices[at(stage)]); }, &kept);
    times.push_back(kept.time_ms);
    first += layers;
  }
  return times;
}

}  // namespace

// Returns the least area bound of all classes. It serves measured times, which may be below those
// of the rates.
static Ms least_area(const StrategyTable& table) {
  Ms least = kInfinity;
  for (const StrategyClass& its : table.classes()) {
    for (const StrategyLayout& layout : table.layouts(its)) {
      least = std::min(least, StageCosts(table, its, layout).area());
    }
  }
  return least;
}

Ms work_bound(const StrategyTable& table) {
  if (!table.instance().cost.measured.empty()) return least_area(table);
  const StrategyInstance& instance = table.instance();
  const StrategyModel& model = instance.model;
  const auto hidden = static_cast<double>(model.hidden);
  const auto tokens = static_cast<double>(table.tokens());
  const auto& tps = instance.options.tp;
  const double width = hidden / static_cast<double>(*std::min_element(tps.begin(), tps.end()));
  const double rate = instance.cost.linear_tflops * 1e9;
  const std::optional<StrategyDetail>& detail = instance.cost.detail;
  const double slower = detail ? detail->expert_slowdown - 1 : 0;
  double active = 0;
  for (const StrategyRun& run : table.runs()) {
    active +=
        static_cast<double>(run.end - run.first) * (run.layer.active + slower * run.layer.picked);
  }
  const double lin = 2 * active * tokens / (rate * width / (width + instance.cost.half_width));
  const auto queries = static_cast<double>(model.queries_width());
  const auto layers = static_cast<double>(table.layers());
  double att = layers * (model.causal ? 2 : 4) * queries * table.squares() /
               (instance.cost.attention_tflops * 1e9);
  if (detail && !model.flash_attention) {
    att = layers * table.squares() *
          (4 * queries / rate + detail->square_bytes * static_cast<double>(model.heads) /
                                    (detail->memory_mib_per_ms * kBytesOfMib));
  }
  const double between = detail ? layers * detail->pass_bytes * hidden * tokens /
                                      (detail->memory_mib_per_ms * kBytesOfMib)
                                : 0;
  const double head = 6 * static_cast<double>(model.vocabulary) * hidden * tokens / rate;
  return (3 * lin + (model.flash_attention ? 3.5 : 3) * att + 3 * between + head) /
         static_cast<double>(instance.cluster.devices());
}

Ms priced_bound(const StageCosts& costs, const std::vector<double>& prices) {
  if (costs.of_class().pp == 1) {
    // All plans of the class have one stage, so the bound is the least step itself.
    return least_of(costs, 0, 0, costs.table().layers(),
                    [&](const StageCost& its) { return costs.step(std::span(&its, 1)); });
  }
  const Ms steady = steady_split(costs, prices).value;
  if (steady == kInfinity) return steady;
  const Ms alone = best_split(
                       costs, 0.0,
                       [&](std::int64_t stage, std::int64_t first, std::int64_t layers) {
                         return least_of(costs, stage, first, layers, [&](const StageCost& its) {
                           return its.longest_ms + prices[at(stage)] * costs.exposed(its);
                         });
                       },
                       add)
                       .value;
  return std::max(steady, alone);
}

Ms class_bound(const StrategyTable& table, const StrategyCertificate::Class& its) {
  return weakest_of(table, its).ms;
}

std::optional<StrategyCertificate> equal_prices(const StrategyTable& table, const Budget& budget) {
  StrategyCertificate certificate{.bound_ms = kInfinity};
  struct Open {
    Ms area = 0;
    StageCosts costs;
  };
  std::vector<Open> open;
  for (const StrategyClass& its : table.classes()) {
    StrategyCertificate::Class& priced = certificate.classes.emplace_back(
        StrategyCertificate::Class{.pp = its.pp, .v = its.v, .micro_batches = its.micro_batches});
    priced.prices.assign(at(its.pp), 1 / static_cast<double>(its.pp));
    for (const StrategyLayout& layout : table.layouts(its)) {
      const StageCosts costs(table, its, layout);
      open.push_back({costs.area(), costs});
    }
  }
  // The weakest class decides. Classes with a larger area bound need no prices.
  std::ranges::stable_sort(open, {}, &Open::area);
  for (const Open& each : open) {
    if (each.area >= certificate.bound_ms) break;
    if (budget.exhausted()) return std::nullopt;
    const std::int64_t pp = each.costs.of_class().pp;
    const std::vector<double> prices(at(pp), 1 / static_cast<double>(pp));
    certificate.bound_ms = std::min(certificate.bound_ms, priced_bound(each.costs, prices));
  }
  return certificate;
}

Ms raise_prices(const StrategyTable& table, StrategyCertificate::Class& its, Ms enough,
                const Budget& budget, const PriceRounds& rounds) {
  const Ms area = least_area(table, its);
  if (area >= enough) return area;
  StrategyCertificate::Class tried = its;
  Ms best = -kInfinity;
  for (int round = 0; round < rounds.rounds; ++round) {
    const Weakest weakest = weakest_of(table, tried);
    if (weakest.ms > best) {
      best = weakest.ms;
      its.prices = tried.prices;
    }
    if (best >= enough || its.pp == 1 || budget.exhausted()) break;
    // Lowers the prices of fast stages: a subgradient step with factors (exponentiated gradient).
    const std::vector<Ms> times = cheapest_times(*weakest.costs, tried.prices);
    const Ms most = *std::max_element(times.begin(), times.end());
    const double length = rounds.first_step / std::sqrt(1 + round);
    for (std::size_t s = 0; s < times.size(); ++s) {
      tried.prices[s] *= std::exp(length * (times[s] / most - 1));
    }
    const double sum = std::accumulate(tried.prices.begin(), tried.prices.end(), 0.0);
    for (double& price : tried.prices) price /= sum;
  }
  return best;
}

LeastMemory least_memory(const StrategyTable& table) {
  LeastMemory least{.mib = kInfinity};
  for (const StrategyClass& its : table.classes()) {
    for (const StrategyLayout& layout : table.layouts(its)) {
      const StageCosts costs(table, its, layout);
      const auto need = [&](std::int64_t stage, std::int64_t first, std::int64_t layers) {
        double mib = kInfinity;
        for (const StageChoice& choice : costs.choices()) {
          mib = std::min(mib, costs.of(stage, first, layers, choice).memory_mib);
        }
        return mib;
      };
      const StageSplit split =
          best_split(costs, 0.0, need, [](double a, double b) { return std::max(a, b); });
      if (split.value >= least.mib) continue;
      least = {.mib = split.value, .of_class = its, .layout = layout};
      std::int64_t first = 0;
      for (std::int64_t s = 0; s < its.pp; ++s) {
        const std::int64_t layers = split.layers[at(s)];
        if (need(s, first, layers) == split.value) least.stage = s, least.layers = layers;
        first += layers;
      }
    }
  }
  return least;
}

}  // namespace stowage

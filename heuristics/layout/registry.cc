#include "heuristics/layout/registry.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "heuristics/layout/construct/buffer_orders.h"
#include "heuristics/layout/construct/circular_next_fit.h"
#include "heuristics/layout/construct/dive.h"
#include "heuristics/layout/construct/gap_fit.h"
#include "heuristics/layout/construct/size_class_layout.h"
#include "heuristics/layout/improve/hill_climb.h"
#include "heuristics/layout/improve/reinsertion.h"
#include "instances/layout/plan_builder.h"
#include "instances/layout/planning_table.h"
#include "instances/numeric/numbers.h"

namespace stowage {
namespace {

using Offsets = std::vector<Bytes>;

// Static orders of the dives. Each order gave in measurements the best layout of some instance of
// the MiniMalloc or idealloc sets, of random buffers or of layer traces.
constexpr const char* kDiveOrders[] = {"TWA", "ZW", "TCA", "LZ", "AT", "UOZ"};
// Static order of the dive for many buffers, beside the dive for the fullest section. It gives the
// better layout if sizes differ by orders of magnitude.
constexpr const char* kDiveOrderOfMany = "AT";

// A baseline that places buffers in one static order.
struct FitRule {
  const char* keys;
  GapRule gap;
  int patience = 1;  // `fast` applies the rule to at most patience * fast.fits buffers
};
constexpr FitRule kGreedySize{"ZL", GapRule::smallest};
constexpr FitRule kFirstFit{"Z", GapRule::lowest};
constexpr FitRule kBestFitSpatial{"ZW", GapRule::smallest};
constexpr FitRule kBestFitTemporal{"WZ", GapRule::smallest, 5};
constexpr FitRule kOnline{"L", GapRule::smallest};
constexpr FitRule kWithGaps{"ZW", GapRule::lowest};

void keep_better(const LayoutTable& table, std::optional<Offsets>& best,
                 std::optional<Offsets> offsets) {
  if (offsets && (!best || table.peak(*offsets) < table.peak(*best))) best = std::move(offsets);
}

std::optional<Offsets> fit(const LayoutTable& table, const FitRule& rule, const Budget& budget) {
  return fit_in_order(table, static_order(table, rule.keys), rule.gap, budget);
}

std::optional<Offsets> best_fit(const LayoutTable& table, const Budget& budget) {
  std::optional<Offsets> best = fit(table, kBestFitSpatial, budget);
  keep_better(table, best, fit(table, kBestFitTemporal, budget));
  return best;
}

// Returns the layout of the shortest ring that holds all buffers, by bisection between the max load
// and the best peak.
std::optional<Offsets> ring(const LayoutTable& table, int rings, const Budget& budget) {
  std::optional<Offsets> best;
  Bytes low = table.max_load();
  for (int i = 0; i < rings; ++i) {
    const Bytes length = best ? std::midpoint(low, table.peak(*best)) : low;
    std::optional<Offsets> offsets = lay_round_a_ring(table, length, budget);
    if (!offsets) return best;
    if (table.peak(*offsets) > length) low = length;
    keep_better(table, best, std::move(offsets));
    if (table.peak(*best) <= table.max_load()) return best;
  }
  return best;
}

// Returns the best of several layouts. Dives ignore gaps in lifetimes, and fitting uses them. If
// there are many buffers, a dive takes seconds, so the size-class slots come first.
std::optional<Offsets> fast(const LayoutInstance& instance, const LayoutTable& table,
                            const LayoutHeuristicParams& params, const Budget& budget) {
  const bool many = table.buffers() > params.fast.many;
  std::optional<Offsets> best;
  if (many && !budget.exhausted()) best = size_class_layout(instance);
  const auto done = [&] {
    return best && ((many && budget.exhausted()) || table.peak(*best) <= table.max_load());
  };
  const auto dive = [&](const char* keys) {
    if (!done()) keep_better(table, best, canonical_dive(table, static_order(table, keys), budget));
  };
  if (!many) std::ranges::for_each(kDiveOrders, dive);
  if (!done()) keep_better(table, best, ring(table, params.fast.rings, budget));
  if (!done()) {
    const std::vector<Bytes> no_more(at(table.sections()), 0);
    keep_better(table, best,
                fullest_dive(table, static_order(table, "W"), no_more, budget, params.dive));
  }
  if (many) dive(kDiveOrderOfMany);
  if (done()) return best;
  for (const FitRule& rule : {kBestFitTemporal, kGreedySize, kFirstFit, kBestFitSpatial, kOnline}) {
    if (table.buffers() > std::int64_t{rule.patience} * params.fast.fits) continue;
    keep_better(table, best, fit(table, rule, budget));
    if (best && table.peak(*best) <= table.max_load()) return best;
  }
  if (table.any_gaps()) keep_better(table, best, fit(table, kWithGaps, budget));
  return best;
}

std::optional<Offsets> reinsert(const LayoutInstance& instance, const LayoutTable& table,
                                const LayoutHeuristicParams& params, std::uint64_t seed,
                                const Budget& budget) {
  std::optional<Offsets> best = fast(instance, table, params, budget);
  if (!best || budget.exhausted() || table.buffers() > params.reinsertion.buffers) return best;
  Budget::Limits limits = budget.limits();  // the copy drops the node limit
  limits.time_limit_s = budget.seconds_left();
  limits.node_limit = std::numeric_limits<std::int64_t>::max();
  Budget own(limits);
  return Reinsertion(table, seed, params.reinsertion)
      .lower(*std::move(best), table.max_load(), params.reinsertion.visits, own);
}

}  // namespace

std::vector<LayoutHeuristic> heuristics(const LayoutInstance&,
                                        const LayoutHeuristicParams& params) {
  std::vector<LayoutHeuristic> all;
  const auto add = [&](std::string name, std::string summary, std::string source, auto make) {
    all.push_back({std::move(name), std::move(summary), std::move(source),
                   [make](const LayoutInstance& instance, const LayoutTable& table,
                          std::uint64_t seed, const Budget& budget) -> std::optional<LayoutPlan> {
                     if (!table.stackable() || table.clash()) return std::nullopt;
                     std::optional<Offsets> offsets = make(instance, table, seed, budget);
                     if (!offsets) return std::nullopt;
                     LayoutPlan plan = compose_layout(instance, std::move(*offsets));
                     if (instance.capacity && plan.peak_bytes > *instance.capacity)
                       return std::nullopt;
                     return plan;
                   }});
  };
  const auto add_fit = [&](std::string name, std::string summary, std::string source,
                           const FitRule& rule) {
    add(std::move(name), std::move(summary), std::move(source),
        [rule](const LayoutInstance&, const LayoutTable& table, std::uint64_t,
               const Budget& budget) { return fit(table, rule, budget); });
  };
  add_fit("greedy-size", "descending size, smallest gap, ties by start",
          "Pisarchyk and Lee 2020, greedy by size (TFLite)", kGreedySize);
  add_fit("first-fit", "descending size, lowest gap", "", kFirstFit);
  add_fit("best-fit-spatial", "descending size, smallest gap, ties by lifetime",
          "XLA, global decreasing size best fit, spatial", kBestFitSpatial);
  add_fit("best-fit-temporal", "descending lifetime, smallest gap, ties by size",
          "XLA, global decreasing size best fit, temporal", kBestFitTemporal);
  add("best-fit", "the better of best-fit-spatial and best-fit-temporal",
      "XLA, global decreasing size best fit",
      [](const LayoutInstance&, const LayoutTable& table, std::uint64_t, const Budget& budget) {
        return best_fit(table, budget);
      });
  add("usmp-hill-climb", "first fit, exchanges in the order around the peak",
      "TVM, tir/usmp/algo/hill_climb.cc",
      [](const LayoutInstance&, const LayoutTable& table, std::uint64_t seed,
         const Budget& budget) {
        return hill_climb(table, layout_fixed::kHillClimbAttempts, seed, budget);
      });
  add_fit("online-best-fit", "in order of time, smallest gap among the living",
          "caching allocator of deep learning frameworks, without its size classes", kOnline);
  add("fast", "rings, canonical dives with a few static orders, and fits of few buffers", "",
      [params](const LayoutInstance& instance, const LayoutTable& table, std::uint64_t,
               const Budget& budget) { return fast(instance, table, params, budget); });
  add("reinsert", "fast, then buffers taken out of the stack and put in again; of at most 5,000",
      "",
      [params](const LayoutInstance& instance, const LayoutTable& table, std::uint64_t seed,
               const Budget& budget) { return reinsert(instance, table, params, seed, budget); });
  return all;
}

}  // namespace stowage

// Longer than 300 lines: all methods of one family, and what they share.
#include "solvers/layout/solve.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "formulations/layout/bounds.h"
#include "heuristics/layout/improve.h"
#include "heuristics/layout/pile.h"
#include "heuristics/layout/registry.h"
#include "heuristics/layout/slots.h"
#include "instances/layout/compose.h"
#include "instances/layout/load.h"
#include "instances/layout/table.h"
#include "instances/layout/verify.h"
#include "solvers/family_solve.h"
#include "solvers/layout/busiest.h"
#include "solvers/layout/memo.h"
#include "solvers/layout/mip_solve.h"
#include "solvers/layout/search.h"

namespace stowage {
namespace {

using Reason = LayoutInfeasibility::Reason;

const Method kAuto{"auto", MethodKind::ours, "heuristics, then search and improvement in turn", ""};
const Method kExact{"exact", MethodKind::ours, "canonical search of layouts until proof or limit",
                    "MiniMalloc (ASPLOS 2023); tree.h"};
const Method kMemo{"memo", MethodKind::baseline,
                   "two levels: each repeated block once, then the step with pseudo buffers",
                   "MEMO section 4.2, with our search in place of its MIP"};
const Method kMip{"mip", MethodKind::ours, "the strengthened MIP, for small graphs", ""};
const Method kPublishedMip{"mip-published", MethodKind::baseline, "the MIP as published",
                           "MEMO section 4.2"};

// Rules of thumb for one buffer of a great many: table, bounds, a quick layout and its
// verification; the verification alone.
constexpr double kSecondsToPlan = 1.1e-6;
constexpr double kSecondsToVerify = 5e-7;
constexpr double kSecondsToImprove = 1.5e-6;  // until improvement has begun
constexpr double kManyBuffers = 50'000;       // below, all of that is over in a blink

// What the improvements of a few thousand buffers get in turn: so many nodes and then more each
// time, until they are in vain. Fewer buffers are searched in between, and mostly the first search
// ends it.
constexpr int kSearchedFirst = 1'000;
constexpr std::int64_t kFirstNodes = 50'000;
constexpr std::int64_t kMoreNodes = 4;
constexpr std::int64_t kMostNodes = 1'000'000'000'000;  // hours
constexpr std::int64_t kToImprove = 3;                  // so many times as many nodes
constexpr int kTurnsInVain = 2;
// Of what a layout was above the load, for the verifier to look at the better one at once.
constexpr double kWorthTelling = 0.05;

std::int64_t more(std::int64_t nodes) { return std::min(kMoreNodes * nodes, kMostNodes); }

InfeasibilityProof proof_of(const LayoutInfeasibility& why) {
  return {.by = why.reason == Reason::pins_clash           ? "pins"
                : why.reason == Reason::pin_above_capacity ? "capacity"
                                                           : "load",
          .witnesses = why.buffers,
          .step = why.step};
}

std::string remedy_of(const LayoutInstance& instance, const LayoutInfeasibility& why) {
  if (why.reason == Reason::pins_clash) return "move one of the two pins, or pin one buffer only";
  if (why.reason == Reason::load_above_capacity) {
    return "raise capacity to at least " + std::to_string(peak_load(instance).load) +
           ", or need less memory at the step";
  }
  const Buffer& buffer = instance.buffers[static_cast<std::size_t>(why.buffers.front())];
  return "raise capacity to at least " + std::to_string(*buffer.offset + buffer.size) +
         ", or pin the buffer lower";
}

class LayoutSolve : public FamilySolve<LayoutInstance> {
 public:
  using FamilySolve::FamilySolve;

 private:
  // Whether there are so many buffers that the time left does not allow each so many seconds.
  bool many_for(double seconds) const {
    const auto buffers = static_cast<double>(instance_.buffers.size());
    return buffers > kManyBuffers && budget_.seconds_left() < buffers * seconds;
  }

  std::optional<Refutation> refute() override {
    const auto why = layout_infeasibility(instance_);
    if (!why) return std::nullopt;
    return Refutation{why->text, remedy_of(instance_, *why), {}, proof_of(*why)};
  }

  std::vector<NamedBound> bounds() override {
    // Without time not even a table is made.
    if (many_for(kSecondsToPlan)) {
      return {{"load", static_cast<double>(peak_load(instance_).load)}};
    }
    table_.emplace(instance_);
    return layout_bounds(instance_, *table_);
  }

  StoppedBy search() override {
    refuted_ = refuted_by_bounds();
    if (refuted_) return StoppedBy::proof;
    if (table_ && table_->stackable()) return run_method();
    if (!incumbent_.plan()) offer_quick();
    if (!table_) return StoppedBy::time_limit;
    incumbent_.remark("all buffers on one stack would exceed 2^53 bytes: they are not searched");
    return StoppedBy::heuristic_end;
  }

  void fall_back() override { offer_quick(); }

  StoppedBy run_method() {
    if (options_.method == kMemo.name) return run_memo();
    if (options_.method == kMip.name || options_.method == kPublishedMip.name) return run_mip();
    if (options_.method != kAuto.name && options_.method != kExact.name) {
      run_heuristic(options_.method);
      return StoppedBy::heuristic_end;
    }
    run_heuristic("fast");
    if (options_.method == kAuto.name && !incumbent_.within(options_.gap)) {
      if (table_->buffers() < kSearchedFirst) return search_in_turns();
      improve_for_now();
    }
    if (incumbent_.within(options_.gap)) return StoppedBy::gap;
    return run_search(budget_);
  }

  StoppedBy search_in_turns() {
    std::int64_t nodes = kFirstNodes;
    for (int in_vain = 0; in_vain < kTurnsInVain; nodes = more(nodes)) {
      Budget searched = budget_.part(budget_.seconds_left(), std::min(nodes, budget_.nodes_left()));
      const StoppedBy stopped = run_search(searched);
      if (stopped != StoppedBy::time_limit || budget_.exhausted()) return stopped;
      in_vain = improve_by_both(kToImprove * nodes, budget_) ? 0 : in_vain + 1;
      if (incumbent_.within(options_.gap)) return StoppedBy::gap;
      if (budget_.exhausted()) return StoppedBy::time_limit;
    }
    return run_search(budget_);
  }

  // Many buffers are beyond the exact search: what lowers the peak of a layout comes first, and has
  // half of the limits where the search can do something at all.
  void improve_for_now() {
    const double to_verify = kSecondsToVerify * static_cast<double>(instance_.buffers.size());
    const bool alone = table_->buffers() > kManyBuffers || !can_be_searched(*table_);
    Budget part = budget_.part((alone ? 1 : 0.5) * (budget_.seconds_left() - to_verify),
                               alone ? budget_.nodes_left() : budget_.nodes_left() / 2);
    time_ended_it_ = alone && many_for(kSecondsToImprove);
    if (part.exhausted() || many_for(kSecondsToImprove)) return;
    if (some_are_busiest()) {
      std::int64_t nodes = kToImprove * kFirstNodes;
      for (int in_vain = 0; in_vain < kTurnsInVain && !part.exhausted(); nodes = more(nodes)) {
        in_vain = improve_by_both(nodes, part) ? 0 : in_vain + 1;
        if (incumbent_.within(options_.gap)) break;
      }
    } else {
      improve_all(part);
    }
    time_ended_it_ = alone && part.stop_reason() == StopReason::time_limit;
  }

  // The best layout, and the busiest sections first, each with half of the nodes; what was of no
  // use while the other was, is left out the next time.
  bool improve_by_both(std::int64_t nodes, Budget& budget) {
    const bool busiest = some_are_busiest() && !skip_busiest_;
    const bool all = !skip_all_;
    skip_busiest_ = skip_all_ = false;
    bool by_all = false;
    bool by_busiest = false;
    if (all) {
      Budget part = budget.part(budget.seconds_left(),
                                std::min(nodes, budget.nodes_left()) / (busiest ? 2 : 1));
      by_all = improve_all(part);
      nodes -= part.nodes();
    }
    if (incumbent_.within(options_.gap) || budget.exhausted()) return by_all;
    if (busiest) {
      Budget part = budget.part(budget.seconds_left(), std::min(nodes, budget.nodes_left()));
      by_busiest = improve_busiest(part);
    }
    skip_busiest_ = busiest && by_all && !by_busiest;
    skip_all_ = all && by_busiest && !by_all;
    return by_all || by_busiest;
  }

  bool some_are_busiest() {
    if (!busiest_ && BusiestFirst::fits(*table_)) busiest_.emplace(*table_, options_.seed);
    return busiest_ && busiest_->parts() > 1;
  }

  bool improve_busiest(Budget& budget) {
    return improve([&](std::vector<Bytes> offsets, const BetterLayout& tell) {
      return busiest_->lower(std::move(offsets), good_enough(), budget, tell);
    });
  }

  bool improve_all(Budget& budget) {
    return improve([&](std::vector<Bytes> offsets, const BetterLayout& tell) {
      const ImproveOptions options{.enough = good_enough(),
                                   .seed = options_.seed + improvements_++};
      return improve_layout(*table_, std::move(offsets), options, budget, tell);
    });
  }

  // Whether there is a lower layout now, of a plan or above the capacity.
  template <class Lower>
  bool improve(const Lower& lower) {
    const std::optional<std::vector<Bytes>> start =
        incumbent_.plan() ? std::optional(incumbent_.plan()->offsets) : too_high_;
    if (!start) return false;
    const Bytes before = table_->peak(*start);
    Bytes told = before;
    const auto offer = [&](const std::vector<Bytes>& offsets) {
      told = table_->peak(offsets);
      if (fits(told)) incumbent_.offer(compose_layout(instance_, offsets), 'H', "improvement");
    };
    const std::vector<Bytes> best = lower(*start, [&](const std::vector<Bytes>& offsets) {
      const Bytes peak = table_->peak(offsets);
      const Bytes above = told - table_->max_load();
      const bool worth =
          kWorthTelling * static_cast<double>(above) <= static_cast<double>(told - peak);
      if (worth || (fits(peak) && !fits(told))) offer(offsets);
    });
    if (table_->peak(best) < told) offer(best);
    if (told < before && !fits(told)) too_high_ = best;
    return told < before;
  }

  bool fits(Bytes peak) const { return !instance_.capacity || peak <= *instance_.capacity; }

  // The largest peak within the capacity that proves the plan, or is within the gap asked for.
  Bytes good_enough() const {
    const double bound = incumbent_.bound();
    const double enough = options_.gap < 1 ? bound / (1 - options_.gap) : kInfinity;
    const Bytes most = instance_.capacity.value_or(table_->stack());
    return enough < static_cast<double>(most) ? static_cast<Bytes>(enough) : most;
  }

  void run_heuristic(const std::string& name) {
    // What is left when a heuristic ends is for the verifier.
    const double to_verify = kSecondsToVerify * static_cast<double>(instance_.buffers.size());
    const Budget part = budget_.part(budget_.seconds_left() - to_verify, budget_.nodes_left());
    // A layout above the capacity is no plan, but may be lowered.
    LayoutInstance unlimited;
    if (instance_.capacity) {
      unlimited = instance_;
      unlimited.capacity.reset();
    }
    const LayoutInstance& asked = instance_.capacity ? unlimited : instance_;
    for (const LayoutHeuristic& heuristic : heuristics(asked)) {
      if (heuristic.name != name) continue;
      std::optional<LayoutPlan> plan = heuristic.run(asked, *table_, options_.seed, part);
      if (plan && fits(plan->peak_bytes)) {
        incumbent_.offer(compose_layout(instance_, std::move(plan->offsets)), 'H', name);
      } else {
        if (plan) too_high_ = std::move(plan->offsets);
        if (part.exhausted()) {
          if (!incumbent_.plan()) offer_quick();
        } else if (options_.method == name) {
          incumbent_.remark(name + " has no layout for this instance");
        }
      }
      time_ended_it_ = part.stop_reason() == StopReason::time_limit;
    }
  }

  // A limit that ends a method before its first plan still leaves time for the quickest two.
  void offer_quick() {
    offer_quick("slots", lay_in_slots(instance_));
    offer_quick("pile", pile(instance_));
  }

  void offer_quick(const char* name, std::optional<std::vector<Bytes>> offsets) {
    if (!offsets) return;
    LayoutPlan plan = compose_layout(instance_, *std::move(offsets));
    if (fits(plan.peak_bytes) && better(plan.peak_bytes))
      incumbent_.offer(std::move(plan), 'H', name);
  }

  LayoutStart known() const {
    LayoutStart start{.bound = static_cast<Bytes>(incumbent_.bound()),
                      .capacity = instance_.capacity,
                      .gap = options_.gap};
    if (incumbent_.plan()) start.offsets = incumbent_.plan()->offsets;
    return start;
  }

  // Each block, and the step of pseudo buffers, is planned as `auto` would plan it.
  StoppedBy run_memo() {
    const auto planner = [this](const LayoutInstance& part, Budget& budget) {
      // As much as one of the MIPs that the search stands for.
      Budget own = budget.part(options_.milp_seconds.value_or(kMilpSeconds), budget.nodes_left());
      const Outcome outcome = solve_family(part, {.seed = options_.seed}, own, {});
      return outcome.plan ? std::optional(std::get<LayoutPlan>(*outcome.plan)) : std::nullopt;
    };
    if (const auto memo = plan_memo(instance_, planner, budget_)) {
      incumbent_.offer(memo->plan, 'H', kMemo.name);
    } else {
      incumbent_.remark("a block or the step of pseudo buffers has no layout");
    }
    return StoppedBy::heuristic_end;
  }

  StoppedBy run_mip() {
    if (built_backends().empty()) {
      incumbent_.remark("no MILP backend is built in");
      return StoppedBy::error;
    }
    const bool strengthened = options_.method == kMip.name;
    if (strengthened) run_heuristic("fast");  // the peak of a layout is part of the model
    const MilpBackend backend = backend_of(options_);
    const double left = budget_.seconds_left();
    Budget part = budget_.part(strengthened ? left : options_.milp_seconds.value_or(left),
                               budget_.nodes_left());
    const LayoutMipResult mip = solve_layout_mip(*table_,
                                                 {.backend = backend,
                                                  .strengthened = strengthened,
                                                  .gap = options_.gap,
                                                  .seed = options_.seed},
                                                 known(), part);
    const std::string by = "mip-" + std::string(name(backend));
    if (!mip.offsets.empty() && better(mip.peak)) {
      incumbent_.offer(compose_layout(instance_, mip.offsets), 'M', by);
    }
    incumbent_.raise_bound({by, static_cast<double>(mip.bound)});
    if (!mip.detail.empty()) incumbent_.remark(mip.detail);
    if (mip.status == MilpStatus::optimal) return StoppedBy::proof;
    return part.exhausted() ? StoppedBy::time_limit : StoppedBy::heuristic_end;
  }

  StoppedBy run_search(Budget& budget) {
    const LayoutMinimum minimum = minimise_layout(
        *table_, known(), budget, [this](const LayoutMinimum& better) { take(better); });
    take(minimum);
    switch (minimum.end) {
      case LayoutEnd::layout:
        return StoppedBy::proof;
      case LayoutEnd::exhausted:
        if (!incumbent_.plan()) {
          refuted_ = {"the search has no layout within the capacity left to try",
                      "raise capacity, or take pins away"};
        }
        return StoppedBy::proof;
      case LayoutEnd::gap:
        return StoppedBy::gap;
      case LayoutEnd::too_large:
        incumbent_.remark("too many buffers live together for the exact search");
        return StoppedBy::heuristic_end;
      case LayoutEnd::budget:
        break;
    }
    return StoppedBy::time_limit;  // or what the budget says
  }

  // That the closed bounds leave no layout within the capacity, if they do and the checker confirms
  // it.
  std::optional<Refutation> refuted_by_bounds() const {
    if (!instance_.capacity || incumbent_.plan() ||
        incumbent_.bound() <= static_cast<double>(*instance_.capacity)) {
      return std::nullopt;
    }
    const std::int64_t step = peak_load(instance_).step;
    InfeasibilityProof proof{
        .by = "heights", .witnesses = needing_memory_at(instance_, step), .step = step};
    if (!check_infeasibility(instance_, proof).empty()) return std::nullopt;
    return Refutation{"no stack of buffers ends between the load of step " + std::to_string(step) +
                          " and the capacity",
                      "raise capacity to at least " +
                          std::to_string(static_cast<std::int64_t>(incumbent_.bound())),
                      {},
                      std::move(proof)};
  }

  // Whether a layout of this peak would be news, and worth the verifier's time.
  bool better(Bytes peak) const {
    return !incumbent_.plan() || peak < incumbent_.plan()->peak_bytes;
  }

  void take(const LayoutMinimum& known) {
    if (known.offsets && better(known.peak)) {
      incumbent_.offer(compose_layout(instance_, *known.offsets), 'L', "search");
    }
    incumbent_.raise_bound({"search", static_cast<double>(known.bound)});
  }

  std::optional<LayoutTable> table_;            // none if there was no time for it
  std::optional<std::vector<Bytes>> too_high_;  // the last heuristic's, above the capacity
  std::optional<BusiestFirst> busiest_;         // where it can be used, once improvement has begun
  bool skip_busiest_ = false;                   // the next time: it was of no use
  bool skip_all_ = false;
  std::uint64_t improvements_ = 0;
};

}  // namespace

std::vector<Method> methods_of(const LayoutInstance& instance) {
  std::vector<Method> more{kMemo};
  if (!built_backends().empty()) more.insert(more.end(), {kPublishedMip, kMip});
  more.push_back(kExact);
  return method_list(kAuto, heuristics(instance), more);
}

Outcome solve_family(const LayoutInstance& instance, const SolveOptions& options, Budget& budget,
                     const Progress& progress) {
  return LayoutSolve(instance, options, budget, progress).run();
}

}  // namespace stowage

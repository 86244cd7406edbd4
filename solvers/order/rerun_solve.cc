// Longer than 300 lines because the methods with reruns share one course.
#include "solvers/order/rerun_solve.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "formulations/order/bounds.h"
#include "formulations/order/checkmate.h"
#include "heuristics/order/registry.h"
#include "heuristics/order/rerun_search.h"
#include "heuristics/order/reruns.h"
#include "instances/order/compose.h"
#include "instances/order/memory.h"
#include "instances/order/table.h"
#include "solvers/family_solve.h"
#include "solvers/milp/solver.h"
#include "solvers/order/host_plans.h"
#include "solvers/order/refutation.h"

namespace stowage {
namespace {

const Method kRerunAuto{
    "auto", MethodKind::ours,
    "evictions from several orders, then a walk and a search of all runs in turn", ""};
const Method kRerunExact{"exact", MethodKind::ours,
                         "search over sets of operators and tensors, until proof or limit",
                         "rerun_search.h"};
const Method kCheckmate{"checkmate", MethodKind::baseline,
                        "the MILP of runs again between the first runs in program order",
                        "Checkmate (arXiv 1910.02653), section 4"};

constexpr std::int64_t kMostBinaries = 100'000;  // of the MILP

constexpr std::int64_t kFirstRerunStates = 1000;  // of a search; four times as many each round
constexpr std::int64_t kMostRerunStates = std::int64_t{1} << 21;  // some hundred bytes each
constexpr std::int64_t kFirstPlans = 500;  // of a walk; four times as many each round

class RerunSolve : public FamilySolve<OrderInstance> {
 public:
  using FamilySolve::FamilySolve;

 private:
  bool timed() const { return instance_.objective == OrderObjective::time; }
  Bytes capacity() const { return instance_.capacity.value_or(kMaxExact); }
  // The search knows of no host, and then bounds no plan.
  bool bounded_by_search() const { return !instance_.host; }

  std::optional<Refutation> refute() override {
    table_.emplace(instance_);
    simple_ = operator_bound(*table_);
    known_ = rerun_bounds(*table_, instance_.capacity);
    if (simple_.bytes > capacity()) return refuted_by(simple_, known_.kept);
    if (known_.kept > capacity()) return refuted_below("plan", known_.kept);
    return std::nullopt;
  }

  std::vector<NamedBound> bounds() override {
    if (timed()) {
      if (instance_.host) return {{"work", known_.work_ms}, {"moved", known_.moved_ms}};
      return {{"work", known_.work_ms}, {"dropped", known_.dropped_ms}};
    }
    return {{"operator", static_cast<double>(simple_.bytes)},
            {"kept", static_cast<double>(known_.kept)}};
  }

  StoppedBy search() override {
    if (options_.method == kCheckmate.name) return run_checkmate();
    if (options_.method != kRerunAuto.name && options_.method != kRerunExact.name) {
      options_.method == kMemoSwap.name ? run_memo() : run_heuristic();
      return StoppedBy::heuristic_end;
    }
    start();
    if (options_.method == kRerunAuto.name && !ended()) evict();
    if (instance_.host && !ended()) offload();
    if (!ended()) run_rounds();
    if (refuted_ || incumbent_.proven()) return StoppedBy::proof;
    if (incumbent_.within(options_.gap)) return StoppedBy::gap;
    return StoppedBy::heuristic_end;
  }

  void fall_back() override {
    if (table_) take(table_->program_order(), 'H', "program");
  }

  bool ended() const {
    return refuted_ || budget_.exhausted() || incumbent_.proven() ||
           incumbent_.within(options_.gap);
  }

  void run_heuristic() {
    for (const OrderHeuristic& heuristic : heuristics(instance_)) {
      if (heuristic.name != options_.method) continue;
      if (auto plan = heuristic.run(instance_, *table_, options_.seed, budget_)) {
        incumbent_.offer(std::move(*plan), 'H', heuristic.name);
      } else {
        incumbent_.remark(heuristic.name + " has no plan within the capacity");
      }
    }
  }

  // Its optimum is that of one order of first runs, and bounds no other plan.
  StoppedBy run_checkmate() {
    if (built_backends().empty()) {
      incumbent_.remark("no MILP backend is built in");
      return StoppedBy::error;
    }
    if (checkmate_binaries(*table_) > kMostBinaries) {
      incumbent_.remark("the MILP would have more than " + std::to_string(kMostBinaries) +
                        " binary variables");
      return StoppedBy::heuristic_end;
    }
    const std::vector<int>& order = table_->program_order();
    const Bytes peak = peak_of(*table_, order);
    const Checkmate milp = build_checkmate(
        *table_, order, {.time = timed(), .most = std::min(peak, capacity()), .least = 0});
    if (milp.model.variables().empty()) {
      take(order, 'H', "program");
      return StoppedBy::heuristic_end;
    }
    Budget part =
        budget_.part(options_.milp_seconds.value_or(budget_.seconds_left()), budget_.nodes_left());
    const MilpResult solved = solve_milp(backend_of(options_), milp.model,
                                         {.gap = options_.gap, .seed = options_.seed}, part);
    if (!solved.detail.empty()) incumbent_.remark(solved.detail);
    if (has_point(solved.status)) take(decode(milp, solved.values), 'M', "checkmate");
    if (solved.status == MilpStatus::infeasible) {
      incumbent_.remark("there is no such plan of the order of the list within the capacity");
    }
    return part.exhausted() ? StoppedBy::time_limit : StoppedBy::heuristic_end;
  }

  // The orders that need no run again, the one of the lowest peak first: where it fits, no plan
  // takes less time.
  void start() {
    low_ = table_->program_order();
    for (const OrderHeuristic& heuristic : heuristics(without_capacity())) {
      if (budget_.exhausted() || heuristic.name == "evict" || heuristic.name == "lns") break;
      const auto plan = heuristic.run(without_capacity(), *table_, options_.seed, budget_);
      if (!plan) continue;
      std::vector<int> order(plan->order.begin(), plan->order.end());
      if (peak_of(*table_, order) < peak_of(*table_, low_)) low_ = std::move(order);
    }
    take(low_, 'H', "fast");
  }

  OrderInstance without_capacity() const {
    OrderInstance all = instance_;
    all.capacity.reset();
    return all;
  }

  void take(const std::vector<int>& steps, char source, const char* by) {
    if (steps.empty() && table_->operators() > 0) return;
    if (peak_of(*table_, steps) > capacity()) return;
    incumbent_.offer(compose_order(instance_, *table_, steps), source, by);
  }

  void evict() {
    for (const std::vector<int>& order : {low_, table_->program_order()}) {
      if (ended()) return;
      if (timed()) {
        if (const auto steps = evicted_within(*table_, order, capacity(), budget_)) {
          take(*steps, 'H', "evict");
        }
      } else {
        take(evicted_to(*table_, order, known_.kept, budget_), 'H', "evict");
      }
    }
  }

  // From both orders, to be improved in rounds.
  void offload() {
    host_.emplace(instance_, *table_, known_.kept);
    for (const std::vector<int>& order : {low_, table_->program_order()}) {
      if (ended()) return;
      if (auto plan = host_->from(order, budget_)) {
        incumbent_.offer(std::move(*plan), 'H', "offload");
      }
    }
  }

  void run_memo() {
    std::string why;
    if (auto plan = HostPlans(instance_, *table_, known_.kept).memo(options_, budget_, why)) {
      incumbent_.offer(std::move(*plan), 'M', kMemoSwap.name);
    } else {
      incumbent_.remark(why);
    }
  }

  std::vector<int> best() const {
    return {incumbent_.plan()->order.begin(), incumbent_.plan()->order.end()};
  }

  void run_rounds() {
    RerunWalk walk(*table_, options_.seed);
    std::int64_t plans = kFirstPlans;
    for (std::int64_t states = kFirstRerunStates; states <= kMostRerunStates && !ended();
         states *= 4) {
      if (host_) {
        if (auto plan = host_->better(options_.seed, budget_)) {
          incumbent_.offer(std::move(*plan), 'L', "offload");
        }
        if (ended()) return;
      }
      if (options_.method == kRerunAuto.name && incumbent_.plan() &&
          incumbent_.plan()->transfers.empty()) {
        std::vector<int> steps = best();
        const RerunWalk::Goal goal{.capacity = capacity(), .time = timed(), .least = bound_bytes()};
        budget_.count_nodes(walk.improve(steps, goal, plans, budget_));
        take(steps, 'L', "walk");
        plans *= 4;
        if (ended()) return;
      }
      if (timed()) {
        search_time(states);
      } else {
        search_peak(states);
      }
    }
    if (!ended()) incumbent_.remark("the search ended with the states that it may remember");
  }

  Bytes bound_bytes() const { return timed() ? 0 : static_cast<Bytes>(incumbent_.bound()); }

  // The best of all plans that take less than the best that is known, or as far as it goes.
  void search_time(std::int64_t states) {
    const Ms below = incumbent_.plan() ? objective_of(*incumbent_.plan()) : RerunSearch::kNoLimitMs;
    const RerunSearch::Found found = run_search(capacity(), below, states);
    if (found.end == RerunSearch::End::found) take(found.steps, 'L', "search");
    if (!bounded_by_search()) return;
    if (std::isfinite(found.bound_ms)) {
      incumbent_.raise_bound({"search", found.bound_ms});
    } else if (!incumbent_.plan()) {
      refuted_ = refuted_below("plan", found.least_overflow);
    }
  }

  // Below the best peak; then from the bound upwards.
  void search_peak(std::int64_t states) {
    if (!incumbent_.plan()) probe(capacity(), states);
    while (!ended() && incumbent_.plan() && probe(incumbent_.plan()->peak_bytes - 1, states)) {
    }
    for (Bytes before = -1; !ended() && bound_bytes() > before;) {
      before = bound_bytes();
      probe(std::min(before, capacity()), states);
    }
  }

  // Whether a plan was found. A capacity that has none is a bound.
  bool probe(Bytes most, std::int64_t states) {
    const RerunSearch::Found found = run_search(most, RerunSearch::kNoLimitMs, states);
    if (found.end == RerunSearch::End::none && bounded_by_search()) {
      incumbent_.raise_bound({"search", static_cast<double>(found.least_overflow)});
      if (found.least_overflow > capacity() && !incumbent_.plan()) {
        refuted_ = refuted_below("plan", found.least_overflow);
      }
    }
    if (found.end != RerunSearch::End::found) return false;
    take(found.steps, 'L', "search");
    return true;
  }

  RerunSearch::Found run_search(Bytes most, Ms below, std::int64_t states) {
    if (!search_) search_.emplace(*table_);
    RerunSearch::Found found = search_->run(most, below, states, budget_);
    budget_.count_nodes(found.states);
    return found;
  }

  std::optional<OrderTable> table_;
  OperatorBound simple_;
  RerunBounds known_;
  std::vector<int> low_;  // of all orders that were tried, the lowest peak
  std::optional<RerunSearch> search_;
  std::optional<HostPlans> host_;
};

}  // namespace

bool is_for_reruns(const OrderInstance& instance) {
  return instance.objective == OrderObjective::time || instance.host.has_value() ||
         std::ranges::any_of(instance.operators, &OrderOperator::recompute);
}

std::vector<Method> rerun_methods_of(const OrderInstance& instance) {
  std::vector<Method> more;
  if (!built_backends().empty()) more.push_back(kCheckmate);
  if (instance.host && !built_backends().empty()) more.push_back(kMemoSwap);
  if (!instance.host) more.push_back(kRerunExact);
  return method_list(kRerunAuto, heuristics(instance), more);
}

Outcome solve_with_reruns(const OrderInstance& instance, const SolveOptions& options,
                          Budget& budget, const Progress& progress) {
  return RerunSolve(instance, options, budget, progress).run();
}

}  // namespace stowage

// Races configurations against each other.
#include "solvers/configure/configure.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>

#include "heuristics/strategy/configurations.h"
#include "instances/numeric/numbers.h"
#include "instances/scatter/table/group_form.h"
#include "instances/strategy/json/json.h"
#include "instances/verify.h"
#include "solvers/configure/rank_layout.h"
#include "solvers/configure/step_planner.h"
#include "solvers/solve.h"

namespace stowage {
namespace {

constexpr double kMibBytes = 1 << 20;
constexpr std::size_t kFinalists = 2;     // configurations that get plans for all steps
constexpr std::size_t kTellingSteps = 4;  // steps from which a configuration can be clearly behind
constexpr double kClearly = 1.005;     // slower on each of these steps, and by this ratio together
constexpr int kMaxRaises = 4;          // raises of one configuration's factor, at most
constexpr double kRaiseMargin = 1e-6;  // margin against a further raise by rounding

bool has_equal_stages(const StrategyPlan& plan) {
  return std::ranges::all_of(plan.stages, [&](const StrategyStage& stage) {
    return stage.layers == plan.stages.front().layers;
  });
}

bool is_limit(StoppedBy reason) {
  return reason == StoppedBy::time_limit || reason == StoppedBy::node_limit ||
         reason == StoppedBy::interrupted;
}

class Configuring {
 public:
  Configuring(const StrategyInstance& instance, const std::vector<std::vector<Tokens>>& steps,
              const ConfigureOptions& options, Budget& budget, const ConfigureProgress& progress)
      : instance_(instance),
        table_(instance),
        steps_(steps),
        options_(options),
        budget_(budget),
        progress_(progress),
        planner_(instance.name, steps, options.step_method, options.threads, progress) {}

  ConfiguredRun run() && {
    tell("searching the configurations");
    run_.strategy = solve(Instance(instance_), {}, budget_);
    if (!run_.strategy.plan) return std::move(run_);
    begin();
    race();
    while (!active_.empty() && !settle_first()) {
    }
    finish();
    return std::move(run_);
  }

 private:
  void tell(const std::string& doing) const {
    if (progress_) progress_(doing);
  }

  std::vector<StrategyPlan> candidates() const {
    if (!options_.plans.empty()) return options_.plans;
    std::vector<StrategyPlan> plans = fastest_homogeneous(table_, options_.candidates, Budget());
    const auto& best = std::get<StrategyPlan>(*run_.strategy.plan);
    if (is_uniform(best) && !has_equal_stages(best)) {
      plans.insert(plans.begin(), best);
      if (plans.size() > options_.candidates) plans.pop_back();
    }
    return plans;
  }

  void begin() {
    for (StrategyPlan& plan : candidates()) {
      plan.name = instance_.name;
      plan.instance_hash = instance_hash(instance_);
      state_bound(plan, std::min(run_.strategy.bound, plan.step_ms), run_.strategy.bound_by);
      // Configurations with a violation are skipped.
      if (!verify(Instance(instance_), Plan(plan)).empty()) continue;
      Runner runner{.ranked = {.plan = plan}};
      runner.handover = std::make_unique<Handover>(table_, plan);
      active_.push_back(std::move(runner));
    }
  }

  // Plans up to `steps` steps. Returns false if a step has no plan.
  bool plan_up_to(Runner& runner, std::size_t steps) {
    planner_.plan_up_to({&runner}, steps);
    return runner.ranked.why_not.empty();
  }

  void order(std::size_t steps) {
    std::ranges::stable_sort(active_, {},
                             [steps](const Runner& runner) { return runner.mean_of(steps); });
    for (Runner& runner : active_) {
      runner.ranked.behind = runner.mean_of(steps) / active_.front().mean_of(steps);
    }
  }

  // Plans `steps` steps for all active configurations, and removes those without a plan.
  void plan_all(std::size_t steps) {
    std::vector<Runner*> runners;
    for (Runner& runner : active_) runners.push_back(&runner);
    planner_.plan_up_to(runners, steps);
    for (auto runner = active_.begin(); runner != active_.end();) {
      if (runner->ranked.why_not.empty()) {
        ++runner;
        continue;
      }
      failed_.push_back(std::move(*runner));
      runner = active_.erase(runner);
    }
    if (!active_.empty()) order(steps);
  }

  // Gives up half of the configurations after each round, until two have all steps. Configurations
  // that are clearly behind are given up at once.
  void race() {
    std::size_t target = 1;
    for (;;) {
      plan_all(target);
      if (active_.empty()) {
        if (!bring_back()) return;
        continue;
      }
      if (target == steps_.size()) return;
      const StopReason reason = budget_.stop_reason();
      const bool ended = reason != StopReason::none;
      if (ended && active_.size() > 1) run_.stopped_by = reason;
      const std::size_t finalists = ended ? 1 : kFinalists;
      const auto gone = static_cast<std::ptrdiff_t>(given_up_.size());
      if (target >= kTellingSteps) give_up_clearly_behind(target);
      const std::size_t kept = ended ? 1 : std::max(finalists, (active_.size() + 1) / 2);
      while (active_.size() > kept) {
        given_up_.push_back(std::move(active_.back()));
        active_.pop_back();
      }
      std::stable_sort(given_up_.begin() + gone, given_up_.end(),
                       [target](const Runner& a, const Runner& b) {
                         return a.mean_of(target) > b.mean_of(target);
                       });
      // Check the layouts before all steps are planned, so that a configuration that does not fit
      // is raised early.
      if (active_.size() <= finalists) {
        for (Runner& runner : active_) fits_or_raised(runner);
      }
      target = active_.size() <= finalists ? steps_.size() : std::min(steps_.size(), 4 * target);
    }
  }

  // The first configuration always stays.
  void give_up_clearly_behind(std::size_t steps) {
    const Runner& first = active_.front();
    const auto behind = [&](const Runner& runner) {
      if (runner.ranked.behind < kClearly) return false;
      for (std::size_t i = 0; i < steps; ++i) {
        if (runner.ranked.steps[i].price.step_ms <= first.ranked.steps[i].price.step_ms) {
          return false;
        }
      }
      return true;
    };
    for (std::size_t i = active_.size(); i-- > 1;) {
      if (!behind(active_[i])) continue;
      given_up_.push_back(std::move(active_[i]));
      active_.erase(active_.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }

  // Reactivates the best given-up configuration if all others have no plan. Returns false if no
  // configuration was given up.
  bool bring_back() {
    if (given_up_.empty()) return false;
    active_.push_back(std::move(given_up_.back()));
    given_up_.pop_back();
    return true;
  }

  // Lays out the heaviest rank of the steps planned so far. Returns true if it fits or cannot be
  // traced. Otherwise raises the factor of its tokens and plans its steps again.
  bool fits_or_raised(Runner& runner) {
    run_.heaviest = heaviest_of(runner);
    if (!run_.heaviest || run_.heaviest->fits()) return true;
    const HeaviestRank& heaviest = *run_.heaviest;
    ++runner.raises;
    ++run_.solved_again;
    const double factor = (heaviest.needed_mib() - heaviest.states_mib) /
                          (heaviest.planned_mib - heaviest.states_mib);
    RankedConfiguration& ranked = runner.ranked;
    ranked.activation_factor *= factor * (1 + kRaiseMargin);
    runner.handover = std::make_unique<Handover>(table_, ranked.plan, ranked.activation_factor);
    const std::size_t steps = ranked.steps.size();
    ranked.steps.clear();
    plan_up_to(runner, steps);
    return false;
  }

  // Returns true if the first configuration's heaviest rank fits. Otherwise the caller checks
  // again, perhaps another configuration that is first then.
  bool settle_first() {
    Runner& first = active_.front();
    if (fits_or_raised(first)) return true;
    if (first.ranked.why_not.empty() && first.raises > kMaxRaises) {
      first.ranked.why_not = "the layout of its heaviest rank needs " +
                             significant(run_.heaviest->needed_mib()) + " MiB";
    }
    if (first.ranked.why_not.empty()) {
      catch_up();
    } else {
      put_away_first();
    }
    return false;
  }

  void put_away_first() {
    run_.heaviest.reset();
    failed_.push_back(std::move(active_.front()));
    active_.erase(active_.begin());
    while (active_.empty() && bring_back()) plan_all(steps_.size());
  }

  // Reactivates configurations that were given up against a faster first one than the present.
  void catch_up() {
    while (!given_up_.empty()) {
      const Runner& next = given_up_.back();
      const std::size_t steps = next.ranked.steps.size();
      if (next.mean_of(steps) >= active_.front().mean_of(steps)) break;
      bring_back();
      Runner& runner = active_.back();
      if (plan_up_to(runner, steps_.size())) continue;
      failed_.push_back(std::move(runner));
      active_.pop_back();
    }
    order(steps_.size());
  }

  std::optional<HeaviestRank> heaviest_of(const Runner& runner) {
    tell("laying out the heaviest rank");
    HeaviestRank heaviest{.stage = runner.handover->tightest_stage()};
    for (std::size_t s = 0; s < runner.ranked.steps.size(); ++s) {
      const auto& plan = std::get<ScatterPlan>(*runner.ranked.steps[s].outcome.plan);
      for (const ScatterMicroBatch& batch : plan.micro_batches) {
        for (const ScatterGroup& group : batch.groups) {
          const Tokens tokens = (group.tokens + group.degree - 1) / group.degree;
          if (tokens <= heaviest.tokens) continue;
          heaviest.tokens = tokens;
          heaviest.step = static_cast<std::int64_t>(planner_.order()[s]);
        }
      }
    }
    Result<RankLayout> layout = rank_layout(instance_, *runner.handover, heaviest.tokens);
    if (!layout) return std::nullopt;
    heaviest.instance = layout->instance;
    heaviest.waiting_bytes = layout->waiting_bytes;
    Budget own;
    heaviest.outcome = solve(Instance(heaviest.instance), {.method = "fast"}, own);
    const ScatterInstance& step = runner.ranked.steps.front().instance;
    heaviest.memory_mib = step.cluster.memory_mib;
    heaviest.states_mib = step.model.states_mib;
    heaviest.planned_mib =
        fixed_mib(step) + static_cast<double>(heaviest.tokens) * token_mib(step, 1);
    return heaviest;
  }

  // Sorts steps from the planning order to the caller's order.
  void in_order(std::vector<ConfiguredStep>& steps) const {
    std::vector<ConfiguredStep> sorted(steps.size());
    for (std::size_t i = 0; i < steps.size(); ++i)
      sorted[planner_.order()[i]] = std::move(steps[i]);
    steps = std::move(sorted);
  }

  void finish() {
    const auto put = [this](Runner& runner) {
      RankedConfiguration& ranked = runner.ranked;
      const double count = static_cast<double>(ranked.steps.size());
      for (const ConfiguredStep& step : ranked.steps) {
        ranked.mean.step_ms += step.price.step_ms / count;
        ranked.mean.bubble_ms += step.price.bubble_ms / count;
        ranked.mean.exchange_ms += step.price.exchange_ms / count;
        ranked.mean.idle_ms += step.price.idle_ms / count;
        ranked.mean.memory_share = std::max(ranked.mean.memory_share, step.price.memory_share);
      }
      run_.ranking.push_back(std::move(ranked));
    };
    for (Runner& runner : active_) put(runner);
    if (!active_.empty()) in_order(run_.ranking.front().steps);
    // The ratio of each given-up configuration is on its own steps.
    for (Runner& runner : given_up_) {
      const std::size_t steps = runner.ranked.steps.size();
      Ms of_first = 0;
      for (std::size_t i = 0; i < steps; ++i) {
        of_first += run_.ranking.front().steps[planner_.order()[i]].price.step_ms;
      }
      runner.ranked.behind = runner.mean_of(steps) * static_cast<double>(steps) / of_first;
    }
    std::ranges::stable_sort(given_up_, {},
                             [](const Runner& runner) { return runner.ranked.behind; });
    for (Runner& runner : given_up_) put(runner);
    run_.without_plan = failed_.size();
    for (Runner& runner : failed_) put(runner);
  }

  const StrategyInstance& instance_;
  const StrategyTable table_;
  const std::vector<std::vector<Tokens>>& steps_;
  const ConfigureOptions& options_;
  Budget& budget_;
  const ConfigureProgress& progress_;
  std::vector<Runner> active_;    // fastest first
  std::vector<Runner> given_up_;  // latest last
  std::vector<Runner> failed_;
  const StepPlanner planner_;
  ConfiguredRun run_;
};

}  // namespace

Mib HeaviestRank::needed_mib() const {
  const auto& plan = std::get<LayoutPlan>(*outcome.plan);
  return states_mib + static_cast<double>(plan.peak_bytes + waiting_bytes) / kMibBytes;
}

StoppedBy ConfiguredRun::ended_by() const {
  const bool limit = is_limit(strategy.stopped_by);
  return ::stowage::stopped_by(stopped_by, limit ? strategy.stopped_by : StoppedBy::heuristic_end);
}

std::vector<Tokens> mean_step(const std::vector<std::vector<Tokens>>& steps) {
  std::vector<Tokens> all;
  for (const std::vector<Tokens>& step : steps) all.insert(all.end(), step.begin(), step.end());
  std::ranges::sort(all, std::greater());
  std::vector<Tokens> mean;
  for (std::size_t i = 0; i < all.size(); i += steps.size()) mean.push_back(all[i]);
  return mean;
}

ConfiguredRun configure(const StrategyInstance& instance,
                        const std::vector<std::vector<Tokens>>& steps,
                        const ConfigureOptions& options, Budget& budget,
                        const ConfigureProgress& progress) {
  return Configuring(instance, steps, options, budget, progress).run();
}

}  // namespace stowage

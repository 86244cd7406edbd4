// The course of a solve as a list of named stages, and the one loop that runs them. Not installed.
//
//   constexpr auto kStages = std::to_array<Stage<ScatterContext>>({
//       {"multistart", "starts from all chunkings race under annealing", multistart},
//       {"subset_dp", "dynamic programme over subsets of few sequences", subset_dp,
//        {.needs = Needs::plan, .when = one_device_type, .share = subset_share}}});
//   const Course course = {{.stages = {"multistart", "subset_dp"}},
//                          {.stages = {"lns"}, .rounds = kUntilLimit}};
//   StoppedBy ended = StageLoop(stages, context, reports).run(course);
//
// Before each stage the loop checks that the solve is not done, that the stage's needs are met and
// that its condition holds. It gives the stage its share of the remaining time, and records the
// time and the improvements of plan and bound. A stage submits plans and bounds to the incumbent,
// which verifies them.
//
// A family's context derives from SolveContext and adds its tables, its searches and done().
#pragma once

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "instances/budget.h"
#include "instances/families.h"
#include "solvers/incumbent.h"
#include "solvers/milp/backends.h"
#include "solvers/outcome.h"
#include "solvers/solve.h"

namespace stowage {

// The part of the context that all families share. A context also has `bool done()`, which returns
// true if the solve stops before the next stage, by proof, gap or limit.
template <class InstanceT>
struct SolveContext {
  const InstanceT& instance;
  const SolveOptions& options;
  Budget& budget;
  Incumbent<InstanceT>& incumbent;
  std::uint64_t round = 0;                     // number of finished rounds of repeated phases
  bool repeats = false;                        // a repeated phase is running
  StoppedBy ended = StoppedBy::heuristic_end;  // reported if the course runs to its end

  // Returns whether the phase ends with this round. A family whose rounds end before a limit has a
  // function of this name in its context.
  bool end_round() { return false; }
};

enum class Needs {
  nothing,
  no_plan,           // no plan is known
  plan,              // the incumbent has a plan
  plan_and_backend,  // and a MILP backend is built
};

template <class Context>
struct StageRules {
  Needs needs = Needs::nothing;
  bool (*when)(const Context& context) = nullptr;     // null: always
  double (*share)(const Context& context) = nullptr;  // share of the remaining time; null: all
  // Runs even after proof, gap or limit, for example to find a first plan.
  bool even_if_done = false;
};

template <class Context>
struct Stage {
  std::string_view name;
  std::string_view summary;  // one line
  // Runs within `part`. Returns the reason why the solve ends, or nullopt to continue with the next
  // stage.
  std::optional<StoppedBy> (*run)(Context& context, Budget& part);
  StageRules<Context> rules = {};
};

// Names of stages in the order in which they run, once or in rounds.
struct Phase {
  std::vector<std::string_view> stages;
  std::uint64_t rounds = 1;
};
using Course = std::vector<Phase>;

inline constexpr std::uint64_t kUntilLimit = std::numeric_limits<std::uint64_t>::max();

template <class Context>
class StageLoop {
 public:
  // All arguments must outlive this. `reports` gets an entry for each stage that ran.
  StageLoop(std::span<const Stage<Context>> stages, Context& context,
            std::vector<StageReport>& reports)
      : stages_(stages), context_(context), reports_(reports) {}

  // Returns the reason why the course ended.
  StoppedBy run(const Course& course) {
    for (const Phase& phase : course) {
      if (const std::optional<StoppedBy> ended = run_phase(phase)) return *ended;
    }
    return done_ ? StoppedBy::heuristic_end : context_.ended;
  }

 private:
  // Consecutive rounds without a node that end a phase, because its stages have no work left.
  static constexpr int kIdleRounds = 64;

  std::optional<StoppedBy> run_phase(const Phase& phase) {
    context_.repeats = phase.rounds > 1;
    int idle = 0;
    for (std::uint64_t r = 0; r < phase.rounds && idle < kIdleRounds; ++r) {
      const std::int64_t nodes = context_.budget.nodes();
      for (const std::string_view name : phase.stages) {
        const Stage<Context>& stage = stage_named(name);
        if (left_out(name)) continue;
        if (!stage.rules.even_if_done && (done_ || context_.done())) {
          done_ = true;
          continue;
        }
        if (const std::optional<StoppedBy> ended = run_stage(stage)) return ended;
      }
      if (done_ || context_.end_round()) return std::nullopt;
      idle = context_.budget.nodes() == nodes ? idle + 1 : 0;
      if (context_.repeats) ++context_.round;
    }
    return std::nullopt;
  }

  std::optional<StoppedBy> run_stage(const Stage<Context>& stage) {
    const StageRules<Context>& rules = stage.rules;
    if (!met(rules.needs) || (rules.when != nullptr && !rules.when(context_))) return std::nullopt;
    Budget& budget = context_.budget;
    const double seconds = budget.seconds();
    const std::int64_t nodes = budget.nodes();
    const std::optional<double> objective = best();
    const double bound = context_.incumbent.bound();
    const std::optional<StoppedBy> ended =
        run_within(rules.share == nullptr ? 1 : rules.share(context_), stage);
    StageReport& report = report_of(stage.name);
    ++report.runs;
    report.seconds += budget.seconds() - seconds;
    report.nodes += budget.nodes() - nodes;
    if (objective) report.plan_gained += *objective - *best();
    report.first_plan = report.first_plan || (!objective && best());
    report.bound_gained += context_.incumbent.bound() - bound;
    return ended;
  }

  std::optional<StoppedBy> run_within(double share, const Stage<Context>& stage) {
    Budget& budget = context_.budget;
    if (share >= 1) return stage.run(context_, budget);
    Budget part = budget.part(share * budget.seconds_left(), budget.nodes_left());
    return stage.run(context_, part);
  }

  bool met(Needs needs) const {
    const bool plan = context_.incumbent.plan().has_value();
    switch (needs) {
      case Needs::nothing:
        return true;
      case Needs::no_plan:
        return !plan;
      case Needs::plan:
        return plan;
      case Needs::plan_and_backend:
        return plan && !built_backends().empty();
    }
    return false;
  }

  bool left_out(std::string_view name) const {
    return std::ranges::find(context_.options.without, name) != context_.options.without.end();
  }

  std::optional<double> best() const {
    const auto& plan = context_.incumbent.plan();
    return plan ? std::optional<double>(objective_of(*plan)) : std::nullopt;
  }

  const Stage<Context>& stage_named(std::string_view name) const {
    const auto found = std::ranges::find(stages_, name, &Stage<Context>::name);
    assert(found != stages_.end());
    return *found;
  }

  StageReport& report_of(std::string_view name) {
    const auto known = std::ranges::find(reports_, name, &StageReport::name);
    if (known != reports_.end()) return *known;
    reports_.push_back({.name = std::string(name)});
    return reports_.back();
  }

  std::span<const Stage<Context>> stages_;
  Context& context_;
  std::vector<StageReport>& reports_;
  bool done_ = false;  // only stages that run even if the solve is done are left
};

// Returns the names and summaries of stages, for SolveOptions::without.
template <class Context>
std::vector<StageInfo> stage_list(std::span<const Stage<Context>> stages) {
  std::vector<StageInfo> list;
  for (const Stage<Context>& stage : stages) {
    list.push_back({std::string(stage.name), std::string(stage.summary)});
  }
  return list;
}

}  // namespace stowage

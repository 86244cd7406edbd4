// Solves, explains and draws unusual instances of every family, and checks the answers.
//
// A plan must be valid, and its bound must not exceed it. The members of the outcome must agree
// with each other, and an infeasible outcome must have a reason. If the oracle can enumerate, no
// bound may be above its optimum and no plan below it; `optimal` must have its value, and
// `infeasible` must mean that the oracle finds no plan. A change of an explanation must give a
// valid instance, and a remedy must name its amount.
#include <fuzzer/FuzzedDataProvider.h>

#include <cmath>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "instances/layout/load.h"
#include "instances/pictures/assign/pipelines.h"
#include "instances/pictures/layout/map.h"
#include "instances/pictures/progress_curve.h"
#include "instances/pictures/scatter/gantt.h"
#include "solvers/explain/explain.h"
#include "solvers/solve.h"
#include "tests/fuzz/odd_instance.h"
#include "tests/fuzz/promise.h"
#include "tests/oracles/assign/brute_force.h"
#include "tests/oracles/layout/brute_force.h"
#include "tests/oracles/scatter/brute_force.h"

namespace stowage {
namespace {

constexpr std::int64_t kNodes = 50;
constexpr std::size_t kOracleSequences = 6;
constexpr int kOracleDevices = 16;
constexpr int kOracleReplicas = 8;
constexpr std::size_t kOracleBuffers = 6;
constexpr Bytes kOracleAlignment = 4096;
// Sums of times are rounded; their order differs between the oracle and a plan.
constexpr double kRounding = 1e-9;

bool oracle_can(const ScatterInstance& instance) {
  return instance.lengths.size() <= kOracleSequences && instance.cluster.devices <= kOracleDevices;
}
bool oracle_can(const AssignInstance& instance) {
  for (const Strategy& strategy : instance.strategies) {
    int replicas = 0;
    for (const int count : strategy.replicas) replicas += count;
    if (replicas > kOracleReplicas) return false;
  }
  return instance.lengths.size() <= kOracleSequences;
}
bool oracle_can(const LayoutInstance& instance) {
  for (const Buffer& buffer : instance.buffers) {
    // the oracle examines each byte
    if (alignment_of(instance, buffer) > kOracleAlignment) return false;
  }
  return instance.buffers.size() <= kOracleBuffers;
}

void check_words(const Outcome& outcome) {
  const bool has_plan = outcome.plan.has_value();
  require(has_plan == outcome.objective.has_value(), "a plan has an objective");
  switch (outcome.status) {
    case Status::optimal:
      require(has_plan && outcome.stopped_by == StoppedBy::proof, "optimal is a proven plan");
      require(*outcome.gap() <= kOptimalityGap, "optimal closes the gap");
      break;
    case Status::feasible:
      require(has_plan && outcome.stopped_by != StoppedBy::proof, "feasible is an unproven plan");
      break;
    case Status::infeasible:
      require(!has_plan && outcome.stopped_by == StoppedBy::proof, "infeasible is proven");
      require(!outcome.unplaceable.empty() || !outcome.detail.empty(), "infeasible has a reason");
      break;
    case Status::unknown:
      require(!has_plan, "unknown has no plan");
      break;
    case Status::error:
      require(false, "no method fails by itself");
  }
  require(outcome.violations.empty(), "no method makes a plan that fails verification");
  for (const NamedBound& bound : outcome.bounds) {
    require(std::isfinite(bound.value) && bound.value >= 0, "a bound is a number");
  }
}

template <class InstanceT>
void check_against_oracle(const InstanceT& instance, const Outcome& outcome) {
  const auto best = brute_force(instance);
  if (!best) {
    require(!outcome.plan, "what cannot be planned has no plan");
    return;
  }
  const double optimum = objective_of(*best);
  require(outcome.status != Status::infeasible, "what can be planned is not infeasible");
  require(outcome.bound <= optimum * (1 + kRounding), "no bound is above the optimum");
  if (!outcome.plan) return;
  require(*outcome.objective >= optimum * (1 - kRounding), "no plan is below the optimum");
  if (outcome.status == Status::optimal) {
    require(relative_gap(*outcome.objective, optimum) <= 2 * kOptimalityGap, "optimal means it");
  }
}

std::vector<Picture> pictures(const ScatterInstance& instance, const ScatterPlan& plan) {
  return {scatter_gantt(instance, plan, {}), scatter_lengths(instance, plan)};
}
std::vector<Picture> pictures(const AssignInstance& instance, const AssignPlan& plan) {
  return {assign_pipelines(instance, plan, {}), assign_lengths(instance, plan)};
}
std::vector<Picture> pictures(const LayoutInstance& instance, const LayoutPlan& plan) {
  return {layout_map(instance, plan, {})};
}

template <class InstanceT, class PlanT>
void draw(const InstanceT& instance, const PlanT& plan, const Outcome& outcome) {
  std::vector<Picture> drawn = pictures(instance, plan);
  const bool layout = std::is_same_v<InstanceT, LayoutInstance>;
  for (const bool timed : {true, false}) {
    ProgressHistory progress;
    if (timed) progress.end_seconds = outcome.seconds;
    for (const Improvement& better : outcome.improvements) {
      progress.points.push_back({timed ? std::optional(better.seconds) : std::nullopt, better.bound,
                                 better.objective, better.by});
    }
    drawn.push_back(progress_curve(progress, layout ? Quantity::bytes : Quantity::time_ms));
  }
  const std::string document = svg_document(drawn, "odd");
  for (const char* wrong : {"=\"nan", "=\"-nan", "=\"inf", "=\"-inf"}) {
    require(document.find(wrong) == std::string::npos, "a picture has places only");
  }
}

template <class InstanceT>
void solve_and_check(const InstanceT& instance, const char* method) {
  Budget budget({.node_limit = kNodes});
  const Outcome outcome = solve(Instance(instance), {.method = method}, budget);
  check_words(outcome);
  if (outcome.plan) {
    const auto& plan = std::get<typename PlanOf<InstanceT>::type>(*outcome.plan);
    require(verify(instance, plan).empty(), "a plan verifies");
    require(verify_instance_hash(plan, instance_hash(instance)).empty(), "and is of its instance");
    require(outcome.bound <= *outcome.objective, "no bound exceeds its plan");
    draw(instance, plan, outcome);
  }
  if (oracle_can(instance)) check_against_oracle(instance, outcome);
}

ScatterInstance read_again(const ScatterInstance& instance) {
  const auto read = read_scatter_instance(write_scatter_instance(instance));
  require(bool(read), "a changed step is a step");
  return *read;
}
AssignInstance read_again(const AssignInstance& instance) {
  const auto read = read_assign_instance(write_assign_instance(instance));
  require(bool(read), "a changed step is a step");
  return *read;
}
LayoutInstance read_again(const LayoutInstance& instance) {
  const auto read = read_layout_instance(write_layout_instance(instance));
  require(bool(read), "a changed layout is a layout");
  return *read;
}

template <class InstanceT>
void explain_and_check(const InstanceT& instance) {
  Budget budget({.node_limit = 4 * kNodes});
  const Explanation why = explain(Instance(instance), std::nullopt,
                                  {.solve = {.method = "fast"}, .nodes = kNodes}, budget);
  for (const Finding& cause : why.conflict.causes) require(!cause.text.empty(), "a cause is told");
  for (const Change& change : why.conflict.changes) {
    require(!change.text.empty(), "a change is told");
    const auto& changed = std::get<InstanceT>(change.instance);
    require(read_again(changed) == changed, "a change is what it says");
  }
  for (const Remedy& remedy : why.remedies) {
    require(std::isfinite(remedy.objective), "a remedy has an objective");
  }
}

// The instance passes through the reader, so that the solver gets only instances that a user could
// give.
template <class InstanceT>
void check(const Result<InstanceT>& instance, const char* method, bool why) {
  if (!instance) return;
  solve_and_check(*instance, method);
  if (why) explain_and_check(*instance);
}

}  // namespace
}  // namespace stowage

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stowage;  // NOLINT(google-build-using-namespace): extern "C" stands outside
  FuzzedDataProvider bytes(data, size);
  const char* method = bytes.ConsumeIntegralInRange(0, 3) == 0 ? "auto" : "fast";
  const bool why = bytes.ConsumeBool();
  OddInstance odd(bytes);
  switch (bytes.ConsumeIntegralInRange(0, 2)) {
    case 0:
      check(read_scatter_instance(write_scatter_instance(odd.scatter())), method, why);
      break;
    case 1:
      check(read_assign_instance(write_assign_instance(odd.assign())), method, why);
      break;
    default:
      check(read_layout_instance(write_layout_instance(odd.layout())), method, why);
  }
  return 0;
}

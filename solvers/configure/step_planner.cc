#include "solvers/configure/step_planner.h"

#include <algorithm>
#include <atomic>
#include <iomanip>
#include <numeric>
#include <optional>
#include <sstream>
#include <utility>

#include "instances/numeric/numbers.h"
#include "solvers/plan_stream.h"

namespace stowage {
namespace {

std::string step_name(const std::string& name, std::size_t index) {
  std::ostringstream text;
  text << name << "-step-" << std::setw(3) << std::setfill('0') << index;
  return text.str();
}

// Returns the steps, sorted by descending sum of squared lengths, in this order: the middle one,
// the first one, those at the quarters, and then the others. So a few steps represent the mean and
// the largest memory.
std::vector<std::size_t> telling_first(const std::vector<std::vector<Tokens>>& steps) {
  std::vector<double> squares;
  for (const std::vector<Tokens>& step : steps) {
    squares.push_back(0);
    for (const Tokens length : step) {
      squares.back() += static_cast<double>(length) * static_cast<double>(length);
    }
  }
  std::vector<std::size_t> order(steps.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater(), [&](std::size_t i) { return squares[i]; });
  std::vector<std::size_t> telling;
  const auto take = [&](std::size_t place) {
    if (std::ranges::find(telling, order[place]) == telling.end()) telling.push_back(order[place]);
  };
  const std::size_t count = steps.size();
  for (const std::size_t place : {count / 2, std::size_t{0}, count / 4, 3 * count / 4}) take(place);
  for (std::size_t place = 0; place < count; ++place) take(place);
  return telling;
}

std::string why_not(std::size_t step, const PlannedStep& planned) {
  const Outcome& outcome = planned.outcome;
  const std::string place = "step " + std::to_string(step);
  if (!outcome.errors.empty()) return place + ": " + to_string(outcome.errors.front());
  const std::string no_plan = place + " has no plan: ";
  if (outcome.unplaceable.empty()) return no_plan + outcome.detail;
  const auto& instance = std::get<ScatterInstance>(planned.instance);
  return no_plan + "a sequence of " + grouped(instance.lengths[at(outcome.unplaceable.front())]) +
         " tokens fits no group";
}

// One step of one runner. PlannedStep::index is its index in the list of jobs.
struct Job {
  Runner* runner;
  std::size_t step;
  std::size_t group;  // index of the runner
};

}  // namespace

Ms Runner::mean_of(std::size_t steps) const {
  Ms sum = 0;
  for (std::size_t i = 0; i < steps; ++i) sum += ranked.steps[i].price.step_ms;
  return sum / static_cast<double>(steps);
}

StepPlanner::StepPlanner(const std::string& name, const std::vector<std::vector<Tokens>>& steps,
                         const std::string& method, int threads, const ConfigureProgress& progress)
    : name_(name),
      steps_(steps),
      method_(method),
      threads_(threads),
      progress_(progress),
      order_(telling_first(steps)) {}

void StepPlanner::plan_up_to(const std::vector<Runner*>& runners, std::size_t steps) const {
  std::vector<Job> jobs;
  for (std::size_t r = 0; r < runners.size(); ++r) {
    for (std::size_t i = runners[r]->ranked.steps.size(); i < steps; ++i) {
      jobs.push_back({runners[r], order_[i], r});
    }
  }
  if (jobs.empty()) return;
  // A runner with a step without a plan needs no further plans. The steps begun by then depend on
  // the threads, so none of them is kept.
  std::vector<std::atomic<bool>> failed(runners.size());
  std::size_t next_job = 0;
  const auto next = [&]() -> std::optional<StreamStep> {
    while (next_job < jobs.size() && failed[jobs[next_job].group]) ++next_job;
    if (next_job == jobs.size()) return std::nullopt;
    const Job& job = jobs[next_job];
    if (progress_) {
      progress_("step " + std::to_string(job.step) + " with " +
                configuration_name(job.runner->ranked.plan));
    }
    return StreamStep{
        .index = static_cast<std::int64_t>(next_job++),
        .instance = job.runner->handover->step(step_name(name_, job.step), steps_[job.step])};
  };
  const auto take = [&](PlannedStep&& planned) {
    const Job& job = jobs[at(planned.index)];
    if (failed[job.group]) return true;
    if (!planned.outcome.plan) {
      job.runner->ranked.why_not = why_not(job.step, planned);
      failed[job.group] = true;
      return true;
    }
    ConfiguredStep step{.instance = std::get<ScatterInstance>(std::move(planned.instance)),
                        .outcome = std::move(planned.outcome)};
    step.price =
        job.runner->handover->price(step.instance, std::get<ScatterPlan>(*step.outcome.plan));
    job.runner->ranked.steps.push_back(std::move(step));
    return true;
  };
  plan_stream(next, {.method = method_}, {}, threads_, take);  // heuristics end
}

}  // namespace stowage

#include "solvers/explain/explain.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include "solvers/each.h"
#include "solvers/explain/family_explain.h"

namespace stowage {
namespace {

class Explainer {
 public:
  Explainer(const Instance& instance, const ExplainOptions& options, Budget& budget,
            const ExplainProgress& progress)
      : instance_(instance), options_(options), budget_(budget), progress_(progress) {}

  Explanation run(const std::optional<Plan>& plan) {
    tell("solving the instance as it is");
    result_.outcome = solved(instance_, plan);
    result_.status = result_.outcome.status;
    if (result_.outcome.status == Status::infeasible) {
      why_not();
      return std::move(result_);
    }
    const std::optional<Plan>& shown = plan ? plan : result_.outcome.plan;
    if (shown) what_holds(*shown, plan.has_value());
    return std::move(result_);
  }

 private:
  void tell(const std::string& what) {
    if (progress_) progress_(what);
  }

  Outcome solved(const Instance& instance, const std::optional<Plan>& start) {
    Budget part = budget_.part(options_.seconds, options_.nodes);
    SolveOptions options = options_.solve;
    options.start = start;
    return solve(instance, options, part);
  }

  void why_not() {
    tell("searching for conflicting limits");
    const Trial trial = [this](const Instance& changed) { return solved(changed, std::nullopt); };
    result_.conflict = std::visit([&](const auto& i) { return conflict_in(i, trial); }, instance_);
    for (Change& change : result_.conflict.changes) confirm(change, trial);
  }

  // Keeps the change as a remedy if the changed instance has a plan. If another conflict remains,
  // its first change is added.
  void confirm(const Change& change, const Trial& trial) {
    constexpr int kConflicts = 20;
    Change tried = change;
    for (int more = 0; more < kConflicts && !budget_.exhausted(); ++more) {
      tell("trying to " + tried.text);
      const Outcome outcome = solved(tried.instance, tried.start);
      if (outcome.plan) {
        result_.remedies.push_back({std::move(tried), *outcome.objective});
        return;
      }
      if (outcome.status != Status::infeasible) return;
      Conflict next =
          std::visit([&](const auto& i) { return conflict_in(i, trial); }, tried.instance);
      if (next.changes.empty()) return;
      Change& on_top = next.changes.front();
      tried.text += ", and " + on_top.text;
      tried.instance = std::move(on_top.instance);
      tried.start = std::move(on_top.start);
    }
  }

  void what_holds(const Plan& plan, bool given) {
    tell("searching for the limits that bind");
    std::visit(
        [&](const auto& i) {
          const auto& own = std::get<typename PlanOf<std::decay_t<decltype(i)>>::type>(plan);
          result_.objective = objective_of(own);
          result_.binding = binding_of(i, own);
          changes_ = changes_of(i, own);
        },
        instance_);
    if (given) {
      const bool closed = relative_gap(*result_.objective, result_.outcome.bound) <= kOptimalityGap;
      result_.status = closed ? Status::optimal : Status::feasible;
      result_.what_if.push_back({"", "a search from the plan on", result_.outcome.objective,
                                 result_.outcome.bound, result_.outcome.status});
    }
    for (const Change& change : changes_) {
      if (budget_.exhausted()) return;
      tell("solving with " + change.text);
      const Outcome outcome = solved(change.instance, change.start);
      result_.what_if.push_back(
          {change.where, change.text, outcome.objective, outcome.bound, outcome.status});
    }
  }

  const Instance& instance_;
  const ExplainOptions& options_;
  Budget& budget_;
  const ExplainProgress& progress_;
  std::vector<Change> changes_;
  Explanation result_;
};

}  // namespace

double a_little_of(double whole) {
  return whole > 0 ? std::exp2(std::floor(std::log2(whole / 16))) : 0;
}

std::string plain_number(double value) {
  constexpr int kDigits = 3;
  std::array<char, 400> buffer{};
  const auto written = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                                     std::chars_format::fixed, kDigits);
  std::string text(buffer.data(), written.ptr);
  if (text.find('.') == std::string::npos) return text;
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

std::string plain_count(std::int64_t count, const std::string& noun, const std::string& plural) {
  return std::to_string(count) + ' ' + (count == 1 ? noun : plural.empty() ? noun + 's' : plural);
}

std::string listed(const std::vector<std::int64_t>& ids) {
  constexpr std::size_t kNamed = 10;
  std::string text;
  for (std::size_t k = 0; k < std::min(ids.size(), kNamed); ++k) {
    text += (k == 0 ? "" : ", ") + std::to_string(ids[k]);
  }
  if (ids.size() > kNamed) text += " and " + std::to_string(ids.size() - kNamed) + " more";
  return text;
}

Explanation explain(const Instance& instance, const std::optional<Plan>& plan,
                    const ExplainOptions& options, Budget& budget,
                    const ExplainProgress& progress) {
  return Explainer(instance, options, budget, progress).run(plan);
}

}  // namespace stowage

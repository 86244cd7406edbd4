#include "cli/commands/stream/step_windows.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <variant>

#include "cli/terminal/unit.h"
#include "instances/numeric/numbers.h"
#include "solvers/scatter/window/window_plan.h"

namespace stowage {
namespace {

std::int64_t tokens_of(const ScatterInstance& step) {
  std::int64_t tokens = 0;  // no overflow: the reader has checked the padded sum
  for (const Tokens length : step.lengths) tokens += length;
  return tokens;
}

std::size_t place_in(const StepWindow& window, const StreamStep& step) {
  return static_cast<std::size_t>(step.index - window.first);
}

// Returns the places of the sequences of a step as it was read.
std::vector<DrawnSequence> as_drawn(const StepWindow& window, const StreamStep& step) {
  std::vector<DrawnSequence> drawn;
  for (std::size_t i = 0; i < std::get<ScatterInstance>(step.instance).lengths.size(); ++i) {
    drawn.push_back({step.index - window.first, static_cast<std::int64_t>(i)});
  }
  return drawn;
}

}  // namespace

std::optional<std::vector<ScatterInstance>> readable_steps(const StepWindow& window) {
  std::vector<ScatterInstance> steps;
  for (const StreamStep& step : window.steps) {
    if (step.outcome) return std::nullopt;
    steps.push_back(std::get<ScatterInstance>(step.instance));
  }
  return steps;
}

PlannedWindow plan_steps(StepWindow window, const WindowRule& rule, const SolveOptions& options,
                         const Budget::Limits& limits) {
  PlannedWindow planned;
  if (window.together) {
    WindowPlan plan = plan_window(*readable_steps(window), rule, options, limits);
    for (std::size_t s = 0; s < window.steps.size(); ++s) {
      planned.steps.push_back(
          {window.steps[s].index, std::move(plan.steps[s]), std::move(plan.outcomes[s])});
    }
    planned.drawn = std::move(plan.deal);
    planned.dealt = true;
    planned.drawn_ms = plan.drawn_ms;
    planned.planned_ms = plan.planned_ms;
  } else {
    for (StreamStep& step : window.steps) {
      planned.drawn.push_back(window.deal ? (*window.deal)[place_in(window, step)]
                                          : as_drawn(window, step));
      Budget budget(limits);
      Outcome outcome =
          step.outcome ? *std::move(step.outcome) : solve(step.instance, options, budget);
      planned.steps.push_back({step.index, std::move(step.instance), std::move(outcome)});
    }
  }
  for (std::vector<DrawnSequence>& step : planned.drawn) {
    for (DrawnSequence& sequence : step) sequence.step += window.first;
  }
  return planned;
}

void WindowFigures::Range::add(std::int64_t value) {
  least = least < 0 ? value : std::min(least, value);
  most = std::max(most, value);
}

std::string WindowFigures::Range::text() const {
  return grouped(std::max<std::int64_t>(least, 0)) + " to " + grouped(most);
}

void WindowFigures::add(const PlannedWindow& window) {
  std::vector<std::int64_t> drawn_tokens(window.steps.size(), 0);
  const std::int64_t first = window.steps.empty() ? 0 : window.steps.front().index;
  for (std::size_t s = 0; s < window.steps.size(); ++s) {
    const auto& step = std::get<ScatterInstance>(window.steps[s].instance);
    tokens_.add(tokens_of(step));
    for (std::size_t i = 0; i < window.drawn[s].size(); ++i) {
      const std::int64_t from = window.drawn[s][i].step;
      drawn_tokens[static_cast<std::size_t>(from - first)] += step.lengths[i];
      ++sequences_;
      moved_ += from != window.steps[s].index ? 1 : 0;
      latest_ = std::max(latest_, window.steps[s].index - from);
    }
  }
  for (const std::int64_t tokens : drawn_tokens) drawn_tokens_.add(tokens);
  drawn_ms_ += window.drawn_ms;
  planned_ms_ += window.planned_ms;
}

std::string WindowFigures::text() const {
  std::string text = grouped(moved_) + " of " + counted(sequences_, "sequence") +
                     " moved, at most " + counted(latest_, "step") + " later; tokens of a step " +
                     tokens_.text() + ", as drawn " + drawn_tokens_.text();
  if (drawn_ms_ > 0) {
    text += "; " + percent_text(1 - planned_ms_ / drawn_ms_) + " less time than as drawn";
  }
  return text;
}

}  // namespace stowage

#include "instances/scatter/verify/window_check.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <string>

#include "instances/numeric/numbers.h"

namespace stowage {
namespace {

std::string name_of(std::size_t step, std::size_t index) {
  return "sequence " + std::to_string(index) + " of step " + std::to_string(step);
}

// Returns the tokens of each step. The lengths of a step that was read have a finite sum.
std::vector<Tokens> tokens_of(const std::vector<ScatterInstance>& steps) {
  std::vector<Tokens> tokens;
  for (const ScatterInstance& step : steps) {
    tokens.push_back(std::accumulate(step.lengths.begin(), step.lengths.end(), Tokens{0}));
  }
  return tokens;
}

void check_tokens(const std::vector<ScatterInstance>& drawn,
                  const std::vector<ScatterInstance>& steps, double spread,
                  std::vector<Violation>& found) {
  if (drawn.empty() || std::isinf(spread)) return;
  const std::vector<Tokens> before = tokens_of(drawn);
  const double most = static_cast<double>(*std::ranges::max_element(before)) * spread;
  const double least = static_cast<double>(*std::ranges::min_element(before)) / spread;
  const std::vector<Tokens> after = tokens_of(steps);
  for (std::size_t s = 0; s < after.size(); ++s) {
    const auto tokens = static_cast<double>(after[s]);
    if (tokens >= least && tokens <= most) continue;
    found.push_back({"window_tokens", "/steps/" + std::to_string(s),
                     std::to_string(after[s]) + " tokens",
                     "from " + shortest(least) + " to " + shortest(most)});
  }
}

}  // namespace

std::vector<Violation> check_window(const std::vector<ScatterInstance>& drawn,
                                    const std::vector<ScatterInstance>& steps,
                                    const std::vector<std::vector<DrawnSequence>>& deal,
                                    const WindowRule& rule) {
  std::vector<Violation> found;
  if (steps.size() != drawn.size() || deal.size() != drawn.size()) {
    found.push_back({"window_steps", "", std::to_string(steps.size()) + " steps",
                     std::to_string(drawn.size()) + " steps"});
    return found;
  }
  std::vector<std::vector<int>> times;  // how often each drawn sequence is computed
  for (const ScatterInstance& step : drawn) times.emplace_back(step.lengths.size(), 0);
  for (std::size_t s = 0; s < steps.size(); ++s) {
    const std::string step_place = "/steps/" + std::to_string(s);
    const std::size_t count = drawn[s].lengths.size();
    if (steps[s].lengths.size() != count || deal[s].size() != count) {
      found.push_back({"window_steps", step_place,
                       std::to_string(steps[s].lengths.size()) + " sequences",
                       std::to_string(count) + " sequences"});
      continue;
    }
    for (std::size_t i = 0; i < count; ++i) {
      const std::string place = step_place + "/sequences/" + std::to_string(i);
      const DrawnSequence from = deal[s][i];
      const bool known =
          from.step >= 0 && from.step < std::ssize(drawn) && from.index >= 0 &&
          from.index < std::ssize(drawn[static_cast<std::size_t>(from.step)].lengths);
      if (!known) {
        found.push_back({"window_sequence", place, "no sequence of the window", "one of them"});
        continue;
      }
      const auto step = static_cast<std::size_t>(from.step);
      const auto index = static_cast<std::size_t>(from.index);
      const ScatterInstance& source = drawn[step];
      times[step][index] += 1;
      if (steps[s].lengths[i] != source.lengths[index]) {
        found.push_back(
            {"window_sequence", place, std::to_string(steps[s].lengths[i]) + " tokens",
             std::to_string(source.lengths[index]) + " tokens of " + name_of(step, index)});
      }
      const Tokens targets = i < steps[s].loss_tokens.size() ? steps[s].loss_tokens[i] : -1;
      const Tokens its = index < source.loss_tokens.size() ? source.loss_tokens[index] : -1;
      if (targets != its) {
        found.push_back({"window_sequence", place, std::to_string(targets) + " targets",
                         std::to_string(its) + " targets of " + name_of(step, index)});
      }
      if (s > step && static_cast<std::int64_t>(s - step) > rule.delay) {
        found.push_back({"window_delay", place, std::to_string(s - step) + " steps late",
                         "at most " + std::to_string(rule.delay)});
      }
    }
  }
  for (std::size_t s = 0; s < times.size(); ++s) {
    for (std::size_t i = 0; i < times[s].size(); ++i) {
      if (times[s][i] == 1) continue;
      found.push_back({"window_once", "",
                       name_of(s, i) + ' ' + std::to_string(times[s][i]) + " times", "once"});
    }
  }
  check_tokens(drawn, steps, rule.token_spread, found);
  return found;
}

}  // namespace stowage

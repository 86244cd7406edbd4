#include "cli/commands/configure/old_configuration.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>

#include "cli/terminal/console.h"
#include "cli/terminal/error/error_codes.h"
#include "instances/numeric/numbers.h"
#include "instances/verify.h"
#include "solvers/configure/failover.h"

namespace stowage {
namespace {

std::optional<std::int64_t> device_number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

// Reads device numbers and ranges, for instance "8-15".
Result<std::vector<std::int64_t>> read_lost_devices(const std::vector<std::string>& words,
                                                    const StrategyCluster& cluster) {
  const auto wrong = [](std::string message) {
    return InputError{kUsage, "--lost", std::move(message)};
  };
  std::vector<std::int64_t> lost;
  for (const std::string& word : words) {
    const std::size_t dash = word.find('-');
    const auto first = device_number(std::string_view(word).substr(0, dash));
    const auto last =
        dash == std::string::npos ? first : device_number(std::string_view(word).substr(dash + 1));
    if (!first || !last || *last < *first) {
      return wrong("must be device numbers and ranges like 8-15, has '" + word + "'");
    }
    if (*last >= cluster.devices()) {
      return wrong("must be at most " + std::to_string(cluster.devices() - 1) + ", is " +
                   std::to_string(*last) + ": devices are numbered from 0, node by node");
    }
    for (std::int64_t device = *first; device <= *last; ++device) lost.push_back(device);
  }
  std::ranges::sort(lost);
  if (const auto twice = std::ranges::adjacent_find(lost); twice != lost.end()) {
    return wrong("names device " + std::to_string(*twice) + " twice");
  }
  if (std::ssize(lost) == cluster.devices()) return wrong("must leave a device");
  return lost;
}

}  // namespace

void FromFlags::declare(Flags& flags) {
  flags.text("--from", from_, "DIR",
             "Instead of INSTANCE: what configure wrote before devices were lost");
  flags.list("--lost", lost_, "DEVICES",
             "With --from: the lost devices' numbers, from 0 and node by node, or ranges: 3,8-15");
  flags.number("--move-weight", weight_, "WEIGHT", 0, 1e9,
               "With --from: of the time to move states, against that of a step; default 0.001, "
               "which pays the move off in 1000 steps");
}

double FromFlags::weight() const { return weight_.value_or(ReplanOptions{}.weight); }

std::optional<InputError> FromFlags::misplaced(const std::string& instance_path) const {
  if (!given()) {
    if (!lost_.empty()) return InputError{kUsage, "--lost", "has no effect without --from"};
    if (weight_) return InputError{kUsage, "--move-weight", "has no effect without --from"};
    return std::nullopt;
  }
  if (lost_.empty()) {
    return InputError{kUsage, "--lost", "is required with --from: devices that are gone"};
  }
  if (!instance_path.empty()) {
    return InputError{kUsage, "--from", "has no effect with INSTANCE"};
  }
  return std::nullopt;
}

Loaded<OldConfiguration> FromFlags::load() const {
  const std::string instance_path = from_ + "/strategy.json";
  const std::string plan_path = from_ + "/configuration.json";
  Loaded<InstanceAndPlan> both = load_both(instance_path, plan_path);
  if (!both.value) return {std::nullopt, std::move(both.errors)};
  if (auto error = not_of(both.value->instance, "strategy")) {
    return {std::nullopt, errors_in(instance_path, {*error})};
  }
  if (const auto violations = verify(both.value->instance, both.value->plan); !violations.empty()) {
    return {std::nullopt,
            errors_in(plan_path, {{kUsage, "--from",
                                   "the plan is invalid: " + to_string(violations.front())}})};
  }
  OldConfiguration old{.instance = std::get<StrategyInstance>(std::move(both.value->instance)),
                       .plan = std::get<StrategyPlan>(std::move(both.value->plan))};
  if (old.instance.cluster.devices() > kMaxReplanned) {
    return {std::nullopt,
            errors_in(instance_path,
                      {{kUsage, "--from",
                        "must have at most " + std::to_string(kMaxReplanned) + " devices, has " +
                            std::to_string(old.instance.cluster.devices())}})};
  }
  Result<std::vector<std::int64_t>> lost = read_lost_devices(lost_, old.instance.cluster);
  if (!lost) return {std::nullopt, errors_in("", lost.errors())};
  old.lost = *std::move(lost);
  return {std::move(old), {}};
}

}  // namespace stowage

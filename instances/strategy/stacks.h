// Rates of named stacks of software, fitted to their published steps, and how far predictions by
// default rates are off. Both are tables of instances/data/published, which stowage_bench_published
// makes out of steps.csv.
//
//   const RateStack* stack = rate_stack("megatron-2025", "h100");
//   if (stack != nullptr) instance = with_stack(instance, *stack);
//   const RateReport report = rate_report(instance);
//   report.error.median;  // 0.03: half of the held-out steps are nearer than 3 %
//
// Thread safety: its functions read their arguments and constant tables; any number of threads may
// call them at once.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "instances/result.h"
#include "instances/strategy/fit_rates.h"
#include "instances/strategy/instance.h"

namespace stowage {

struct RateStack {
  std::string name;
  std::string machine;   // one of machine_names()
  std::string steps_of;  // sources of instances/data/published, separated by '+'
  std::int64_t steps = 0;
  // Factors on the default rates of the machine, of the rates that these steps determine.
  std::vector<FittedRate> rates;
  std::optional<RateError> error;  // of steps held out; nothing where they are too few
};

// By name, then by machine.
std::span<const RateStack> rate_stacks();

// Each once, in the order of the table.
std::vector<std::string_view> stack_names();

// Null where the stack has no published steps on this machine.
const RateStack* rate_stack(std::string_view name, std::string_view machine);

// E501 at "/stack": no stack has this name, or none of its steps ran on this machine.
InputError unknown_stack(std::string_view name, std::string_view machine);

// The instance with the stack's factors on its rates, which are to be the machine's defaults, and
// with a label that says so. Requires version 2 of the formulas.
StrategyInstance with_stack(StrategyInstance instance, const RateStack& stack);

// What predictions with the instance's rates rest on.
struct RateReport {
  StrategyRates rates;   // without a label: assumed
  std::string steps_of;  // the class of steps that `error` is of; empty without an error
  std::optional<RateError> error;
};

// Of assumed rates the error is that of published steps of the instance's class: the version of its
// formulas and the mean length of its sequences. Measured rates have none but their label's.
RateReport rate_report(const StrategyInstance& instance);

// "assumed", "stack", ..., or "unknown (77)" for an enumerator without a name.
std::string rate_source_text(StrategyRateSource source);

// "assumed; published steps of 8192 to 32767 tokens are predicted 16.50% off in the median, ..."
std::string rate_text(const RateReport& report);

}  // namespace stowage

// Rates of named stacks of software, fitted to their published steps, and the errors of predictions
// by default rates. Both are tables of instances/data/published, which stowage_bench_published
// makes from steps.csv.
//
//   const RateStack* stack = rate_stack("megatron-2025", "h100");
//   if (stack != nullptr) instance = with_stack(instance, *stack);
//   const RateReport report = rate_report(instance);
//   report.error.median;  // 0.03: half of the held-out steps are within 3 %
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
#include "instances/strategy/fit/fit_rates.h"
#include "instances/strategy/instance.h"

namespace stowage {

struct RateStack {
  std::string name;
  std::string machine;   // one of machine_names()
  std::string steps_of;  // sources of instances/data/published, separated by '+'
  std::int64_t steps = 0;
  // Factors on the default rates of the machine, for the rates that these steps determine.
  std::vector<FittedRate> rates;
  std::optional<RateError> error;  // of held-out steps; no value if they are too few
};

// Returns the stacks, by name, then by machine.
std::span<const RateStack> rate_stacks();

// Returns each name once, in the order of the table.
std::vector<std::string_view> stack_names();

// Returns the stack, or null if it has no published steps on this machine.
const RateStack* rate_stack(std::string_view name, std::string_view machine);

// Returns an E501 at "/stack": no stack has this name, or none of its steps ran on this machine.
InputError unknown_stack(std::string_view name, std::string_view machine);

// Returns the instance with its rates, which must be the machine's defaults, times the stack's
// factors, and with a label of the stack. Requires version 2 of the formulas.
StrategyInstance with_stack(StrategyInstance instance, const RateStack& stack);

// The source and the error of predictions with the instance's rates.
struct RateReport {
  StrategyRates rates;   // without a label: assumed
  std::string steps_of;  // the class of steps of `error`; empty without an error
  std::optional<RateError> error;
};

// Returns the report. The error of assumed rates is that of published steps of the instance's
// class: the version of its formulas and the mean length of its sequences. Measured rates have only
// the error of their label.
RateReport rate_report(const StrategyInstance& instance);

// Returns "assumed", "stack", ..., or "unknown (77)" for an enumerator without a name.
std::string rate_source_text(StrategyRateSource source);

// Returns "assumed; published steps of 8192 to 32767 tokens are predicted 16.50% off in the median,
// ..."
std::string rate_text(const RateReport& report);

}  // namespace stowage

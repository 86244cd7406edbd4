// Rates of a strategy in answers: what they rest on, and what a fit of them found.
#pragma once

#include <vector>

#include "instances/json/writer.h"
#include "instances/strategy/runs.h"
#include "instances/strategy/stacks.h"

namespace stowage {

// The member "rates".
void write_rates(JsonWriter& json, const RateReport& report);

// The members "rates", "coefficients", "activation_factor" and "runs". `like` is what the fit began
// with.
void write_fit_members(JsonWriter& json, const std::vector<LoggedRun>& runs,
                       const StrategyInstance& like, const StrategyFit& fit);

// Where a rate of a fit comes from: "fitted", "assumed", or the name of a stack.
std::string rate_source(const StrategyInstance& like, const FittedRate& rate);

}  // namespace stowage

// Writes the rates of a strategy into answers: their source, and the result of a fit.
#pragma once

#include <vector>

#include "instances/json/writer.h"
#include "instances/strategy/fit/runs.h"
#include "instances/strategy/fit/stacks.h"

namespace stowage {

// Writes the member "rates".
void write_rates(JsonWriter& json, const RateReport& report);

// Writes the members "rates", "coefficients", "common", "activation_factor" and "runs". `like` has
// the initial rates of the fit.
void write_fit_members(JsonWriter& json, const std::vector<LoggedRun>& runs,
                       const StrategyInstance& like, const StrategyFit& fit);

// Returns the source of a rate of a fit: "fitted", "assumed", or the name of a stack.
std::string rate_source(const StrategyInstance& like, const FittedRate& rate);

}  // namespace stowage

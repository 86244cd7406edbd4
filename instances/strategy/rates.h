// The source of a strategy instance's rates: whether somebody measured them, or nobody did.
//
//   instance.cost.rates = StrategyRates{.source = StrategyRateSource::stack,
//                                       .stack = "megatron-2025"};
//
// The label changes neither times nor the instance's hash. It tells how far times are to be
// trusted.
//
// Thread safety: plain data.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stowage {

enum class StrategyRateSource {
  assumed,   // shares of a data sheet that fit published steps of many kinds of software
  stack,     // of a named stack of software, fitted to its published steps
  fitted,    // to logged steps of the user
  measured,  // by benchmarks of the user
};
inline constexpr std::array<std::string_view, 4> kStrategyRateSources = {"assumed", "stack",
                                                                         "fitted", "measured"};

// |predicted / measured - 1| of steps that took no part in the fit.
struct RateError {
  std::int64_t steps = 0;
  double median = 0;
  double p90 = 0;
  double worst = 0;

  bool operator==(const RateError&) const = default;
};

struct StrategyRates {
  StrategyRateSource source = StrategyRateSource::assumed;
  // The stack, or the stack that rates in `kept` are of. Empty: those are assumed.
  std::string stack;
  std::int64_t steps = 0;         // that the rates were fitted to
  std::vector<std::string> kept;  // rates that these steps do not determine, by their keys
  std::optional<RateError> error;

  bool operator==(const StrategyRates&) const = default;
};

}  // namespace stowage

// A proof that no configuration of a strategy instance is faster than some number of milliseconds.
//
// A class is a choice of stages, chunks and micro-batches; layers and other choices may change
// within it. Its bound weighs the times of the stages with prices that sum to 1
// (docs/theory/strategy.md, SB1 and SB2), or splits cases by the time of the slowest stage (SB4).
// check_certificate() lists the classes itself and repeats all the arithmetic, so that the finder
// of the prices need not be trusted. The weakest class bounds the instance.
//
//   const StrategyCertificateCheck check = check_certificate(instance, certificate);
//   if (check.violations.empty()) std::cout << "nothing is faster than " << check.bound_ms;
//
// Thread safety: plain data; its functions read their arguments and nothing else; any number of
// threads may call them at once.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "instances/strategy/instance.h"
#include "instances/violation.h"

namespace stowage {

// Most stages times ranges of layers for which SB4 splits cases. Among equal layers, ranges of
// equal size count once.
inline constexpr std::int64_t kMaxStrategyRanges = std::int64_t{1} << 18;

struct StrategyCertificate {
  struct Class {
    std::int64_t pp = 1;
    std::int64_t v = 1;
    std::int64_t micro_batches = 1;
    std::vector<double> prices;  // one for each stage; equal prices give the area bound
    bool thresholds = false;     // SB4 may be used as well

    bool operator==(const Class&) const = default;
  };

  Ms bound_ms = 0;
  std::vector<Class> classes;

  bool operator==(const StrategyCertificate&) const = default;
};

struct StrategyCertificateCheck {
  std::vector<Violation> violations;
  Ms bound_ms = 0;  // the proven bound: that of the certificate, 0 if there are violations
};

// Rules:
//   certificate_class   every class of the instance stands in the certificate once; there are no
//                        other classes
//   certificate_price   a class has a price for each of its stages, from 0 on, and one above 0
//   certificate_bound   no class allows a step faster than bound_ms
// Requires an instance as the reader returns it; the certificate may hold any values.
StrategyCertificateCheck check_certificate(const StrategyInstance& instance,
                                           const StrategyCertificate& certificate);

// Returns the names of the rules, in the order above.
std::vector<std::string_view> strategy_certificate_rules();

}  // namespace stowage

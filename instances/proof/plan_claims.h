// The verifier's rules for the claims of plans of every family: their bound and their instance. Not
// installed: the verifiers of the families share it.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "instances/proof/violation_list.h"
#include "instances/units.h"

namespace stowage {

// Bounds are sums of doubles. Rounding may raise them above the objective by this share of it.
inline constexpr double kBoundTolerance = 1e-6;

// Indices into the rules of `found`.
struct BoundRules {
  std::size_t number;
  std::size_t bound;
};

// A bound in ms is finite and from 0 to the objective, and names its certificate if positive.
void check_bound_ms(ViolationList& found, const BoundRules& rules, Ms bound,
                    const std::string& bound_by, Ms objective);

// A positive bound names its certificate.
void check_bound_name(ViolationList& found, std::size_t rule, bool positive,
                      const std::string& bound_by);

// The hash in the plan is that of the instance; `rule` is an index into `rules`.
std::vector<Violation> check_instance_hash(std::span<const std::string_view> rules,
                                           std::size_t rule, const std::string& have,
                                           std::string_view need);

}  // namespace stowage

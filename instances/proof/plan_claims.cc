#include "instances/proof/plan_claims.h"

#include <cmath>
#include <utility>

namespace stowage {

void check_bound_ms(ViolationList& found, const BoundRules& rules, Ms bound,
                    const std::string& bound_by, Ms objective) {
  if (!std::isfinite(bound)) {
    found.add(rules.number, [&] {
      return Description{"/bound_ms", text(bound), "a finite number"};
    });
    return;
  }
  if (bound < 0 || bound > objective * (1 + kBoundTolerance)) {
    found.add(rules.bound, [&] {
      return Description{"/bound_ms", text(bound) + " ms",
                         "from 0 to the objective, " + text(objective) + " ms"};
    });
  }
  check_bound_name(found, rules.bound, bound > 0, bound_by);
}

void check_bound_name(ViolationList& found, std::size_t rule, bool positive,
                      const std::string& bound_by) {
  if (!positive || !bound_by.empty()) return;
  found.add(rule, [] { return Description{"/bound_by", "no name", "the name of a certificate"}; });
}

std::vector<Violation> check_instance_hash(std::span<const std::string_view> rules,
                                           std::size_t rule, const std::string& have,
                                           std::string_view need) {
  ViolationList found(rules);
  if (have != need) {
    found.add(rule, [&] {
      return Description{"/instance_hash", have.empty() ? "no hash" : have, std::string(need)};
    });
  }
  return std::move(found).take();
}

}  // namespace stowage

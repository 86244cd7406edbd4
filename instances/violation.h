// The finding of a verifier: one broken rule of a plan.
//
//   for (const Violation& v : verify(instance, plan)) std::cerr << v << '\n';
//
// Thread safety: its functions read their arguments and nothing else; any number of threads may
// call them at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <string>

namespace stowage {

// One broken rule. `rule` is one of the family's rules, e.g. of scatter_verify_rules(). `where` is
// a JSON pointer into the plan. `have` is the value in the plan and `need` is the value or range
// that the rule requires, both with units. One entry stands for all violations of a rule beyond the
// first kMaxViolationsPerRule: its `where` and `need` are empty, and its `have` is "and 980 more".
struct Violation {
  std::string rule;
  std::string where;
  std::string have;
  std::string need;
  std::int64_t count = 1;  // violations that this entry stands for: 980 of "and 980 more"

  bool operator==(const Violation&) const = default;
};

// At most this many violations of one rule are reported; the rest are counted.
inline constexpr std::size_t kMaxViolationsPerRule = 20;

// Returns "capacity at /micro_batches/0/groups/1: has 70000 tokens, needs at most 51592 tokens".
std::string to_string(const Violation& violation);

// Writes to_string(violation).
std::ostream& operator<<(std::ostream& out, const Violation& violation);

}  // namespace stowage

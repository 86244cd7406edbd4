// What a verifier finds: one broken rule of a plan.
//
//   for (const Violation& v : verify(instance, plan)) std::cerr << to_string(v) << '\n';
//
// Thread safety: its functions read their arguments and nothing else; any number of threads may
// call them at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace stowage {

// One broken rule. `rule` is one of the family's rules, e.g. of scatter_verify_rules(); `where` is
// a JSON pointer into the plan; `have` and `need` say what stands there and what the rule asks for,
// with units. The entry that stands for all the violations of a rule beyond the first
// kMaxViolationsPerRule has an empty `where` and `need`, and `have` is "and 980 more".
struct Violation {
  std::string rule;
  std::string where;
  std::string have;
  std::string need;
  std::int64_t count = 1;  // that it stands for: 980 of "and 980 more"

  bool operator==(const Violation&) const = default;
};

// So many violations of one rule are reported; the rest are counted.
inline constexpr std::size_t kMaxViolationsPerRule = 20;

// "capacity at /micro_batches/0/groups/1: has 70000 tokens, needs at most 51592 tokens"
std::string to_string(const Violation& violation);

}  // namespace stowage

#include "solvers/assign/explain/remedy.h"

#include <algorithm>

#include "instances/numeric/numbers.h"

namespace stowage {

std::string remedy_for_long(const AssignInstance& instance,
                            const std::vector<std::int64_t>& unplaceable) {
  if (instance.constraints.chunks) {
    return "choose a chunk size that a scheme's max_tokens admits, retain fewer chunks, add a "
           "strategy with a scheme of more stages or max_tokens, or shorten the sequences";
  }
  Tokens longest = 0;
  for (const std::int64_t id : unplaceable) {
    const Tokens length = instance.lengths[static_cast<std::size_t>(id)];
    longest = std::max(longest, padded_length(instance, length));
  }
  return "add a strategy with a scheme of max_tokens " + grouped(longest) +
         " or more, or shorten the sequences";
}

std::string remedy_for_rows(const AssignInstance& instance) {
  const RowConstraints& rule = instance.constraints;
  std::string text = "plan more sequences in a step";
  if (rule.rows_multiple_of > 1) text += ", lower constraints.rows_multiple_of";
  if (rule.equal_rows) text += ", set constraints.equal_rows to false";
  if (!rule.allow_empty) text += ", set constraints.allow_empty to true";
  return text + ", or add a strategy of fewer replicas";
}

}  // namespace stowage

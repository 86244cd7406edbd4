#include "solvers/scatter/explain/remedy.h"

#include <algorithm>
#include <cmath>

#include "instances/json/limits.h"
#include "instances/numeric/numbers.h"

namespace stowage {
namespace {

// Returns the least degree of groups of this form that hold a sequence of `longest` tokens before
// padding, or nullopt if even a group of all devices does not.
std::optional<std::int64_t> degree_for(const ScatterInstance& instance, GroupForm form,
                                       Tokens longest) {
  const int devices = instance.cluster.devices;
  const auto holds = [&](int degree) {
    form.degree = degree;
    return longest_in_group(instance, form) >= padded_length(instance, longest, form);
  };
  if (!holds(devices)) return std::nullopt;
  int least = 1;
  for (int high = devices; least < high;) {
    const int middle = least + (high - least) / 2;
    if (!holds(middle)) {
      least = middle + 1;
    } else {
      high = middle;
    }
  }
  return least;
}

// Joins changes: "a", "a or b", "a, b or c".
std::string one_of(const std::vector<std::string>& changes) {
  std::string text;
  for (std::size_t k = 0; k < changes.size(); ++k) {
    if (k > 0) text += k + 1 == changes.size() ? " or " : ", ";
    text += changes[k];
  }
  return text;
}

// Returns changes to the rules on whole micro-batches and their number.
std::vector<std::string> looser_rules(const ScatterInstance& instance) {
  std::vector<std::string> changes;
  if (instance.rules.no_idle_ranks) changes.emplace_back("set rules.no_idle_ranks to false");
  if (instance.rules.micro_batches_multiple_of > 1) {
    changes.emplace_back("lower rules.micro_batches_multiple_of");
  }
  return changes;
}

}  // namespace

Mib memory_for(ScatterInstance instance, GroupForm form, Tokens wanted) {
  instance.cluster.kinds.clear();
  Mib& memory = instance.cluster.memory_mib;
  const auto hold = [&](Tokens resident) {
    memory =
        std::ceil(fixed_mib(instance) + token_mib(instance, form) * static_cast<double>(resident));
    return tokens_per_device(instance, form) >= wanted;
  };
  Tokens resident = wanted;
  if (instance.model.offload) {
    // With offload a device holds more tokens than stay on it: the fewest that are enough.
    for (Tokens few = 0; few < resident;) {
      const Tokens middle = few + (resident - few) / 2;
      if (hold(middle)) {
        resident = middle;
      } else {
        few = middle + 1;
      }
    }
  }
  hold(resident);
  // The product may be rounded down slightly, and above 2^53 adding 1 has no effect.
  while (tokens_per_device(instance, form) < wanted) {
    memory = std::max(memory + 1, std::nextafter(memory, kInfinity));
  }
  return memory;
}

std::string remedy_for_long(const ScatterInstance& instance,
                            const std::vector<std::int64_t>& unplaceable) {
  const GroupForm form = largest_form(instance);
  const int degree = form.degree;
  Tokens unpadded = 0;
  for (const std::int64_t id : unplaceable) {
    unpadded = std::max(unpadded, instance.lengths[static_cast<std::size_t>(id)]);
  }
  const Tokens longest =
      round_up(padded_length(instance, unpadded, form), row_multiple(instance, form));
  const Tokens share = (longest + degree - 1) / degree;
  const Tokens held = (longest + sequence_tokens(instance, form) + degree - 1) / degree;
  const Tokens cap = instance.rules.max_tokens_per_rank;
  const bool fits = tokens_per_device(instance, form) >= held;
  const Mib memory = fits ? instance.cluster.memory_mib : memory_for(instance, form, held);
  const bool kinds = !instance.cluster.kinds.empty();
  std::vector<std::string> changes;
  if (memory <= static_cast<double>(kMaxExact)) {  // instances do not allow larger numbers
    std::string room;
    if (cap < share) {
      room = "rules.max_tokens_per_rank from " + std::to_string(cap) + " to " +
             std::to_string(share) + (fits ? "" : " and ");
    }
    if (!fits) {
      room += kinds ? "the memory of all cluster.kinds to " + shortest(memory)
                    : "cluster.memory_mib from " + shortest(instance.cluster.memory_mib) + " to " +
                          shortest(memory);
    }
    if (!room.empty()) changes.push_back("raise " + room);
  }
  const auto wanted = kinds ? std::nullopt : degree_for(instance, form, unpadded);
  if (wanted) {
    changes.push_back("allow a degree of at least " + grouped(*wanted));
  }
  changes.emplace_back("shorten the sequences");
  std::string text = changes.front();
  for (std::size_t k = 1; k < changes.size(); ++k) text += ", or " + changes[k];
  return text;
}

std::string remedy_for_few(const ScatterInstance& instance, std::optional<std::int64_t> needed) {
  std::vector<std::string> changes = looser_rules(instance);
  if (needed) {
    changes.insert(changes.begin(), "plan at least " + counted(*needed, "sequence") + " in a step");
  } else {
    changes.emplace_back("allow degrees that make up all " +
                         counted(instance.cluster.devices, "device"));
  }
  return one_of(changes);
}

std::string remedy_for_rules(const ScatterInstance& instance) {
  std::vector<std::string> changes = looser_rules(instance);
  const ScatterRules& rules = instance.rules;
  if (rules.min_degree > 1) changes.emplace_back("lower rules.min_degree");
  if (rules.max_tokens_per_rank < kMaxExact) {
    changes.emplace_back("raise rules.max_tokens_per_rank");
  }
  if (rules.max_sequences_per_group < kMaxExact) {
    changes.emplace_back("raise rules.max_sequences_per_group");
  }
  if (rules.equal_sequences) changes.emplace_back("set rules.equal_sequences to false");
  changes.emplace_back("plan other sequences in a step");
  return one_of(changes);
}

}  // namespace stowage

#include "instances/order/validate.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "instances/json/text.h"
#include "instances/numeric/numbers.h"
#include "instances/order/memory/length_dependent_sizes.h"
#include "instances/order/precedence.h"

namespace stowage {
namespace {

constexpr std::int64_t kNobody = -1;
constexpr std::size_t kMaxNamed = 10;  // operators of a cycle that a message names

std::string place(const char* list, std::int64_t index, const std::string& member = "") {
  return std::string("/") + list + '/' + std::to_string(index) + member;
}

// Adds E371 for each of `count` objects whose name an earlier object has.
template <class Name>
void check_ids(const char* list, std::int64_t count, Name name, ErrorList& errors) {
  std::vector<std::pair<std::string, std::int64_t>> names;
  names.reserve(at(count));
  for (std::int64_t i = 0; i < count; ++i) names.emplace_back(name(i), i);
  std::sort(names.begin(), names.end());
  std::vector<std::pair<std::int64_t, std::int64_t>>
      repeats;  // index of an object, and of the first of the same name
  for (std::size_t k = 1, first = 0; k < names.size(); ++k) {
    if (names[k].first == names[first].first) {
      repeats.emplace_back(names[k].second, names[first].second);
    } else {
      first = k;
    }
  }
  std::sort(repeats.begin(), repeats.end());
  for (const auto& [i, first] : repeats) {
    if (!errors.room()) {
      errors.add_unseen();
      continue;
    }
    errors.add(code::kOrderId, place(list, i, "/id"),
               "must be unique, is " + in_quotes(name(i)) + ", as is " + list + '/' +
                   std::to_string(first));
  }
}

void check_writers(const OrderInstance& instance, ErrorList& errors) {
  std::vector<std::int64_t> writer(instance.tensors.size(), kNobody);
  std::vector<bool> touched(instance.tensors.size(), false);
  for (std::int64_t i = 0; i < std::ssize(instance.operators); ++i) {
    const OrderOperator& op = instance.operators[at(i)];
    for (const std::int64_t t : op.reads) touched[at(t)] = true;
    for (const std::int64_t t : op.updates) touched[at(t)] = true;
    for (std::int64_t k = 0; k < std::ssize(op.writes); ++k) {
      const std::int64_t t = op.writes[at(k)];
      const bool input = instance.tensors[at(t)].input;
      if (!input && (writer[at(t)] == kNobody || writer[at(t)] == i)) {
        writer[at(t)] = i;
        continue;
      }
      errors.add(code::kOrderWriter, place("operators", i, "/writes/" + std::to_string(k)),
                 input ? "must be no input, is " + in_quotes(tensor_name(instance, t)) +
                             "; an operator that changes it in place names it in `updates`"
                       : "must be a tensor that no other operator writes, is " +
                             in_quotes(tensor_name(instance, t)) + ", which " +
                             in_quotes(operator_name(instance, writer[at(t)])) + " writes");
    }
  }
  for (std::int64_t t = 0; t < std::ssize(instance.tensors); ++t) {
    const OrderTensor& tensor = instance.tensors[at(t)];
    if (tensor.input || writer[at(t)] != kNobody || (!tensor.output && !touched[at(t)])) continue;
    errors.add(code::kOrderUnwritten, place("tensors", t),
               "must be an input or be written by an operator, is " +
                   in_quotes(tensor_name(instance, t)) + ", which is needed and never made");
  }
}

void check_cycle(const OrderInstance& instance, ErrorList& errors) {
  const std::vector<int> cycle = cycle_in(predecessors_of(instance));
  if (cycle.empty()) return;
  std::string path = in_quotes(operator_name(instance, cycle.front()));
  for (std::size_t k = 1; k <= std::min(cycle.size(), kMaxNamed); ++k) {
    path += " after " + in_quotes(operator_name(instance, cycle[k % cycle.size()]));
  }
  if (cycle.size() > kMaxNamed) {
    path += " after " + std::to_string(cycle.size() - kMaxNamed) + " more";
  }
  errors.add(code::kOrderCycle, place("operators", cycle.front()),
             "must not wait for itself, is in a cycle: " + path);
}

// Recomputation excludes updates: a second update would change the result of the first.
void check_recompute(const OrderInstance& instance, ErrorList& errors) {
  for (std::int64_t i = 0; i < std::ssize(instance.operators); ++i) {
    const OrderOperator& op = instance.operators[at(i)];
    if (!op.recompute || op.updates.empty()) continue;
    errors.add(code::kOrderRecompute, place("operators", i, "/recompute"),
               "must be false for an operator that updates a tensor, is true for " +
                   in_quotes(operator_name(instance, i)) + ", which updates " +
                   in_quotes(tensor_name(instance, op.updates.front())));
  }
}

// Checks the tensors whose memory an output may take. Where operators run again or tensors move, a
// tensor has several lives, and none of them is known to end at an operator.
void check_in_place(const OrderInstance& instance, ErrorList& errors) {
  const auto has_reuse = [](const OrderOperator& op) { return !op.in_place.empty(); };
  const auto first = std::ranges::find_if(instance.operators, has_reuse);
  if (first == instance.operators.end()) return;
  const auto reruns = [](const OrderOperator& op) { return op.recompute; };
  const char* beside = nullptr;
  if (instance.objective == OrderObjective::time) {
    beside = "objective \"time\"";
  } else if (instance.tokens) {
    beside = "`tokens`";
  } else if (instance.host) {
    beside = "a `host`";
  } else if (instance.recorded_from) {
    beside = "`recorded_from`";
  } else if (std::ranges::any_of(instance.operators, reruns)) {
    beside = "an operator with `recompute`";
  }
  if (beside != nullptr) {
    errors.add(code::kOrderInPlace,
               place("operators", first - instance.operators.begin(), "/in_place"),
               std::string("must be left out in an instance with ") + beside + ", is there");
    return;
  }
  const auto rounded = [&](std::int64_t t) {
    return round_up(instance.tensors[at(t)].size, instance.alignment);
  };
  for (std::int64_t i = 0; i < std::ssize(instance.operators); ++i) {
    const OrderOperator& op = instance.operators[at(i)];
    for (std::int64_t k = 0; k < std::ssize(op.in_place); ++k) {
      const std::int64_t t = op.in_place[at(k)];
      const auto same_size = [&](std::int64_t made) { return rounded(made) == rounded(t); };
      const char* rule = nullptr;
      if (std::ranges::find(op.reads, t) == op.reads.end()) {
        rule = "a tensor that the operator reads";
      } else if (std::ranges::find(op.updates, t) != op.updates.end()) {
        rule = "a tensor that the operator does not update";
      } else if (instance.tensors[at(t)].output) {
        rule = "no output of the graph, which keeps its memory to the end";
      } else if (std::ranges::none_of(op.writes, same_size)) {
        rule = "of the same size, rounded up, as a tensor that the operator writes";
      }
      if (rule == nullptr) continue;
      errors.add(code::kOrderInPlace, place("operators", i, "/in_place/" + std::to_string(k)),
                 std::string("must be ") + rule + ", is " + in_quotes(tensor_name(instance, t)));
    }
  }
}

// Returns a size at the longest length, each part rounded up to the alignment. If the size is more
// than 2^53 or overflows, returns more than 2^53.
Bytes largest(const OrderInstance& instance, Bytes size, Bytes per_token) {
  const Bytes fixed = round_up(size, instance.alignment);
  const auto grown = checked_mul(round_up(per_token, instance.alignment), longest_of(instance));
  return grown && *grown <= kMaxExact ? fixed + *grown : kMaxExact + 1;
}

// Checks the range of lengths and the fields that exclude it.
void check_tokens(const OrderInstance& instance, ErrorList& errors) {
  const auto complain = [&](const std::string& where, std::string what) {
    errors.add(code::kOrderTokens, where, std::move(what));
  };
  if (!instance.tokens) {
    for (std::int64_t t = 0; t < std::ssize(instance.tensors); ++t) {
      const Bytes size = instance.tensors[at(t)].size_per_token;
      if (size == 0) continue;
      complain(place("tensors", t, "/bytes_per_token"),
               "must be 0 in an instance without `tokens`, is " + std::to_string(size));
    }
    for (std::int64_t op = 0; op < std::ssize(instance.operators); ++op) {
      const Bytes size = instance.operators[at(op)].workspace_per_token;
      if (size == 0) continue;
      complain(place("operators", op, "/workspace_bytes_per_token"),
               "must be 0 in an instance without `tokens`, is " + std::to_string(size));
    }
    return;
  }
  if (instance.tokens->from > instance.tokens->to) {
    complain("/tokens/from", "must be at most `to`, " + std::to_string(instance.tokens->to) +
                                 ", is " + std::to_string(instance.tokens->from));
  }
  if (instance.objective == OrderObjective::time) {
    complain("/objective", "must be \"peak\" in an instance with `tokens`, is \"time\"");
  }
  if (instance.host) complain("/host", "must be left out in an instance with `tokens`, is there");
  if (instance.recorded_from) {
    complain("/recorded_from", "must be left out in an instance with `tokens`, is there");
  }
}

// Checks the sum of all tensors and the largest workspace.
void check_sum(const OrderInstance& instance, ErrorList& errors) {
  const auto complain = [&](const std::string& where, const std::string& what, Bytes size) {
    errors.add(code::kTooManyOrderBytes, where,
               "must sum, with " + what + " and each rounded up to the alignment, to at most " +
                   std::to_string(kMaxExact) + " bytes" +
                   (instance.tokens ? " at the longest length" : "") + ", is " +
                   std::to_string(size));
  };
  Bytes sum = 0;
  for (std::int64_t t = 0; t < std::ssize(instance.tensors); ++t) {
    const OrderTensor& tensor = instance.tensors[at(t)];
    const Bytes size = tensor.size;
    // `sum` is at most 2^55 here: the sum before was at most 2^53.
    sum += largest(instance, size, tensor.size_per_token);
    if (sum > kMaxExact) {
      return complain(place("tensors", t, "/size_bytes"), "the tensors before it", size);
    }
  }
  for (std::int64_t op = 0; op < std::ssize(instance.operators); ++op) {
    const Bytes size = instance.operators[at(op)].workspace;
    if (sum + largest(instance, size, instance.operators[at(op)].workspace_per_token) <=
        kMaxExact) {
      continue;
    }
    return complain(place("operators", op, "/workspace_bytes"), "all tensors", size);
  }
}

}  // namespace

std::string tensor_name(const OrderInstance& instance, std::int64_t tensor) {
  const std::string& id = instance.tensors[at(tensor)].id;
  return id.empty() ? std::to_string(tensor) : id;
}

std::string operator_name(const OrderInstance& instance, std::int64_t op) {
  const std::string& id = instance.operators[at(op)].id;
  return id.empty() ? std::to_string(op) : id;
}

void check_order_ids(const OrderInstance& instance, ErrorList& errors) {
  check_ids(
      "tensors", std::ssize(instance.tensors),
      [&](std::int64_t t) { return tensor_name(instance, t); }, errors);
  check_ids(
      "operators", std::ssize(instance.operators),
      [&](std::int64_t op) { return operator_name(instance, op); }, errors);
}

void check_order(const OrderInstance& instance, ErrorList& errors) {
  const std::int64_t before = errors.found();
  check_order_ids(instance, errors);
  check_writers(instance, errors);
  check_recompute(instance, errors);
  check_in_place(instance, errors);
  check_tokens(instance, errors);
  check_sum(instance, errors);
  if (errors.found() == before) check_cycle(instance, errors);
}

}  // namespace stowage

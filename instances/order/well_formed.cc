// Checks a graph in memory without writing it.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "instances/json/limits.h"
#include "instances/json/number_ranges.h"
#include "instances/json/text.h"
#include "instances/order/json/json.h"
#include "instances/order/validate.h"

namespace stowage {
namespace {

bool in_range(std::int64_t number, std::int64_t least) {
  return number >= least && number <= kMaxExact;
}

}  // namespace

std::vector<InputError> hidden_order_errors(const OrderInstance& instance) {
  ErrorList errors;
  const auto check = [&](const std::vector<std::int64_t>& indices, std::int64_t count,
                         std::int64_t op, const char* list) {
    for (std::size_t k = 0; k < indices.size(); ++k) {
      if (indices[k] >= 0 && indices[k] < count) continue;
      errors.add(code::kOrderName,
                 "/operators/" + std::to_string(op) + '/' + list + '/' + std::to_string(k),
                 "must be an index from 0, below " + std::to_string(count) + ", is " +
                     std::to_string(indices[k]));
    }
  };
  check_utf8(instance.name, "/name", errors);
  for (std::size_t t = 0; t < instance.tensors.size(); ++t) {
    if (is_utf8(instance.tensors[t].id)) continue;
    check_utf8(instance.tensors[t].id, "/tensors/" + std::to_string(t) + "/id", errors);
  }
  for (std::size_t i = 0; i < instance.operators.size(); ++i) {
    if (is_utf8(instance.operators[i].id)) continue;
    check_utf8(instance.operators[i].id, "/operators/" + std::to_string(i) + "/id", errors);
  }
  const std::int64_t tensors = std::ssize(instance.tensors);
  const std::int64_t operators = std::ssize(instance.operators);
  for (std::int64_t i = 0; i < operators; ++i) {
    const OrderOperator& op = instance.operators[static_cast<std::size_t>(i)];
    check(op.reads, tensors, i, "reads");
    check(op.writes, tensors, i, "writes");
    check(op.updates, tensors, i, "updates");
    check(op.after, operators, i, "after");
    check(op.in_place, tensors, i, "in_place");
  }
  return std::move(errors).take();
}

bool is_well_formed(const OrderInstance& instance) {
  if (std::ssize(instance.tensors) > kMaxTensors ||
      std::ssize(instance.operators) > kMaxOperators || !surely_readable(instance.name) ||
      !in_range(instance.capacity.value_or(0), 0) || !in_range(instance.alignment, 1)) {
    return false;
  }
  // The reader reports an enumerator without a name.
  if (instance.objective != OrderObjective::peak && instance.objective != OrderObjective::time) {
    return false;
  }
  if (instance.tokens &&
      (!in_range(instance.tokens->from, 1) || instance.tokens->to > kMaxLengthTokens)) {
    return false;
  }
  const auto is_rate = [](double rate) { return rate >= kDivisor.least && rate <= kDivisor.most; };
  if (instance.host &&
      (!is_rate(instance.host->out_bytes_per_ms) || !is_rate(instance.host->in_bytes_per_ms) ||
       !in_range(instance.host->capacity.value_or(0), 0))) {
    return false;
  }
  const bool ranges =
      std::ranges::all_of(instance.tensors,
                          [](const OrderTensor& tensor) {
                            return in_range(tensor.size, 0) && in_range(tensor.size_per_token, 0) &&
                                   surely_readable(tensor.id);
                          }) &&
      std::ranges::all_of(instance.operators, [](const OrderOperator& op) {
        return in_range(op.workspace, 0) && in_range(op.workspace_per_token, 0) &&
               op.ms >= kQuantity.least && op.ms <= kQuantity.most && surely_readable(op.id);
      });
  if (!ranges) return false;
  if (instance.recorded_from) {
    // Only the reader checks these numbers.
    const OrderInstance alone{.recorded_from = instance.recorded_from};
    if (!read_order_instance(write_order_instance(alone))) return false;
  }
  ErrorList errors;
  check_order(instance, errors);
  return errors.empty();
}

}  // namespace stowage

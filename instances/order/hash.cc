// The fingerprint of an order instance.
#include <algorithm>

#include "instances/document/fingerprint.h"
#include "instances/order/json/json.h"

namespace stowage {

// The hash leaves out ids, which only name, and recorded_from, which only explains: neither changes
// a plan.
std::string instance_hash(const OrderInstance& instance) {
  Fingerprint fingerprint;
  const auto add_list = [&](const std::vector<std::int64_t>& indices) {
    fingerprint.add(static_cast<std::int64_t>(indices.size()));
    for (const std::int64_t index : indices) fingerprint.add(index);
  };
  fingerprint.add(std::int64_t{instance.capacity ? 1 : 0});
  fingerprint.add(instance.capacity.value_or(0));
  fingerprint.add(instance.alignment);
  fingerprint.add(static_cast<std::int64_t>(instance.tensors.size()));
  for (const OrderTensor& tensor : instance.tensors) {
    fingerprint.add(tensor.size);
    fingerprint.add(std::int64_t{tensor.input ? 1 : 0});
    fingerprint.add(std::int64_t{tensor.output ? 1 : 0});
  }
  fingerprint.add(static_cast<std::int64_t>(instance.operators.size()));
  for (const OrderOperator& op : instance.operators) {
    add_list(op.reads);
    add_list(op.writes);
    add_list(op.updates);
    fingerprint.add(op.workspace);
    add_list(op.after);
  }
  // Fields that older versions did not have enter the hash only if set, so that hashes of old
  // graphs stay the same.
  const bool plain = instance.objective == OrderObjective::peak &&
                     std::ranges::all_of(instance.operators, [](const OrderOperator& op) {
                       return op.ms == 0 && !op.recompute;
                     });
  if (!plain) {
    fingerprint.add(std::int64_t{instance.objective == OrderObjective::time ? 1 : 0});
    for (const OrderOperator& op : instance.operators) {
      fingerprint.add(op.ms);
      fingerprint.add(std::int64_t{op.recompute ? 1 : 0});
    }
  }
  if (instance.tokens) {
    fingerprint.add(std::int64_t{2});  // no value of the objective
    fingerprint.add(instance.tokens->from);
    fingerprint.add(instance.tokens->to);
    for (const OrderTensor& tensor : instance.tensors) fingerprint.add(tensor.size_per_token);
    for (const OrderOperator& op : instance.operators) fingerprint.add(op.workspace_per_token);
  }
  if (instance.host) {
    fingerprint.add(std::int64_t{3});  // neither an objective nor a range
    fingerprint.add(instance.host->out_bytes_per_ms);
    fingerprint.add(instance.host->in_bytes_per_ms);
    fingerprint.add(std::int64_t{instance.host->capacity ? 1 : 0});
    fingerprint.add(instance.host->capacity.value_or(0));
  }
  const auto has_reuse = [](const OrderOperator& op) { return !op.in_place.empty(); };
  if (std::ranges::any_of(instance.operators, has_reuse)) {
    fingerprint.add(std::int64_t{4});  // none of the numbers above
    for (const OrderOperator& op : instance.operators) add_list(op.in_place);
  }
  return fingerprint.text();
}

}  // namespace stowage

// The memory of an order at every step, computed from the instance alone. The verifier of orders
// and the checks of its proofs use it; planners do not. Not installed.
//
//   const OrderReferenceModel truth(instance);
//   truth.size(tensor);
//   truth.touched(op);           // tensors that it reads or updates, each once
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "instances/order/instance.h"

namespace stowage {

class OrderReferenceModel {
 public:
  // If sizes grow with the length, these are the sizes at the longest length.
  explicit OrderReferenceModel(const OrderInstance& instance)
      : OrderReferenceModel(instance, instance.tokens ? instance.tokens->to : 0) {}
  OrderReferenceModel(const OrderInstance& instance, Tokens length)
      : instance_(instance), length_(length) {
    touches_.resize(instance.tensors.size(), 0);
    for (const OrderOperator& op : instance.operators) {
      for (const std::int64_t t : touched(op)) ++touches_[static_cast<std::size_t>(t)];
    }
  }

  Bytes rounded(Bytes size) const {
    return (size + instance_.alignment - 1) / instance_.alignment * instance_.alignment;
  }
  Bytes size(std::int64_t tensor) const {
    const OrderTensor& its = instance_.tensors[static_cast<std::size_t>(tensor)];
    return rounded(its.size) + length_ * rounded(its.size_per_token);
  }

  // Returns the tensors that an operator reads or updates, ascending, each once.
  static std::vector<std::int64_t> touched(const OrderOperator& op) {
    std::vector<std::int64_t> all = op.reads;
    all.insert(all.end(), op.updates.begin(), op.updates.end());
    return once(std::move(all));
  }
  static std::vector<std::int64_t> written(const OrderOperator& op) { return once(op.writes); }

  // Returns the number of operators that touch the tensor.
  std::int64_t touches(std::int64_t tensor) const {
    return touches_[static_cast<std::size_t>(tensor)];
  }

  // Returns whether the tensor needs memory to the end: it is an output, or an input that no
  // operator touches and hence none frees.
  bool stays(std::int64_t tensor) const {
    const OrderTensor& its = instance_.tensors[static_cast<std::size_t>(tensor)];
    return its.output || (its.input && touches(tensor) == 0);
  }

  // Returns the bytes that the operator adds while it runs: its outputs and its workspace.
  Bytes added(const OrderOperator& op) const {
    Bytes sum = rounded(op.workspace) + length_ * rounded(op.workspace_per_token);
    for (const std::int64_t t : written(op)) sum += size(t);
    return sum;
  }

  // Returns the bytes of the operator's outputs that take the memory of tensors of its `in_place`
  // for which ends(tensor) holds: each output that of one tensor of its size.
  template <class Ends>
  Bytes saved(const OrderOperator& op, const Ends& ends) const {
    std::vector<Bytes> free;
    for (const std::int64_t t : once(op.in_place)) {
      if (ends(t)) free.push_back(size(t));
    }
    Bytes sum = 0;
    for (const std::int64_t t : written(op)) {
      const auto on = std::find(free.begin(), free.end(), size(t));
      if (on == free.end()) continue;
      sum += *on;
      free.erase(on);
    }
    return sum;
  }
  // Returns the least that the operator adds in any order: added(), less what it saves if all
  // tensors of its `in_place` end with it.
  Bytes least_added(const OrderOperator& op) const {
    return added(op) - saved(op, [](std::int64_t) { return true; });
  }

  Bytes at_start() const {
    return sum([](const OrderTensor& tensor, bool) { return tensor.input; });
  }
  Bytes at_end() const {
    return sum([](const OrderTensor&, bool stays) { return stays; });
  }
  // Returns whether the tensor needs memory at every step.
  bool always(std::int64_t tensor) const {
    return stays(tensor) && instance_.tensors[static_cast<std::size_t>(tensor)].input;
  }

 private:
  static std::vector<std::int64_t> once(std::vector<std::int64_t> all) {
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
  }

  template <class Counts>
  Bytes sum(Counts counts) const {
    Bytes bytes = 0;
    for (std::size_t t = 0; t < instance_.tensors.size(); ++t) {
      const auto index = static_cast<std::int64_t>(t);
      if (counts(instance_.tensors[t], stays(index))) bytes += size(index);
    }
    return bytes;
  }

  const OrderInstance& instance_;
  Tokens length_;
  std::vector<std::int64_t> touches_;
};

}  // namespace stowage

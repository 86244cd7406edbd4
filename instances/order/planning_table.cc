#include "instances/order/planning_table.h"

#include <algorithm>

#include "instances/numeric/numbers.h"
#include "instances/order/memory/length_dependent_sizes.h"
#include "instances/order/precedence.h"

namespace stowage {
namespace {

std::vector<int> once(const std::vector<std::int64_t>& a, const std::vector<std::int64_t>& b) {
  std::vector<int> all;
  all.reserve(a.size() + b.size());
  for (const std::int64_t i : a) all.push_back(static_cast<int>(i));
  for (const std::int64_t i : b) all.push_back(static_cast<int>(i));
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

}  // namespace

OrderTable::Lists OrderTable::Lists::inverse(std::size_t count) const {
  Lists inverse;
  inverse.first.assign(count + 1, 0);
  for (const int i : all) ++inverse.first[index(i) + 1];
  for (std::size_t i = 0; i < count; ++i) inverse.first[i + 1] += inverse.first[i];
  std::vector<std::size_t> next(inverse.first.begin(), inverse.first.end() - 1);
  inverse.all.resize(all.size());
  for (std::size_t list = 0; list + 1 < first.size(); ++list) {
    for (const int i : of(static_cast<int>(list))) {
      inverse.all[next[index(i)]++] = static_cast<int>(list);
    }
  }
  return inverse;
}

void OrderTable::list_reruns(const OrderInstance& instance) {
  std::vector<std::vector<int>> updates(size_.size());
  for (int op = 0; op < operators(); ++op) {
    for (const std::int64_t t : instance.operators[at(op)].updates) updates[at(t)].push_back(op);
  }
  for (int op = 0; op < operators(); ++op) {
    const OrderOperator& its = instance.operators[at(op)];
    ms_.push_back(its.ms);
    reruns_.push_back(its.recompute);
    work_ms_ += its.ms;
    recomputes_ = recomputes_ || its.recompute;
    std::vector<std::int64_t> closing;
    if (its.recompute) {
      for (const int t : touched(op)) {
        for (const int update : updates[at(t)]) {
          if (update > op) closing.push_back(update);
        }
      }
      for (const int t : written(op)) {
        for (const int update : updates[at(t)]) closing.push_back(update);
      }
    }
    closed_by_.add(once(closing, {}));
  }
}

OrderTable::OrderTable(const OrderInstance& instance)
    : OrderTable(instance, longest_of(instance)) {}

OrderTable::OrderTable(const OrderInstance& instance, Tokens length) : host_(instance.host) {
  const std::size_t tensors = instance.tensors.size();
  size_.reserve(tensors);
  for (const OrderTensor& tensor : instance.tensors) {
    size_.push_back(size_at(instance, tensor.size, tensor.size_per_token, length));
  }
  for (const OrderOperator& op : instance.operators) {
    touched_.add(once(op.reads, op.updates));
    written_.add(once(op.writes, {}));
  }
  touchers_ = touched_.inverse(tensors);
  producer_.assign(tensors, kNobody);
  stays_.resize(tensors);
  for (std::size_t t = 0; t < tensors; ++t) {
    const OrderTensor& tensor = instance.tensors[t];
    const bool touched = !touchers(static_cast<int>(t)).empty();
    stays_[t] = tensor.output || (tensor.input && !touched);
    if (tensor.input) at_start_ += size_[t];
    if (stays_[t]) at_end_ += size_[t];
  }
  for (int op = 0; op < std::ssize(instance.operators); ++op) {
    Bytes need = size_at(instance, instance.operators[at(op)].workspace,
                         instance.operators[at(op)].workspace_per_token, length);
    Bytes keeps = 0;
    for (const int t : written(op)) {
      producer_[at(t)] = op;
      need += size(t);
      if (stays(t) || !touchers(t).empty()) keeps += size(t);
    }
    in_place_.add(once(instance.operators[at(op)].in_place, {}));
    added_.push_back(need);
    const auto ends = [](int) { return true; };
    for (const OrderReuse& its : reuses_at(op, ends)) {
      need -= size(static_cast<int>(its.tensor));
    }
    need_.push_back(need);
    keeps_.push_back(keeps);
  }
  const std::vector<std::vector<int>> before = predecessors_of(instance);
  for (const std::vector<int>& list : before) before_.add(list);
  behind_ = before_.inverse(before.size());
  list_reruns(instance);
  program_ = first_order(before).value_or(std::vector<int>());
}

}  // namespace stowage

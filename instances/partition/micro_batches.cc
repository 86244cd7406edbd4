#include "instances/partition/micro_batches.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>

#include "instances/json/errors.h"

namespace stowage {
namespace {

std::string at_least_one(std::int64_t most, std::int64_t value) {
  return "must be an integer from 1 to " + std::to_string(most) + ", is " + std::to_string(value);
}

// Returns the lengths and the cost as a partition of one bin, which check() of partitions knows.
PartitionInstance one_bin(const MicroBatchInstance& instance) {
  return {.lengths = instance.lengths,
          .bins = 1,
          .quadratic = instance.quadratic,
          .linear = instance.linear};
}

void check_limits(const MicroBatchInstance& instance, ErrorList& errors) {
  const auto from_one = [&](const char* pointer, std::int64_t most, std::int64_t value) {
    if (value >= 1 && value <= most) return;
    errors.add(code::kIntegerRange, pointer, at_least_one(most, value));
  };
  from_one("/ranks", kMaxSequences, instance.ranks);
  from_one("/max_tokens", kMaxExact, instance.max_tokens);
  from_one("/multiple_of", kMaxSequences, instance.multiple_of);
  from_one("/at_least", kMaxSequences, instance.at_least);
  if (!instance.kept.empty() && instance.kept.size() != instance.lengths.size()) {
    errors.add(code::kKeptLabels, "/kept",
               "must have a label for each of " + std::to_string(instance.lengths.size()) +
                   " sequences, has " + std::to_string(instance.kept.size()));
  }
}

void check_units(const MicroBatchInstance& instance, ErrorList& errors) {
  const std::vector<KeptUnit> units = kept_units(instance);
  for (const KeptUnit& unit : units) {
    if (unit.tokens <= instance.max_tokens) continue;
    const std::string place = "/lengths/" + std::to_string(unit.sequences.front());
    const std::string most = "must be at most max_tokens, " + std::to_string(instance.max_tokens);
    errors.add(code::kAboveTokenLimit, place,
               unit.sequences.size() == 1
                   ? most + ", is " + std::to_string(unit.tokens)
                   : most + ", with the " + std::to_string(unit.sequences.size() - 1) +
                         " sequences that it is kept with, is " + std::to_string(unit.tokens));
  }
  const auto count = static_cast<std::int64_t>(units.size());
  const std::int64_t each = micro_batches_per_rank(instance, 1);
  if (instance.ranks > count / each) {
    errors.add(code::kFewerThanMicroBatches, "/ranks",
               "must leave a sequence or group to each micro-batch: " +
                   std::to_string(instance.ranks) + " ranks of " + std::to_string(each) +
                   " micro-batches or more, for " + std::to_string(count));
  }
}

}  // namespace

std::vector<InputError> check(const MicroBatchInstance& instance) {
  ErrorList errors;
  if (static_cast<std::int64_t>(instance.lengths.size()) > kMaxSequences) {
    return check(one_bin(instance));
  }
  for (const InputError& error : check(one_bin(instance))) {
    if (error.pointer != "/bins") errors.add(error.code, error.pointer, error.message);
  }
  check_limits(instance, errors);
  if (errors.empty()) check_units(instance, errors);
  if (errors.empty()) return {};
  return std::move(errors).take();
}

std::vector<KeptUnit> kept_units(const MicroBatchInstance& instance) {
  const std::vector<std::int64_t> costs = partition_costs(one_bin(instance));
  std::vector<KeptUnit> units;
  std::map<std::int64_t, std::size_t> unit_of;  // by label
  for (std::size_t i = 0; i < costs.size(); ++i) {
    std::size_t unit = units.size();
    if (!instance.kept.empty()) unit = unit_of.emplace(instance.kept[i], unit).first->second;
    if (unit == units.size()) units.emplace_back();
    units[unit].sequences.push_back(static_cast<std::int64_t>(i));
    units[unit].tokens += instance.lengths[i];
    units[unit].cost += costs[i];
  }
  return units;
}

std::int64_t micro_batches_per_rank(const MicroBatchInstance& instance,
                                    std::int64_t micro_batches) {
  const auto up = [](std::int64_t value, std::int64_t by) { return (value + by - 1) / by; };
  const std::int64_t each = std::max(instance.at_least, up(micro_batches, instance.ranks));
  return up(each, instance.multiple_of) * instance.multiple_of;
}

}  // namespace stowage

#include "instances/partition/partition.h"

#include <cstddef>
#include <optional>
#include <utility>

#include "instances/json/errors.h"
#include "instances/json/limits.h"

namespace stowage {
namespace {

std::string from_to(std::int64_t least, std::int64_t most, std::int64_t value) {
  return "must be an integer from " + std::to_string(least) + " to " + std::to_string(most) +
         ", is " + std::to_string(value);
}

// Returns nullopt beyond the 64-bit range.
std::optional<std::int64_t> cost_of(Tokens length, const PartitionInstance& instance) {
  const auto per_token = checked_mul(instance.quadratic, length);
  const auto slope = per_token ? checked_add(*per_token, instance.linear) : std::nullopt;
  return slope ? checked_mul(*slope, length) : std::nullopt;
}

void check_numbers(const PartitionInstance& instance, ErrorList& errors) {
  for (std::size_t i = 0; i < instance.lengths.size(); ++i) {
    const Tokens length = instance.lengths[i];
    if (length >= 1 && length <= kMaxExact) continue;
    errors.add(code::kIntegerRange, "/lengths/" + std::to_string(i), from_to(1, kMaxExact, length));
  }
  for (const auto& [pointer, value] :
       {std::pair("/quadratic", instance.quadratic), {"/linear", instance.linear}}) {
    if (value >= 0 && value <= kMaxExact) continue;
    errors.add(code::kIntegerRange, pointer, from_to(0, kMaxExact, value));
  }
  if (instance.quadratic == 0 && instance.linear == 0) {
    errors.add(code::kIntegerRange, "/linear",
               "must be positive where the quadratic cost is 0, is 0");
  }
  if (instance.bins < 1 || instance.bins > kMaxSequences) {
    errors.add(code::kIntegerRange, "/bins", from_to(1, kMaxSequences, instance.bins));
  }
  const auto counts = static_cast<std::int64_t>(instance.counts);
  constexpr auto kLast = static_cast<std::int64_t>(PartitionCounts::nearly_equal);
  if (counts < 0 || counts > kLast) {
    errors.add(code::kIntegerRange, "/counts", from_to(0, kLast, counts));
  }
}

void check_sum(const PartitionInstance& instance, ErrorList& errors) {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < instance.lengths.size(); ++i) {
    const auto cost = cost_of(instance.lengths[i], instance);
    if (cost && *cost <= kMaxExact - sum) {
      sum += *cost;
      continue;
    }
    errors.add(code::kTooCostly, "/lengths/" + std::to_string(i),
               "must make a sum of costs of at most " + std::to_string(kMaxExact) +
                   ", is larger from here on");
    return;
  }
}

}  // namespace

std::vector<InputError> check(const PartitionInstance& instance) {
  ErrorList errors;
  const auto count = static_cast<std::int64_t>(instance.lengths.size());
  if (count > kMaxSequences) {
    return {{code::kTooManyValues, "/lengths",
             "must be at most " + std::to_string(kMaxSequences) + " sequences, is " +
                 std::to_string(count)}};
  }
  check_numbers(instance, errors);
  if (errors.empty()) check_sum(instance, errors);
  if (instance.bins >= 1 && count < instance.bins) {
    errors.add(code::kFewerThanBins, "/bins",
               "must be at most the number of sequences, " + std::to_string(count) + ", is " +
                   std::to_string(instance.bins));
  } else if (instance.bins >= 1 && instance.counts == PartitionCounts::equal &&
             count % instance.bins != 0) {
    errors.add(code::kUnequalCounts, "/bins",
               "must divide the number of sequences, " + std::to_string(count) +
                   ", for equal counts, is " + std::to_string(instance.bins));
  }
  if (errors.empty()) return {};
  return std::move(errors).take();
}

std::vector<std::int64_t> partition_costs(const PartitionInstance& instance) {
  std::vector<std::int64_t> costs;
  costs.reserve(instance.lengths.size());
  for (const Tokens length : instance.lengths) {
    costs.push_back((instance.quadratic * length + instance.linear) * length);
  }
  return costs;
}

}  // namespace stowage

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <utility>

#include "instances/partition/bound_check.h"
#include "instances/partition/micro_batches.h"
#include "instances/proof/violation_list.h"

namespace stowage {
namespace {

constexpr std::array<std::string_view, 13> kMicroBatchRules = {
    "ranks",         "unknown_sequence", "coverage",      "empty_micro_batch",
    "micro_batches", "max_tokens",       "kept_together", "tokens",
    "cost",          "largest",          "smallest",      "bound",
    "fewest"};
enum MicroBatchRule : std::size_t {
  kRankCount,
  kUnknown,
  kEachOnce,
  kEmptyMicroBatch,
  kEqualNumber,
  kTokenLimit,
  kKept,
  kItsTokens,
  kItsCost,
  kLargestRank,
  kSmallestRank,
  kRankBound,
  kFewest
};

class MicroBatchVerifier {
 public:
  MicroBatchVerifier(const MicroBatchInstance& instance, const MicroBatches& plan)
      : instance_(instance), plan_(plan), seen_(instance.lengths.size(), 0) {}

  std::vector<Violation> run() {
    const auto ranks = static_cast<std::int64_t>(plan_.ranks.size());
    if (ranks != instance_.ranks) {
      found_.add(kRankCount, [&] {
        return Description{"/ranks", text(ranks) + " ranks", text(instance_.ranks) + " ranks"};
      });
    }
    for (std::size_t r = 0; r < plan_.ranks.size(); ++r) check_rank(r);
    for (std::size_t id = 0; id < seen_.size(); ++id) {
      if (seen_[id] == 1) continue;
      found_.add(kEachOnce, [&] {
        return Description{"/ranks", "sequence " + text(id) + " " + text(seen_[id]) + " times",
                           "it once"};
      });
    }
    check_values();
    return std::move(found_).take();
  }

 private:
  // Computes the two terms separately, unlike partition_costs(). Without a quadratic term the
  // square of a length may exceed 64 bits.
  std::int64_t cost(Tokens length) const {
    return instance_.linear * length + instance_.quadratic * length * length;
  }

  void check_rank(std::size_t r) {
    const auto number = static_cast<std::int64_t>(plan_.ranks[r].size());
    const auto common = static_cast<std::int64_t>(plan_.ranks.front().size());
    if (number != common || number < instance_.at_least || number % instance_.multiple_of != 0) {
      found_.add(kEqualNumber, [&] {
        return Description{"/ranks/" + text(r), text(number) + " micro-batches",
                           "as many on each rank, at least " + text(instance_.at_least) +
                               ", and a multiple of " + text(instance_.multiple_of)};
      });
    }
    std::int64_t rank_cost = 0;
    for (std::size_t m = 0; m < plan_.ranks[r].size(); ++m) {
      rank_cost += check_micro_batch(plan_.ranks[r][m],
                                     "/ranks/" + text(r) + "/micro_batches/" + text(m), places_++);
    }
    largest_ = std::max(largest_, rank_cost);
    smallest_ = r == 0 ? rank_cost : std::min(smallest_, rank_cost);
  }

  // Returns the cost of the micro-batch.
  std::int64_t check_micro_batch(const PartitionBin& batch, const std::string& where,
                                 std::size_t place) {
    if (batch.sequences.empty()) {
      found_.add(kEmptyMicroBatch, [&] {
        return Description{where, "no sequence", "one at least"};
      });
    }
    Tokens tokens = 0;
    std::int64_t its_cost = 0;
    for (const std::int64_t id : batch.sequences) {
      if (id < 0 || id >= static_cast<std::int64_t>(seen_.size())) {
        found_.add(kUnknown, [&] {
          return Description{where, "sequence " + text(id),
                             "ids from 0 to " + text(static_cast<std::int64_t>(seen_.size()) - 1)};
        });
        continue;
      }
      const auto i = static_cast<std::size_t>(id);
      // A repeated sequence is a violation already, and its cost could overflow the sums.
      if (++seen_[i] > 1) continue;
      tokens += instance_.lengths[i];
      its_cost += cost(instance_.lengths[i]);
      if (instance_.kept.empty()) continue;
      const auto [known, first] = place_of_.emplace(instance_.kept[i], place);
      if (first || known->second == place) continue;
      found_.add(kKept, [&] {
        return Description{where, "sequence " + text(id) + " of label " + text(instance_.kept[i]),
                           "all sequences of a label in one micro-batch"};
      });
    }
    if (tokens > instance_.max_tokens) {
      found_.add(kTokenLimit, [&] {
        return Description{where, text(tokens) + " tokens",
                           "at most " + text(instance_.max_tokens)};
      });
    }
    expect(kItsTokens, where + "/tokens", batch.tokens, tokens);
    expect(kItsCost, where + "/cost", batch.cost, its_cost);
    return its_cost;
  }

  void expect(MicroBatchRule rule, const std::string& where, std::int64_t have, std::int64_t need) {
    if (have == need) return;
    found_.add(rule, [&] { return Description{where, text(have), text(need)}; });
  }

  void check_values() {
    expect(kLargestRank, "/largest", plan_.largest, largest_);
    expect(kSmallestRank, "/smallest", plan_.smallest, smallest_);
    // The sums of each label; a sequence without a label has one of its own.
    std::map<std::pair<bool, std::int64_t>, std::pair<Tokens, std::int64_t>> sums;
    for (std::size_t i = 0; i < instance_.lengths.size(); ++i) {
      const bool own = instance_.kept.empty();
      auto& [tokens, total] = sums[{own, own ? static_cast<std::int64_t>(i) : instance_.kept[i]}];
      tokens += instance_.lengths[i];
      total += cost(instance_.lengths[i]);
    }
    std::vector<Tokens> sizes;
    std::vector<std::int64_t> costs;
    for (const auto& [label, sum] : sums) {
      sizes.push_back(sum.first);
      costs.push_back(sum.second);
    }
    const auto bins = checked_bin_count(plan_.fewest_by, std::move(sizes), instance_.max_tokens);
    if (!bins) {
      found_.add(kFewest, [&] {
        return Description{"/fewest_by", plan_.fewest_by, "tokens, large or staircase"};
      });
      return;
    }
    const std::int64_t fewest = rounded(*bins);
    const std::int64_t stated = plan_.fewest;
    if (stated > fewest) {
      found_.add(kFewest, [&] {
        return Description{"/fewest", text(stated), "at most " + text(fewest)};
      });
    }
    // The ranks of all plans hold at least `fewest` units each, one in each micro-batch.
    const std::int64_t units = std::min(fewest, std::ssize(costs) / instance_.ranks);
    const auto bound = checked_bin_bound(plan_.bound_by, std::move(costs), instance_.ranks, units);
    if (!bound) {
      found_.add(kRankBound, [&] {
        return Description{"/bound_by", plan_.bound_by, "average or pigeonhole"};
      });
    } else if (plan_.lower_bound > std::min(*bound, largest_)) {
      found_.add(kRankBound, [&] {
        return Description{"/lower_bound", text(plan_.lower_bound),
                           "at most " + text(std::min(*bound, largest_))};
      });
    }
  }

  // Returns the least number of micro-batches of each rank for so many in all.
  std::int64_t rounded(std::int64_t micro_batches) const {
    std::int64_t each = micro_batches / instance_.ranks;
    if (each * instance_.ranks < micro_batches) ++each;
    each = std::max(each, instance_.at_least);
    const std::int64_t beyond = each % instance_.multiple_of;
    return beyond == 0 ? each : each + instance_.multiple_of - beyond;
  }

  const MicroBatchInstance& instance_;
  const MicroBatches& plan_;
  ViolationList found_{kMicroBatchRules};
  std::vector<std::int64_t> seen_;
  std::map<std::int64_t, std::size_t> place_of_;  // micro-batch of a label, counted over all ranks
  std::size_t places_ = 0;
  std::int64_t largest_ = 0;
  std::int64_t smallest_ = 0;
};

}  // namespace

std::vector<std::string_view> micro_batch_verify_rules() {
  return {kMicroBatchRules.begin(), kMicroBatchRules.end()};
}

std::vector<Violation> verify(const MicroBatchInstance& instance, const MicroBatches& plan) {
  return MicroBatchVerifier(instance, plan).run();
}

}  // namespace stowage

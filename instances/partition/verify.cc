#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <utility>

#include "instances/partition/bound_check.h"
#include "instances/partition/partition.h"
#include "instances/proof/violation_list.h"

namespace stowage {
namespace {

constexpr std::array<std::string_view, 10> kRules = {
    "bins", "unknown_sequence", "coverage", "empty_bin", "counts", "tokens",
    "cost", "largest",          "smallest", "bound"};
enum Rule : std::size_t {
  kBins,
  kUnknownSequence,
  kCoverage,
  kEmptyBin,
  kCounts,
  kTokens,
  kCost,
  kLargest,
  kSmallest,
  kBound
};

class PartitionVerifier {
 public:
  PartitionVerifier(const PartitionInstance& instance, const Partition& partition)
      : instance_(instance), partition_(partition) {}

  std::vector<Violation> run() {
    const auto bins = static_cast<std::int64_t>(partition_.bins.size());
    if (bins != instance_.bins) {
      found_.add(kBins, [&] {
        return Description{"/bins", text(bins) + " bins", text(instance_.bins) + " bins"};
      });
    }
    seen_.assign(instance_.lengths.size(), 0);
    for (std::size_t b = 0; b < partition_.bins.size(); ++b) check_bin(b);
    for (std::size_t id = 0; id < seen_.size(); ++id) {
      if (seen_[id] == 1) continue;
      found_.add(kCoverage, [&] {
        return Description{"/bins", "sequence " + text(id) + " " + text(seen_[id]) + " times",
                           "it once"};
      });
    }
    check_claims();
    return std::move(found_).take();
  }

 private:
  // Computes the two terms separately, unlike partition_costs(). Without a quadratic term the
  // square of a length may exceed 64 bits.
  std::int64_t cost(Tokens length) const {
    return instance_.linear * length + instance_.quadratic * length * length;
  }

  std::int64_t fewest() const {
    if (instance_.counts == PartitionCounts::any) return 1;
    return static_cast<std::int64_t>(instance_.lengths.size()) / instance_.bins;
  }

  void check_bin(std::size_t b) {
    const PartitionBin& bin = partition_.bins[b];
    const auto where = [b](const char* key) { return "/bins/" + text(b) + key; };
    Tokens tokens = 0;
    std::int64_t its_cost = 0;
    for (const std::int64_t id : bin.sequences) {
      if (id < 0 || id >= static_cast<std::int64_t>(seen_.size())) {
        found_.add(kUnknownSequence, [&] {
          return Description{where("/sequences"), "sequence " + text(id),
                             "ids from 0 to " + text(static_cast<std::int64_t>(seen_.size()) - 1)};
        });
        continue;
      }
      // A repeated sequence is a violation already, and its cost could overflow the sums.
      if (++seen_[static_cast<std::size_t>(id)] > 1) continue;
      tokens += instance_.lengths[static_cast<std::size_t>(id)];
      its_cost += cost(instance_.lengths[static_cast<std::size_t>(id)]);
    }
    if (bin.sequences.empty()) {
      found_.add(kEmptyBin, [&] {
        return Description{where("/sequences"), "no sequence", "at least one"};
      });
    }
    check_counts(b);
    const auto equal = [&](Rule rule, const char* key, std::int64_t have, std::int64_t need) {
      if (have == need) return;
      found_.add(rule, [&] { return Description{where(key), text(have), text(need)}; });
    };
    equal(kTokens, "/tokens", bin.tokens, tokens);
    equal(kCost, "/cost", bin.cost, its_cost);
    largest_ = std::max(largest_, its_cost);
    smallest_ = b == 0 ? its_cost : std::min(smallest_, its_cost);
  }

  void check_counts(std::size_t b) {
    if (instance_.counts == PartitionCounts::any) return;
    const auto count = static_cast<std::int64_t>(partition_.bins[b].sequences.size());
    const std::int64_t least = fewest();
    const bool divides = static_cast<std::int64_t>(seen_.size()) % instance_.bins == 0;
    const std::int64_t most = divides ? least : least + 1;
    if (count >= least && count <= most) return;
    found_.add(kCounts, [&] {
      return Description{"/bins/" + text(b) + "/sequences", text(count) + " sequences",
                         text(least) + " to " + text(most)};
    });
  }

  void check_claims() {
    const auto equal = [&](Rule rule, const char* where, std::int64_t have, std::int64_t need) {
      if (have == need) return;
      found_.add(rule, [&] { return Description{where, text(have), text(need)}; });
    };
    equal(kLargest, "/largest", partition_.largest, largest_);
    equal(kSmallest, "/smallest", partition_.smallest, smallest_);
    const std::optional<std::int64_t> proven = bound(partition_.bound_by);
    if (!proven) {
      found_.add(kBound, [&] {
        return Description{"/bound_by", partition_.bound_by, "average or pigeonhole"};
      });
      return;
    }
    const std::int64_t most = std::min(*proven, largest_);
    if (partition_.lower_bound <= most) return;
    found_.add(kBound, [&] {
      return Description{"/lower_bound", text(partition_.lower_bound), "at most " + text(most)};
    });
  }

  std::optional<std::int64_t> bound(std::string_view name) const {
    std::vector<std::int64_t> costs;
    costs.reserve(instance_.lengths.size());
    for (const Tokens length : instance_.lengths) costs.push_back(cost(length));
    return checked_bin_bound(name, std::move(costs), instance_.bins, fewest());
  }

  const PartitionInstance& instance_;
  const Partition& partition_;
  ViolationList found_{kRules};
  std::vector<std::int64_t> seen_;
  std::int64_t largest_ = 0;
  std::int64_t smallest_ = 0;
};

}  // namespace

std::vector<std::string_view> partition_verify_rules() { return {kRules.begin(), kRules.end()}; }

std::vector<Violation> verify(const PartitionInstance& instance, const Partition& partition) {
  return PartitionVerifier(instance, partition).run();
}

}  // namespace stowage

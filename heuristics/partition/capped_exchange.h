// Evens out the costs of groups of bins while no bin exceeds a token limit.
//
//   CappedExchange search(units, 8192, std::move(bin_of), group_of);
//   search.run(work);
//   std::vector<std::int32_t> better = std::move(search).take();   // bin of each unit
//
// A group is a rank with its micro-batches, or a micro-batch alone. The most or the least expensive
// group exchanges at most one unit with another group, so that the two come as close to each other
// as the token limit allows. All arithmetic is on integers, without clock and random numbers.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "heuristics/partition/params.h"
#include "instances/units.h"

namespace stowage {

// Sequences that stay together.
struct CappedUnit {
  Tokens tokens = 0;
  std::int64_t cost = 0;
};

class CappedExchange {
 public:
  // `units` have descending costs, and must outlive this. `bin_of` has the bin of each unit. No bin
  // is empty or above `capacity`. `group_of` has the group of each bin.
  CappedExchange(std::span<const CappedUnit> units, Tokens capacity,
                 std::vector<std::int32_t> bin_of, std::vector<std::int32_t> group_of,
                 const MicroBatchParams& params = {});

  // Exchanges until no exchange helps or `work` steps are done, which it subtracts from `work`.
  // Never raises the largest cost of a group or of a bin, and empties no bin.
  void run(std::int64_t& work);

  std::int64_t largest_group() const { return by_cost_.rbegin()->first; }
  std::int64_t largest_bin() const;
  std::vector<std::int32_t> take() && { return std::move(bin_of_); }

 private:
  enum : std::int32_t { kNoUnit = -1 };
  struct Exchange {
    std::int32_t given = kNoUnit;  // from the dearer group
    std::int32_t taken = kNoUnit;  // from the cheaper group
    std::int32_t into = 0;         // bin that gets the given unit
    std::int64_t from_even = std::numeric_limits<std::int64_t>::max();
  };
  struct Bin {
    Tokens tokens = 0;
    std::int64_t cost = 0;
    std::int64_t units = 0;
  };

  bool improve(bool dearest);
  std::optional<Exchange> best(std::int32_t dearer, std::int32_t cheaper);
  void consider_move(std::int32_t given, std::int32_t cheaper, std::int64_t difference,
                     Exchange& best);
  void consider_swaps(std::int32_t given, std::int32_t cheaper, std::int64_t difference,
                      Exchange& best);
  bool fits(std::int32_t bin, std::int32_t leaves, std::int32_t enters) const;
  void apply(const Exchange& exchange, std::int32_t dearer, std::int32_t cheaper);
  void put(std::int32_t unit, std::int32_t bin);

  std::span<const CappedUnit> units_;
  Tokens capacity_;
  std::vector<std::int32_t> bin_of_;
  std::vector<std::int32_t> group_of_;
  std::vector<Bin> bins_;
  std::vector<std::vector<std::int32_t>> bins_of_group_;
  std::vector<std::vector<std::int32_t>> units_of_group_;  // ascending, so by descending cost
  std::vector<std::int64_t> group_cost_;
  std::set<std::pair<std::int64_t, std::int32_t>> by_cost_;  // (cost, group)
  std::vector<std::int64_t> version_;                        // exchanges of each group so far
  // The partners that the most and the least expensive group were tried with, by their versions.
  struct Tried {
    std::int32_t group = kNoUnit;
    std::int64_t version = 0;
    std::vector<std::int64_t> with;
  };
  Tried tried_[2];
  MicroBatchParams params_;
  std::int64_t bin_limit_ = 0;  // most that a bin may cost
  std::int64_t work_ = 0;
};

}  // namespace stowage

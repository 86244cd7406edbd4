// The sequences and chunks of a replica while a step with chunks is planned, and estimates of the
// replica's time.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <set>

#include "heuristics/assign/construct/chunked_step.h"
#include "heuristics/assign/construct/row_packing.h"
#include "instances/numeric/numbers.h"

namespace stowage {

// The contents of a replica.
struct ChunkedLoad {
  int scheme = 0;
  std::set<std::int64_t> items;  // items, ascending, so that the longest sequence comes first
  CutCost cut;                   // cost of all sequences that are cut
  LoadSum packed;                // sums over the other sequences
};

// Estimates with rows of equal lengths.
class ChunkedLoads {
 public:
  explicit ChunkedLoads(const ChunkedStep& step) : step_(step) {}

 protected:
  // Returns T of the load in ms, with its packed sequences in `rows` equally long rows.
  Ms even(const ChunkedLoad& load, std::int64_t rows) const {
    const Scheme& scheme = step_.scheme(load.scheme);
    const auto count = static_cast<double>(rows);
    Ms longest = load.cut.longest;
    if (rows > 0) {
      longest = std::max(longest,
                         std::max(load.packed.work / count, load.packed.longest) + scheme.fixed_ms);
    }
    return load.cut.sum + load.packed.work + count * scheme.fixed_ms + (scheme.pp - 1) * longest;
  }

  // Returns the number of rows with the least even(). A further row shortens the longest row as
  // long as the longest row is a packed row.
  std::int64_t best_rows(const ChunkedLoad& load) const {
    const Scheme& scheme = step_.scheme(load.scheme);
    const LoadSum& sum = load.packed;
    const std::int64_t least =
        sum.tokens / scheme.max_tokens + (sum.tokens % scheme.max_tokens != 0);
    if (scheme.pp == 1 || sum.sequences <= least) return least;
    const Ms others = std::max(load.cut.longest - scheme.fixed_ms, sum.longest);
    double rows = sum.sequences;
    if (scheme.fixed_ms > 0) {
      rows = std::min(rows, std::sqrt((scheme.pp - 1) * sum.work / scheme.fixed_ms));
    }
    if (others > 0) rows = std::min(rows, sum.work / others);
    const auto below = std::max(least, static_cast<std::int64_t>(rows));
    if (below >= sum.sequences) return below;
    return even(load, below) <= even(load, below + 1) ? below : below + 1;
  }
  Ms estimate(const ChunkedLoad& load) const { return even(load, best_rows(load)); }

  void count(ChunkedLoad& load, std::int64_t item) const {
    if (!step_.is_cut(item))
      return load.packed.add(step_.table(), load.scheme, step_.position(item));
    const CutCost& cost = step_.cost(item, load.scheme);
    load.cut.chunks += cost.chunks;
    load.cut.sum += cost.sum;
    load.cut.longest = std::max(load.cut.longest, cost.longest);
  }

  void add(ChunkedLoad& load, std::int64_t item) const {
    load.items.insert(load.items.end(), item);
    count(load, item);
  }

  void remove(ChunkedLoad& load, std::int64_t item) const {
    load.items.erase(item);
    if (step_.is_cut(item)) {
      load.cut = {};
      for (const std::int64_t other : load.items) {
        if (!step_.is_cut(other)) break;
        count(load, other);
      }
      return;
    }
    LoadSum& sum = load.packed;
    sum.tokens -= step_.table().length(step_.position(item));
    sum.work -= step_.table().work(step_.position(item), load.scheme);
    const auto first = load.items.lower_bound(step_.cuts());
    if (--sum.sequences == 0) sum = {};
    if (sum.sequences > 0) sum.longest = step_.table().work(step_.position(*first), load.scheme);
  }

  // Returns the estimate of the load without item `out` and with item `in`. -1 means no item.
  Ms exchanged(ChunkedLoad& load, std::int64_t out, std::int64_t in) const {
    if (out >= 0) remove(load, out);
    const CutCost cut = load.cut;
    const LoadSum packed = load.packed;
    if (in >= 0) count(load, in);
    const Ms time = estimate(load);
    load.cut = cut;
    load.packed = packed;
    if (out >= 0) add(load, out);
    return time;
  }

  const ChunkedStep& step_;
};

}  // namespace stowage

#include "tests/oracles/assign/brute_force.h"

#include <algorithm>
#include <cassert>
#include <map>
#include <utility>
#include <vector>

#include "instances/assign/plan_builder.h"
#include "instances/numeric/numbers.h"

namespace stowage {
namespace {

using Subset = unsigned;  // bit k: sequence k
using Rows = std::vector<Subset>;

// The fastest rows of one subset on one scheme.
struct Packing {
  Ms time = kInfinity;
  Rows rows;
};

class AssignOracle {
 public:
  AssignOracle(const AssignInstance& instance, const Budget& budget)
      : instance_(instance), budget_(budget), all_((Subset{1} << instance.lengths.size()) - 1) {
    const std::size_t sequences = instance.lengths.size();
    packings_.resize(instance.schemes.size());
    for (std::size_t g = 0; g < packings_.size() && !budget.exhausted(); ++g) {
      packings_[g].assign(all_ + 1, std::vector<Packing>(sequences + 1));
      for (Subset set = 0; set <= all_; ++set) {
        Rows rows;
        pack(g, set, set, rows);
      }
    }
  }

  std::optional<AssignPlan> run() {
    std::optional<AssignPlan> best;
    for (std::size_t k = 0; k < instance_.strategies.size(); ++k) {
      for (const std::vector<int>& counts : permitted_counts()) {
        if (budget_.exhausted()) return std::nullopt;
        const auto choices = deal(instance_.strategies[k], counts);
        if (!choices) continue;
        AssignPlan plan = compose_assign(instance_, static_cast<int>(k), *choices);
        if (!best || plan.objective_ms < best->objective_ms) best = std::move(plan);
      }
    }
    if (budget_.exhausted()) return std::nullopt;  // the enumeration was not complete
    return best;
  }

 private:
  // Row counts that all replicas may have together: one list, or one for every equal number.
  std::vector<std::vector<int>> permitted_counts() const {
    const RowConstraints& rule = instance_.constraints;
    std::vector<std::vector<int>> lists;
    std::vector<int> any;
    for (int rows = 1; rows <= static_cast<int>(instance_.lengths.size()); ++rows) {
      if (rows % rule.rows_multiple_of != 0) continue;
      any.push_back(rows);
      lists.push_back({rows});
    }
    if (!rule.equal_rows || lists.empty()) lists = {any};
    if (rule.allow_empty) {
      for (std::vector<int>& list : lists) list.push_back(0);
    }
    return lists;
  }

  Tokens length(std::size_t k) const { return padded_length(instance_, instance_.lengths[k]); }

  Ms row_time(const Scheme& scheme, Subset row) const {
    Tokens tokens = 0;
    Ms time = scheme.fixed_ms;
    for (std::size_t k = 0; k < instance_.lengths.size(); ++k) {
      if ((row >> k & 1) == 0) continue;
      const auto s = static_cast<double>(length(k));
      tokens += length(k);
      time += scheme.quadratic_ms * s * s + scheme.linear_ms * s;
    }
    return tokens <= scheme.max_tokens ? time : kInfinity;
  }

  // Enumerates all ways to pack `rest` into further rows, the lowest sequence's row first.
  void pack(std::size_t g, Subset set, Subset rest, Rows& rows) {
    const Scheme& scheme = instance_.schemes[g];
    if (rest == 0) {
      Ms sum = 0;
      Ms longest = 0;
      for (const Subset row : rows) {
        sum += row_time(scheme, row);
        longest = std::max(longest, row_time(scheme, row));
      }
      const Ms time = sum + (scheme.pp - 1) * longest;
      Packing& best = packings_[g][set][rows.size()];
      if (time < best.time) best = {time, rows};
      return;
    }
    const Subset lowest = rest & (~rest + 1);
    const Subset others = rest & ~lowest;
    for (Subset some = others;; some = (some - 1) & others) {
      if (row_time(scheme, some | lowest) < kInfinity) {
        rows.push_back(some | lowest);
        pack(g, set, others & ~some, rows);
        rows.pop_back();
      }
      if (some == 0) break;
    }
  }

  const Packing& best_packing(std::size_t g, Subset set, const std::vector<int>& counts) const {
    static const Packing none;
    const Packing* best = &none;
    for (const int rows : counts) {
      const Packing& packing = packings_[g][set][static_cast<std::size_t>(rows)];
      if (packing.time < best->time) best = &packing;
    }
    return *best;
  }

  std::optional<std::vector<ReplicaChoice>> deal(const Strategy& strategy,
                                                 const std::vector<int>& counts) const {
    std::vector<std::size_t> replicas;
    for (std::size_t g = 0; g < strategy.replicas.size(); ++g) {
      replicas.insert(replicas.end(), static_cast<std::size_t>(strategy.replicas[g]), g);
    }
    // slowest[r][S]: the least time of the slowest replica when the first r replicas share S;
    // mine[r][S]: the part of replica r - 1.
    std::vector<std::vector<Ms>> slowest(replicas.size() + 1, std::vector(all_ + 1, kInfinity));
    std::vector<std::vector<Subset>> mine(replicas.size() + 1, std::vector<Subset>(all_ + 1, 0));
    slowest[0][0] = 0;
    for (std::size_t r = 0; r < replicas.size(); ++r) {
      if (budget_.exhausted()) return std::nullopt;
      for (Subset set = 0; set <= all_; ++set) {
        for (Subset part = set;; part = (part - 1) & set) {
          const Ms time =
              std::max(slowest[r][set & ~part], best_packing(replicas[r], part, counts).time);
          if (time < slowest[r + 1][set]) {
            slowest[r + 1][set] = time;
            mine[r + 1][set] = part;
          }
          if (part == 0) break;
        }
      }
    }
    if (slowest.back()[all_] == kInfinity) return std::nullopt;
    std::vector<ReplicaChoice> choices;
    Subset set = all_;
    for (std::size_t r = replicas.size(); r > 0; --r) {
      const Subset part = mine[r][set];
      choices.push_back({.scheme = static_cast<int>(replicas[r - 1])});
      for (const Subset row : best_packing(replicas[r - 1], part, counts).rows) {
        choices.back().rows.emplace_back();
        for (std::size_t k = 0; k < instance_.lengths.size(); ++k) {
          if ((row >> k & 1) != 0) {
            choices.back().rows.back().push_back(static_cast<std::int64_t>(k));
          }
        }
      }
      set &= ~part;
    }
    return choices;
  }

  const AssignInstance& instance_;
  const Budget& budget_;
  Subset all_;
  std::vector<std::vector<std::vector<Packing>>> packings_;  // [scheme][subset][rows]
};

}  // namespace

std::optional<AssignPlan> brute_force(const AssignInstance& instance, const Budget& budget) {
  assert(instance.lengths.size() <= kAssignBruteForceSequences);
  return AssignOracle(instance, budget).run();
}

}  // namespace stowage

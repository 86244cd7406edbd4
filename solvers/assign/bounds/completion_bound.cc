#include "solvers/assign/bounds/completion_bound.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "heuristics/assign/construct/dispatch.h"
#include "heuristics/assign/construct/row_packing.h"
#include "instances/numeric/numbers.h"
#include "solvers/assign/bounds/completion.h"

namespace stowage {
namespace {

// Relative gap at which the search stops.
constexpr double kNear = 1e-4;
// The first time, as a share of the objective. If this time is refuted, the plan is optimal.
constexpr double kFirst = 1 - 5e-9;
// Share of a refuted time that is a valid bound. completion.h admits times that are longer by 1e-9.
constexpr double kSafe = 1 - 2e-9;
// A plan is faster than another only below this share of the other's time.
constexpr double kLessThanBest = 1 - 1e-12;

class CompletionAsking {
 public:
  CompletionAsking(const AssignTable& table, Ms objective, Ms bound, std::vector<Ms> proven,
                   const CompletionOptions& options, const Budget& budget)
      : table_(table),
        objective_(objective),
        proven_(std::move(proven)),
        times_(options.times),
        nodes_(options.nodes),
        budget_(budget),
        out_{.bound = bound} {
    if (proven_.empty()) proven_.assign(at(table.strategies()), bound);
  }

  CompletionBound run() {
    Ms high = objective_;
    for (int k = 0; k < times_ && nodes_ > 0 && !budget_.exhausted(); ++k) {
      if (out_.bound >= high * (1 - kNear)) break;
      const bool first = high == objective_;
      const Ms time = first ? high * kFirst : out_.bound + (high - out_.bound) / 2;
      if (impossible(time)) {
        out_.bound = std::max(out_.bound, time * kSafe);
        if (first) break;
      } else {
        high = faster_ ? objective_ : time;
      }
    }
    return std::move(out_);
  }

 private:
  // Returns true if the search proves, within three quarters of the remaining nodes, that no
  // strategy allows this time. If the search finds a plan, lowers the objective and returns false.
  bool impossible(Ms time) {
    faster_ = false;
    std::int64_t left = nodes_ - nodes_ / 4;
    std::vector<int> order(proven_.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, {}, [&](int s) { return proven_[at(s)]; });
    for (const int strategy : order) {
      Ms& known = proven_[at(strategy)];
      if (known >= time || !table_.usable(strategy)) continue;
      const Completion found = complete(table_, strategy, time, left, budget_);
      left -= found.nodes;
      nodes_ -= found.nodes;
      if (found.end == Completion::End::none) {
        known = time;
        continue;
      }
      if (found.end == Completion::End::found) keep(strategy, found.shares);
      return false;
    }
    return true;
  }

  void keep(int strategy, const Dispatch& shares) {
    const bool idle = std::ranges::any_of(shares, &std::vector<int>::empty);
    if (idle && !table_.constraints().allow_empty) return;
    auto draft = packed(table_, strategy, row_counts(table_.constraints()), shares, budget_);
    if (!draft || !(stowage::objective(*draft) < objective_ * kLessThanBest)) return;
    objective_ = stowage::objective(*draft);
    out_.draft = std::move(draft);
    faster_ = true;
  }

  const AssignTable& table_;
  Ms objective_;
  std::vector<Ms> proven_;
  int times_;
  std::int64_t nodes_;
  const Budget& budget_;
  CompletionBound out_;
  bool faster_ = false;
};

}  // namespace

CompletionBound completion_bound(const AssignTable& table, Ms objective, Ms bound,
                                 std::vector<Ms> proven, const CompletionOptions& options,
                                 const Budget& budget) {
  if (table.size() == 0 || table.size() > kMaxCompleted) return {.bound = bound};
  return CompletionAsking(table, objective, bound, std::move(proven), options, budget).run();
}

}  // namespace stowage

#include "solvers/layout/exact/search.h"

#include <algorithm>
#include <list>
#include <optional>

#include "solvers/layout/capacity_portfolio.h"
#include "solvers/outcome.h"

namespace stowage {
namespace {

// Tables that the probes of one instance share.
struct Ground {
  Ground(const LayoutTable& layout, const LayoutSearchParams& of_search)
      : table(layout), params(of_search), neighbours(layout), portfolio(layout) {}

  LayoutProbe probe(Bytes capacity) {
    return {table, neighbours, portfolio, capacity, favourite, params};
  }

  const LayoutTable& table;
  const LayoutSearchParams& params;
  LayoutNeighbours neighbours;
  LayoutPortfolio portfolio;
  std::size_t favourite = 0;  // number of the order that found the last layout
};

// The capacities between bound and incumbent that are being searched.
class Ladder {
 public:
  Ladder(const LayoutTable& table, LayoutMinimum known, Bytes capacity, double gap,
         const LayoutProgress& progress, const LayoutSearchParams& params)
      : table_(table),
        params_(params),
        known_(std::move(known)),
        capacity_(capacity),
        gap_(gap),
        progress_(progress) {}

  LayoutMinimum climb(Budget& budget) {
    while (!settled() && !budget.exhausted()) {
      if (!ground_) {
        const auto pairs = static_cast<double>(count_pairs(table_));
        if (budget.seconds_left() < layout_fixed::kSecondsPerPair * pairs) break;
        ground_.emplace(table_, params_);
      }
      set_rungs();
      if (alone_is_due()) {
        search_alone(budget);
        continue;
      }
      LayoutProbe& rung = next_rung();
      const std::int64_t before = rung.nodes();
      const LayoutTree::End end = rung.round(budget);
      climbed_ += rung.nodes() - before;
      if (end == LayoutTree::End::layout) {
        ground_->favourite = rung.winner();
        found(rung.offsets());
      }
      if (end == LayoutTree::End::exhausted) exhausted(rung.capacity());
    }
    return known_;
  }

 private:
  Bytes unit() const { return table_.unit(); }

  // Returns the largest capacity that would improve the result: below the incumbent and within the
  // user's capacity. All peaks are multiples of the unit.
  Bytes highest() const {
    if (known_.offsets) return (known_.peak - 1) / unit() * unit();
    return capacity_ / unit() * unit();
  }

  bool settled() {
    if (known_.bound > highest()) {
      known_.end = known_.offsets ? LayoutEnd::layout : LayoutEnd::exhausted;
      return true;
    }
    if (!known_.offsets) return false;
    const auto peak = static_cast<double>(known_.peak);
    if (relative_gap(peak, static_cast<double>(known_.bound)) > gap_) return false;
    known_.end = LayoutEnd::gap;
    return true;
  }

  // Creates probes for the bound, the capacity just below the incumbent, and a few capacities
  // between, closer together near the bound. Probes that are still useful keep their state.
  void set_rungs() {
    const Bytes low = known_.bound;
    const Bytes high = highest();
    std::erase_if(wanted_, [&](Bytes c) { return c < low || c > high; });
    rungs_.remove_if(
        [&](const LayoutProbe& p) { return p.capacity() < low || p.capacity() > high; });
    for (const int eighths : {0, 8, 4, 2, 1}) {
      if (std::ssize(wanted_) >= params_.rungs) break;
      const Bytes capacity = low + (high - low) / unit() * eighths / 8 * unit();
      if (std::ranges::find(wanted_, capacity) != wanted_.end()) continue;
      wanted_.push_back(capacity);
      rungs_.push_back(ground_->probe(capacity));
    }
    rungs_.sort(
        [](const LayoutProbe& a, const LayoutProbe& b) { return a.capacity() < b.capacity(); });
  }

  // Returns the probe with the fewest nodes, so that a new probe catches up; of equal ones the
  // lowest. If no layout is known, the highest probe gets most of the nodes.
  LayoutProbe& next_rung() {
    if (!known_.offsets) {
      std::int64_t all = 0;
      for (const LayoutProbe& rung : rungs_) all += rung.nodes();
      const auto highest = static_cast<double>(rungs_.back().nodes());
      if (highest <= params_.highest * static_cast<double>(all)) return rungs_.back();
    }
    return *std::ranges::min_element(rungs_, {}, &LayoutProbe::nodes);
  }

  // Returns true if the single-order search is due. If there are few buffers, one order at the
  // highest capacity gets half of all nodes: an infeasible capacity takes every order about the
  // same number of nodes, and refutes all lower capacities.
  bool alone_is_due() const {
    return table_.buffers() <= params_.few && climbed_ >= params_.alone && alone_nodes_ < climbed_;
  }

  void search_alone(Budget& budget) {
    if (!alone_ || alone_capacity_ != highest()) {
      alone_capacity_ = highest();
      alone_failed_ = {};
      alone_.emplace(table_, ground_->neighbours, *ground_->portfolio.order(0), alone_capacity_,
                     alone_failed_, LayoutTree::Choice::order, params_);
    }
    const std::int64_t before = alone_->nodes();
    const LayoutTree::End end = alone_->run(std::min(params_.turn, budget.nodes_left()));
    budget.count_nodes(alone_->nodes() - before);
    alone_nodes_ += alone_->nodes() - before;
    if (end == LayoutTree::End::layout) found(alone_->offsets());
    if (end == LayoutTree::End::exhausted) exhausted(alone_capacity_);
  }

  void found(std::vector<Bytes> offsets) {
    known_.peak = table_.peak(offsets);
    known_.offsets = std::move(offsets);
    if (progress_) progress_(known_);
  }

  void exhausted(Bytes capacity) {
    known_.bound = capacity + unit();
    if (progress_) progress_(known_);
  }

  const LayoutTable& table_;
  const LayoutSearchParams& params_;
  std::optional<Ground> ground_;  // built only if time is left
  LayoutMinimum known_;
  Bytes capacity_;
  double gap_;
  const LayoutProgress& progress_;
  std::list<LayoutProbe> rungs_;
  std::vector<Bytes> wanted_;
  std::int64_t climbed_ = 0;  // nodes of the probes on the ladder
  FailedStates alone_failed_;
  std::optional<LayoutTree> alone_;
  Bytes alone_capacity_ = 0;
  std::int64_t alone_nodes_ = 0;
};

}  // namespace

bool can_be_searched(const LayoutTable& table, const LayoutSearchParams& params) {
  return table.stackable() && count_pairs(table) <= params.pairs;
}

LayoutMinimum minimise_layout(const LayoutTable& table, const LayoutStart& start, Budget& budget,
                              const LayoutProgress& progress, const LayoutSearchParams& params) {
  LayoutMinimum known{.offsets = start.offsets, .bound = std::max(start.bound, table.max_load())};
  if (known.offsets) known.peak = table.peak(*known.offsets);
  if (known.offsets && known.peak <= known.bound) {
    known.end = LayoutEnd::layout;
  } else if (table.clash()) {
    known.end = LayoutEnd::exhausted;
  } else if (!can_be_searched(table, params)) {
    known.end = LayoutEnd::too_large;
  } else {
    known.bound = (known.bound + table.unit() - 1) / table.unit() * table.unit();
    const Bytes capacity = std::min(start.capacity.value_or(table.stack()), table.stack());
    known = Ladder(table, std::move(known), capacity, start.gap, progress, params).climb(budget);
  }
  return known;
}

}  // namespace stowage

// The cases of longest makespans in a pipeline: chooses the cases to split and the makespan to
// split at, and makes the linear programmes of both parts.
#include <algorithm>
#include <utility>

#include "solvers/scatter/bounds/step_lp_bound.h"

namespace stowage {
namespace {

// A case is split if the difference of its two ends exceeds these shares of the gap and of `upper`.
constexpr double kWideOfGap = 0.25;
constexpr double kWide = 2e-5;
constexpr double kWorthACap = 0.15;  // share of a case; a smaller part is not cut off its upper end

}  // namespace

// Returns true if the bound of the case loses most by its range of longest makespans.
bool ScatterStepBound::wide(const Node& node) const {
  if (table_.longest_weight() == 0) return false;
  const Ms most = std::min(node.longest_to, (upper_ - node.value) / table_.longest_weight());
  const Ms loss = table_.longest_weight() * (most - node.longest_from);
  return loss > std::max(kWide * upper_, kWideOfGap * (upper_ - bound_of(node)));
}

// Returns the makespan where a wide case is split: the longest makespan of any better step if that
// cuts off enough, or else the middle.
Ms ScatterStepBound::cut_of(const Node& node) const {
  const Ms most = (upper_ - node.value) / table_.longest_weight();
  if (node.longest_to - most > kWorthACap * (most - node.longest_from)) return most;
  return (node.longest_from + std::min(node.longest_to, most)) / 2;
}

// Splits a case at a longest makespan. Both parts are solved later.
void ScatterStepBound::cut(Node& node) {
  const Ms at = cut_of(node);
  node.fewer = nodes_.size();
  nodes_.push_back(shorter_than(node, at));
  node.more = nodes_.size();
  nodes_.push_back(longer_than(node, at));
  node.is_leaf = false;
  node.condition = {.from = at, .at_least = true, .count = 1};
  node.lp.reset();
  node.result = {};
  node.prices = {};
}

// Returns the case in which every micro-batch is shorter than `cut`. Its LP has no columns of
// longer micro-batches.
ScatterStepBound::Node ScatterStepBound::shorter_than(const Node& node, Ms cut) const {
  const bool finer = options_.refine_cases && !node.result.values.empty();
  std::vector<Ms> grid = finer ? refined_grid(node) : node.lp->grid();
  std::erase_if(grid, [&](Ms t) { return t * kApart > cut && t > grid.front(); });
  grid.push_back(cut);
  ScatterStepLp::Origin unused;
  Node child{.longest_from = node.longest_from,
             .longest_to = cut,
             .value = node.value,
             .prices = node.prices,
             .lp = node.lp->on_finer_grid(std::move(grid), node.result.duals, unused)};
  child.prices.conditions.push_back(0);
  child.lp->add_condition({.from = cut, .at_least = false, .count = 0}, kPenalty * upper_);
  child.result.basis = first_basis_of(*child.lp);
  return child;
}

// Returns the case in which some micro-batch lasts at least `cut`.
ScatterStepBound::Node ScatterStepBound::longer_than(const Node& node, Ms cut) const {
  Node child{.longest_from = std::max(node.longest_from, cut),
             .longest_to = node.longest_to,
             .value = node.value,
             .prices = node.prices};
  child.prices.conditions.push_back(0);
  if (bound_of(child) >= upper_) {  // no more can be gained
    child.solved = child.exhausted = true;
    return child;
  }
  std::vector<Ms> grid = node.lp->grid();
  std::erase_if(grid, [&](Ms t) { return t > grid.front() && t > cut / kApart && t < cut; });
  if (std::ranges::find(grid, cut) == grid.end()) grid.push_back(cut);
  std::ranges::sort(grid);
  ScatterStepLp::Origin unused;
  child.lp = node.lp->on_finer_grid(std::move(grid), node.result.duals, unused);
  child.lp->add_condition({.from = cut, .at_least = true, .count = 1}, kPenalty * upper_);
  child.result.basis = first_basis_of(*child.lp);
  return child;
}

}  // namespace stowage

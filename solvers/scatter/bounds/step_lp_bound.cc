#include "solvers/scatter/bounds/step_lp_bound.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <utility>

#include "formulations/scatter/bounds.h"
#include "formulations/scatter/lp/certificate_levels.h"
#include "formulations/scatter/lp/step_prices.h"
#include "solvers/lp/column_generation.h"

namespace stowage {
namespace {

// Break points are lowered by this factor from the time of a sequence alone, so that the sequence
// certainly does not fit the interval that ends there.
constexpr double kBelowStep = 1 - 1e-7;
// Least makespan of the grid, as a share of `upper`. The tolerances of an LP are too large for
// shorter makespans.
constexpr double kShortest = 1e-4;
constexpr int kBreakKinds = 24;    // longest kinds whose times alone are break points
constexpr double kWorthIt = 2e-4;  // relative gain of a grid for which a further grid is tried
constexpr double kStalled = 2e-5;  // relative gain of a round below which the rounds end
constexpr int kPatience = 4;       // consecutive refinements without gain before a leaf is given up
constexpr double kUsed = 1e-4;     // micro-batches in an interval that is worth splitting
constexpr double kFractional = 1e-4;               // distance in micro-batches from an integer
constexpr std::size_t kThrifty = 8;                // configurations added to few degrees, at most
constexpr int kRoughRounds = 3;                    // rounds of an LP whose case will be split
constexpr ColumnGenerationOptions kGridRounds = {  // rounds on one grid
    .most_rounds = 60,
    .progress = kStalled,
    .counts_nodes = true};

// Returns the points sorted, without those within `ratio` of their predecessor.
std::vector<Ms> sorted_apart(std::vector<Ms> points, double ratio) {
  std::ranges::sort(points);
  std::vector<Ms> out;
  for (const Ms point : points) {
    if (out.empty() || point > out.back() * ratio) out.push_back(point);
  }
  return out;
}

std::vector<std::size_t> all_of(std::size_t count) {
  std::vector<std::size_t> all(count);
  std::iota(all.begin(), all.end(), 0);
  return all;
}

// Returns the place of a variable or row in an earlier basis, or `otherwise` if it is new.
LpPlace place_of(const std::vector<LpPlace>& places, int index, LpPlace otherwise) {
  const auto i = static_cast<std::size_t>(index);
  return index >= 0 && i < places.size() ? places[i] : otherwise;
}

}  // namespace

StepBoundOptions quick_step_bound() {
  return {.resolution = 12,
          .ratio = 1.6,
          .few_degrees = true,
          .breaks = 1,
          .refinements = 0,
          .refine_cases = false};
}

ScatterStepBound::ScatterStepBound(const ScatterInstance& instance, const StepBoundOptions& options,
                                   Ms upper, CertificateSink sink)
    : options_(options),
      sink_(std::move(sink)),
      table_(ScatterTable(instance).relaxed()),
      configs_(options.few_degrees && table_.has_many_degrees() ? table_.few_degrees()
                                                                : all_of(table_.configs().size())),
      fewest_(least_micro_batches(table_)),
      alone_(table_.longest_weight() > 0 ? longest_alone(table_) : 0),
      upper_(upper) {
  if (!table_.kinds().empty()) add_thrifty_configs();
}

bool ScatterStepBound::improve(Budget& budget, const Enough& enough) {
  if (fewest_ == 0 || !(upper_ > 0)) return false;
  if (nodes_.empty() && !open_root(budget)) return budget.exhausted();
  while (!budget.exhausted()) {
    Node& weakest = nodes_[weakest_leaf()];
    if (weakest.exhausted || bound_of(weakest) >= upper_) return false;
    const double before = weakest.value;
    if (!weakest.solved || (weakest.rough && !wide(weakest))) {  // a limit came before
      weakest.exhausted = !solve(weakest, budget) && !budget.exhausted();
    } else if (wide(weakest)) {
      cut(weakest);
    } else if (weakest.coarse) {
      weakest.coarse = !refine(weakest, budget) && budget.exhausted();
    } else if (nodes_.size() == 1 && refinements_ < options_.refinements) {
      // A sharper root LP sharpens all leaves.
      const bool refined = refine(weakest, budget);
      const bool gained = refined && weakest.value >= before * (1 + kWorthIt);
      if (refined || !budget.exhausted()) ++refinements_;  // otherwise it is refined next time
      if (!gained && !budget.exhausted()) refinements_ = options_.refinements;
    } else if (!branch(weakest, budget)) {
      // The LP's choice among its optimal solutions is arbitrary, and so is the gain of one
      // refinement. A later branching or refinement may still gain.
      const int barren = weakest.barren;
      const bool worked = deepen(weakest, budget);
      if (worked) weakest.barren = weakest.value >= before * (1 + kStalled) ? 0 : barren + 1;
      // Work that a limit cut short is continued next time.
      weakest.exhausted = worked ? weakest.barren == kPatience : !budget.exhausted();
    }
    publish();
    if (enough && enough(best_)) return true;
  }
  return true;
}

std::vector<Ms> ScatterStepBound::first_grid() const {
  const Ms least = table_.least_overhead();
  // The longest makespan of a better step is at most `upper`: it counts 1 + longest_weight() times.
  const Ms upper = upper_ / (1 + table_.longest_weight());
  Ms shortest = upper;
  Ms longest = 0;
  const int kinds = static_cast<int>(table_.kinds().size());
  for (int k = 0; k < kinds; ++k) {
    shortest = std::min(shortest, table_.alone(k));
    longest = std::max(longest, table_.alone(k));
  }
  // Longer makespans than the longest sequence and a micro-batch full of tokens need no fine grid.
  const Ms batch = least + table_.total_area() / table_.devices() / static_cast<double>(fewest_);
  const Ms dense = std::min(upper, std::max(longest * 1.3, batch * 2));
  std::vector<Ms> points;
  for (Ms t = std::max(shortest, upper_ * kShortest); t < dense; t *= options_.ratio) {
    points.push_back(t * kBelowStep);
  }
  for (Ms t = dense; t < upper; t *= 2) points.push_back(t);
  points.push_back(upper);
  for (int k = 0; k < std::min(options_.breaks, kinds); ++k) add_breaks(k, 0, upper, points);
  const Ms first = std::max(least * kApart, upper_ * kShortest * kBelowStep);
  std::erase_if(points, [&](Ms t) { return t < first; });
  std::vector<Ms> grid = sorted_apart(std::move(points), kApart);
  grid.insert(grid.begin(), least);
  return grid;
}

// Adds the configurations on which sequences take less device-time than on those present, for some
// makespan; those that save most come first. Without them, the prices of the LP could prove less
// than the areas of sequences do.
void ScatterStepBound::add_thrifty_configs() {
  const auto& all = table_.configs();
  if (configs_.size() == all.size()) return;
  std::vector<double> saved(all.size(), 0);  // device-ms of a step at each makespan
  std::vector<double> area(all.size());
  for (const Ms makespan : first_grid()) {
    for (int kind = 0; kind < static_cast<int>(table_.kinds().size()); ++kind) {
      for (std::size_t config = 0; config < all.size(); ++config) {
        const Ms cost = table_.kind_cost(kind, static_cast<int>(config));
        const bool fits = table_.holds_kind(static_cast<int>(config), kind) &&
                          all[config].overhead + cost <= makespan;
        area[config] = fits ? all[config].weighted_devices * cost : kInfinity;
      }
      double present = kInfinity;
      for (const std::size_t config : configs_) present = std::min(present, area[config]);
      const auto best = std::ranges::min_element(area);
      if (*best == kInfinity) continue;
      if (present == kInfinity) present = 2 * *best;  // no room for it would be worse
      saved[at(best - area.begin())] += (present - *best) * table_.kinds()[at(kind)].count;
    }
  }
  std::vector<std::size_t> more = all_of(all.size());
  std::erase_if(more, [&](std::size_t config) { return !(saved[config] > 0); });
  std::ranges::stable_sort(more, std::greater<>(),
                           [&](std::size_t config) { return saved[config]; });
  more.resize(std::min(more.size(), kThrifty));
  configs_.insert(configs_.end(), more.begin(), more.end());
  std::ranges::sort(configs_);
}

// Adds the makespans from which a kind fits a configuration.
void ScatterStepBound::add_breaks(int kind, Ms from, Ms to, std::vector<Ms>& points) const {
  for (const std::size_t own : configs_) {
    const GroupConfig& config = table_.configs()[own];
    const int d = static_cast<int>(own);
    const Tokens length = table_.kinds()[static_cast<std::size_t>(kind)].length;
    if (config.padded(length) > config.room(0, 0)) continue;
    const Ms alone = (config.overhead + table_.kind_cost(kind, d)) * kBelowStep;
    if (alone > from && alone < to) points.push_back(alone);
  }
}

// Splits each interval in use at the break point nearest to its middle, or at its middle.
std::vector<Ms> ScatterStepBound::refined_grid(const Node& node) const {
  const std::vector<Ms>& grid = node.lp->grid();
  const std::vector<double> used = node.lp->micro_batches(node.result.values);
  const int kinds = std::min(kBreakKinds, static_cast<int>(table_.kinds().size()));
  std::vector<Ms> points = grid;
  for (std::size_t i = 0; i + 1 < grid.size(); ++i) {
    if (used[i] < kUsed) continue;
    const Ms middle = (grid[i] + grid[i + 1]) / 2;
    std::vector<Ms> inside;
    for (int k = 0; k < kinds; ++k) {
      add_breaks(k, std::max(grid[i] * kApart, upper_ * kShortest), grid[i + 1] / kApart, inside);
    }
    if (middle < upper_ * kShortest) continue;
    Ms cut = middle;
    for (const Ms t : inside) {
      if (cut == middle || std::abs(t - middle) < std::abs(cut - middle)) cut = t;
    }
    if (cut > grid[i] * kApart && cut * kApart < grid[i + 1]) points.push_back(cut);
  }
  std::ranges::sort(points);
  return points;
}

LpBasis ScatterStepBound::first_basis_of(const ScatterStepLp& lp) {
  LpBasis basis;
  for (const auto& [variable, row] : lp.first_basis()) {
    const auto v = static_cast<std::size_t>(variable);
    const auto r = static_cast<std::size_t>(row);
    if (basis.variables.size() <= v) basis.variables.resize(v + 1, LpPlace::lower);
    if (basis.rows.size() <= r) basis.rows.resize(r + 1, LpPlace::basic);
    basis.variables[v] = LpPlace::basic;
    basis.rows[r] = LpPlace::lower;
  }
  return basis;
}

bool ScatterStepBound::open_root(Budget& budget) {
  Node root{.lp = ScatterStepLp(table_, step_items(table_, options_.resolution), first_grid(),
                                fewest_, configs_)};
  root.longest_from = alone_;
  root.result.basis = first_basis_of(*root.lp);
  if (!solve(root, budget) && root.value == 0) return false;
  nodes_.push_back(std::move(root));
  publish();
  return true;
}

std::size_t ScatterStepBound::weakest_leaf() const {
  std::size_t weakest = nodes_.size();
  for (std::size_t n = 0; n < nodes_.size(); ++n) {
    if (!nodes_[n].is_leaf) continue;
    if (weakest == nodes_.size() || bound_of(nodes_[n]) < bound_of(nodes_[weakest])) weakest = n;
  }
  return weakest;
}

// Returns the condition of at least one more micro-batch than the integer part, from the makespan
// on where their number is most fractional. Returns nullopt if all numbers are integers. The number
// of all micro-batches gets double weight, because each costs an overhead.
std::optional<StepCondition> ScatterStepBound::condition_for(const Node& node) const {
  const std::vector<double> used = node.lp->micro_batches(node.result.values);
  std::optional<StepCondition> condition;
  double most = kFractional;
  double above = 0;
  for (std::size_t i = used.size(); i-- > 0;) {
    above += used[i];
    const double fraction = above - std::floor(above);
    const double score = std::min(fraction, 1 - fraction) * (i == 0 ? 2 : 1);
    if (score <= most) continue;
    most = score;
    condition = {.from = node.lp->grid()[i],
                 .at_least = true,
                 .count = static_cast<std::int64_t>(std::floor(above)) + 1};
  }
  return condition;
}

// Splits a leaf into two cases. Returns false if no number is fractional.
bool ScatterStepBound::branch(Node& node, Budget& budget) {
  if (node.result.values.empty()) return false;
  const std::optional<StepCondition> condition = condition_for(node);
  if (!condition) return false;
  for (const bool at_least : {false, true}) {
    Node child{.longest_from = node.longest_from,
               .longest_to = node.longest_to,
               .value = node.value,
               .prices = node.prices,
               .lp = node.lp};
    child.prices.conditions.push_back(0);
    StepCondition own = *condition;
    if (!at_least) own = {.from = own.from, .at_least = false, .count = own.count - 1};
    if (at_least) child.longest_from = std::max(child.longest_from, own.from);
    child.lp->add_condition(own, kPenalty * upper_);
    child.result.basis = node.result.basis;
    const bool solved = solve(child, budget);
    child.exhausted = !solved && !budget.exhausted();
    child.coarse =
        !(solved && bound_of(child) < upper_ && refine(child, budget)) && budget.exhausted();
    (at_least ? node.more : node.fewer) = nodes_.size();
    nodes_.push_back(std::move(child));
  }
  node.is_leaf = false;
  node.condition = *condition;
  node.lp.reset();
  node.result = {};
  node.prices = {};
  return true;
}

// Splits the intervals in use and solves again. Returns false if no interval can be split or the LP
// was not solved.
bool ScatterStepBound::refine(Node& node, Budget& budget) {
  if (node.result.values.empty()) return false;
  std::vector<Ms> grid = refined_grid(node);
  if (grid.size() == node.lp->grid().size()) return false;
  ScatterStepLp::Origin origin;
  ScatterStepLp finer = node.lp->on_finer_grid(std::move(grid), node.result.duals, origin);
  const LpBasis& old = node.result.basis;
  LpBasis basis;
  for (const int from : origin.variable) {
    basis.variables.push_back(place_of(old.variables, from, LpPlace::lower));
  }
  for (const int from : origin.row) {
    basis.rows.push_back(place_of(old.rows, from, LpPlace::basic));
  }
  Node next{.barren = node.barren,
            .longest_from = node.longest_from,
            .longest_to = node.longest_to,
            .value = node.value,
            .prices = node.prices,
            .lp = std::move(finer)};
  next.result.basis = std::move(basis);
  if (!solve(next, budget)) return false;
  node = std::move(next);
  return true;
}

// Refines the grid. If that is impossible, adds the rows that gained nothing at first. Returns
// false if both are impossible or the LP was not solved.
bool ScatterStepBound::deepen(Node& node, Budget& budget) {
  if (refine(node, budget)) return true;
  return !budget.exhausted() && node.stalled && solve(node, budget);
}

// Adds rows and columns until few are missing, and keeps the best prices. Returns false if the LP
// was not solved.
bool ScatterStepBound::solve(Node& node, Budget& budget) {
  node.stalled = false;
  node.rough = false;
  const ColumnGeneration rounds(options_.backend, kGridRounds);
  const auto price_round = [&](const PricingRound& round) {
    CertificateLeaf prices = node.lp->prices(node.result.duals);
    const double value = settle_prices(table_, fewest_, node.lp->conditions(), prices);
    if (value > node.value) {
      node.value = value;
      node.prices = std::move(prices);
    }
    if (bound_of(node) >= upper_) return Pricing::enough;
    node.rough = round.number + 1 >= kRoughRounds && wide(node);
    if (node.rough) return Pricing::enough;
    const int columns = node.lp->add_columns(node.result.duals);
    const int rows = node.lp->add_rows(node.result.values);
    node.stalled = columns == 0 && rows > 0 && round.stalls > node.barren;
    if (node.stalled) return Pricing::enough;
    return columns + rows > 0 ? Pricing::added : Pricing::nothing;
  };
  node.solved = rounds.run(node.lp->model(), node.result, budget, price_round);
  return node.solved;
}

// Calls the sink if the bound of the weakest leaf has risen.
void ScatterStepBound::publish() {
  const double bound = bound_of(nodes_[weakest_leaf()]);
  if (bound <= best_) return;
  best_ = bound;
  ScatterCertificate certificate{.bound_ms = bound,
                                 .levels = certificate_levels(table_),
                                 .kind_weights = table_.kind_weights()};
  for (const Node& node : nodes_) {
    certificate.nodes.push_back({.is_leaf = node.is_leaf,
                                 .from = node.condition.from,
                                 .at_most = node.condition.count - 1,
                                 .fewer = node.fewer,
                                 .more = node.more,
                                 .leaf = node.prices});
  }
  sink_(certificate);
}

}  // namespace stowage

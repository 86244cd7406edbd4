#include "solvers/scatter_step_bound.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "formulations/scatter_bounds.h"
#include "formulations/scatter_step_lp.h"
#include "formulations/scatter_step_prices.h"
#include "solvers/lp_solver.h"

namespace stowage {
namespace {

// Break points lie this much below the time of a sequence alone, so that it is certain not to fit
// the interval that ends there.
constexpr double kJustBelow = 1 - 1e-7;
constexpr double kApart = 1.004;      // ratio of successive makespans at least
constexpr int kMostRounds = 60;       // of rows and columns on one grid
constexpr double kFractional = 1e-4;  // micro-batches
constexpr double kPenalty = 10;       // objectives per micro-batch too many
constexpr double kWorthIt = 2e-4;     // relative gain of a round or a grid that goes on

std::vector<Ms> sorted_apart(std::vector<Ms> points, double apart) {
  std::ranges::sort(points);
  std::vector<Ms> out;
  for (const Ms point : points) {
    if (out.empty() || point > out.back() * apart + 1e-9) out.push_back(point);
  }
  return out;
}

class StepBound {
 public:
  StepBound(const ScatterInstance& instance, const StepBoundOptions& options, Budget& budget,
            const CertificateSink& sink)
      : instance_(instance),
        options_(options),
        budget_(budget),
        sink_(sink),
        table_(instance),
        fewest_(least_micro_batches(table_)) {}

  void run() {
    if (fewest_ == 0) return;
    open_root();
    while (!nodes_.empty() && !budget_.exhausted()) {
      const std::size_t weakest = weakest_leaf();
      if (nodes_[weakest].exhausted || nodes_[weakest].value >= options_.upper) break;
      branch(weakest);
      publish();
    }
  }

 private:
  std::vector<Ms> first_grid() const {
    const Ms least = table_.least_overhead();
    std::vector<Ms> points;
    Ms shortest = options_.upper;
    Ms longest = 0;
    const int kinds = static_cast<int>(table_.kinds().size());
    for (int k = 0; k < kinds; ++k) {
      shortest = std::min(shortest, table_.alone(k));
      longest = std::max(longest, table_.alone(k));
    }
    // Beyond the longest sequence and a micro-batch full of tokens there is little to tell apart.
    const Ms batch = least + table_.total_area() / table_.devices() / fewest_;
    const Ms dense = std::min(options_.upper, std::max(longest * 1.3, batch * 2));
    for (Ms t = shortest; t < dense; t *= options_.ratio) points.push_back(t * kJustBelow);
    for (Ms t = dense; t < options_.upper; t *= 2) points.push_back(t);
    points.push_back(options_.upper);
    for (int k = 0; k < std::min(options_.breaks, kinds); ++k)
      add_breaks(k, 0, options_.upper, points);
    std::erase_if(points, [&](Ms t) { return t <= least * kApart; });
    std::vector<Ms> grid = sorted_apart(std::move(points), kApart);
    grid.insert(grid.begin(), least);
    return grid;
  }

  // Makespans at which a kind begins to fit a level.
  void add_breaks(int kind, Ms from, Ms to, std::vector<Ms>& points) const {
    for (int d = 0; d < static_cast<int>(table_.levels().size()); ++d) {
      const Level& level = table_.levels()[static_cast<std::size_t>(d)];
      if (table_.kinds()[static_cast<std::size_t>(kind)].length > level.capacity) continue;
      const Ms alone = (level.overhead + table_.kind_cost(kind, d)) * kJustBelow;
      if (alone > from && alone < to) points.push_back(alone);
    }
  }

  std::vector<Ms> refined(const std::vector<Ms>& grid, const std::vector<double>& used) const {
    std::vector<Ms> points = grid;
    for (std::size_t i = 0; i + 1 < grid.size(); ++i) {
      if (used[i] < 1e-4) continue;
      std::vector<Ms> inside;
      for (int k = 0; k < std::min<int>(24, static_cast<int>(table_.kinds().size())); ++k) {
        add_breaks(k, grid[i] * kApart, grid[i + 1] / kApart, inside);
      }
      // The break nearest the middle, or the middle.
      const Ms middle = (grid[i] + grid[i + 1]) / 2;
      Ms cut = middle;
      for (const Ms t : inside) {
        if (cut == middle || std::abs(t - middle) < std::abs(cut - middle)) cut = t;
      }
      if (cut > grid[i] * kApart && cut * kApart < grid[i + 1]) points.push_back(cut);
    }
    std::ranges::sort(points);
    return points;
  }

  // A node of the search tree. Inner nodes keep nothing but their condition and children.
  struct Node {
    bool is_leaf = true;
    StepCondition condition;  // of the child `more`, if this is no leaf
    std::size_t fewer = 0;
    std::size_t more = 0;
    bool exhausted = false;  // nothing left to branch on or to refine
    double value = 0;        // proven by `prices`
    CertificateLeaf prices;
    std::optional<ScatterStepLp> lp;
    LpResult result;
  };

  void open_root() {
    Node root{.lp = ScatterStepLp(table_, step_items(table_, options_.resolution), first_grid(),
                                  fewest_)};
    if (!solve(root)) return;
    nodes_.push_back(std::move(root));
    publish();
    for (int round = 0; round < options_.refinements && !budget_.exhausted(); ++round) {
      const double before = nodes_[0].value;
      if (!refine(nodes_[0])) break;
      publish();
      if (nodes_[0].value < before * (1 + kWorthIt)) break;
    }
  }

  std::size_t weakest_leaf() const {
    std::size_t weakest = nodes_.size();
    for (std::size_t n = 0; n < nodes_.size(); ++n) {
      if (!nodes_[n].is_leaf) continue;
      if (weakest == nodes_.size() || nodes_[n].value < nodes_[weakest].value) weakest = n;
    }
    return weakest;
  }

  // Splits a leaf where its number of micro-batches from some makespan on is most fractional;
  // refines its grid where no number is.
  void branch(std::size_t n) {
    Node& node = nodes_[n];
    const std::vector<double> used = node.lp->micro_batches(node.result.values);
    double above = 0;
    double most = kFractional;
    StepCondition condition{.at_least = true};
    for (std::size_t i = used.size(); i-- > 0;) {
      above += used[i];
      const double fraction = above - std::floor(above);
      double score = std::min(fraction, 1 - fraction);
      if (i == 0) score *= 2;
      if (score > most) {
        most = score;
        condition.from = node.lp->grid()[i];
        condition.count = static_cast<std::int64_t>(std::floor(above)) + 1;
      }
    }
    if (most <= kFractional) {
      const double before = node.value;
      node.exhausted = !refine(node) || node.value < before * (1 + kWorthIt / 10);
      return;
    }
    for (const bool at_least : {false, true}) {
      Node child{.value = node.value, .prices = node.prices, .lp = node.lp};
      child.prices.conditions.push_back(0);
      StepCondition own = condition;
      own.at_least = at_least;
      if (!at_least) --own.count;
      child.lp->add_condition(own, kPenalty * options_.upper);
      child.result.basis = node.result.basis;
      child.exhausted = !solve(child);
      const double before = child.value;
      if (!child.exhausted && child.value < options_.upper && refine(child)) (void)before;
      (at_least ? nodes_[n].more : nodes_[n].fewer) = nodes_.size();
      nodes_.push_back(std::move(child));
      if (std::getenv("STEP_DEBUG"))
        std::fprintf(stderr, "node %zu (value %.1f): W(%.0f) %s %d: %.1f  at %.2f s\n", n,
                     nodes_[n].value, own.from, at_least ? ">=" : "<=", int(own.count),
                     nodes_.back().value, budget_.seconds());
    }
    nodes_[n].is_leaf = false;
    nodes_[n].condition = condition;
    nodes_[n].lp.reset();
    nodes_[n].result = {};
    nodes_[n].prices = {};
  }

  // Splits the intervals in use and solves again. False if there is nothing to split or the LP
  // could not be solved.
  bool refine(Node& node) {
    std::vector<Ms> grid = refined(node.lp->grid(), node.lp->micro_batches(node.result.values));
    if (grid.size() == node.lp->grid().size()) return false;
    ScatterStepLp::Origin origin;
    ScatterStepLp finer = node.lp->on_finer_grid(std::move(grid), node.result.duals, origin);
    LpBasis basis;
    for (const int from : origin.variable) {
      basis.variables.push_back(from < 0 ? LpPlace::lower
                                         : place(node.result.basis.variables, from));
    }
    for (const int from : origin.row) {
      basis.rows.push_back(from < 0 ? LpPlace::basic : place(node.result.basis.rows, from));
    }
    Node next{.value = node.value, .prices = node.prices, .lp = std::move(finer)};
    next.result.basis = std::move(basis);
    if (!solve(next)) return false;
    node = std::move(next);
    return true;
  }

  static LpPlace place(const std::vector<LpPlace>& places, int index) {
    return places[static_cast<std::size_t>(index)];
  }

  // Rows and columns until few are missing. Keeps the best prices on the way. False if the LP could
  // not be solved.
  bool solve(Node& node) {
    for (int round = 0; round < kMostRounds; ++round) {
      const milp::Model model = node.lp->model();
      const double t0 = budget_.seconds();
      LpResult result = solve_lp(options_.backend, model, node.result.basis, budget_);
      budget_.count_nodes(1);
      const double t1 = budget_.seconds();
      if (!result.optimal) return false;
      node.result = std::move(result);
      CertificateLeaf prices = node.lp->prices(node.result.duals);
      const double value = settle_prices(table_, fewest_, node.lp->conditions(), prices);
      if (value > node.value) {
        node.value = value;
        node.prices = std::move(prices);
      }
      if (node.value >= options_.upper) break;
      const double objective = node.result.objective;
      const bool small = round > 0 && objective < last_ * (1 + kWorthIt / 10);
      last_ = objective;
      const int columns = node.lp->add_columns(node.result.duals);
      const int rows = node.lp->add_rows(node.result.values);
      if (std::getenv("STEP_DEBUG"))
        std::fprintf(stderr,
                     " grid %zu round %d: %zu x %zu lp %.2f settled %.2f best %.2f  +%d columns "
                     "+%d rows  lp %.0f ms, at %.0f ms\n",
                     node.lp->grid().size(), round, model.rows().size(), model.variables().size(),
                     node.result.objective, value, node.value, columns, rows, (t1 - t0) * 1e3,
                     budget_.seconds() * 1e3);
      if (columns + rows == 0 || (small && columns == 0)) break;
    }
    return true;
  }

  // Tells the sink, if the weakest leaf has become better.
  void publish() {
    const double bound = nodes_[weakest_leaf()].value;
    if (bound <= best_) return;
    best_ = bound;
    ScatterCertificate certificate{.bound_ms = bound};
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

  const ScatterInstance& instance_;
  const StepBoundOptions& options_;
  Budget& budget_;
  const CertificateSink& sink_;
  ScatterTable table_;
  std::int64_t fewest_;
  double best_ = 0;
  double last_ = 0;
  std::deque<Node> nodes_;  // references into it outlive growth
};

}  // namespace

void improve_step_bound(const ScatterInstance& instance, const StepBoundOptions& options,
                        Budget& budget, const CertificateSink& sink) {
  StepBound(instance, options, budget, sink).run();
}

}  // namespace stowage

#include "solvers/scatter_step_bound.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
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
    std::vector<Ms> grid = first_grid();
    double before = 0;
    for (int round = 0; round <= options_.refinements && !budget_.exhausted(); ++round) {
      const std::vector<double> used = solve_on(grid);
      if (used.empty()) return;
      if (std::getenv("STEP_DEBUG"))
        for (size_t i = 0; i < used.size(); ++i)
          if (used[i] > 1e-6) std::fprintf(stderr, "   %.0f: %.3f", grid[i], used[i]);
      if (round > 3 && best_ < before * (1 + kWorthIt)) return;
      before = best_;
      std::vector<Ms> finer = refined(grid, used);
      if (finer.size() == grid.size()) return;
      grid = std::move(finer);
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
    for (int k = 0; k < std::min(options_.breaks, kinds); ++k) add_breaks(k, 0, options_.upper, points);
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
      for (int k = 0; k < std::min<int>(options_.singles, static_cast<int>(table_.kinds().size()));
           ++k) {
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

  // Rows and columns until none is missing. Returns the micro-batches per interval; empty if the
  // LP could not be solved.
  std::vector<double> solve_on(const std::vector<Ms>& grid) {
    ScatterStepLp lp(table_, step_items(table_, options_.singles, options_.spread), grid, fewest_,
                     {});
    std::vector<double> used;
    LpBasis basis;
    for (int round = 0; round < kMostRounds; ++round) {
      const milp::Model model = lp.model();
      const double t0 = budget_.seconds();
      const LpResult result = solve_lp(options_.backend, model, basis, budget_);
      budget_.count_nodes(1);
      const double t1 = budget_.seconds();
      if (!result.optimal) return {};
      basis = result.basis;
      used = lp.micro_batches(result.values);
      CertificateNode leaf{.leaf = lp.prices(result.duals)};
      const double value = settle_prices(table_, fewest_, {}, leaf.leaf);
      if (value > best_) {
        best_ = value;
        ScatterCertificate certificate{.bound_ms = value};
        certificate.nodes.push_back(std::move(leaf));
        sink_(certificate);
      }
      const int columns = lp.add_columns(result.duals);
      const int rows = lp.add_rows(result.values);
      if (std::getenv("STEP_DEBUG"))
        std::fprintf(stderr, "  grid %zu round %d: %zu x %zu lp %.2f settled %.2f best %.2f  +%d columns +%d rows  lp %.0f ms, at %.0f ms\n",
                     grid.size(), round, model.rows().size(), model.variables().size(), result.objective, value, best_, columns, rows,
                     (t1 - t0) * 1e3, budget_.seconds() * 1e3);
      if (columns + rows == 0) break;
    }
    return used;
  }

  const ScatterInstance& instance_;
  const StepBoundOptions& options_;
  Budget& budget_;
  const CertificateSink& sink_;
  ScatterTable table_;
  std::int64_t fewest_;
  double best_ = 0;
};

}  // namespace

void improve_step_bound(const ScatterInstance& instance, const StepBoundOptions& options,
                        Budget& budget, const CertificateSink& sink) {
  StepBound(instance, options, budget, sink).run();
}

}  // namespace stowage

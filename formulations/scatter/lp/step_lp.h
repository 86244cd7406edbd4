// The step LP: a whole step as a mixture of micro-batches of all makespans.
//
// 1. Makespans are cut into intervals. The micro-batches of an interval are mixed of micro-batches
// at its two ends.
// 2. Each interval has merged groups per degree, and shares of sequences on them.
// 3. The LP is a relaxation, so no plan is faster. Its dual prices are a certificate
// (instances/scatter/certificate.h).
// 4. If micro-batches choose a recomputation mode, each interval has separate micro-batches of each
// mode.
//
// The model starts small: columns for the degrees that waste least, no links and no packing rows.
// add_columns() and add_rows() add those that a solution needs.
//
//   ScatterStepLp lp(table, step_items(table, 80), grid, fewest);
//   do solution = solve_lp(backend, lp.model(), solution.basis, budget);
//   while (lp.add_columns(solution.duals) + lp.add_rows(solution.values) > 0);
//   CertificateLeaf leaf = lp.prices(solution.duals);
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "formulations/milp/model.h"
#include "formulations/scatter/lp/step_items.h"
#include "instances/scatter/certificate.h"
#include "instances/scatter/table/planning_table.h"

namespace stowage {

// The condition that at least (or at most) `count` micro-batches have makespan `from` or more.
struct StepCondition {
  Ms from = 0;
  bool at_least = false;
  std::int64_t count = 0;
};

class ScatterStepLp {
 public:
  // `grid` ascends from the least overhead, and its last interval has no end. The LP has groups of
  // the configurations in `present` alone, which ascend; settle_prices() gives the other
  // configurations the prices of their neighbours. `table` must outlive this. Requires that every
  // sequence fits one of `present`.
  ScatterStepLp(const ScatterTable& table, std::vector<StepItem> items, std::vector<Ms> grid,
                std::int64_t fewest, std::vector<std::size_t> present);

  // The index in an earlier LP of each variable and row of this LP, or -1.
  struct Origin {
    std::vector<int> variable;
    std::vector<int> row;
  };
  // Returns this LP on a finer grid, with all conditions and with the links and packing rows that
  // had a price in `duals` (which may belong to an earlier version of this LP). `grid` contains the
  // old grid, or its beginning. Then the last interval covers the rest, and `origin` is of no use.
  ScatterStepLp on_finer_grid(std::vector<Ms> grid, std::span<const double> duals,
                              Origin& origin) const;

  // Returns pairs of variable and row: in a first basis the variable may replace the row's slack.
  // Then the dual simplex begins at the bound by area [B2] instead of at zero.
  std::vector<std::pair<int, int>> first_basis() const;

  // Appends a condition [W8]. Violating it costs `penalty` per micro-batch, so that the LP always
  // has a solution.
  void add_condition(const StepCondition& condition, double penalty);

  // Returns the present model. Rows and variables are only appended, so that the basis of an
  // earlier version is the beginning of a basis of a later one.
  const milp::Model& model() const { return model_; }

  // Append links [W6] and packing rows [W7] that `values` violate, or columns that `duals` price
  // below zero. Return the number added. Both arguments belong to this LP before either call. Call
  // add_columns() first.
  int add_rows(std::span<const double> values);
  int add_columns(std::span<const double> duals);

  // Returns the prices of a dual solution. Values of merged kinds are zero, and settle_prices()
  // sets them.
  CertificateLeaf prices(std::span<const double> duals) const;

  // Returns the number of micro-batches in each interval of a primal solution.
  std::vector<double> micro_batches(std::span<const double> values) const;
  const std::vector<Ms>& grid() const { return grid_; }
  const std::vector<StepCondition>& conditions() const { return conditions_; }

 private:
  struct Cell {  // one degree in one interval
    int groups_low = -1;
    int groups_high = -1;
    int time_row = -1;
    int token_row = -1;
    std::vector<int> share;  // variable of each item, or -1
    struct Packing {
      PackingPrice what;
      int row = -1;
    };
    std::vector<Packing> packing;
  };

  int add_column(double objective);
  int add_row(double lower, std::vector<milp::Term> terms);
  void add_share(int interval, int config, int item);
  bool allowed(int item, int config, int interval) const;
  double held(int item,
              int config) const;  // tokens taken from the capacity of the configuration's groups
  double room(int interval, int config) const;  // ms; infinite in the last interval
  double packed(const PackingPrice& what, int item, int config, int interval) const;
  void add_link(int interval, int mode, int item);
  void add_packing(int interval, int config, const PackingPrice& what);
  bool separate(int interval, int config, Resource resource, std::span<const double> values);
  Cell& cell(int interval, int config) { return cells_[cell_index(interval, config)]; }
  const Cell& cell(int interval, int config) const { return cells_[cell_index(interval, config)]; }
  std::size_t cell_index(int interval, int config) const {
    return static_cast<std::size_t>(interval) * table_->configs().size() +
           static_cast<std::size_t>(config);
  }
  // Returns the index of an interval and a recomputation mode.
  std::size_t strip(int interval, int mode) const {
    return static_cast<std::size_t>(interval) * static_cast<std::size_t>(modes()) +
           static_cast<std::size_t>(mode);
  }
  int modes() const { return table_->recomputations(); }
  int intervals() const { return static_cast<int>(grid_.size()); }
  int configs() const { return static_cast<int>(table_->configs().size()); }

  const ScatterTable* table_;
  std::vector<StepItem> items_;
  std::vector<Ms> grid_;
  std::vector<StepCondition> conditions_;
  milp::Model model_;
  std::vector<Cell> cells_;
  std::vector<int> low_;   // y at the lower end, by interval and mode
  std::vector<int> high_;  // y at the upper end; -1 in the last interval
  std::vector<int> low_row_, high_row_;
  std::vector<int> cover_row_;              // by item
  std::vector<std::vector<int>> link_row_;  // by interval and mode, and item; -1: not added
  int count_row_ = -1;
  std::vector<int> condition_row_;
  std::vector<double> penalty_;
  std::int64_t fewest_ = 0;
  std::vector<std::size_t> present_;  // configurations that have groups, ascending
};

}  // namespace stowage

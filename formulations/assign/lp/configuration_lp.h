// The configuration LP of one assign strategy: the sets of sequences that replicas can hold within
// a time, and prices that prove that the time is too short.
//
//   ConfigurationLp lp(table, strategy, time);
//   ... solve lp.model() and call lp.price() with its values until it adds nothing or refutes the
//   time
//   StrategyProof proof = lp.proof(name_of_strategy);
//
// The rows K1 and K2, the knapsacks and the proof are in docs/theory/assign.md, "Configurations".
#pragma once

#include <compare>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "formulations/assign/lp/grid_knapsack.h"
#include "formulations/assign/lp/pattern_time.h"
#include "formulations/milp/model.h"
#include "instances/assign/certificate.h"
#include "instances/assign/planning_table.h"

namespace stowage {

// Limit on the sequences. With more, the knapsacks take longer than their gain is worth.
inline constexpr int kMaxConfigured = 160;

class ConfigurationLp {
 public:
  // Requires a usable strategy and at most kMaxConfigured sequences.
  ConfigurationLp(const AssignTable& table, int strategy, Ms time);

  // Returns the covering model of the configurations so far, which grows by variables. Its optimum
  // is the least multiple of the replicas that is needed. An optimum of at most 1 refutes nothing.
  const milp::Model& model() const { return model_; }

  // Returns true if a kind fits no replica. Then its price refutes the time. Otherwise the model is
  // feasible.
  bool a_kind_fits_nowhere();

  struct Priced {
    int added = 0;         // number of violated configurations
    bool refuted = false;  // all sequences cost more than all replicas may spend
  };

  // Takes prices from a solution, one value per variable. Adds the configurations that violate
  // them, the most expensive of each scheme and of some longest sequences.
  Priced price(std::span<const double> values);

  // Returns the longest time in ms between `known` and `upper` that the best prices since the last
  // set_time() refute. `known` must be refuted.
  Ms proven(Ms known, Ms upper);

  // Changes the time. Keeps the configurations that fit it.
  void set_time(Ms time);

  // Returns the proof by these prices.
  StrategyProof proof(std::string strategy) const;

 private:
  struct Item {
    int kind = 0;
    float price = 0;  // a whole number of units
  };
  struct Configuration {
    std::size_t group = 0;
    std::vector<int> kinds;  // one entry per sequence, shortest first
  };
  // A state of the knapsack: the value of its first `items` items in `room`. Sorted by this order.
  struct End {
    double paid = 0;
    std::size_t items = 0;
    std::size_t room = 0;

    auto operator<=>(const End&) const = default;
  };
  // The sequences of a knapsack state, and their payment.
  struct Share {
    double paid = 0;
    std::vector<int> kinds;
  };

  void fill_greedily();
  void build();
  void add_variable(const Configuration& configuration);
  bool fits(const Configuration& configuration) const;
  std::vector<RowRange> ranges(const Scheme& scheme) const;
  bool tokens_bind(const Scheme& scheme, const RowRange& range) const;
  Priced price_at(const std::vector<double>& here, const std::vector<double>& own,
                  std::span<const double> spent);
  double paid_by_all(const std::vector<double>& prices) const;
  double part_of(const std::vector<double>& prices) const;
  std::vector<Item> items_of(int scheme, const std::vector<double>& prices) const;
  std::vector<Share> dearest(int scheme, const std::vector<double>& prices);
  double most_paid(int scheme, const std::vector<double>& prices);
  std::vector<End> by_work(int scheme, const RowRange& range, std::span<const Item> items);
  End by_tokens(int scheme, const RowRange& range, std::span<const Item> items);
  Share taken(std::span<const Item> items, const End& end) const;

  const AssignTable& table_;
  int strategy_;
  Ms time_;
  std::vector<Configuration> met_;
  std::vector<double> best_;  // prices of the kinds for which replicas spend least
  double ratio_ = 0;          // spending of the replicas per payment of all sequences, at best_
  GridKnapsack knapsack_;
  milp::Model model_;
};

}  // namespace stowage

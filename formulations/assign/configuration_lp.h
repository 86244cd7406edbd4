// The configuration LP of one assign strategy: what replicas may hold within a time, and its prices
// as a proof that so short a time is not enough.
//
//   ConfigurationLp lp(table, strategy, time);
//   ... solve lp.model(), hand its values to lp.price(), until it adds nothing or refutes the time
//   StrategyProof proof = lp.proof(name_of_strategy);
//
// formulations/README.md, "Configurations", has the rows K1 and K2, the knapsacks and the proof.
#pragma once

#include <compare>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "formulations/assign/grid_knapsack.h"
#include "formulations/assign/pattern_time.h"
#include "formulations/milp/model.h"
#include "instances/assign/certificate.h"
#include "instances/assign/table.h"

namespace stowage {

// Beyond so many sequences the knapsacks take longer than what they gain is worth.
inline constexpr int kMostConfigured = 160;

class ConfigurationLp {
 public:
  // Requires a usable strategy and at most kMostConfigured sequences.
  ConfigurationLp(const AssignTable& table, int strategy, Ms time);

  // Least number of times over that the replicas would be needed, as far as the configurations met
  // say: a covering model that grows by variables. At 1 or less nothing is refuted.
  const milp::Model& model() const { return model_; }

  // Whether there is a kind that no replica can hold: its price refutes the time. Otherwise the
  // model has a point.
  bool a_kind_fits_nowhere();

  struct Priced {
    int added = 0;         // configurations that the prices break
    bool refuted = false;  // all sequences cost more than all replicas may spend
  };

  // Takes prices from a solution, one value per variable, and adds the configurations that break
  // it, the dearest of each scheme and of some longest sequences.
  Priced price(std::span<const double> values);

  // The longest time that the best prices since the last set_time() refute, between two times; the
  // first is known to be refuted.
  Ms proven(Ms known, Ms upper);

  // Asks for another time; of the configurations met those that fit it are kept.
  void set_time(Ms time);

  // By these prices.
  StrategyProof proof(std::string strategy) const;

 private:
  struct Item {
    int kind = 0;
    float price = 0;  // a whole number of parts
  };
  struct Configuration {
    std::size_t group = 0;
    std::vector<int> kinds;  // one entry per sequence, shortest first
  };
  // Of the knapsack: what its first so many items pay in so much room. In this order.
  struct End {
    double paid = 0;
    std::size_t items = 0;
    std::size_t room = 0;

    auto operator<=>(const End&) const = default;
  };
  // The sequences held there, and what they pay together.
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
  std::vector<double> best_;  // prices of the kinds for which replicas spend least, once priced
  double ratio_ = 0;          // what replicas spend of what all sequences cost, by these
  GridKnapsack knapsack_;
  milp::Model model_;
};

}  // namespace stowage

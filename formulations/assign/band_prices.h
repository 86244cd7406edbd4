// Bounds by prices of work and tokens, if the length of each replica's longest sequence lies in a
// known band.
//
//   BandPrices node(table, strategy);
//   Ms proven = node.improve(60);  // ms that no plan of the strategy with such bands undercuts
//   if (auto split = node.split()) { BandPrices below = node.child(*split, false); ... }
//
// The rows and the proof are in docs/theory/assign.md, "Bands of the longest sequence".
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "instances/assign/certificate.h"
#include "instances/assign/planning_table.h"

namespace stowage {

// The branching: does the longest sequence of a replica have more tokens than `tokens`?
struct BandSplit {
  int replica = 0;  // index in the strategy, group by group
  Tokens tokens = 0;
};

class BandPrices {
 public:
  // Starts with open bands. Requires a usable strategy and a sequence.
  BandPrices(const AssignTable& table, int strategy);

  // Returns the longest time in ms that the prices refute, infinite if no plan has such bands.
  Ms proven() const { return proven_; }

  // Improves the prices in `rounds` rounds. Returns the number of operations.
  std::int64_t improve(int rounds);

  // Returns the branching with the largest expected gain, or nullopt if none gains.
  std::optional<BandSplit> split() const;

  // Returns the node after the branching, with the same prices.
  BandPrices child(const BandSplit& split, bool longer) const;

  // Returns the certificate leaf, with one price per replica.
  BandStep leaf() const;

 private:
  // Replicas of one scheme with the same band.
  struct Class {
    int scheme = 0;
    int count = 0;
    Tokens above = 0;   // the longest sequence has more tokens than this; 0: it may be missing
    Tokens most = 0;    // largest length of the longest sequence
    Ms least = 0;       // work of the shortest admissible longest sequence
    double work = 1;    // price of a ms of work
    double tokens = 0;  // price of a token
  };
  // The largest spending of one replica within a time.
  struct Offer {
    double spent = 0;
    double slope = 0;  // derivative by the time
    std::int64_t rows = 0;
    Ms work = 0;
  };

  // The sequences dealt to a class.
  struct Load {
    Ms work = 0;
    double tokens = 0;
    Tokens longest = 0;
  };

  void start();
  // Index of the longest kind of at most `tokens` tokens.
  std::size_t first_within(Tokens tokens) const;
  Ms least_work(const Class& each) const;
  // Work of the longest kind of at most `longest` tokens.
  Ms work_of(Tokens longest, int scheme) const;
  Tokens halfway(const Class& each, Tokens longest) const;
  Offer offer(const Class& each, Ms time) const;
  double deal(std::vector<Load>& loads) const;
  void adjust(Class& each, const Load& load, Ms time, double step) const;
  Ms refuted(double paid) const;  // the time in ms within which the replicas spend `paid`

  const AssignTable* table_;
  std::vector<Class> classes_;   // group by group; longer bands first within a group
  std::vector<Class> best_;      // classes with the best prices
  std::vector<Tokens> longest_;  // longest sequence dealt to each class at the best prices
  Ms proven_ = 0;
};

}  // namespace stowage

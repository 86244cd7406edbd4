// What the prices of work and tokens prove where for each replica the length of its longest
// sequence is known to lie in a band.
//
//   BandPrices node(table, strategy);
//   Ms proven = node.improve(60);  // ms that no plan of the strategy with such bands undercuts
//   if (auto split = node.split()) { BandPrices below = node.child(*split, false); ... }
//
// formulations/README.md, "Bands of the longest sequence", has the rows and the proof.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "instances/assign/certificate.h"
#include "instances/assign/table.h"

namespace stowage {

// Whether the longest sequence of a replica has more tokens than `tokens`.
struct BandSplit {
  int replica = 0;  // of the strategy, group by group
  Tokens tokens = 0;
};

class BandPrices {
 public:
  // Every band open: nothing is known. Requires a usable strategy and a sequence.
  BandPrices(const AssignTable& table, int strategy);

  // The longest time found that prices refute; infinite if there is no plan with such bands.
  Ms proven() const { return proven_; }

  // Looks for better prices, so many times; the operations that it took.
  std::int64_t improve(int rounds);

  // The question whose answers prove most, as far as one can see; nothing if no answer does.
  std::optional<BandSplit> split() const;

  // What is known after the answer, with the same prices.
  BandPrices child(const BandSplit& split, bool longer) const;

  // One price for each replica.
  BandStep leaf() const;

 private:
  // Replicas of one scheme with the same band.
  struct Class {
    int scheme = 0;
    int count = 0;
    Tokens above = 0;   // the longest has more tokens; 0: or there is none
    Tokens most = 0;    // and at most so many
    Ms least = 0;       // work of the shortest longest sequence
    double work = 1;    // price of a ms
    double tokens = 0;  // of a token
  };
  // What one replica may spend within a time.
  struct Offer {
    double spent = 0;
    double slope = 0;  // by the time
    std::int64_t rows = 0;
    Ms work = 0;
  };

  // What is dealt to a class.
  struct Load {
    Ms work = 0;
    double tokens = 0;
    Tokens longest = 0;
  };

  void start();
  std::size_t first_within(Tokens tokens) const;  // the longest kind of at most so many tokens
  Ms least_work(const Class& each) const;
  Ms work_of(Tokens longest, int scheme) const;  // of the longest of at most so many tokens
  Tokens halfway(const Class& each, Tokens longest) const;
  Offer offer(const Class& each, Ms time) const;
  double deal(std::vector<Load>& loads) const;
  void adjust(Class& each, const Load& load, Ms time, double step) const;
  Ms refuted(double paid) const;  // the time within which the replicas spend so much

  const AssignTable* table_;
  std::vector<Class> classes_;   // group by group; in a group the longer bands first
  std::vector<Class> best_;      // with the best prices
  std::vector<Tokens> longest_;  // that pays least in each class, by these
  Ms proven_ = 0;
};

}  // namespace stowage

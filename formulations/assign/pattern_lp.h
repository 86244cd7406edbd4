// The pattern LP of one assign strategy: replicas as a mixture of row patterns, none slower than a
// given time, and its prices as a proof that so short a time is not enough.
//
//   const AssignPatterns patterns(table, strategy, time, ranges);
//   const LpResult result = solve_lp(backend, patterns.model(), {}, budget);
//   StrategyProof proof = patterns.proof(result.duals, name_of_strategy);
//
// formulations/README.md, "Row patterns", has the rows R1 to R4, R6 and the proof.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "formulations/assign/pattern_time.h"
#include "formulations/milp/model.h"
#include "instances/assign/certificate.h"
#include "instances/assign/table.h"

namespace stowage {

// How finely patterns tell lengths and numbers of rows apart, and longest sequences where those
// matter. Rough ones refute most times that are far too short, in a fraction of the time.
enum class PatternDetail { rough, usual, fine };

// The ranges to begin with, for each group of the strategy: small numbers apart, larger ones in
// ranges up to where the tokens of a row no longer matter.
std::vector<std::vector<RowRange>> first_ranges(const AssignTable& table, int strategy, Ms time,
                                                PatternDetail detail = PatternDetail::usual);

class AssignPatterns {
 public:
  // Requires a non-empty step and a usable strategy; ranges as first_ranges() has them, split at
  // will.
  AssignPatterns(const AssignTable& table, int strategy, Ms time,
                 std::vector<std::vector<RowRange>> ranges,
                 PatternDetail detail = PatternDetail::usual);

  // Least number of times over that the replicas would be needed. More than 1: the time is too
  // short. A covering model: it always has a point unless a sequence fits no pattern.
  const milp::Model& model() const { return model_; }

  // The prices, from one dual per row.
  StrategyProof proof(std::span<const double> duals, std::string strategy) const;

  // The ranges with those split that the solution uses. Empty if there is none to split.
  std::vector<std::vector<RowRange>> finer(std::span<const double> values) const;

 private:
  struct Pattern {
    int range = 0;
    RowPattern shape;    // without prices
    int replicas = -1;   // variable: how many such
    int first_row = -1;  // work, tokens, then the parts
  };
  // Kinds that the model does not tell apart.
  struct Class {
    int first = 0;
    int last = 0;  // kinds [first, last)
    double count = 0;
  };

  void add_group(std::size_t group);
  void add_pattern(Pattern& pattern, int scheme, Ms room, const std::string& suffix);
  std::vector<double> use_of(const Class& each, const RowPattern& shape, int scheme, Ms room) const;

  const AssignTable& table_;
  int strategy_;
  Ms time_;
  PatternDetail detail_;
  std::vector<std::vector<RowRange>> ranges_;
  std::vector<std::vector<Pattern>> patterns_;  // of each group
  std::vector<Class> classes_;
  std::vector<milp::Row> covered_;
  milp::Model model_;
};

}  // namespace stowage

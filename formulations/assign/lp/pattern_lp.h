// The pattern LP of one assign strategy: replicas as a mixture of row patterns within a given time,
// and prices that prove that the time is too short.
//
//   const AssignPatterns patterns(table, strategy, time, ranges);
//   const LpResult result = solve_lp(backend, patterns.model(), {}, budget);
//   StrategyProof proof = patterns.proof(result.duals, name_of_strategy);
//
// The rows R1 to R4, R6 and the proof are in docs/theory/assign.md, "Row patterns".
#pragma once

#include <span>
#include <string>
#include <vector>

#include "formulations/assign/lp/pattern_time.h"
#include "formulations/milp/model.h"
#include "instances/assign/certificate.h"
#include "instances/assign/planning_table.h"

namespace stowage {

// The resolution of patterns in lengths, numbers of rows, and longest sequences where they matter.
// Rough patterns refute most times that are far too short, in a fraction of the time.
enum class PatternDetail { rough, usual, fine };

// Returns the initial ranges for each group of the strategy: small row numbers are one range,
// larger ones are ranges up to the number of rows from which their tokens do not bind, and the last
// range has no end. Later, finer() splits ranges.
std::vector<std::vector<RowRange>> first_ranges(const AssignTable& table, int strategy, Ms time,
                                                PatternDetail detail = PatternDetail::usual);

class AssignPatterns {
 public:
  // Requires a non-empty step, a usable strategy, and ranges of first_ranges() or splits of these.
  AssignPatterns(const AssignTable& table, int strategy, Ms time,
                 std::vector<std::vector<RowRange>> ranges,
                 PatternDetail detail = PatternDetail::usual);

  // Returns the covering model. Its optimum is the least multiple of the replicas that is needed,
  // and an optimum above 1 refutes the time. It is feasible unless a sequence fits no pattern.
  const milp::Model& model() const { return model_; }

  // Returns the prices, from one dual per row.
  StrategyProof proof(std::span<const double> duals, std::string strategy) const;

  // Returns the ranges with those split that the solution uses. Empty if no range can be split.
  std::vector<std::vector<RowRange>> finer(std::span<const double> values) const;

 private:
  struct Pattern {
    int range = 0;
    RowPattern shape;    // without prices
    int replicas = -1;   // variable: number of replicas with the pattern
    int first_row = -1;  // rows of work and tokens, then of the parts
  };
  // Kinds that the model treats as equal.
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
  std::vector<std::vector<Pattern>> patterns_;  // by group
  std::vector<Class> classes_;
  std::vector<milp::Row> covered_;
  milp::Model model_;
};

}  // namespace stowage

// Searches other profiles of makespans for steps of few micro-batches: profiles far from the
// present one, where local search does not get, and other numbers of micro-batches.
//
//   ScatterProfileSearch reshape(table, MilpBackend::cbc);
//   for (std::uint64_t seed = 0; !budget.exhausted(); ++seed) reshape.improve(step, seed, budget);
//
// A profile is drawn at random for a little less time than the step takes. If the pattern LP does
// not refute it, it is planned (pattern_dive.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <vector>

#include "heuristics/scatter/working_plan.h"
#include "instances/budget.h"
#include "instances/scatter/table/planning_table.h"
#include "solvers/scatter/patterns/pattern_dive.h"

namespace stowage {

class ScatterProfileSearch {
 public:
  // `table` must outlive this.
  ScatterProfileSearch(const ScatterTable& table, MilpBackend backend);

  // Tries one profile. Returns true if the step, which must contain all sequences of the table, got
  // faster. Each linear programme and each plan counts as a node. Deterministic in the seeds of all
  // calls unless a time limit ends it.
  bool improve(WorkingStep& step, std::uint64_t seed, Budget& budget);

 private:
  struct Tally {
    int tried = 0;
    int possible = 0;
  };

  std::size_t draw_count(std::size_t present, std::mt19937_64& random) const;
  std::optional<std::vector<Ms>> draw_shape(std::size_t count, Ms sum,
                                            std::mt19937_64& random) const;
  std::optional<std::vector<Ms>> draw_even_shape(std::size_t count, Ms time,
                                                 std::mt19937_64& random) const;

  const ScatterTable& table_;
  MilpBackend backend_;
  std::optional<ScatterPatternDive> repack_;  // keeps its patterns between profiles
  int shapes_ = 0;                            // profiles tried
  std::map<std::size_t, Tally> tallies_;      // by number of micro-batches
};

// Tries one profile for some micro-batches of a step.
bool reshape_some(const ScatterTable& table, std::vector<std::size_t> chosen, MilpBackend backend,
                  std::uint64_t seed, WorkingStep& step, Budget& budget);

}  // namespace stowage

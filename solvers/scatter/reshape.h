// Steps of few micro-batches in other shapes: makespans far from the present ones, where what
// improves them step by step does not get, and more or fewer of them.
//
//   ScatterReshape reshape(table, MilpBackend::cbc);
//   for (std::uint64_t seed = 0; !budget.exhausted(); ++seed) reshape.improve(step, seed, budget);
//
// A shape is drawn at random for a little less time than the step takes; if the pattern LP thinks
// it possible, it is planned (repack.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <vector>

#include "heuristics/scatter/draft.h"
#include "instances/budget.h"
#include "instances/scatter/table.h"
#include "solvers/scatter/repack.h"

namespace stowage {

class ScatterReshape {
 public:
  // `table` must outlive this.
  ScatterReshape(const ScatterTable& table, MilpBackend backend);

  // One shape. True if the step, which must be of all of the table, got faster. A linear programme
  // and a plan count as a node each. Deterministic in the seeds of all calls unless a time limit
  // ends it.
  bool improve(StepDraft& step, std::uint64_t seed, Budget& budget);

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
  std::optional<ScatterRepack> repack_;   // keeps its patterns from shape to shape
  int shapes_ = 0;                        // that it has seen
  std::map<std::size_t, Tally> tallies_;  // by number of micro-batches
};

// The same for some micro-batches of a step.
bool reshape_some(const ScatterTable& table, std::vector<std::size_t> chosen, MilpBackend backend,
                  std::uint64_t seed, StepDraft& step, Budget& budget);

}  // namespace stowage

// The fastest stages of one class and layout: layers and choices of each stage, exactly.
//
//   StageSearch search(costs);
//   const StageSearch::Answer answer = search.run(best_known_ms, budget);
//   // answer.complete: nothing that fits is faster than answer.stages, or than best_known_ms
//
// The step is sum / v + (m - 1/v) max + tail, or the longest sequence's way through all stages: a
// sum, two maxima and another sum. So a partial pipeline is no worse than another one with the same
// layers behind it if it is no worse in these four. Stage by stage, the partial pipelines that no
// other one dominates are kept (labels), without those that cannot be finished below what is known.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "instances/budget.h"
#include "instances/strategy/compose.h"
#include "instances/strategy/table.h"

namespace stowage {

class StageSearch {
 public:
  // `costs` must outlive this.
  explicit StageSearch(const StageCosts& costs);

  struct Answer {
    std::vector<StagePlan> stages;  // empty if nothing below what was known was found
    bool complete = true;           // false: the budget ended it
  };

  // Counts a node for each label.
  Answer run(Ms below, Budget& budget);

 private:
  struct Label {
    Ms sum = 0;
    Ms most = 0;
    Ms alone = 0;
    Ms tail = 0;
    std::size_t parent = 0;  // among the labels of the stage before, at its end
    StagePlan stage;         // that was added
  };
  struct Candidate {
    StageCost cost;
    StageChoice choice;
  };
  struct Rest {  // the least that stages from one on add to each part
    std::vector<Ms> sum;
    std::vector<Ms> most;
    std::vector<Ms> alone;
  };

  const std::vector<Candidate>& candidates(std::int64_t stage, std::int64_t first,
                                           std::int64_t layers);
  void count_rest();
  Ms at_least(const Label& label, std::int64_t next_stage, std::int64_t end) const;
  // Whether the budget lasted.
  bool extend(std::int64_t stage, std::int64_t begin, Ms below, Budget& budget);
  std::vector<StagePlan> trace(std::size_t last) const;

  const StageCosts& costs_;
  const std::int64_t stages_;
  const std::int64_t layers_;
  std::vector<std::vector<Candidate>> candidates_;  // by stage, first and layers
  std::vector<char> known_;
  std::vector<Rest> rest_;                               // by stage
  std::vector<std::vector<std::vector<Label>>> labels_;  // by stages so far and layers so far
};

}  // namespace stowage

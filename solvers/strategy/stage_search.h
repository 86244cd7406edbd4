// Exact search for the fastest stages of one class and layout: the layers and the choice of each
// stage.
//
//   StageSearch search(costs);
//   const StageSearch::Answer answer = search.run(best_known_ms, budget);
//   // answer.complete: no fitting stages are faster than answer.stages, or than best_known_ms
//
// The step time is max(sum / v + (m - 1/v) most, alone) + tail. `sum` and `most` are the sum and
// the maximum of the stage times. `alone` is the time of the longest sequence through all stages.
// `tail` is the largest exposed exchange. A partial pipeline dominates another one with the
// same layers left if it is no worse in these four values. The search keeps, stage by stage, the
// labels that no other label dominates and whose lower bound is below the best known step.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "instances/budget.h"
#include "instances/strategy/cost/stage_costs.h"
#include "instances/strategy/plan_builder.h"

namespace stowage {

class StageSearch {
 public:
  // `costs` must outlive this object.
  explicit StageSearch(const StageCosts& costs);

  struct Answer {
    std::vector<StagePlan> stages;  // empty if no stages below `below` were found
    bool complete = true;           // false if the budget ended the search
  };

  // Returns the fastest stages below `below` ms. Each label counts as a node.
  Answer run(Ms below, Budget& budget);

 private:
  struct Label {
    Ms sum = 0;
    Ms most = 0;
    Ms alone = 0;
    Ms tail = 0;
    std::size_t parent = 0;  // index among the labels of the previous stage at its end
    StagePlan stage;         // the stage that was added
  };
  struct Candidate {
    StageCost cost;
    StageChoice choice;
  };
  struct Rest {  // least values that the remaining stages add, by first remaining layer
    std::vector<Ms> sum;
    std::vector<Ms> most;
    std::vector<Ms> alone;
  };

  const std::vector<Candidate>& candidates(std::int64_t stage, std::int64_t first,
                                           std::int64_t layers);
  void count_rest();
  Ms at_least(const Label& label, std::int64_t next_stage, std::int64_t end) const;
  // Returns false if the budget is exhausted.
  bool extend(std::int64_t stage, std::int64_t begin, Ms below, Budget& budget);
  std::vector<StagePlan> trace(std::size_t last) const;

  const StageCosts& costs_;
  const std::int64_t stages_;
  const std::int64_t layers_;
  std::vector<std::vector<Candidate>> candidates_;  // by stage, first layer and layers
  std::vector<char> known_;
  std::vector<Rest> rest_;  // by stage
  // by number of stages and number of layers so far
  std::vector<std::vector<std::vector<Label>>> labels_;
};

}  // namespace stowage

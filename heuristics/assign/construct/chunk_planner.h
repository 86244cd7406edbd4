// Plans one strategy of a step with chunks: deals sequences to replicas, moves them between the
// replicas by estimates, and packs the rows of each.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "heuristics/assign/construct/chunked_loads.h"
#include "heuristics/assign/construct/chunked_step.h"
#include "heuristics/assign/params.h"
#include "heuristics/assign/working_plan.h"
#include "instances/assign/plan_builder.h"
#include "instances/budget.h"

namespace stowage {

class ChunkPlanner : private ChunkedLoads {
 public:
  ChunkPlanner(const ChunkedStep& step, const AssignChunkParams& params)
      : ChunkedLoads(step), params_(params) {}

  // Returns the plan of a strategy. Returns nullopt if a sequence fits no replica, or if the budget
  // ends before there is a plan and no plan is `needed`.
  std::optional<std::vector<ReplicaChoice>> plan(int strategy, bool needed, const Budget& budget);

  Ms time() const { return time_; }  // time of the last plan in ms

 private:
  bool deal(const std::vector<SchemeGroup>& groups, bool needed, const Budget& budget);
  std::size_t holder_of(const std::vector<SchemeGroup>& groups) const;
  std::vector<std::int64_t> candidates(const ChunkedLoad& load) const;
  bool improve();
  std::optional<std::vector<WorkingRow>> rows_of(const ChunkedLoad& load, bool needed,
                                                 const Budget& budget, Ms& best) const;
  void pack(bool needed, const Budget& budget);

  const AssignChunkParams& params_;
  std::vector<ChunkedLoad> loads_;
  std::optional<std::vector<ReplicaChoice>> best_;
  Ms time_ = 0;
};

}  // namespace stowage

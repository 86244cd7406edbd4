// Runs the groups of a step on threads of this process (ThreadPool) or on processes
// (process_pool.h).
//
//   ThreadPool pool;
//   pool.prepare({block, weights});
//   std::vector<GroupOutput> out = pool.run({&work, 1});
//
// All pools compute the same bits.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "kernels/ranks/thread_ranks.h"
#include "kernels/run/rank_step.h"

namespace stowage::kernels {

struct GroupWork {
  GroupTask task;
  std::span<const float> x;         // (tokens, hidden)
  std::span<const float> upstream;  // (tokens, hidden): gradient of the output
};

struct GroupOutput {
  std::vector<float> y, dx;        // (tokens, hidden)
  BlockWeights<float> gradient;    // sum over ranks in rank order
  double seconds = 0;              // time of the busiest rank (RankShare)
  std::optional<RankError> error;  // if set, the other members are meaningless
};

class RankPool {
 public:
  RankPool() = default;
  RankPool(const RankPool&) = delete;
  RankPool& operator=(const RankPool&) = delete;
  virtual ~RankPool() = default;

  // Returns the number of ranks that groups can share, which is the limit on the ranks of a group.
  // Returns nullopt if there is no limit; groups then run one after another.
  virtual std::optional<int> ranks() const = 0;

  // Sets the model for all runs until the next call; the objects that `model` refers to must
  // outlive these runs.
  virtual void prepare(const Model& model) = 0;

  // Runs groups whose ranks fit in the pool together, and returns their outputs in order. A group
  // that fails does not stop the others.
  virtual std::vector<GroupOutput> run(std::span<const GroupWork> groups) = 0;
};

class ThreadPool final : public RankPool {
 public:
  std::optional<int> ranks() const override { return std::nullopt; }
  void prepare(const Model& model) override { model_.emplace(model); }
  std::vector<GroupOutput> run(std::span<const GroupWork> groups) override;

 private:
  std::optional<Model> model_;
};

}  // namespace stowage::kernels

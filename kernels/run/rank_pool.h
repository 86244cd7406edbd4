// Where the ranks of a step's groups live: threads of this process, or processes (process_pool.h).
//
//   ThreadPool pool;
//   pool.prepare({block, weights});
//   std::vector<GroupOutput> out = pool.run({&work, 1});
//
// Every pool computes the same bits.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "kernels/ranks/thread_ranks.h"
#include "kernels/run/group_share.h"

namespace stowage::kernels {

struct GroupWork {
  GroupTask task;
  std::span<const float> x;         // (tokens, hidden)
  std::span<const float> upstream;  // (tokens, hidden): gradient of the output
};

struct GroupOutput {
  std::vector<float> y, dx;        // (tokens, hidden)
  BlockWeights<float> gradient;    // summed over ranks in rank order
  double seconds = 0;              // of the busiest rank (RankShare), the least over the repeats
  std::optional<RankError> error;  // set: everything else is meaningless
};

class RankPool {
 public:
  RankPool() = default;
  RankPool(const RankPool&) = delete;
  RankPool& operator=(const RankPool&) = delete;
  virtual ~RankPool() = default;

  // How many ranks there are to share out; no group may have more. Nothing: as many as a group asks
  // for, one group after another.
  virtual std::optional<int> ranks() const = 0;

  // For all runs until the next call; what it refers to must outlive them.
  virtual void prepare(const Model& model) = 0;

  // Groups that fit side by side, in order. A group that fails does not stop the others.
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

// For the pools themselves: seconds of a group from [rank][repeat].
double group_seconds(const std::vector<std::vector<double>>& seconds);

}  // namespace stowage::kernels

// Groups on processes: rank 0 of `world` hands out a step's groups, the others serve.
//
//   if (world.rank() != 0) return serve(world);        // until the pool below ends
//   ProcessPool pool(world);
//   ExecutionReport report = execute(plan, {.pool = &pool}, {}, nullptr);
//
// Groups that fit side by side run at once, each on a group of ranks split off `world`: the first
// on ranks 0, 1, ..., the next on those after them. Only rank 0 has the plan and the data; whoever
// serves is told cu_seqlens, receives its rows, and sends back outputs, gradients and times.
// Nothing here depends on what a rank is: ranks/mpi_ranks.h makes them processes, a test threads.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "kernels/ranks/communicator.h"
#include "kernels/run/rank_pool.h"

namespace stowage::kernels {

// What each rank of a group runs: run_share(), or something that fails in a test.
using ShareProgram = std::function<RankShare(Communicator&, const Model&, const GroupTask&,
                                             std::span<const float>, std::span<const float>)>;

// Work that is no group of batches, by the words that rank 0 says of it.
using OtherWork = std::function<void(Communicator&, std::span<const std::int64_t>)>;

class ProcessPool final : public RankPool {
 public:
  explicit ProcessPool(Communicator& world, ShareProgram program = run_share)
      : world_(world), program_(std::move(program)) {}
  ~ProcessPool() override;  // lets the others return from serve(); not after an exception in run()

  std::optional<int> ranks() const override { return world_.size(); }
  void prepare(const Model& model) override;
  std::vector<GroupOutput> run(std::span<const GroupWork> groups) override;

  // Does other work with all ranks that serve, which do theirs with the same words.
  void run_other(std::vector<std::int64_t> words, const OtherWork& work);

 private:
  Communicator& world_;
  ShareProgram program_;
  std::optional<Model> model_;
  bool talking_ = false;  // in the middle of something that all take part in
};

// What every rank but 0 does while rank 0 has a pool. Without `other`, such work is an error.
void serve(Communicator& world, const ShareProgram& program = run_share,
           const OtherWork& other = {});

}  // namespace stowage::kernels

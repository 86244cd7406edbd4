// Runs groups on processes: rank 0 of `world` distributes a step's groups, the other ranks execute
// serve().
//
//   if (world.rank() != 0) return serve(world);        // until the pool below ends
//   ProcessPool pool(world);
//   ExecutionReport report = execute(plan, {.pool = &pool}, {}, nullptr);
//
// Groups that fit on the ranks together run in parallel, each on ranks split off `world`: the first
// group on ranks 0, 1, ..., the next group on the following ranks. Only rank 0 has the plan and the
// data. A serving rank receives cu_seqlens and its rows, and returns outputs, gradients and times.
// The code works for any implementation of ranks: processes (ranks/mpi_ranks.h), or threads in a
// test.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "kernels/ranks/communicator.h"
#include "kernels/run/ranks/rank_pool.h"

namespace stowage::kernels {

// The program of each rank of a group: run_share(), or a function that fails in a test.
using ShareProgram = std::function<RankShare(Communicator&, const Model&, const GroupTask&,
                                             std::span<const float>, std::span<const float>)>;

// Work other than groups of batches; its argument is the words that rank 0 sends.
using OtherWork = std::function<void(Communicator&, std::span<const std::int64_t>)>;

class ProcessPool final : public RankPool {
 public:
  explicit ProcessPool(Communicator& world, ShareProgram program = run_share)
      : world_(world), program_(std::move(program)) {}
  ~ProcessPool() override;  // ends serve() on the other ranks; not after an exception in run()

  std::optional<int> ranks() const override { return world_.size(); }
  void prepare(const Model& model) override;
  std::vector<GroupOutput> run(std::span<const GroupWork> groups) override;

  // Runs `work` on rank 0 and the OtherWork of every serving rank with the same words.
  void run_other(std::vector<std::int64_t> words, const OtherWork& work);

 private:
  Communicator& world_;
  ShareProgram program_;
  std::optional<Model> model_;
  bool talking_ = false;  // true during a call in which all ranks take part
};

// Executed by every rank except rank 0 while rank 0 has a pool. If `other` is empty, run_other() is
// an error.
void serve(Communicator& world, const ShareProgram& program = run_share,
           const OtherWork& other = {});

}  // namespace stowage::kernels

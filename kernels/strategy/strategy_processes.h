// Runs a strategy on the processes of a job. Rank 0 has the task and receives the results.
//
//   // rank 0
//   ProcessPool pool(world);
//   StrategyStep step = run_on_processes(pool, task);
//   // all others
//   serve(world, run_share, take_part_in_step);
//
// The task has at most as many ranks as the job; the remaining processes wait. An exception on a
// rank becomes the step's error, as with threads.
#pragma once

#include <cstdint>
#include <span>

#include "kernels/ranks/communicator.h"
#include "kernels/run/ranks/process_pool.h"
#include "kernels/strategy/strategy_step.h"
#include "kernels/strategy/task.h"

namespace stowage::kernels {

// Only rank 0 checks the budget, which may be null. Ranks that communicate with rank 0 leave
// together with it; a replica without communication with rank 0 completes its passes first.
StrategyStep run_on_processes(ProcessPool& pool, const StrategyTask& task, const Budget* budget);

// Executed by every rank except rank 0, with the words that rank 0 sent.
void take_part_in_step(Communicator& world, std::span<const std::int64_t> words);

}  // namespace stowage::kernels

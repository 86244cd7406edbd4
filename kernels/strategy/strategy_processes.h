// A strategy on the processes of a job: the first one has the task and gets the results.
//
//   // rank 0
//   ProcessPool pool(world);
//   StrategyStep step = run_on_processes(pool, task);
//   // all others
//   serve(world, run_share, take_part_in_step);
//
// The task has at most as many ranks as the job; the processes behind them wait. An exception on a
// rank is the step's error, as with threads.
#pragma once

#include <cstdint>
#include <span>

#include "kernels/ranks/communicator.h"
#include "kernels/run/process_pool.h"
#include "kernels/strategy/strategy_step.h"
#include "kernels/strategy/task.h"

namespace stowage::kernels {

// Rank 0 alone looks at the budget, which may be null: ranks that exchange something with it leave
// with it, a replica of its own ends its passes first.
StrategyStep run_on_processes(ProcessPool& pool, const StrategyTask& task, const Budget* budget);

// What every rank but 0 does with what rank 0 told.
void take_part_in_step(Communicator& world, std::span<const std::int64_t> words);

}  // namespace stowage::kernels

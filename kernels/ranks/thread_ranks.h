// Ranks as threads of one process.
//
//   std::optional<RankError> error = run_ranks(4, [&](Communicator& world) { step(world); });
//   if (error) complain(error->rank, error->message);
//
// A rank posts where its data lie, everyone meets, each pulls what is meant for it, and everyone
// meets again before the memory may change. Waiting ranks sleep: thread CPU time is what a rank
// computed and copied, not how long it waited, which is why this is a mutex and a condition
// variable and not std::barrier (whose waiters spin).
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "kernels/ranks/communicator.h"

namespace stowage::kernels {

// The rank that failed first by rank number, not counting those that only left because of it.
struct RankError {
  int rank = 0;
  std::string message;
};

// Runs `program` once per rank, each on its own thread, and waits for all of them. When a rank
// throws, or returns while others wait for it, the others leave their collective with an
// exception; the run returns an error and never hangs in a collective. `ranks` >= 1.
std::optional<RankError> run_ranks(int ranks, const std::function<void(Communicator&)>& program);

}  // namespace stowage::kernels

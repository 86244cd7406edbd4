// Ranks as threads of one process.
//
//   std::optional<RankError> error = run_ranks(4, [&](Communicator& world) { step(world); });
//   if (error) complain(error->rank, error->message);
//
// A collective has four steps: each rank posts the address of its data, all ranks meet, each rank
// copies its part, and all ranks meet again before the memory may change. Waiting ranks sleep, so
// that a thread's CPU time contains only computing and copying. For that reason the class uses a
// mutex and a condition variable instead of std::barrier, whose waiters spin.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "kernels/ranks/communicator.h"

namespace stowage::kernels {

// The failed rank with the lowest number. Ranks that only left because of another failure do not
// count.
struct RankError {
  int rank = 0;
  std::string message;
};

// Runs `program` once per rank, each on its own thread, and waits for all of them. If a rank
// throws, or returns while others wait for it, the others leave their collective with an exception.
// The function then returns an error, and never hangs in a collective. Returns nullopt after
// success. `ranks` >= 1.
std::optional<RankError> run_ranks(int ranks, const std::function<void(Communicator&)>& program);

}  // namespace stowage::kernels

// Reports to rank 0 of the world whether the ranks of a group of processes succeeded.
//
//   const RankEnding mine = guarded([&] { work_in(*world.split(colour)); });
//   const std::vector<RankEnding> endings = gather_endings(world, mine);   // on all ranks
//   if (const auto error = error_of(endings)) complain(error->message);    // on rank 0
//
// An exception affects only the rank and its group; the world remains usable.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kernels/ranks/communicator.h"
#include "kernels/ranks/thread_ranks.h"

namespace stowage::kernels {

struct RankEnding {
  enum State : std::int64_t { finished, failed, abandoned };
  State state = finished;
  std::string message;  // error message of a rank that failed
};

// Runs `work` and returns its ending. The ending is `abandoned` if the rank left because another
// rank failed.
RankEnding guarded(const std::function<void()>& work);

// Returns the endings of all ranks in rank order on rank 0, and an empty vector on other ranks.
// Messages are truncated to 512 bytes. All ranks must call it.
std::vector<RankEnding> gather_endings(Communicator& world, const RankEnding& mine);

// Returns the error that run_ranks() would report, or nullopt.
std::optional<RankError> error_of(std::span<const RankEnding> endings);

}  // namespace stowage::kernels

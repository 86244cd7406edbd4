// How the ranks of a group of processes ended, said to rank 0 of the world around the group.
//
//   const RankEnding mine = guarded([&] { work_in(*world.split(colour)); });
//   const std::vector<RankEnding> endings = gather_endings(world, mine);   // on all ranks
//   if (const auto error = error_of(endings)) complain(error->message);    // on rank 0
//
// An exception stays with the rank and its group: the world goes on.
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
  std::string message;  // of a rank that did not finish
};

// Runs `work` and says how it ended: `abandoned` for what left because another rank failed.
RankEnding guarded(const std::function<void()>& work);

// Of every rank, in rank order, on rank 0; elsewhere empty. Messages are cut at 512 bytes. All
// ranks call it.
std::vector<RankEnding> gather_endings(Communicator& world, const RankEnding& mine);

// The same error that run_ranks() would report.
std::optional<RankError> error_of(std::span<const RankEnding> endings);

}  // namespace stowage::kernels

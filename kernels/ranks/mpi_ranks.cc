#include "kernels/ranks/mpi_ranks.h"

#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "kernels/ranks/mpi_post.h"
#include "kernels/ranks/mpi_rank.h"
#include "kernels/ranks/mpi_transfers.h"

namespace stowage::kernels {

struct MpiProcess::State {
  MpiPost post;
  std::unique_ptr<MpiRank> world;
};

bool mpi_built_in() { return true; }

MpiProcess::MpiProcess() : state_(std::make_unique<State>()) {
  const MpiJob job = join_mpi();
  std::vector<int> members(job.size);
  std::iota(members.begin(), members.end(), 0);
  state_->world = std::make_unique<MpiRank>(state_->post, std::move(members), job.rank, 0);
}

MpiProcess::~MpiProcess() {
  state_->post.tidy();
  leave_mpi();
}

Communicator& MpiProcess::world() { return *state_->world; }

void MpiProcess::abort(int exit_code) { abort_mpi(exit_code); }

}  // namespace stowage::kernels

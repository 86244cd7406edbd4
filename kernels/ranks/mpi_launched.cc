#include <cstdlib>

#include "kernels/ranks/mpi_ranks.h"

namespace stowage::kernels {

bool mpi_launched() {
  // Open MPI's mpirun sets both variables; srun --mpi=pmix sets the second.
  return std::getenv("OMPI_COMM_WORLD_SIZE") != nullptr || std::getenv("PMIX_RANK") != nullptr;
}

}  // namespace stowage::kernels

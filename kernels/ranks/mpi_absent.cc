// Replaces mpi_ranks.cc in a build without MPI.
#include <cstdlib>
#include <stdexcept>

#include "kernels/ranks/mpi_ranks.h"

namespace stowage::kernels {

struct MpiProcess::State {};

bool mpi_built_in() { return false; }

MpiProcess::MpiProcess() { throw std::runtime_error("this build has no MPI (WITH_MPI)"); }
MpiProcess::~MpiProcess() = default;
// never called, since no MpiProcess can be constructed
Communicator& MpiProcess::world() { std::abort(); }
void MpiProcess::abort(int exit_code) { std::exit(exit_code); }

}  // namespace stowage::kernels

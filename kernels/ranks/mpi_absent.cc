// What a build without MPI has in the place of mpi_ranks.cc.
#include <cstdlib>
#include <stdexcept>

#include "kernels/ranks/mpi_ranks.h"

namespace stowage::kernels {

struct MpiProcess::State {};

bool mpi_built_in() { return false; }

MpiProcess::MpiProcess() { throw std::runtime_error("this build has no MPI (WITH_MPI)"); }
MpiProcess::~MpiProcess() = default;
Communicator& MpiProcess::world() { std::abort(); }  // there is no object to call it on
void MpiProcess::abort(int exit_code) { std::exit(exit_code); }

}  // namespace stowage::kernels

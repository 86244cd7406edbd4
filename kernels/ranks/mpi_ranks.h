// Ranks as processes, on one machine or many, over MPI. A build without MPI has none.
//
//   if (mpi_launched()) {
//     MpiProcess process;                       // MPI_Init .. MPI_Finalize: once per program
//     if (process.world().rank() != 0) return serve(process.world());
//     ...
//   }
//
// Collectives are point-to-point messages: those of MPI spin while they wait, count in int, and
// need a communicator that all ranks of a group free together, which a group that one rank has left
// in failure cannot. Before any data moves, all ranks of a group tell each
// other what they are about to do; from that all come to the same conclusion about a disagreement,
// and a rank that has failed or returned says so in the same place. So a collective that cannot
// complete throws on every rank, as with threads. A process that dies outright is mpirun's to
// notice, which then ends the others.
//
// Waiting ranks sleep between polls: their CPU time stays what they computed and copied, and more
// ranks than cores do not get in each other's way.
#pragma once

#include <memory>

#include "kernels/ranks/communicator.h"

namespace stowage::kernels {

// Whether this build can run ranks as processes.
bool mpi_built_in();

// Whether mpirun, or srun with PMIx, started this process. Reads the environment alone.
bool mpi_launched();

class MpiProcess {
 public:
  // Throws std::runtime_error if the build has no MPI. All processes of the job construct one.
  MpiProcess();
  ~MpiProcess();
  MpiProcess(const MpiProcess&) = delete;
  MpiProcess& operator=(const MpiProcess&) = delete;

  // All processes of the job.
  Communicator& world();

  // Ends all processes of the job at once, whatever they are doing.
  [[noreturn]] void abort(int exit_code);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace stowage::kernels

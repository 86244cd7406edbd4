// Ranks as processes, on one machine or many, over MPI. In a build without MPI the constructor
// throws.
//
//   if (mpi_launched()) {
//     MpiProcess process;                       // MPI_Init .. MPI_Finalize: once per program
//     if (process.world().rank() != 0) return serve(process.world());
//     ...
//   }
//
// Collectives are built from point-to-point messages. MPI's own collectives spin while they wait
// and count in int. They also need a communicator that all ranks of a group free together, which is
// impossible after a rank has failed. Before data are sent, all ranks of a group announce their
// call to each other, so all ranks detect the same disagreement. A rank that failed or returned
// announces its end in the same way. So a collective that cannot complete throws on every rank, as
// with threads. If a process crashes, mpirun notices it and ends the others.
//
// Waiting ranks sleep between polls. So their CPU time contains only computing and copying, and a
// machine can run more ranks than it has cores.
#pragma once

#include <memory>

#include "kernels/ranks/communicator.h"

namespace stowage::kernels {

// Returns whether this build can run ranks as processes.
bool mpi_built_in();

// Returns whether mpirun, or srun with PMIx, started this process. Reads only the environment.
bool mpi_launched();

class MpiProcess {
 public:
  // Throws std::runtime_error if the build has no MPI. All processes of the job construct one.
  MpiProcess();
  ~MpiProcess();
  MpiProcess(const MpiProcess&) = delete;
  MpiProcess& operator=(const MpiProcess&) = delete;

  // The group of all processes of the job.
  Communicator& world();

  // Ends all processes of the job at once, regardless of their state.
  [[noreturn]] void abort(int exit_code);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace stowage::kernels

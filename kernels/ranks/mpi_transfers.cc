#include "kernels/ranks/mpi_transfers.h"

#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <span>
#include <thread>
#include <vector>

namespace stowage::kernels {
namespace {

// Sleeps between polls, with growing intervals. MPI's own waiting functions spin.
class Naps {
 public:
  void wait() {
    if (polls_++ < kEager) return std::this_thread::yield();
    std::this_thread::sleep_for(nap_);
    nap_ = std::min(2 * nap_, kLongest);
  }

 private:
  static constexpr int kEager = 50;
  static constexpr std::chrono::microseconds kShortest{10}, kLongest{200};
  int polls_ = 0;
  std::chrono::microseconds nap_ = kShortest;
};

// MPI counts are ints, so long arrays are sent in pieces of this many floats.
constexpr std::size_t kPiece = std::size_t{1} << 30;

}  // namespace

struct MpiTransfers::Requests {
  std::vector<MPI_Request> all;
};

MpiTransfers::MpiTransfers() : requests_(std::make_unique<Requests>()) {}
MpiTransfers::~MpiTransfers() = default;

void MpiTransfers::send(std::span<const float> values, int rank, int tag) {
  for (; !values.empty(); values = values.subspan(std::min(kPiece, values.size()))) {
    MPI_Isend(values.data(), static_cast<int>(std::min(kPiece, values.size())), MPI_FLOAT, rank,
              tag, MPI_COMM_WORLD, &requests_->all.emplace_back());
  }
}

void MpiTransfers::receive(std::span<float> values, int rank, int tag) {
  for (; !values.empty(); values = values.subspan(std::min(kPiece, values.size()))) {
    MPI_Irecv(values.data(), static_cast<int>(std::min(kPiece, values.size())), MPI_FLOAT, rank,
              tag, MPI_COMM_WORLD, &requests_->all.emplace_back());
  }
}

void MpiTransfers::send(std::span<const std::int64_t> words, int rank, int tag) {
  MPI_Isend(words.data(), static_cast<int>(words.size()), MPI_INT64_T, rank, tag, MPI_COMM_WORLD,
            &requests_->all.emplace_back());
}

void MpiTransfers::receive(std::span<std::int64_t> words, int rank, int tag) {
  MPI_Irecv(words.data(), static_cast<int>(words.size()), MPI_INT64_T, rank, tag, MPI_COMM_WORLD,
            &requests_->all.emplace_back());
}

bool MpiTransfers::done() {
  int done = 0;
  MPI_Testall(static_cast<int>(requests_->all.size()), requests_->all.data(), &done,
              MPI_STATUSES_IGNORE);
  if (done != 0) requests_->all.clear();
  return done != 0;
}

void MpiTransfers::wait() {
  for (Naps naps; !done(); naps.wait()) {
  }
}

std::optional<int> arrived_words(int rank, int tag) {
  int arrived = 0, count = 0;
  MPI_Status status;
  MPI_Iprobe(rank, tag, MPI_COMM_WORLD, &arrived, &status);
  if (arrived == 0) return std::nullopt;
  MPI_Get_count(&status, MPI_INT64_T, &count);
  return count;
}

int await_words(int rank, int tag) {
  for (Naps naps;; naps.wait()) {
    if (const std::optional<int> count = arrived_words(rank, tag)) return *count;
  }
}

void take_words(std::span<std::int64_t> words, int rank, int tag) {
  MPI_Recv(words.data(), static_cast<int>(words.size()), MPI_INT64_T, rank, tag, MPI_COMM_WORLD,
           MPI_STATUS_IGNORE);
}

MpiJob join_mpi() {
  MpiJob job;
  int provided = 0;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &job.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &job.size);
  return job;
}

void leave_mpi() { MPI_Finalize(); }

void abort_mpi(int exit_code) {
  MPI_Abort(MPI_COMM_WORLD, exit_code);
  std::abort();  // MPI_Abort does not return
}

}  // namespace stowage::kernels

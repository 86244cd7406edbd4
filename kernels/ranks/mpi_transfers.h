// Arrays and messages between the processes of a job. Its source is the only one that includes
// mpi.h.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

namespace stowage::kernels {

// Sends and receives in progress. Their arrays must live until they are done.
class MpiTransfers {
 public:
  MpiTransfers();
  ~MpiTransfers();
  MpiTransfers(const MpiTransfers&) = delete;
  MpiTransfers& operator=(const MpiTransfers&) = delete;

  void send(std::span<const float> values, int rank, int tag);
  void receive(std::span<float> values, int rank, int tag);
  void send(std::span<const std::int64_t> words, int rank, int tag);
  void receive(std::span<std::int64_t> words, int rank, int tag);

  // Returns whether all of them are done.
  bool done();
  // Waits until all of them are done, with growing sleeps.
  void wait();

 private:
  struct Requests;
  std::unique_ptr<Requests> requests_;
};

// Returns the length of the next words with this tag from the rank; nullopt if none have arrived.
std::optional<int> arrived_words(int rank, int tag);
// Waits for the next words with this tag from the rank, and returns their length.
int await_words(int rank, int tag);
// Takes words that have arrived.
void take_words(std::span<std::int64_t> words, int rank, int tag);

struct MpiJob {
  int rank = 0;
  int size = 0;
};
MpiJob join_mpi();
void leave_mpi();
[[noreturn]] void abort_mpi(int exit_code);

}  // namespace stowage::kernels

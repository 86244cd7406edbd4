// The communication between the ranks of a sequence-parallel group.
//
// Every rank of a group holds a Communicator and calls the same collectives in the same order. The
// kernels use only this interface. thread_ranks.h runs the ranks as threads of one process,
// mpi_ranks.h as processes. Sums are computed in rank order, so both give the same bits.
//
//   void program(Communicator& world) {
//     std::vector<float> sum = my_gradient();
//     world.all_reduce(sum);              // the same bits on every rank and in every run
//   }
//
// Counts are in floats. A collective cannot complete if a rank threw or returned, or if the ranks
// called it with different arguments. It then throws on every waiting rank, so that no rank hangs.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <vector>

namespace stowage::kernels {

// Thrown on ranks that leave a collective because another rank failed.
struct Abandoned : std::runtime_error {
  Abandoned() : std::runtime_error("left because another rank failed") {}
};

class Communicator {
 public:
  Communicator() = default;
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;
  virtual ~Communicator() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;

  virtual void barrier() = 0;

  // Rank s sends send_counts[r] floats to rank r; `send` holds them in rank order, and `recv`
  // receives recv_counts[s] floats from every rank s in rank order. recv_counts[s] here must equal
  // send_counts[this rank] there. Counts may be 0. `send` and `recv` must not overlap.
  virtual void all_to_all_v(std::span<const float> send, std::span<const std::int64_t> send_counts,
                            std::span<float> recv, std::span<const std::int64_t> recv_counts) = 0;

  // Copies rank 0's values to every rank. All ranks must pass the same number of values.
  virtual void broadcast(std::span<float> values) = 0;

  // Rank 0 holds counts[r] floats for every rank r in rank order; each rank receives its own. On
  // other ranks `all` and `counts` are not read.
  virtual void scatter(std::span<const float> all, std::span<const std::int64_t> counts,
                       std::span<float> mine) = 0;

  // The inverse: rank 0 receives counts[s] floats from every rank s in rank order.
  virtual void gather(std::span<const float> mine, std::span<float> all,
                      std::span<const std::int64_t> counts) = 0;

  // `all` receives counts[s] floats from every rank s in rank order; mine.size() is counts[rank()],
  // and all ranks pass the same counts.
  virtual void all_gather(std::span<const float> mine, std::span<float> all,
                          std::span<const std::int64_t> counts) = 0;

  // Every rank passes sum(counts) floats; rank r receives the r-th part (counts[r] floats) of the
  // sum over ranks, added in rank order.
  virtual void reduce_scatter(std::span<const float> all, std::span<float> mine,
                              std::span<const std::int64_t> counts) = 0;

  // values = sum over ranks of values, added in rank order.
  virtual void all_reduce(std::span<float> values) = 0;

  // Sends to rank `to` while receiving from rank `from`: a step of a ring, or of any permutation of
  // the ranks. `from` must send here, and as much as recv holds; nothing may overlap.
  virtual void send_receive(std::span<const float> send, int to, std::span<float> recv,
                            int from) = 0;

  // Sends a copy of the values to rank `to` without waiting. Messages of one sender with the same
  // tag arrive in the order in which they were sent.
  virtual void send(std::span<const float> values, int to, int tag) = 0;

  // Waits for the message that rank `from`, another rank, sends with this tag; the message must
  // have the size of `values`. A rank must receive all messages sent to it before its next
  // collective in this group. Throws if `from` failed, returned, or waits for this rank in a
  // collective.
  virtual void receive(std::span<float> values, int from, int tag) = 0;

  // Ranks that pass the same colour form a new group, in the order of their ranks in this group.
  // This group stays usable and must outlive the new group. If a rank destroys its new group, by an
  // exception or otherwise, the ranks that wait for it there leave with an exception.
  virtual std::unique_ptr<Communicator> split(int colour) = 0;
};

// The error messages of both implementations for a collective that cannot complete.
inline constexpr const char* kMixedCollectives = "the ranks called different collectives";
inline constexpr const char* kUnequalCounts = "the ranks disagree about how much they exchange";
inline constexpr const char* kAlreadyReturned = "waits for a rank that has already returned";

// Distributes `total` items in contiguous ranges: the first total % ranks ranges have one item
// more. Returns ranks + 1 boundaries, the first 0, the last `total`.
std::vector<std::int64_t> even_split(std::int64_t total, int ranks);

// Returns the sum of these counts.
std::int64_t sum_of(std::span<const std::int64_t> counts);

// Rank 0's array (split[size] rows of `width` floats) cut at `split`: rank r receives rows
// [split[r], split[r+1]). Other ranks pass an empty `all`.
void scatter_rows(Communicator& world, std::span<const std::int64_t> split, std::int64_t width,
                  std::span<const float> all, std::span<float> mine);

// The inverse: rank 0 receives all rows in order.
void gather_rows(Communicator& world, std::span<const std::int64_t> split, std::int64_t width,
                 std::span<const float> mine, std::span<float> all);

}  // namespace stowage::kernels

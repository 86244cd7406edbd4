// The messages of one process to the others of its groups, beside the collectives.
#pragma once

#include <array>
#include <cstdint>
#include <list>
#include <span>
#include <vector>

#include "kernels/ranks/mpi_announcement.h"
#include "kernels/ranks/mpi_transfers.h"

namespace stowage::kernels {

// Words of a message's header: MpiCall::message, its floats, its tag. No announcement has this
// length.
inline constexpr int kMessageWords = 3;

// The state that the groups of one process share: context numbers for message tags, and sends whose
// completion is not awaited.
class MpiPost {
 public:
  // Contexts are numbered so that no rank belongs to two living groups with the same number.
  std::int64_t free_context = 1;
  static int announcement_tag(std::int64_t context) { return static_cast<int>(2 * context); }
  static int data_tag(std::int64_t context) { return static_cast<int>(2 * context + 1); }

  // Sends a message, and keeps its buffer until the send is complete.
  void send(std::int64_t context, int rank, int tag, std::span<const float> values);
  // Announces to the other ranks that this rank leaves the group, without waiting.
  void leave(std::int64_t context, MpiCall how, std::vector<int> others);
  // Receives messages that arrived for groups that this rank left, so that they do not accumulate.
  void tidy();

 private:
  struct Message {
    std::array<std::int64_t, kMessageWords> head{};
    std::vector<float> values;
    MpiTransfers transfers;
  };
  struct Sent {
    std::int64_t word = 0;
    MpiTransfers transfers;
  };
  struct Left {
    std::int64_t context;
    std::vector<int> unheard;  // ranks that have not announced that they left too
  };
  static bool heard_end(int rank, std::int64_t context);

  std::list<Message> messages_;
  std::list<Sent> sent_;
  std::list<Left> left_;
};

}  // namespace stowage::kernels

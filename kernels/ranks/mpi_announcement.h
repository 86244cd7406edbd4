// What a rank tells the other ranks of its group before it takes part in a collective.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace stowage::kernels {

// The call that a rank announces, or the end of its calls.
enum class MpiCall : std::int64_t {
  barrier,
  all_to_all_v,
  broadcast,
  scatter,
  gather,
  all_gather,
  reduce_scatter,
  all_reduce,
  ring,
  split,
  message,
  failed,
  returned
};

using MpiCounts = std::vector<std::int64_t>;

// One rank's announcement: five integers, then the counts that it sends to and expects from each
// rank.
struct MpiAnnouncement {
  MpiCounts words;

  static constexpr std::size_t kHead = 5;
  MpiAnnouncement() = default;
  explicit MpiAnnouncement(int ranks) : words(kHead + 2 * static_cast<std::size_t>(ranks)) {}

  MpiCall call() const { return static_cast<MpiCall>(words[0]); }
  std::int64_t& size() { return words[1]; }  // floats of the single array
  std::int64_t size() const { return words[1]; }
  std::int64_t& to() { return words[2]; }  // target of a ring step; the colour of a split
  std::int64_t to() const { return words[2]; }
  std::int64_t& from() { return words[3]; }
  std::int64_t from() const { return words[3]; }
  // floats that a ring step expects; a split's free context
  std::int64_t& other() { return words[4]; }
  std::int64_t other() const { return words[4]; }
  std::span<std::int64_t> sends() { return std::span(words).subspan(kHead, ranks()); }
  std::span<std::int64_t> expects() { return std::span(words).subspan(kHead + ranks(), ranks()); }
  std::span<const std::int64_t> sends() const { return std::span(words).subspan(kHead, ranks()); }
  std::span<const std::int64_t> expects() const {
    return std::span(words).subspan(kHead + ranks(), ranks());
  }
  std::size_t ranks() const { return (words.size() - kHead) / 2; }
};

}  // namespace stowage::kernels

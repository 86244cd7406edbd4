#include "kernels/ranks/mpi_post.h"

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace stowage::kernels {

void MpiPost::send(std::int64_t context, int rank, int tag, std::span<const float> values) {
  messages_.remove_if([](Message& sent) { return sent.transfers.done(); });
  Message& message = messages_.emplace_back();
  message.head = {static_cast<std::int64_t>(MpiCall::message),
                  static_cast<std::int64_t>(values.size()), tag};
  message.values.assign(values.begin(), values.end());
  message.transfers.send(message.head, rank, announcement_tag(context));
  message.transfers.send(message.values, rank, data_tag(context));
}

void MpiPost::leave(std::int64_t context, MpiCall how, std::vector<int> others) {
  for (const int rank : others) {
    Sent& sent = sent_.emplace_back();
    sent.word = static_cast<std::int64_t>(how);
    sent.transfers.send(std::span(&sent.word, 1), rank, announcement_tag(context));
  }
  left_.push_back({context, std::move(others)});
}

void MpiPost::tidy() {
  sent_.remove_if([](Sent& sent) { return sent.transfers.done(); });
  for (Left& group : left_) {
    std::erase_if(group.unheard, [&](int rank) { return heard_end(rank, group.context); });
  }
  left_.remove_if([](const Left& group) { return group.unheard.empty(); });
}

// Receives late announcements of a rank. Returns true once the announcement of its end arrives.
bool MpiPost::heard_end(int rank, std::int64_t context) {
  for (;;) {
    const std::optional<int> count = arrived_words(rank, announcement_tag(context));
    if (!count) return false;
    MpiCounts words(*count);
    take_words(words, rank, announcement_tag(context));
    if (words[0] >= static_cast<std::int64_t>(MpiCall::failed)) return true;
  }
}

}  // namespace stowage::kernels

#include "kernels/run/lone_sequences.h"

#include <algorithm>

#include "instances/numeric/numbers.h"

namespace stowage::kernels {
namespace {

// Threads share the heads and rows of a sequence of this many tokens, and compute shorter ones side
// by side.
constexpr std::int64_t kLong = 64;
// Results that are held at once for each thread, because each has gradients of its own.
constexpr std::size_t kHeldOfAThread = 8;

}  // namespace

std::vector<float> sequence_tokens(const Source& source, std::int64_t sequence, std::int64_t length,
                                   int hidden) {
  std::vector<float> rows(at(length * hidden));
  fill_tokens(source, sequence, 0, hidden, rows);
  return rows;
}

LoneResult LoneSequences::one(std::int64_t id, std::int64_t window) const {
  const std::int64_t length = lengths_[at(id)];
  const auto tokens = [&](Stream stream) {
    return sequence_tokens({options_.seed, stream}, id, length, options_.block.hidden);
  };
  const std::vector<float> x = tokens(Stream::input), upstream = tokens(Stream::upstream);
  const std::vector<std::int32_t> cu = {0, static_cast<std::int32_t>(length)};
  BlockShape block = options_.block;
  block.window = window;
  BlockResult result = block_reference(block, weights_, cu, std::vector<double>(x.begin(), x.end()),
                                       std::vector<double>(upstream.begin(), upstream.end()));
  const double loss = loss_of<double>(result.y, upstream);
  return {std::move(result), loss};
}

bool LoneSequences::compute(std::span<const std::int64_t> ids, std::int64_t window,
                            const std::function<bool()>& stopped,
                            const std::function<void(std::size_t, const LoneResult&)>& visit) {
  const std::size_t most = kHeldOfAThread * at(workers_.threads());
  const WorkersScope scope(workers_);
  for (std::size_t first = 0; first < ids.size(); first += most) {
    std::vector<LoneResult> found(std::min(most, ids.size() - first));
    const auto is_long = [&](std::size_t i) { return lengths_[at(ids[first + i])] >= kLong; };
    for (std::size_t i = 0; i < found.size(); ++i) {
      if (stopped()) return false;
      if (is_long(i)) found[i] = one(ids[first + i], window);
    }
    share_work(std::ssize(found), [&](std::int64_t unit, int) {
      const std::size_t i = at(unit);
      if (!is_long(i)) found[i] = one(ids[first + i], window);
    });
    for (std::size_t i = 0; i < found.size(); ++i) visit(first + i, found[i]);
  }
  return true;
}

}  // namespace stowage::kernels

#include "kernels/group_run.h"

#include <algorithm>
#include <ctime>
#include <limits>

#include "kernels/block.h"
#include "kernels/ulysses.h"

namespace stowage::kernels {
namespace {

double thread_cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

}  // namespace

GroupOutput run_group(const GroupInput& input) {
  const BlockShape& block = input.block;
  const std::int64_t tokens = static_cast<std::int64_t>(input.x.size()) / block.hidden;
  const std::vector<std::int32_t> positions = sequence_positions(input.cu_seqlens, tokens);
  const std::vector<std::int64_t> split = even_split(tokens, input.ranks);
  const AttentionShape attention_shape{.total_q = tokens,
                                       .total_k = tokens,
                                       .heads = block.heads,
                                       .kv_heads = block.kv_heads,
                                       .head_dim = block.head_dim,
                                       .cu_q = input.cu_seqlens,
                                       .cu_k = input.cu_seqlens};
  GroupOutput out{.y = std::vector<float>(input.x.size()),
                  .dx = std::vector<float>(input.x.size())};
  // [repeat][rank]; each rank writes its own column.
  std::vector<std::vector<double>> seconds(input.repeats, std::vector<double>(input.ranks));

  out.error = run_ranks(input.ranks, [&](Communicator& world) {
    const int me = world.rank();
    const bool root = me == 0;
    const std::int64_t count = split[me + 1] - split[me];
    std::vector<float> x(count * block.hidden), upstream(x.size()), y(x.size()), dx(x.size());
    scatter_rows(world, split, block.hidden, root ? input.x : std::span<const float>{}, x);
    scatter_rows(world, split, block.hidden, root ? input.upstream : std::span<const float>{},
                 upstream);
    UlyssesAttention attention(world, attention_shape);
    BlockPass pass(block, std::span(positions).subspan(split[me], count), attention);
    BlockWeights<float> gradient;
    for (int repeat = 0; repeat < input.repeats; ++repeat) {
      gradient = zero_weights<float>(block);
      world.barrier();
      const double start = thread_cpu_seconds();
      pass.forward(input.weights, x, y);
      pass.backward(input.weights, upstream, dx, gradient);
      for (std::vector<float>* tensor : gradient.tensors()) world.all_reduce(*tensor);
      seconds[repeat][me] = thread_cpu_seconds() - start;
    }
    gather_rows(world, split, block.hidden, y, root ? std::span(out.y) : std::span<float>{});
    gather_rows(world, split, block.hidden, dx, root ? std::span(out.dx) : std::span<float>{});
    if (root) out.gradient = std::move(gradient);
  });
  out.seconds = std::numeric_limits<double>::infinity();
  for (const std::vector<double>& ranks : seconds) {
    out.seconds = std::min(out.seconds, std::ranges::max(ranks));
  }
  return out;
}

}  // namespace stowage::kernels

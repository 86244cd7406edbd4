#include "kernels/run/rank_step.h"

#include <algorithm>
#include <functional>
#include <optional>

#include "kernels/block/block.h"
#include "kernels/block/chunked_block.h"
#include "kernels/exchange/rank_attention.h"
#include "kernels/threads/thread_clock.h"
#include "kernels/threads/workers.h"

namespace stowage::kernels {

TokenLayout layout_of(const GroupTask& task) {
  return token_layout(task.exchange, task.cu_seqlens, task.tokens, task.ranks);
}

RankShare run_share(Communicator& world, const Model& model, const GroupTask& task,
                    std::span<const float> x, std::span<const float> upstream) {
  RankShare share{.y = std::vector<float>(x.size()), .dx = std::vector<float>(x.size())};
  BlockShape block = model.block;
  block.window = task.window;
  std::optional<RankAttention> attention;
  std::optional<BlockPass> pass;
  std::optional<ChunkedBlock> chunks;
  if (task.exchange.kind == ExchangeKind::chunked) {
    chunks.emplace(world, block, task.exchange, task.cu_seqlens, task.tokens);
  } else {
    const TokenLayout layout = layout_of(task);
    const std::vector<std::int32_t> all = sequence_positions(task.cu_seqlens, task.tokens);
    std::vector<std::int32_t> positions;
    for (const std::int64_t row : layout.of(world.rank())) {
      positions.push_back(row < 0 ? 0 : all[row]);
    }
    attention.emplace(world, task.exchange, attention_shape(block, task.tokens, task.cu_seqlens));
    pass.emplace(block, positions, attention->stage());
  }
  share.gradient = zero_weights<float>(model.block);
  Workers workers(task.threads);
  const WorkersScope scope(workers);
  world.barrier();
  const double start = thread_cpu_seconds();
  if (chunks) {
    chunks->run(model.weights, {.x = x, .upstream = upstream, .y = share.y, .dx = share.dx},
                share.gradient);
  } else {
    pass->forward(model.weights, x, share.y);
    pass->backward(model.weights, upstream, share.dx, share.gradient);
  }
  for (std::vector<float>* tensor : share.gradient.tensors()) world.all_reduce(*tensor);
  share.seconds = thread_cpu_seconds() - start + workers.ahead_seconds();
  return share;
}

std::vector<float> take_rows(std::span<const std::int64_t> rows, std::int64_t width,
                             std::span<const float> all) {
  std::vector<float> mine(rows.size() * static_cast<std::size_t>(width));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i] >= 0) std::copy_n(&all[rows[i] * width], width, &mine[i * width]);
  }
  return mine;
}

void put_rows(std::span<const std::int64_t> rows, std::int64_t width, std::span<const float> mine,
              std::span<float> all) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i] >= 0) std::copy_n(&mine[i * width], width, &all[rows[i] * width]);
  }
}

}  // namespace stowage::kernels

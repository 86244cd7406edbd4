#include "kernels/strategy/strategy_rank.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>

#include "instances/numeric/numbers.h"
#include "kernels/block/operation/vocabulary_head.h"
#include "kernels/block/synthetic.h"
#include "kernels/block/weight_shards.h"
#include "kernels/memory/recorded_block.h"
#include "kernels/strategy/layer_pass.h"
#include "kernels/strategy/memory_meter.h"
#include "kernels/threads/thread_clock.h"

namespace stowage::kernels {
namespace {

class StrategyRank {
 public:
  StrategyRank(Communicator& world, const StrategyTask& task, const Budget* budget)
      : task_(task),
        budget_(budget),
        place_(place_of(task, world.rank())),
        tp_(world.split(world.rank() / task.tp)),
        cp_(world.split(world.rank() / (task.tp * task.cp) * task.tp + place_.shard)),
        pipe_(world.split(world.rank() % (task.dp * task.cp * task.tp))),
        replicas_(world.split(place_.stage * task.tp + place_.shard)),
        kv_(tp_->split(place_.shard / kv_copies(task.block, task.tp))),
        sharing_{.cp = task.cp > 1 ? cp_.get() : nullptr,
                 .tp = task.tp > 1 ? tp_.get() : nullptr,
                 .recompute = task.recompute[at(place_.stage)]} {
    for (int b = 0; b < task.micro_batches(); ++b) {
      rows_.push_back(std::make_unique<RowPart>(task, place_, b));
    }
    const BlockShape part = shard_shape(task.block, task.tp);
    for (int c = 0; c < task.v; ++c) {
      const int first = task.first_layer(part_of(c));
      for (int l = 0; l < layers(); ++l) {
        weights_.push_back(
            shard_weights(task.block, layer_weights(task, first + l), task.tp, place_.shard));
        step_.gradients.push_back(zero_weights<float>(part));
      }
    }
    if (task.vocabulary > 0 && place_.stage == task.pp - 1) {
      head_ = {.hidden = task.block.hidden,
               .first = place_.shard * (task.vocabulary / task.tp),
               .columns = task.vocabulary / task.tp,
               .peers = sharing_.tp};
      const std::vector<float> whole =
          synthetic_head(task.block.hidden, task.vocabulary, task.seed);
      for (int h = 0; h < task.block.hidden; ++h) {
        const auto row = whole.begin() + h * task.vocabulary + head_->first;
        head_weights_.insert(head_weights_.end(), row, row + head_->columns);
      }
      step_.head_gradient.resize(head_weights_.size());
    }
    step_.y.resize(rows_.size());
    step_.dx.resize(rows_.size());
    step_.seconds.assign(rows_.size(), std::vector<PassSeconds>(at(task.v)));
  }

  RankStep run() && {
    for (const StagePass& pass : task_.order[at(place_.stage)]) {
      if (pass.forward) {
        forward(pass);
      } else {
        backward(pass);
      }
    }
    const double start = thread_cpu_seconds();
    for (BlockWeights<float>& gradient : step_.gradients) {
      for (std::vector<float>* tensor : gradient.tensors()) replicas_->all_reduce(*tensor);
      kv_->all_reduce(gradient.key);
      kv_->all_reduce(gradient.value);
    }
    if (head_) replicas_->all_reduce(step_.head_gradient);
    step_.exchange_s = thread_cpu_seconds() - start;
    step_.high_water = kFloatBytes * meter_.most();
    step_.left = kFloatBytes * meter_.live();
    return std::move(step_);
  }

 private:
  using Passes = std::vector<std::unique_ptr<LayerPass>>;  // one entry per layer of a chunk

  int layers() const { return task_.layers[at(place_.stage)] / task_.v; }
  int part_of(int chunk) const { return chunk * task_.pp + place_.stage; }
  int last_part() const { return task_.parts() - 1; }
  int neighbour(int by) const { return (place_.stage + by + task_.pp) % task_.pp; }
  // Returns the tag of the message that part `part` receives, forward or backward.
  int tag(const StagePass& pass, int part) const {
    return 2 * (pass.micro_batch * task_.parts() + part) + (pass.forward ? 0 : 1);
  }
  std::size_t layer_of(const StagePass& pass, int l) const {
    return at(std::int64_t{pass.chunk} * layers() + l);
  }

  void leave_if_stopped() const {
    if (budget_ != nullptr && budget_->exhausted()) {
      throw std::runtime_error("stopped in the middle of a step");
    }
  }

  void forward(const StagePass& pass) {
    const RowPart& row = *rows_[at(pass.micro_batch)];
    const int part = part_of(pass.chunk);
    const std::int64_t floats = row.tokens * task_.block.hidden;
    auto now = std::make_unique<MeteredFloats>(meter_, floats);
    if (part == 0) {
      fill(pass, Stream::input, now->all());
    } else {
      pipe_->receive(now->all(), neighbour(-1), tag(pass, part));
    }
    const double start = thread_cpu_seconds();
    Passes& passes = passes_[{pass.chunk, pass.micro_batch}];
    for (int l = 0; l < layers(); ++l) {
      leave_if_stopped();
      auto next = std::make_unique<MeteredFloats>(meter_, floats);
      passes.push_back(std::make_unique<LayerPass>(row, sharing_, meter_));
      passes.back()->forward(weights_[layer_of(pass, l)], now->all(), next->all());
      now = std::move(next);
    }
    took(pass).forward = thread_cpu_seconds() - start;
    if (part == last_part()) {
      step_.y[at(pass.micro_batch)].assign(now->all().begin(), now->all().end());
      if (head_) outputs_[pass.micro_batch] = std::move(now);
    } else {
      pipe_->send(now->all(), neighbour(1), tag(pass, part + 1));
    }
  }

  void backward(const StagePass& pass) {
    const auto found = passes_.find({pass.chunk, pass.micro_batch});
    if (found == passes_.end()) throw std::logic_error("a backward pass before its forward pass");
    const RowPart& row = *rows_[at(pass.micro_batch)];
    const int part = part_of(pass.chunk);
    const std::int64_t floats = row.tokens * task_.block.hidden;
    auto now = std::make_unique<MeteredFloats>(meter_, floats);
    const double before = thread_cpu_seconds();
    if (part == last_part() && head_) {
      run_head(pass, now->all());
    } else if (part == last_part()) {
      fill(pass, Stream::upstream, now->all());
    } else {
      pipe_->receive(now->all(), neighbour(1), tag(pass, part));
    }
    const double start = thread_cpu_seconds();
    for (int l = layers() - 1; l >= 0; --l) {
      leave_if_stopped();
      auto next = std::make_unique<MeteredFloats>(meter_, floats);
      const std::size_t layer = layer_of(pass, l);
      found->second[at(l)]->backward(weights_[layer], now->all(), next->all(),
                                     step_.gradients[layer]);
      now = std::move(next);
    }
    passes_.erase(found);
    took(pass).backward = thread_cpu_seconds() - (part == last_part() && head_ ? before : start);
    if (part == 0) {
      step_.dx[at(pass.micro_batch)].assign(now->all().begin(), now->all().end());
    } else {
      pipe_->send(now->all(), neighbour(-1), tag(pass, part - 1));
    }
  }

  // Computes the loss of a micro-batch and the gradient of its output, one chunk of tokens at a
  // time.
  void run_head(const StagePass& pass, std::span<float> dy) {
    const RowPart& row = *rows_[at(pass.micro_batch)];
    const auto output = outputs_.extract(pass.micro_batch);
    const std::span<const float> y = output.mapped()->all();
    const std::vector<std::int32_t> targets = targets_of(pass);
    const std::int64_t width = task_.block.hidden;
    const std::int64_t most = chunk_tokens(task_, row.tokens);
    MeteredFloats logits(meter_, most * head_->columns);
    for (std::int64_t first = 0; first < row.tokens; first += most) {
      leave_if_stopped();
      const std::int64_t count = std::min(most, row.tokens - first);
      const std::size_t begin = at(first * width), floats = at(count * width);
      step_.loss += head_chunk(*head_, head_weights_,
                               {.y = y.subspan(begin, floats),
                                .targets = std::span(targets).subspan(at(first), at(count))},
                               logits.all().first(at(count * head_->columns)),
                               dy.subspan(begin, floats), step_.head_gradient);
    }
  }

  std::vector<std::int32_t> targets_of(const StagePass& pass) const {
    std::vector<std::int32_t> targets;
    for_own_tokens(pass,
                   [&](std::int64_t id, std::int64_t first, std::int64_t, std::int64_t count) {
                     const std::vector<std::int32_t> its =
                         synthetic_targets(task_.seed, id, first, count, task_.vocabulary);
                     targets.insert(targets.end(), its.begin(), its.end());
                   });
    return targets;
  }

  PassSeconds& took(const StagePass& pass) {
    return step_.seconds[at(pass.micro_batch)][at(pass.chunk)];
  }

  // Fills `mine` with the data of this rank's tokens of the packed sequences.
  void fill(const StagePass& pass, Stream stream, std::span<float> mine) const {
    const std::int64_t width = task_.block.hidden;
    for_own_tokens(
        pass, [&](std::int64_t id, std::int64_t first, std::int64_t place, std::int64_t count) {
          fill_tokens({task_.seed, stream}, id, first, width,
                      mine.subspan(at(place * width), at(count * width)));
        });
  }

  // Calls visit(sequence, position of its first token on this rank, index of that token among the
  // rank's tokens, number of tokens) for each sequence with tokens on this rank.
  void for_own_tokens(const StagePass& pass, const auto& visit) const {
    const RowPart& row = *rows_[at(pass.micro_batch)];
    const auto& sequences = task_.rows[at(pass.micro_batch)][at(place_.replica)];
    for (std::size_t i = 0; i < sequences.size(); ++i) {
      const std::int64_t begin = std::max<std::int64_t>(row.cu_seqlens[i], row.first);
      const std::int64_t end =
          std::min<std::int64_t>(row.cu_seqlens[i + 1], row.first + row.tokens);
      if (begin >= end) continue;
      visit(sequences[i], begin - row.cu_seqlens[i], begin - row.first, end - begin);
    }
  }

  const StrategyTask& task_;
  const Budget* budget_;  // may be null
  const StrategyPlace place_;
  const std::unique_ptr<Communicator> tp_, cp_, pipe_, replicas_, kv_;
  const LayerSharing sharing_;
  std::vector<std::unique_ptr<RowPart>> rows_;  // by micro-batch
  std::vector<BlockWeights<float>> weights_;    // weights of its layers, chunk by chunk
  MemoryMeter meter_;
  std::map<std::pair<int, int>, Passes> passes_;           // by (chunk, micro-batch)
  std::optional<HeadPart> head_;                           // set on ranks of the last stage
  std::vector<float> head_weights_;                        // weights of its columns
  std::map<int, std::unique_ptr<MeteredFloats>> outputs_;  // outputs that the head will read
  RankStep step_;
};

}  // namespace

RankStep run_strategy_rank(Communicator& world, const StrategyTask& task, const Budget* budget) {
  return StrategyRank(world, task, budget).run();
}

}  // namespace stowage::kernels

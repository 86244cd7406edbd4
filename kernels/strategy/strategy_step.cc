#include "kernels/strategy/strategy_step.h"

#include <algorithm>
#include <bit>
#include <span>
#include <utility>

#include "instances/numeric/numbers.h"
#include "kernels/block/weight_shards.h"
#include "kernels/ranks/packed_integers.h"

namespace stowage::kernels {
namespace {

void put_array(std::vector<float>& to, std::span<const float> array) {
  to.insert(to.end(), array.begin(), array.end());
}

void put_word(std::vector<float>& to, std::int64_t word) { put_array(to, as_floats({&word, 1})); }

// Reads the floats of a rank's result from the front.
class Said {
 public:
  explicit Said(std::span<const float> all) : rest_(all) {}

  std::int64_t word() { return as_integers(array(kFloatsPerInteger)).front(); }
  double number() { return std::bit_cast<double>(word()); }
  std::span<const float> array(std::int64_t floats) {
    const std::span<const float> taken = rest_.first(at(floats));
    rest_ = rest_.subspan(at(floats));
    return taken;
  }

 private:
  std::span<const float> rest_;
};

// The parts of a rank's result that rank 0 needs. Ranks of tp have the same outputs, and ranks of
// dp and cp the same sums.
struct Share {
  bool y = false, dx = false, gradients = false;
};

Share share_of(const StrategyTask& task, const StrategyPlace& place) {
  return {.y = place.stage == task.pp - 1 && place.shard == 0,
          .dx = place.stage == 0 && place.shard == 0,
          .gradients = place.replica == 0 && place.slice == 0};
}

std::vector<float> packed_step(const StrategyTask& task, const Share& share, const RankStep& step) {
  std::vector<float> packed;
  put_word(packed, step.high_water);
  put_word(packed, step.left);
  put_word(packed, std::bit_cast<std::int64_t>(step.exchange_s));
  put_word(packed, std::bit_cast<std::int64_t>(step.loss));
  for (const std::vector<PassSeconds>& chunks : step.seconds) {
    for (const PassSeconds& pass : chunks) {
      put_word(packed, std::bit_cast<std::int64_t>(pass.forward));
      put_word(packed, std::bit_cast<std::int64_t>(pass.backward));
    }
  }
  for (int b = 0; b < task.micro_batches(); ++b) {
    if (share.y) put_array(packed, step.y[at(b)]);
    if (share.dx) put_array(packed, step.dx[at(b)]);
  }
  if (!share.gradients) return packed;
  for (const BlockWeights<float>& gradient : step.gradients) {
    for (const std::vector<float>* tensor : gradient.tensors()) put_array(packed, *tensor);
  }
  put_array(packed, step.head_gradient);
  return packed;
}

class StepAssembly {
 public:
  explicit StepAssembly(const StrategyTask& task)
      : task_(task), part_(shard_shape(task.block, task.tp)) {
    for (const Tokens length : task.lengths) {
      step_.y.emplace_back(at(length * task.block.hidden));
      step_.dx.emplace_back(at(length * task.block.hidden));
    }
    step_.head_gradient.resize(at(task.block.hidden * task.vocabulary));
    step_.gradients.assign(at(task.all_layers()), zero_weights<float>(task.block));
    step_.seconds.assign(at(task.dp), std::vector(at(task.micro_batches()),
                                                  std::vector<PassSeconds>(at(task.parts()))));
  }

  void add(int rank, std::span<const float> packed) {
    const StrategyPlace place = place_of(task_, rank);
    const Share share = share_of(task_, place);
    Said said(packed);
    step_.high_water.push_back(said.word());
    step_.left.push_back(said.word());
    step_.exchange_s = std::max(step_.exchange_s, said.number());
    const double loss = said.number();
    if (share.y) step_.loss += loss;
    for (int b = 0; b < task_.micro_batches(); ++b) {
      for (int c = 0; c < task_.v; ++c) {
        PassSeconds& pass = step_.seconds[at(place.replica)][at(b)][at(c * task_.pp + place.stage)];
        pass.forward = std::max(pass.forward, said.number());
        pass.backward = std::max(pass.backward, said.number());
      }
    }
    for (int b = 0; b < task_.micro_batches(); ++b) {
      if (share.y) take_slice(said, place, b, step_.y);
      if (share.dx) take_slice(said, place, b, step_.dx);
    }
    if (share.gradients) take_gradients(said, place);
  }

  StrategyStep take() && { return std::move(step_); }

 private:
  // Copies a rank's tokens of a row into the sequences that they belong to.
  void take_slice(Said& said, const StrategyPlace& place, int micro_batch,
                  std::vector<std::vector<float>>& sequences) const {
    const std::int64_t width = task_.block.hidden;
    const std::vector<std::int32_t> cu = task_.cu_seqlens(micro_batch, place.replica);
    const std::vector<std::int64_t> split = even_split(cu.back(), task_.cp);
    const std::int64_t first = split[at(place.slice)], last = split[at(place.slice + 1)];
    const auto& ids = task_.rows[at(micro_batch)][at(place.replica)];
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const std::int64_t begin = std::max<std::int64_t>(cu[i], first);
      const std::int64_t end = std::min<std::int64_t>(cu[i + 1], last);
      if (begin >= end) continue;
      std::ranges::copy(said.array((end - begin) * width),
                        sequences[at(ids[i])].begin() + (begin - cu[i]) * width);
    }
  }

  void take_gradients(Said& said, const StrategyPlace& place) {
    for (int c = 0; c < task_.v; ++c) {
      const int part = c * task_.pp + place.stage;
      const int first = task_.first_layer(part);
      for (int l = 0; l < task_.part_layers(part); ++l) {
        BlockWeights<float> shard = zero_weights<float>(part_);
        for (std::vector<float>* tensor : shard.tensors()) {
          std::ranges::copy(said.array(std::ssize(*tensor)), tensor->begin());
        }
        put_shard(task_.block, task_.tp, place.shard, shard, step_.gradients[at(first + l)]);
      }
    }
    if (place.stage < task_.pp - 1) return;
    const std::int64_t columns = task_.vocabulary / task_.tp;
    for (int h = 0; h < task_.block.hidden; ++h) {
      std::ranges::copy(said.array(columns),
                        step_.head_gradient.begin() + h * task_.vocabulary + place.shard * columns);
    }
  }

  const StrategyTask& task_;
  const BlockShape part_;
  StrategyStep step_;
};

}  // namespace

StrategyStep collect_step(Communicator& world, const StrategyTask& task, const Budget* budget) {
  const int me = world.rank();
  const std::vector<float> mine =
      packed_step(task, share_of(task, place_of(task, me)), run_strategy_rank(world, task, budget));
  std::vector<float> size;
  put_word(size, std::ssize(mine));
  std::vector<float> sizes(me == 0 ? kFloatsPerInteger * at(world.size()) : 0);
  world.gather(size, sizes, std::vector<std::int64_t>(at(world.size()), kFloatsPerInteger));
  std::vector<std::int64_t> counts(at(world.size()));
  std::int64_t total = 0;
  if (me == 0) {
    Said said(sizes);
    for (std::int64_t& count : counts) total += count = said.word();
  }
  std::vector<float> all(at(total));
  world.gather(mine, all, counts);
  if (me != 0) return {};
  StepAssembly assembly(task);
  Said said(all);
  for (int rank = 0; rank < world.size(); ++rank) {
    assembly.add(rank, said.array(counts[at(rank)]));
  }
  return std::move(assembly).take();
}

StrategyStep run_on_threads(const StrategyTask& task, const Budget* budget) {
  StrategyStep step;
  const std::optional<RankError> error = run_ranks(task.ranks(), [&](Communicator& world) {
    StrategyStep its = collect_step(world, task, budget);
    if (world.rank() == 0) step = std::move(its);
  });
  step.error = error;
  return step;
}

}  // namespace stowage::kernels

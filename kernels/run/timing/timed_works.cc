#include "kernels/run/timing/timed_works.h"

#include <numeric>
#include <random>
#include <utility>

#include "instances/numeric/random.h"
#include "kernels/block/synthetic.h"

namespace stowage::kernels {

std::vector<std::int32_t> starts_of(const std::vector<Tokens>& lengths) {
  std::vector<std::int32_t> starts = {0};
  for (const Tokens length : lengths) {
    starts.push_back(starts.back() + static_cast<std::int32_t>(length));
  }
  return starts;
}

WorkTimes time_works(RankPool& pool, const WorkModel& model, std::span<const TimedWork> works,
                     const std::function<bool(int round, const TimingRounds& rounds)>& another,
                     const std::function<void()>& progress, Budget* budget) {
  WorkTimes times{.rounds = TimingRounds(works.size())};
  const BlockWeights<float> weights = synthetic_weights(model.block, model.seed);
  pool.prepare({model.block, weights});
  const auto width = static_cast<std::size_t>(model.block.hidden);
  std::mt19937_64 random(model.seed);
  std::vector<std::size_t> order(works.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (int round = 0; round == 0 || (another && another(round, times.rounds)); ++round) {
    for (std::size_t left = order.size(); left > 1; --left) {
      std::swap(order[left - 1], order[draw(random, left)]);
    }
    for (const std::size_t w : order) {
      if (budget != nullptr && budget->exhausted()) {
        times.stopped = true;
        return times;
      }
      const TimedWork& work = works[w];
      const std::int64_t tokens = work.cu_seqlens.back();
      std::vector<float> x(static_cast<std::size_t>(tokens) * width);
      std::vector<float> upstream(x.size());
      const auto sequence = static_cast<std::int64_t>(w);
      fill_tokens({model.seed, Stream::input}, sequence, 0, model.block.hidden, x);
      fill_tokens({model.seed, Stream::upstream}, sequence, 0, model.block.hidden, upstream);
      double seconds = 0;
      for (const LayerKind& layer : model.layers) {
        const GroupWork group{.task = {.exchange = work.exchange,
                                       .cu_seqlens = work.cu_seqlens,
                                       .tokens = tokens,
                                       .ranks = work.ranks,
                                       .window = layer.window,
                                       .threads = model.threads},
                              .x = x,
                              .upstream = upstream};
        const GroupOutput out = std::move(pool.run({&group, 1}).front());
        if (out.error) {
          times.failed = static_cast<int>(w);
          times.problem = "rank " + std::to_string(out.error->rank) + ": " + out.error->message;
          return times;
        }
        seconds += layer.share * out.seconds;
      }
      times.rounds.add(w, seconds);
      if (progress) progress();
    }
  }
  return times;
}

}  // namespace stowage::kernels

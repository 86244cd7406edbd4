#include "kernels/strategy/strategy_processes.h"

#include <bit>
#include <vector>

#include "instances/numeric/numbers.h"
#include "kernels/run/ranks/rank_ending.h"

namespace stowage::kernels {
namespace {

using Words = std::vector<std::int64_t>;

void put_list(Words& words, const auto& list) {
  words.push_back(std::ssize(list));
  for (const auto each : list) words.push_back(static_cast<std::int64_t>(each));
}

Words words_of_task(const StrategyTask& task) {
  const BlockShape& block = task.block;
  Words words = {block.hidden,
                 block.heads,
                 block.kv_heads,
                 block.head_dim,
                 block.ffn,
                 std::bit_cast<std::int64_t>(block.rope_theta),
                 std::bit_cast<std::int64_t>(block.norm_epsilon),
                 task.pp,
                 task.v,
                 task.tp,
                 task.cp,
                 task.dp,
                 std::bit_cast<std::int64_t>(task.seed),
                 task.vocabulary,
                 task.logit_chunks};
  put_list(words, task.layers);
  put_list(words, task.recompute);
  put_list(words, task.lengths);
  words.push_back(task.micro_batches());
  for (const auto& replicas : task.rows) {
    for (const auto& row : replicas) put_list(words, row);
  }
  for (const std::vector<StagePass>& passes : task.order) {
    words.push_back(std::ssize(passes));
    for (const StagePass& pass : passes) {
      words.insert(words.end(), {pass.forward ? 1 : 0, pass.chunk, pass.micro_batch});
    }
  }
  return words;
}

// Reads the words of a task from the front.
class TaskReader {
 public:
  explicit TaskReader(std::span<const std::int64_t> words) : rest_(words) {}

  StrategyTask task() {
    StrategyTask task;
    BlockShape& block = task.block;
    for (int* member :
         {&block.hidden, &block.heads, &block.kv_heads, &block.head_dim, &block.ffn}) {
      *member = next<int>();
    }
    block.rope_theta = std::bit_cast<double>(next<std::int64_t>());
    block.norm_epsilon = std::bit_cast<double>(next<std::int64_t>());
    for (int* member : {&task.pp, &task.v, &task.tp, &task.cp, &task.dp}) *member = next<int>();
    task.seed = std::bit_cast<std::uint64_t>(next<std::int64_t>());
    task.vocabulary = next<std::int64_t>();
    task.logit_chunks = next<std::int64_t>();
    task.layers = list<int>();
    task.recompute = list<StrategyRecompute>();
    task.lengths = list<Tokens>();
    task.rows.resize(at(next<std::int64_t>()));
    for (auto& replicas : task.rows) {
      for (int d = 0; d < task.dp; ++d) replicas.push_back(list<std::int64_t>());
    }
    task.order.resize(at(task.pp));
    for (std::vector<StagePass>& passes : task.order) {
      passes.resize(at(next<std::int64_t>()));
      for (StagePass& pass : passes) {
        pass.forward = next<int>() != 0;
        pass.chunk = next<int>();
        pass.micro_batch = next<int>();
      }
    }
    return task;
  }

 private:
  template <class Value>
  Value next() {
    const std::int64_t word = rest_.front();
    rest_ = rest_.subspan(1);
    return static_cast<Value>(word);
  }
  template <class Value>
  std::vector<Value> list() {
    std::vector<Value> values(at(next<std::int64_t>()));
    for (Value& value : values) value = next<Value>();
    return values;
  }

  std::span<const std::int64_t> rest_;
};

StrategyStep take_step(Communicator& world, const StrategyTask& task, const Budget* budget) {
  StrategyStep step;
  const RankEnding ending = guarded([&] {
    const bool runs = world.rank() < task.ranks();
    const auto group = world.split(runs ? 0 : 1);
    if (runs) step = collect_step(*group, task, budget);
  });
  step.error = error_of(gather_endings(world, ending));
  return step;
}

}  // namespace

StrategyStep run_on_processes(ProcessPool& pool, const StrategyTask& task, const Budget* budget) {
  StrategyStep step;
  pool.run_other(words_of_task(task), [&](Communicator& world, std::span<const std::int64_t>) {
    step = take_step(world, task, budget);
  });
  return step;
}

void take_part_in_step(Communicator& world, std::span<const std::int64_t> words) {
  take_step(world, TaskReader(words).task(), nullptr);
}

}  // namespace stowage::kernels

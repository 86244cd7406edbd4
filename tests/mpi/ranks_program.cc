// One process of a job, which runs the scenario of its argument together with the others. Prints
// "ok" on rank 0, or the error on the rank that found it, and then ends all processes.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <functional>
#include <iostream>
#include <map>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "kernels/block/synthetic.h"
#include "kernels/ranks/mpi_ranks.h"
#include "kernels/ranks/thread_ranks.h"
#include "kernels/strategy/strategy_report.h"
#include "kernels/strategy/strategy_step.h"
#include "tests/kernels/attention_batch.h"
#include "tests/kernels/strategy/tasks.h"

namespace stowage::kernels {
namespace {

using Counts = std::vector<std::int64_t>;

void require(bool condition, const std::string& what) {
  if (!condition) throw std::runtime_error(what);
}

void append(std::vector<float>& all, std::span<const float> more) {
  all.insert(all.end(), more.begin(), more.end());
}

// Returns all values that a rank receives from the collectives, for arrays of about `size` floats.
std::vector<float> collect(Communicator& world, std::int64_t size) {
  const int ranks = world.size(), me = world.rank();
  const auto values = [&](std::int64_t count, int tag) {
    std::vector<float> array(count);
    if (count > 0) fill_tokens({.seed = 5}, 100 * me + tag, 0, count, array);
    return array;
  };
  std::vector<float> results;
  for (int round = 0; round < 3; ++round) {
    Counts send(ranks), receive(ranks), shares(ranks);
    std::int64_t sent = 0, received = 0, shared = 0;
    for (int r = 0; r < ranks; ++r) {
      sent += send[r] = size * ((me + r + round) % 3);
      received += receive[r] = size * ((r + me + round) % 3);
      shared += shares[r] = size + r - (r % 2) * size;
    }
    std::vector<float> in(received);
    world.all_to_all_v(values(sent, 1), send, in, receive);
    append(results, in);
    std::vector<float> all(shared);
    world.all_gather(values(shares[me], 2), all, shares);
    append(results, all);
    std::vector<float> part(shares[me]);
    world.reduce_scatter(values(shared, 3), part, shares);
    append(results, part);
    std::vector<float> told = values(size + 2, 7);
    world.broadcast(told);
    append(results, told);
    std::vector<float> dealt(shares[me]);
    world.scatter(me == 0 ? values(shared, 8) : std::vector<float>(), me == 0 ? shares : Counts(),
                  dealt);
    append(results, dealt);
    std::vector<float> handed_in(me == 0 ? shared : 0);
    world.gather(values(shares[me], 9), handed_in, me == 0 ? shares : Counts());
    append(results, handed_in);
    std::vector<float> total = values(size + 3, 4);
    world.all_reduce(total);
    append(results, total);
    std::vector<float> next(size);
    world.send_receive(values(size, 5), (me + 1) % ranks, next, (me + ranks - 1) % ranks);
    append(results, next);
    if (ranks > 1) {
      for (const int tag : {1, 2, 1}) world.send(values(size + tag, tag), (me + 1) % ranks, tag);
      for (const int tag : {2, 1, 1}) {
        std::vector<float> message(size + tag);
        world.receive(message, (me + ranks - 1) % ranks, tag);
        append(results, message);
      }
    }
    world.barrier();
    const auto group = world.split(me % 2);
    const auto inner = group->split(-group->rank() / 2);
    std::vector<float> few = values(5, 6);
    if (me % 2 == 1) group->all_reduce(few);  // groups may call different collectives
    inner->all_reduce(few);
    append(results, few);
  }
  return results;
}

// The results must have the same bits as with threads.
void same_as_threads(Communicator& world) {
  for (const std::int64_t size : {0, 1, 1000, 20'000}) {
    const std::vector<float> mine = collect(world, size);
    std::vector<float> want;
    const auto error = run_ranks(world.size(), [&](Communicator& thread) {
      const std::vector<float> got = collect(thread, size);
      if (thread.rank() == world.rank()) want = got;
    });
    require(!error, "threads failed");
    require(mine == want, "not what threads compute, size " + std::to_string(size));
  }
}

// Returns the bits of this rank's attention over one packed batch, for every exchange.
void attention_as_threads(Communicator& world) {
  const std::vector<std::int32_t> cu = prefix_sums({150, 1, 0, 33, 70});
  const Batch batch({.total_q = cu.back() + 3,
                     .total_k = cu.back() + 3,
                     .heads = 6,
                     .kv_heads = 2,
                     .head_dim = 20,
                     .cu_q = cu,
                     .cu_k = cu});
  for (const ExchangeKind kind :
       {ExchangeKind::ulysses, ExchangeKind::ring, ExchangeKind::zigzag, ExchangeKind::hybrid}) {
    Tensors mine = batch.zeros(), want = batch.zeros();
    batch.on_this_rank(world, {.kind = kind}, mine);
    const auto error = run_ranks(world.size(), [&](Communicator& thread) {
      Tensors got = batch.zeros();
      batch.on_this_rank(thread, {.kind = kind}, got);
      if (thread.rank() == world.rank()) want = got;
    });
    require(!error, "threads failed");
    const std::string what = " is not what threads compute, exchange " +
                             std::string(kExchangeNames[static_cast<std::size_t>(kind)]);
    require(same_bits(mine.o, want.o), "o" + what);
    require(same_bits(mine.dq, want.dq), "dq" + what);
    require(same_bits(mine.dk, want.dk), "dk" + what);
    require(same_bits(mine.dv, want.dv), "dv" + what);
    require(std::ranges::any_of(mine.dq, [](float x) { return x != 0; }), "nothing" + what);
  }
}

// Checks the effects of a contained failure on every rank of its group; the world remains usable.
void failures(Communicator& world) {
  const int last = world.size() - 1;
  const auto outcome = [&](const std::function<void(Communicator&)>& program) {
    std::string what = "nothing";
    try {
      const auto group = world.split(0);
      program(*group);
    } catch (const std::exception& error) {
      what = error.what();
    }
    world.barrier();
    return what;
  };
  for (int round = 0; round < 50; ++round) {
    std::vector<float> values(10);
    const std::string thrown = outcome([&](Communicator& group) {
      group.all_reduce(values);
      if (world.rank() == last) throw std::runtime_error("lost a wheel");
      for (;;) group.all_reduce(values);
    });
    require(thrown == (world.rank() == last ? "lost a wheel" : Abandoned().what()), thrown);
    const std::string early = outcome([&](Communicator& group) {
      if (world.rank() != last) group.barrier();
    });
    require(early == (world.rank() == last ? "nothing" : kAlreadyReturned), early);
    const std::string mixed = outcome([&](Communicator& group) {
      if (world.rank() == last) {
        group.barrier();
      } else {
        group.all_reduce(values);
      }
    });
    require(mixed == kMixedCollectives, mixed);
    const std::string sizes = outcome([&](Communicator& group) {
      std::vector<float> some(world.rank() == last ? 3 : 2);
      group.all_reduce(some);
    });
    require(sizes == kUnequalCounts, sizes);
    const std::string told = outcome([&](Communicator& group) {
      std::vector<float> some(world.rank() == last ? 3 : 2);
      group.broadcast(some);
    });
    require(told == kUnequalCounts, told);
    const std::string waited = outcome([&](Communicator& group) {
      if (world.rank() == last) throw std::runtime_error("lost a wheel");
      group.receive(values, last, 3);
    });
    require(waited == (world.rank() == last ? "lost a wheel" : Abandoned().what()), waited);
    const std::string gone = outcome([&](Communicator& group) {
      if (world.rank() != last) group.receive(values, last, 3);
    });
    require(gone == (world.rank() == last ? "nothing" : kAlreadyReturned), gone);
    const std::string longer = outcome([&](Communicator& group) {
      if (world.rank() == last) group.send(std::vector<float>(9), 0, 3);
      if (world.rank() == 0) group.receive(values, last, 3);
    });
    require(longer == (world.rank() == 0 ? kUnequalCounts : "nothing"), longer);
    const Counts two(world.size(), 2);
    const std::string dealt = outcome([&](Communicator& group) {
      const std::vector<float> all(group.rank() == 0 ? 2 * group.size() : 0);
      std::vector<float> mine(world.rank() == last ? 3 : 2);
      group.scatter(all, two, mine);
    });
    require(dealt == kUnequalCounts, dealt);
    const std::string handed_in = outcome([&](Communicator& group) {
      std::vector<float> all(group.rank() == 0 ? 2 * group.size() : 0);
      group.gather(std::vector<float>(world.rank() == last ? 3 : 2), all, two);
    });
    require(handed_in == kUnequalCounts, handed_in);
  }
}

// Checks the bits of several strategies and the memory of every rank.
void strategies_as_threads(Communicator& world) {
  for (const Mixture& mixture :
       {Mixture{
            .pp = 2, .tp = 2, .micro_batches = 3, .layers = {2, 1}, .recompute = {kFull, kNone}},
        Mixture{.pp = 2,
        .v = 2,
        .cp = 2,
        .micro_batches = 4,
        .layers = {2, 4},
        .recompute = {kSelective, kNone}},
        Mixture{
            .pp = 2, .dp = 2, .micro_batches = 2, .layers = {1, 1}, .recompute = {kNone, kFull}},
        Mixture{.pp = 4,
        .micro_batches = 6,
        .layers = {1, 2, 1, 1},
        .recompute = {kNone, kNone, kSelective, kFull}}}) {
    const StrategyTask task = task_of(mixture, false);
    const StrategyStep step = collect_step(world, task);
    if (world.rank() != 0) continue;
    require(judge_step(task, step, {}).passed(), "not what one rank computes");
    const StrategyStep threads = run_on_threads(task);
    require(step.y == threads.y && step.dx == threads.dx, "not what threads compute");
    require(step.high_water == threads.high_water, "not what threads hold");
    for (std::size_t layer = 0; layer < step.gradients.size(); ++layer) {
      for (int t = 0; t < kWeightTensors; ++t) {
        require(*step.gradients[layer].tensors()[t] == *threads.gradients[layer].tensors()[t],
                "not the gradients of threads");
      }
    }
  }
}

// A rank of the first stage throws between two passes; no other rank may wait forever.
void strategy_throws(Communicator& world) {
  StrategyTask task = task_of(
      {.pp = 2, .tp = 2, .micro_batches = 4, .layers = {1, 1}, .recompute = {kNone, kNone}}, false);
  if (world.rank() == 1) task.order[0][3] = {.forward = false, .chunk = 7, .micro_batch = 0};
  run_strategy_rank(world, task, nullptr);
}

// A process ends without announcing it.
void dies(Communicator& world) {
  world.barrier();
  if (world.rank() == world.size() - 1) kill(getpid(), SIGKILL);
  for (;;) world.barrier();
}

void throws(Communicator& world) {
  world.barrier();
  if (world.rank() == world.size() - 1) throw std::runtime_error("lost a wheel");
  for (;;) world.barrier();
}

}  // namespace
}  // namespace stowage::kernels

int main(int argc, char** argv) {
  using namespace stowage::kernels;
  const std::map<std::string, void (*)(Communicator&)> programs = {
      {"same", same_as_threads},
      {"attention", attention_as_threads},
      {"failures", failures},
      {"strategies", strategies_as_threads},
      {"strategy_throws", strategy_throws},
      {"dies", dies},
      {"throws", throws}};
  const auto program = programs.find(argc > 1 ? argv[1] : "");
  if (program == programs.end()) return 2;
  MpiProcess process;
  try {
    program->second(process.world());
    if (process.world().rank() == 0) std::cout << "ok " << process.world().size() << '\n';
  } catch (const Abandoned& left) {  // the failed rank reports first
    std::this_thread::sleep_for(std::chrono::seconds(5));
    std::cerr << "rank " << process.world().rank() << ": " << left.what() << std::endl;
    process.abort(70);
  } catch (const std::exception& error) {
    std::cerr << "rank " << process.world().rank() << ": " << error.what() << std::endl;
    process.abort(70);
  }
}

#include "bench/kernels/ranks.h"

#include <algorithm>
#include <cstdio>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>

#include "instances/numeric/numbers.h"
#include "kernels/block/synthetic.h"
#include "kernels/exchange/rank_attention.h"
#include "kernels/exchange/retained_attention.h"
#include "kernels/ranks/thread_ranks.h"
#include "kernels/threads/thread_clock.h"

namespace stowage::bench {
namespace {

using namespace kernels;

// The CPU times of a rank's steps; every collective ends a step.
class StepClock {
 public:
  void start() { last_ = thread_cpu_seconds(); }
  void tick() {
    const double now = thread_cpu_seconds();
    steps_.push_back(now - last_);
    last_ = now;
  }
  const std::vector<double>& steps() const { return steps_; }

 private:
  double last_ = 0;
  std::vector<double> steps_;
};

// Wraps a communicator and ends a step of the clock after every collective.
class ClockedRank final : public Communicator {
 public:
  ClockedRank(Communicator& inner, StepClock& clock) : inner_(inner), clock_(clock) {}
  ClockedRank(std::unique_ptr<Communicator> inner, StepClock& clock)
      : owned_(std::move(inner)), inner_(*owned_), clock_(clock) {}

  int rank() const override { return inner_.rank(); }
  int size() const override { return inner_.size(); }
  void barrier() override {
    inner_.barrier();
    clock_.tick();
  }
  void all_to_all_v(std::span<const float> send, std::span<const std::int64_t> send_counts,
                    std::span<float> recv, std::span<const std::int64_t> recv_counts) override {
    inner_.all_to_all_v(send, send_counts, recv, recv_counts);
    clock_.tick();
  }
  void broadcast(std::span<float> values) override {
    inner_.broadcast(values);
    clock_.tick();
  }
  void scatter(std::span<const float> all, std::span<const std::int64_t> counts,
               std::span<float> mine) override {
    inner_.scatter(all, counts, mine);
    clock_.tick();
  }
  void gather(std::span<const float> mine, std::span<float> all,
              std::span<const std::int64_t> counts) override {
    inner_.gather(mine, all, counts);
    clock_.tick();
  }
  void all_gather(std::span<const float> mine, std::span<float> all,
                  std::span<const std::int64_t> counts) override {
    inner_.all_gather(mine, all, counts);
    clock_.tick();
  }
  void reduce_scatter(std::span<const float> all, std::span<float> mine,
                      std::span<const std::int64_t> counts) override {
    inner_.reduce_scatter(all, mine, counts);
    clock_.tick();
  }
  void all_reduce(std::span<float> values) override {
    inner_.all_reduce(values);
    clock_.tick();
  }
  void send_receive(std::span<const float> send, int to, std::span<float> recv, int from) override {
    inner_.send_receive(send, to, recv, from);
    clock_.tick();
  }
  void send(std::span<const float> values, int to, int tag) override {
    inner_.send(values, to, tag);
    clock_.tick();
  }
  void receive(std::span<float> values, int from, int tag) override {
    inner_.receive(values, from, tag);
    clock_.tick();
  }
  std::unique_ptr<Communicator> split(int colour) override {
    return std::make_unique<ClockedRank>(inner_.split(colour), clock_);
  }

 private:
  std::unique_ptr<Communicator> owned_;
  Communicator& inner_;
  StepClock& clock_;
};

std::vector<float> rank_values(std::int64_t count, std::int64_t tag) {
  std::vector<float> array(count);
  fill_tokens({.seed = 1}, tag, 0, count, array);
  return array;
}

// The tensors of one rank.
struct Tensors {
  std::vector<float> q, k, v, upstream, o, dq, dk, dv, sums, scratch;

  Tensors(std::int64_t floats, const AttentionMemory& memory)
      : q(rank_values(floats, 1)),
        k(rank_values(floats, 2)),
        v(rank_values(floats, 3)),
        upstream(rank_values(floats, 4)),
        o(floats),
        dq(floats),
        dk(floats),
        dv(floats),
        sums(memory.sums),
        scratch(std::max(memory.forward_scratch, memory.backward_scratch)) {}

  void forward(AttentionStage& stage) { stage.forward(q, k, v, {.o = o, .sums = sums}, scratch); }
  void backward(AttentionStage& stage) {
    stage.backward({.q = q, .k = k, .v = v, .o = o, .lse = sums, .upstream = upstream}, dq, dk, dv,
                   scratch);
  }
};

AttentionShape shape_of(const RankSetting& setting, std::span<const std::int32_t> cu) {
  return {.total_q = setting.length,
          .total_k = setting.length,
          .heads = setting.heads,
          .kv_heads = setting.heads,
          .head_dim = setting.head_dim,
          .cu_q = cu,
          .cu_k = cu};
}

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4f", value);
  return text;
}

}  // namespace

double critical_path_s(const RankSetting& setting, ExchangeKind exchange, int ranks) {
  const std::vector<std::int32_t> cu = {0, static_cast<std::int32_t>(setting.length)};
  const TokenLayout layout = token_layout({.kind = exchange}, cu, setting.length, ranks);
  const std::int64_t width = std::int64_t{setting.heads} * setting.head_dim;
  std::vector<StepClock> clocks(ranks);
  const auto error = run_ranks(ranks, [&](Communicator& threads) {
    const int me = threads.rank();
    ClockedRank world(threads, clocks[me]);
    RankAttention attention(world, {.kind = exchange}, shape_of(setting, cu));
    Tensors tensors(static_cast<std::int64_t>(layout.of(me).size()) * width,
                    attention.stage().memory());
    world.barrier();
    clocks[me] = {};  // discards the time of the preparation
    clocks[me].start();
    tensors.forward(attention.stage());
    tensors.backward(attention.stage());
    clocks[me].tick();
  });
  if (error) throw std::runtime_error(error->message);
  double total = 0;
  for (std::size_t step = 0; step < clocks[0].steps().size(); ++step) {
    double slowest = 0;
    for (const StepClock& clock : clocks) slowest = std::max(slowest, clock.steps().at(step));
    total += slowest;
  }
  return total;
}

double chunked_s(const RankSetting& setting, std::int64_t chunk_size) {
  const std::vector<std::int32_t> cu = {0, static_cast<std::int32_t>(setting.length)};
  const AttentionShape whole = shape_of(setting, cu);
  const std::int64_t width = std::int64_t{setting.heads} * setting.head_dim;
  RetainedKeys retained(setting.length, whole, KvGradients::per_kv_head);
  std::vector<std::unique_ptr<AttentionStage>> stages;
  std::vector<Tensors> tensors;
  const std::int64_t step = chunk_size > 0 ? chunk_size : setting.length;
  for (std::int64_t begin = 0; begin < setting.length; begin += step) {
    AttentionShape chunk = whole;
    chunk.total_q = std::min(step, setting.length - begin);
    if (chunk_size > 0) {
      stages.push_back(std::make_unique<RetainedAttention>(retained, chunk, begin));
    } else {
      stages.push_back(std::make_unique<LocalAttention>(whole));
    }
    tensors.emplace_back(chunk.total_q * width, stages.back()->memory());
  }
  const double start = thread_cpu_seconds();
  for (std::size_t c = 0; c < stages.size(); ++c) tensors[c].forward(*stages[c]);
  for (std::size_t c = stages.size(); c-- > 0;) tensors[c].backward(*stages[c]);
  return thread_cpu_seconds() - start;
}

std::vector<RankRow> rank_rows(const RankSetting& setting) {
  struct Run {
    std::string name;
    double target;
    int ranks;  // number of ranks; 0: one rank, in chunks
    std::function<double()> measure;
    double seconds = kInfinity;
  };
  std::vector<Run> runs;
  const auto shared = [&](const std::string& name, ExchangeKind exchange, int ranks,
                          double target) {
    runs.push_back({name + ", " + std::to_string(ranks) + " ranks", target, ranks,
                    [=] { return critical_path_s(setting, exchange, ranks); }});
  };
  shared("Ulysses", ExchangeKind::ulysses, 4, 0.92);
  shared("zigzag ring", ExchangeKind::zigzag, 4, 0.92);
  shared("zigzag ring", ExchangeKind::zigzag, 8, 0.86);
  // The last rank has work in every step, so the ideal speed-up is (P / 2) / (P - 1/2): 0.57 and
  // 0.53.
  shared("contiguous ring (control)", ExchangeKind::ring, 4, 0.65);
  shared("contiguous ring (control)", ExchangeKind::ring, 8, 0.62);
  for (const auto& [chunk, target] : {std::pair{768, 0.04}, std::pair{192, 0.10}}) {
    runs.push_back({"chunks of " + std::to_string(chunk), target, 0,
                    [&setting, size = chunk] { return chunked_s(setting, size); }});
  }
  // The measurements alternate in rounds, so that a slow phase of the machine affects all of them.
  double alone = kInfinity;
  for (int round = 0; round < setting.repeats; ++round) {
    alone = std::min(alone, chunked_s(setting, 0));
    for (Run& run : runs) run.seconds = std::min(run.seconds, run.measure());
  }
  std::vector<RankRow> rows;
  for (const Run& run : runs) {
    const bool chunks = run.ranks == 0;
    // true for the negative control, which must stay far from the ideal
    const bool control = run.target < 0.8;
    rows.push_back(
        {.name = run.name + ", S = " + std::to_string(setting.length),
         .measured = chunks ? run.seconds / alone - 1 : alone / (run.ranks * run.seconds),
         .target = run.target,
         .at_least = !chunks && !control,
         .unit = chunks ? "time over unchunked - 1" : "T(1) / (P T(P))"});
  }
  return rows;
}

std::string json_line(const RankRow& row) {
  return "{\"name\": \"" + row.name + "\", \"measured\": " + number(row.measured) +
         ", \"target\": " + number(row.target) +
         ", \"at_least\": " + (row.at_least ? "true" : "false") + ", \"unit\": \"" + row.unit +
         "\", \"met\": " + (row.met() ? "true" : "false") + '}';
}

std::string markdown(const std::vector<RankRow>& rows) {
  std::string text = "| what | measured | target | unit | met |\n|---|---|---|---|---|\n";
  for (const RankRow& row : rows) {
    text += "| " + row.name + " | " + number(row.measured) + " | " +
            (row.at_least ? ">= " : "<= ") + number(row.target) + " | " + row.unit + " | " +
            (row.met() ? "yes" : "no") + " |\n";
  }
  return text;
}

}  // namespace stowage::bench

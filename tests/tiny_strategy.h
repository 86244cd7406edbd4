// Random strategy instances small enough for brute force, with every special feature enabled in
// some of them: blocks that differ, grouped queries, tied embeddings, no vocabulary, no
// FlashAttention, no sequence parallelism, stream chunks, memory that little fits, degrees that do
// not combine.
#pragma once

#include <algorithm>
#include <iterator>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "instances/numeric/numbers.h"
#include "instances/numeric/random.h"
#include "instances/strategy/cost/stage_costs.h"
#include "instances/strategy/instance.h"
#include "instances/strategy/planning_table.h"

namespace stowage {

// Version 1 of the formulas. At most `most_sequences` sequences and six layers.
inline StrategyInstance tiny_first(std::uint64_t seed, std::uint64_t most_sequences = 8) {
  std::mt19937_64 random(seed);
  const auto up_to = [&](std::int64_t bound) {
    return static_cast<std::int64_t>(draw(random, static_cast<std::uint64_t>(bound) + 1));
  };
  const auto one_in = [&](std::int64_t n) { return up_to(n - 1) == 0; };
  const auto some_of = [&](const std::vector<std::int64_t>& values) {
    std::vector<std::int64_t> kept;
    for (const std::int64_t value : values) {
      if (up_to(2) > 0) kept.push_back(value);
    }
    if (kept.empty()) kept.push_back(values[static_cast<std::size_t>(up_to(1))]);
    return kept;
  };
  StrategyInstance wanted{.name = "tiny-" + std::to_string(seed)};
  StrategyModel& model = wanted.model;
  model.hidden = 64 * (1 + up_to(7));
  model.heads = one_in(6) ? 6 : 8;
  if (one_in(3)) model.kv_width = 16 * (1 + up_to(3));
  model.vocabulary = one_in(4) ? 0 : 1000 * (1 + up_to(30));
  model.tied = one_in(4);
  model.causal = !one_in(6);
  model.flash_attention = !one_in(4);
  model.sequence_parallel = !one_in(4);
  model.blocks.push_back({.count = 1 + up_to(3), .ffn = 64 * up_to(20), .gated = !one_in(4)});
  if (one_in(3)) model.blocks.push_back({.count = 1 + up_to(1), .ffn = 64 * up_to(40)});
  wanted.cluster = {.nodes = 1 + up_to(1), .devices_per_node = one_in(4) ? 3 : 4};
  wanted.cluster.mib_per_ms = {.inside = 1.0 + static_cast<double>(up_to(50)),
                               .across = 0.5 + static_cast<double>(up_to(5))};
  wanted.cost = {.linear_tflops = 0.5 + static_cast<double>(up_to(4)),
                 .attention_tflops = 0.5 + static_cast<double>(up_to(4)),
                 .half_width = static_cast<double>(up_to(100)),
                 .overlap = 0.25 * static_cast<double>(up_to(4))};
  StrategyOptions& options = wanted.options;
  options.pp = some_of({1, 2, 3, 4});
  options.v = one_in(3) ? std::vector<std::int64_t>{1, 2} : std::vector<std::int64_t>{1};
  options.tp = some_of({1, 2, 4});
  options.cp = some_of({1, 2});
  options.zero = some_of({0, 1, 2, 3});
  if (options.zero.size() > 2) options.zero.resize(2);
  if (one_in(3)) options.recompute = {StrategyRecompute::selective};
  options.logit_chunks = one_in(2) ? std::vector<std::int64_t>{4, 1} : std::vector<std::int64_t>{1};
  if (one_in(4)) options.micro_batches = {1, 2, 4};
  const auto sequences = 1 + up_to(static_cast<std::int64_t>(most_sequences) - 1);
  const bool equal = one_in(3);
  for (std::int64_t k = 0; k < sequences; ++k) {
    wanted.lengths.push_back(equal && k > 0 ? wanted.lengths[0] : 1 + up_to(2000));
  }
  wanted.cluster.memory_mib =
      one_in(3) ? 4.0 + static_cast<double>(up_to(40)) : 40.0 + static_cast<double>(up_to(400));
  if (one_in(4))
    options.stream_chunks =
        one_in(3) ? std::vector<std::int64_t>{5} : std::vector<std::int64_t>{3, 1};
  return wanted;
}

// Returns an instance, with version 2 of the formulas for three of four seeds. Its numbers make
// every term matter; for one of three seeds queries are wider or narrower than the model.
inline StrategyInstance tiny_strategy(std::uint64_t seed, std::uint64_t most_sequences = 8) {
  StrategyInstance wanted = tiny_first(seed, most_sequences);
  std::mt19937_64 random(seed + 3'000'000);
  const auto up_to = [&](std::int64_t bound) {
    return static_cast<std::int64_t>(draw(random, static_cast<std::uint64_t>(bound) + 1));
  };
  const auto share = [&] { return static_cast<double>(up_to(100)) / 100; };
  if (up_to(2) == 0) wanted.model.query_width = wanted.model.heads * 16 * (1 + up_to(3));
  if (up_to(3) == 0) return wanted;
  if (up_to(1) == 0) wanted.model.kv_width = wanted.model.queries_width() / (1 + up_to(3));
  if (up_to(2) > 0) wanted.cost.half_width = 0;
  wanted.cost.detail = {.memory_mib_per_ms = 1 + 50 * share(),
                        .pass_bytes = 300 * share(),
                        .pass_ms = 0.5 * share(),
                        .message_ms = 0.2 * share(),
                        .square_bytes = 40 * share(),
                        .expert_slowdown = 1 + share(),
                        .update_bytes = 60 * share(),
                        .update_ms = 3 * share(),
                        .activation_factor = 0.5 + share(),
                        .fixed_mib = 8 * share(),
                        .gradient_bytes = 2 + up_to(2)};
  if (up_to(1) == 0) wanted.cost.detail->step_overlap = share();
  return wanted;
}

// Sets the times of exchange and update to 0, so that only passes take time.
inline void without_exchanges(StrategyInstance& instance) {
  instance.cluster.mib_per_ms = {.inside = 1e9, .across = 1e9};
  if (!instance.cost.detail) return;
  instance.cost.detail->message_ms = 0;
  instance.cost.detail->update_bytes = 0;
  instance.cost.detail->update_ms = 0;
}

// Returns an instance of tiny_strategy() with experts in some or all blocks. Some have a shared
// part for every token, or a single expert. The degrees for sharing experts include invalid ones.
inline StrategyInstance tiny_experts(std::uint64_t seed, std::uint64_t most_sequences = 8) {
  StrategyInstance wanted = tiny_strategy(seed, most_sequences);
  std::mt19937_64 random(seed + 1'000'000);
  const auto up_to = [&](std::int64_t bound) {
    return static_cast<std::int64_t>(draw(random, static_cast<std::uint64_t>(bound) + 1));
  };
  const std::vector<std::int64_t> counts = {2, 3, 4, 6, 8, 1};
  bool routed = false;
  for (StrategyBlock& block : wanted.model.blocks) {
    const bool needed = &block == &wanted.model.blocks.back() && !routed;
    if (!needed && up_to(2) == 0) continue;
    StrategyExperts experts{.count = counts[static_cast<std::size_t>(up_to(5))]};
    if (needed && experts.count == 1) experts.count = 4;
    experts.top_k = 1 + up_to(experts.count - 1);
    experts.ffn = 32 * (1 + up_to(15));
    if (up_to(1) == 0) block.ffn = 0;
    block.experts = experts;
    routed = routed || block.routed();
  }
  std::vector<std::int64_t>& ep = wanted.options.ep;
  ep = {1, 2, 4, 3};
  ep.resize(static_cast<std::size_t>(1 + up_to(3)));
  if (ep.size() > 1 && up_to(5) == 0) ep.erase(ep.begin());
  return wanted;
}

// Returns an instance of tiny_strategy() with measured costs of some blocks, layouts and
// recomputation modes, far from the formulas.
inline StrategyInstance tiny_measured(std::uint64_t seed, std::uint64_t most_sequences = 8) {
  StrategyInstance wanted = tiny_strategy(seed, most_sequences);
  std::mt19937_64 random(seed + 2'000'000);
  const auto up_to = [&](std::int64_t bound) {
    return static_cast<std::int64_t>(draw(random, static_cast<std::uint64_t>(bound) + 1));
  };
  for (std::size_t block = 0; block < wanted.model.blocks.size(); ++block) {
    for (const std::int64_t tp : {1, 2, 4}) {
      for (const std::int64_t cp : {1, 2}) {
        for (const StrategyRecompute recompute : wanted.options.recompute) {
          if (up_to(2) == 0) continue;
          StrategyMeasured entry{.block = static_cast<std::int64_t>(block),
                                 .tp = tp,
                                 .cp = cp,
                                 .recompute = recompute};
          Tokens length = 0;
          for (std::int64_t points = 1 + up_to(3); points > 0; --points) {
            length += 1 + up_to(1000);
            entry.tokens.push_back(length);
            entry.ms.push_back(1e-3 * static_cast<double>((1 + up_to(9)) * length));
          }
          wanted.cost.measured.push_back(std::move(entry));
        }
      }
    }
  }
  return wanted;
}

// Returns the instance with longer sequences, whose activations may leave for the host, and with a
// little less memory than some stage needs. Some hosts have room for few activations, and some
// rates are slow.
inline StrategyInstance with_offload(StrategyInstance wanted, std::uint64_t seed) {
  std::mt19937_64 random(seed + 7'000'000);
  const auto up_to = [&](std::int64_t bound) {
    return static_cast<std::int64_t>(draw(random, static_cast<std::uint64_t>(bound) + 1));
  };
  for (Tokens& length : wanted.lengths) length *= 8;
  const StrategyTable table(wanted);
  for (const StrategyClass& its : table.classes()) {
    const auto layouts = table.layouts(its);
    if (layouts.empty() || (its.v > 1 && !table.equal_layers())) continue;
    const StageCosts costs(table, its, layouts[at(up_to(std::ssize(layouts) - 1))]);
    const auto choices = costs.choices();
    const StageChoice choice = choices[at(up_to(std::ssize(choices) - 1))];
    const std::int64_t layers =
        std::max<std::int64_t>(its.v, table.layers() / its.pp / its.v * its.v);
    wanted.cluster.memory_mib =
        costs.of(0, 0, std::min(layers, table.layers()), choice).memory_mib *
        (0.7 + 0.05 * static_cast<double>(up_to(6)));
    if (up_to(1) == 0) break;
  }
  wanted.cluster.offload =
      StrategyOffload{.out_mib_per_ms = 0.01 * static_cast<double>(1 + up_to(200)),
                      .in_mib_per_ms = 0.01 * static_cast<double>(1 + up_to(200))};
  if (up_to(2) == 0) wanted.cluster.offload->host_mib = static_cast<double>(up_to(60));
  return wanted;
}

// Returns the instance with options for one of three seeds that let some ranks alone share states,
// and for half of them a ring of cp.
inline StrategyInstance with_partial_sharing(StrategyInstance wanted, std::uint64_t seed) {
  std::mt19937_64 random(seed + 4'000'000);
  StrategyOptions& options = wanted.options;
  const std::uint64_t sharing = draw(random, 6);
  if (sharing == 0) options.shard = {2, 0};
  if (sharing == 1) options.shard = {2, 4, 3};
  const std::uint64_t exchange = draw(random, 4);
  if (exchange < 2) options.cp_exchange = {StrategyExchange::ring};
  if (exchange == 1) options.cp_exchange.push_back(StrategyExchange::all_to_all);
  if (draw(random, 4) == 0) options.cp.push_back(3);
  return wanted;
}

// Returns an instance of tiny_measured() for every third seed, otherwise one of tiny_strategy() or
// tiny_experts() with partial sharing.
inline StrategyInstance tiny_with_shares(std::uint64_t seed) {
  if (seed % 3 == 2) return tiny_measured(seed, 6);
  return with_partial_sharing(seed % 3 == 0 ? tiny_strategy(seed, 6) : tiny_experts(seed, 6), seed);
}

// Returns the instance with the options of this class and layout alone.
inline StrategyInstance narrowed_to(StrategyInstance instance, const StrategyClass& its,
                                    const StrategyLayout& layout) {
  StrategyOptions& options = instance.options;
  options.pp = {its.pp};
  options.v = {its.v};
  options.micro_batches = {its.micro_batches};
  options.tp = {layout.tp};
  options.cp = {layout.cp};
  options.cp_exchange = {layout.cp_exchange};
  options.ep = {layout.ep};
  options.shard = {layout.shard};
  return instance;
}

}  // namespace stowage

// Random scatter instances small enough for brute force. Some have odd device counts, degrees that
// do not divide each other, latencies, free exchange, padding or tight memory.
#pragma once

#include <algorithm>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "instances/numeric/random.h"
#include "instances/scatter/instance.h"
#include "instances/scatter/table/group_form.h"

namespace stowage {

// At most `most_sequences` sequences and `most_devices` devices. Some instances contain sequences
// that fit in no group.
inline ScatterInstance tiny_scatter(std::uint64_t seed, std::uint64_t most_sequences = 6,
                                    int most_devices = 8) {
  std::mt19937_64 random(seed);
  const auto up_to = [&](std::uint64_t bound) { return static_cast<int>(draw(random, bound + 1)); };
  ScatterInstance instance{.name = "tiny-" + std::to_string(seed)};
  Cluster& cluster = instance.cluster;
  cluster.devices = 1 + up_to(static_cast<std::uint64_t>(most_devices) - 1);
  switch (up_to(3)) {
    case 0:  // one device or all of them
      cluster.degrees = {1, cluster.devices};
      break;
    case 1:  // any degrees
      cluster.aligned = false;
      for (int d = 1; d <= cluster.devices; ++d) {
        if (up_to(1) == 0) cluster.degrees.push_back(d);
      }
      break;
    default:
      for (int d = 1; d <= cluster.devices; d *= 2) cluster.degrees.push_back(d);
  }
  if (cluster.degrees.empty()) cluster.degrees.push_back(cluster.devices);
  cluster.degrees.erase(std::unique(cluster.degrees.begin(), cluster.degrees.end()),
                        cluster.degrees.end());
  cluster.memory_mib = 20 + up_to(60);
  instance.model = {.states_mib = 10, .activation_mib_per_token = 1};
  instance.cost = {.quadratic_ms = 0.001 * up_to(30),
                   .linear_ms = 0.05 * up_to(20),
                   .fixed_ms = up_to(7) == 0 ? 0.0 : 0.5 * up_to(80)};
  AllToAll& exchange = instance.cost.all_to_all;
  exchange.mib_per_token = up_to(2) == 0 ? 0 : 1;
  for (const int d : cluster.degrees) {
    if (d == 1) continue;
    exchange.mib_per_ms[d] = 0.5 + 0.5 * up_to(20);
    if (up_to(3) == 0) exchange.latency_ms[d] = up_to(5);
  }
  instance.pad_multiple = up_to(3) == 0 ? 4 : 1;
  const int most = 10 + up_to(3) * 40;
  const int count = up_to(most_sequences);
  for (int k = 0; k < count; ++k) {
    const bool repeat = k > 0 && up_to(3) == 0;
    instance.lengths.push_back(
        repeat ? instance.lengths.back()
               : 1 + static_cast<Tokens>(up_to(static_cast<std::uint64_t>(most) - 1)));
  }
  return instance;
}

// Returns an instance of tiny_scatter() with some of the trainers' rules, alone or together.
inline ScatterInstance tiny_ruled_scatter(std::uint64_t seed, std::uint64_t most_sequences = 6,
                                          int most_devices = 8) {
  ScatterInstance instance = tiny_scatter(seed, most_sequences, most_devices);
  std::mt19937_64 random(seed + 77777);
  const auto up_to = [&](std::uint64_t bound) { return static_cast<int>(draw(random, bound + 1)); };
  ScatterRules& rules = instance.rules;
  // Seven of fourteen seeds have a single rule each; the others have mixtures.
  const std::uint64_t alone = seed % 14;
  const auto asked = [&](std::uint64_t rule) { return alone >= 7 ? up_to(2) == 0 : alone == rule; };
  if (asked(0)) rules.no_idle_ranks = true;
  if (asked(1)) rules.sorted_groups = true;
  if (asked(2)) rules.micro_batches_multiple_of = 2 + up_to(1);
  if (asked(3)) {
    const auto& degrees = instance.cluster.degrees;
    rules.min_degree = 1 + up_to(static_cast<std::uint64_t>(degrees.back()) - 1);
  }
  if (asked(4)) rules.max_tokens_per_rank = 5 + up_to(50);
  if (asked(5)) rules.max_sequences_per_group = 1 + up_to(2);
  if (asked(6)) rules.packed = false;
  if (seed % 4 == 3) rules.equal_sequences = true;
  if (seed % 28 == 7) rules = {.equal_sequences = true};
  instance.name = "ruled-" + std::to_string(seed);
  return instance;
}

// Returns an instance of tiny_scatter() with costs per sequence, tiles, windows, the loss of split
// attention, and mostly a choice of several exchanges, on nodes of 1 to 4 devices.
inline ScatterInstance tiny_timed_scatter(std::uint64_t seed, std::uint64_t most_sequences = 6,
                                          int most_devices = 8) {
  ScatterInstance instance = tiny_scatter(seed, most_sequences, most_devices);
  std::mt19937_64 random(seed + 1'000'000);
  const auto up_to = [&](std::uint64_t bound) { return static_cast<int>(draw(random, bound + 1)); };
  instance.name += "-timed";
  ScatterCost& cost = instance.cost;
  cost.sequence_fixed_ms = up_to(1) == 0 ? 0 : 0.5 * up_to(8);
  cost.tile_tokens = up_to(1) == 0 ? 1 : 4 * (1 + up_to(4));
  if (seed % 3 > 0) cost.split_ms = 0.0625 * static_cast<double>(1 + seed % 7);
  if (up_to(1) == 0) cost.window = {.tokens = 1 + up_to(40), .share = 0.25 * up_to(4)};
  instance.cluster.devices_per_node = 1 + up_to(3);
  if (up_to(4) == 0) return instance;
  cost.all_to_all = {};
  Exchange exchange{.all_to_all_mib_per_token = 0.5 * up_to(4),
                    .keys_values_mib_per_token = 0.25 * up_to(4),
                    .inside_mib_per_ms = 0.5 + up_to(6),
                    .across_mib_per_ms = 0.25 + 0.5 * up_to(6),
                    .inside_latency_ms = up_to(2) == 0 ? 0.5 * up_to(4) : 0,
                    .across_latency_ms = up_to(2) == 0 ? 0.5 * up_to(8) : 0,
                    .overlap = up_to(1) == 0 ? 0 : 0.25 * up_to(4)};
  for (const int degree : instance.cluster.degrees) {
    if (degree == 1) continue;
    std::vector<ExchangeKind>& kinds = exchange.kinds[degree];
    for (const ExchangeKind kind : {ExchangeKind::all_to_all, ExchangeKind::ring,
                                    ExchangeKind::all_gather, ExchangeKind::two_level}) {
      if (can_exchange(instance.cluster, {degree, kind}) && up_to(2) > 0) kinds.push_back(kind);
    }
    if (kinds.empty()) kinds.push_back(ExchangeKind::ring);
  }
  cost.exchange = std::move(exchange);
  return instance;
}

// Returns an instance of tiny_timed_scatter() with memory other than activations: a part per
// sequence, logits whole or in chunks, and keys and values of other ranks. Some instances also have
// rules that limit groups.
inline ScatterInstance tiny_memory_scatter(std::uint64_t seed, std::uint64_t most_sequences = 6,
                                           int most_devices = 8) {
  ScatterInstance instance = tiny_timed_scatter(seed, most_sequences, most_devices);
  std::mt19937_64 random(seed + 2'000'000);
  const auto up_to = [&](std::uint64_t bound) { return static_cast<int>(draw(random, bound + 1)); };
  instance.name += "-memory";
  ModelMemory& model = instance.model;
  // Five of ten seeds have a single term each; the others have mixtures.
  const std::uint64_t alone = seed % 10;
  const auto has = [&](std::uint64_t term) { return alone >= 5 ? up_to(1) == 0 : alone == term; };
  if (has(0)) model.sequence_mib = 0.25 * (1 + up_to(40));
  if (has(1)) model.logits_mib_per_token = 0.25 * (1 + up_to(6));
  if (has(2)) {
    model.logits_mib_per_token = 0.25 * (1 + up_to(6));
    model.logits_chunk_tokens = 1 + up_to(15);
  }
  if (has(3)) model.keys_values_mib_per_token = 0.25 * (1 + up_to(6));
  if (has(4)) {
    model.sequence_mib = 0.25 * (1 + up_to(40));
    instance.rules.max_tokens_per_rank = 5 + up_to(40);
  }
  if (alone >= 5 && up_to(5) == 0) instance.rules.packed = false;
  if (alone >= 5 && up_to(5) == 0) instance.rules.max_sequences_per_group = 1 + up_to(2);
  return instance;
}

// tiny_memory_scatter() with the rules of tiny_ruled_scatter().
inline ScatterInstance tiny_full_scatter(std::uint64_t seed, std::uint64_t most_sequences = 6,
                                         int most_devices = 8) {
  ScatterInstance instance = tiny_memory_scatter(seed, most_sequences, most_devices);
  instance.rules = tiny_ruled_scatter(seed, most_sequences, most_devices).rules;
  instance.name = "full-" + std::to_string(seed);
  return instance;
}

// Returns an instance of tiny_full_scatter(), tiny_ruled_scatter() or tiny_timed_scatter() whose
// groups pad by their form: by degree or not, rows or not, with or without tensor parallelism.
inline ScatterInstance tiny_padded_scatter(std::uint64_t seed, std::uint64_t most_sequences = 6,
                                           int most_devices = 8) {
  ScatterInstance instance = seed % 3 == 0 ? tiny_timed_scatter(seed, most_sequences, most_devices)
                             : seed % 3 == 1
                                 ? tiny_full_scatter(seed, most_sequences, most_devices)
                                 : tiny_ruled_scatter(seed, most_sequences, most_devices);
  std::mt19937_64 random(seed + 4'000'000);
  const auto up_to = [&](std::uint64_t bound) { return static_cast<int>(draw(random, bound + 1)); };
  instance.name = "padded-" + std::to_string(seed);
  instance.pad_multiple = 1;
  Padding padding{.sequence_multiple = up_to(1) == 0 ? 1 : 1 + up_to(5),
                  .row_multiple = up_to(1) == 0 ? 1 : 1 + up_to(11),
                  .per_degree = up_to(3) > 0};
  if (padding.per_degree && up_to(1) == 0) padding.device_multiple = up_to(4);
  instance.padding = padding;
  return instance;
}

// Returns an instance of tiny_full_scatter() in a pipeline of 2, 3, 4 or 8 stages; every third is
// an instance of tiny_scatter() in a pipeline.
inline ScatterInstance tiny_pipeline_scatter(std::uint64_t seed, std::uint64_t most_sequences = 6,
                                             int most_devices = 8) {
  ScatterInstance instance = seed % 3 == 0 ? tiny_scatter(seed, most_sequences, most_devices)
                                           : tiny_full_scatter(seed, most_sequences, most_devices);
  constexpr int kStages[] = {2, 3, 4, 8};
  instance.pipeline_stages = kStages[seed / 3 % 4];
  instance.name = "pipeline-" + std::to_string(seed);
  return instance;
}

// Returns an instance of the functions above with one to four recomputation modes: mostly less
// memory for more time, and some dominated modes.
inline ScatterInstance tiny_recomputing_scatter(std::uint64_t seed,
                                                std::uint64_t most_sequences = 6,
                                                int most_devices = 8) {
  ScatterInstance instance = seed % 3 == 0 ? tiny_scatter(seed, most_sequences, most_devices)
                             : seed % 3 == 1
                                 ? tiny_full_scatter(seed, most_sequences, most_devices)
                                 : tiny_pipeline_scatter(seed, most_sequences, most_devices);
  std::mt19937_64 random(seed + 3'000'000);
  const auto up_to = [&](std::uint64_t bound) { return static_cast<int>(draw(random, bound + 1)); };
  instance.name = "recomputing-" + std::to_string(seed);
  constexpr const char* kNames[] = {"none", "selective", "full", "odd"};
  const int ways = up_to(7) == 0 ? 1 : 2 + up_to(2);
  for (int way = 0; way < ways; ++way) {
    Recomputation choice{.name = kNames[way], .activation_mib_per_token = 1.0 / (1 + way)};
    if (way > 0) {
      choice.quadratic_factor = 1 + 0.125 * up_to(4);
      choice.linear_factor = 1 + 0.125 * up_to(4);
      choice.exchange_factor = up_to(1) == 0 ? 1 : 1.5;
    }
    if (way == 3) choice.activation_mib_per_token = 0.125 * (1 + up_to(6));
    instance.model.recomputation.push_back(std::move(choice));
  }
  if (up_to(3) == 0) std::ranges::reverse(instance.model.recomputation);
  return instance;
}

// Returns an instance of the functions above without rules on ranks, on nodes of one to three
// types. Groups are powers of two and aligned, and some span node types.
inline ScatterInstance tiny_kinds_scatter(std::uint64_t seed, std::uint64_t most_sequences = 6,
                                          int most_devices = 8) {
  constexpr int kNodes[][3] = {{1, 1, 0}, {2, 1, 0}, {2, 2, 0}, {3, 1, 0}, {4, 4, 0},
                               {6, 2, 0}, {4, 2, 1}, {4, 3, 0}, {2, 0, 0}, {1, 1, 1}};
  ScatterInstance instance = seed % 2 == 0
                                 ? tiny_recomputing_scatter(seed, most_sequences, most_devices)
                                 : tiny_scatter(seed, most_sequences, most_devices);
  std::mt19937_64 random(seed + 4'000'000);
  const auto up_to = [&](std::uint64_t bound) { return static_cast<int>(draw(random, bound + 1)); };
  instance.name = "kinds-" + std::to_string(seed);
  Cluster& cluster = instance.cluster;
  cluster.aligned = true;
  cluster.devices_per_node = 1;
  cluster.devices = 0;
  for (const int nodes : kNodes[up_to(9)]) {
    if (nodes == 0 || cluster.devices + nodes > most_devices) continue;
    cluster.devices += nodes;
    cluster.kinds.push_back({.name = "",
                             .nodes = nodes,
                             .speed = 0.5 * (1 + up_to(5)),
                             .memory_mib = 20.0 + up_to(60)});
  }
  cluster.memory_mib = cluster.kinds[0].memory_mib;
  cluster.degrees.clear();
  for (int degree = 1; degree <= cluster.devices; degree *= 2) {
    int first = 0;
    bool starts = true;
    for (const DeviceKind& kind : cluster.kinds) {
      starts = starts && (degree > kind.nodes || first % degree == 0);
      first += kind.nodes;
    }
    if (starts && (degree == 1 || up_to(4) > 0)) cluster.degrees.push_back(degree);
  }
  instance.rules.no_idle_ranks = false;
  instance.rules.sorted_groups = false;
  instance.rules.equal_sequences = false;
  instance.rules.min_degree = 1;
  instance.cost.exchange.reset();
  AllToAll& exchange = instance.cost.all_to_all;
  exchange = {.mib_per_token = up_to(2) == 0 ? 0.0 : 1.0, .mib_per_ms = {}, .latency_ms = {}};
  for (const int degree : cluster.degrees) {
    if (degree == 1) continue;
    exchange.mib_per_ms[degree] = 0.5 + 0.5 * up_to(20);
    if (up_to(3) == 0) exchange.latency_ms[degree] = up_to(5);
  }
  return instance;
}

// Returns an instance of the functions above with measured times instead of a formula: convex
// times, noisy times and times with steps, on grids of 2 to 6 entries a side that cover all groups.
inline ScatterInstance tiny_measured_scatter(std::uint64_t seed, std::uint64_t most_sequences = 6,
                                             int most_devices = 8) {
  ScatterInstance instance = seed % 3 == 0 ? tiny_scatter(seed, most_sequences, most_devices)
                             : seed % 3 == 1
                                 ? tiny_full_scatter(seed, most_sequences, most_devices)
                                 : tiny_pipeline_scatter(seed, most_sequences, most_devices);
  std::mt19937_64 random(seed + 4'000'000);
  const auto up_to = [&](std::uint64_t bound) { return static_cast<int>(draw(random, bound + 1)); };
  instance.name = "measured-" + std::to_string(seed);
  instance.cost = {};
  instance.rules.packed = true;
  const int noise = up_to(2);  // 0: no noise, so the times are as convex as the formula
  const double fixed = up_to(40);
  for (const int degree : instance.cluster.degrees) {
    const GroupRoom room = room_of_group(instance, degree);
    const auto most = static_cast<double>(std::min(room.capacity, room.most_tokens)) + up_to(9);
    const auto axis = [&](double last) {
      std::vector<double> entries{0};
      const int inside = up_to(4);
      for (int i = 1; i <= inside; ++i) {
        // Entries are denser at small values.
        const double share = static_cast<double>(i) / (inside + 1);
        entries.push_back(last * share * share);
      }
      entries.push_back(last);
      return entries;
    };
    TimeGrid grid{.tokens = axis(most + 1), .squares = axis(most * most + 1)};
    for (std::size_t i = 0; i < grid.tokens.size(); ++i) {
      for (std::size_t j = 0; j < grid.squares.size(); ++j) {
        double ms = fixed + (0.3 * grid.tokens[i] + 0.01 * grid.squares[j]) / degree;
        if (noise > 0) ms += up_to(static_cast<std::uint64_t>(20 * noise));
        if (i > 0) ms = std::max(ms, grid.entry(i - 1, j));
        if (j > 0) ms = std::max(ms, grid.ms.back());
        grid.ms.push_back(ms);
      }
    }
    instance.cost.table[degree] = std::move(grid);
  }
  return instance;
}

// Returns an instance of the functions above whose activations can leave for the host: all or a
// part, over slow and fast links, with and without a limit of the host.
inline ScatterInstance tiny_offload_scatter(std::uint64_t seed, std::uint64_t most_sequences = 6,
                                            int most_devices = 8) {
  ScatterInstance instance;
  switch (seed % 6) {
    case 0:
      instance = tiny_scatter(seed, most_sequences, most_devices);
      break;
    case 1:
      instance = tiny_padded_scatter(seed, most_sequences, most_devices);
      break;
    case 2:
      instance = tiny_recomputing_scatter(seed, most_sequences, most_devices);
      break;
    case 3:
      instance = tiny_timed_scatter(seed, most_sequences, most_devices);
      break;
    case 4: {  // half of the memory, so that the measured times reach as far as groups do
      instance = tiny_measured_scatter(seed, most_sequences, most_devices);
      const Mib fixed = fixed_mib(instance);
      instance.cluster.memory_mib = fixed + std::max(0.0, instance.cluster.memory_mib - fixed) / 2;
      break;
    }
    default:
      instance = tiny_full_scatter(seed, most_sequences, most_devices);
  }
  std::mt19937_64 random(seed + 6'000'000);
  const auto up_to = [&](std::uint64_t bound) { return static_cast<int>(draw(random, bound + 1)); };
  instance.name = "offload-" + std::to_string(seed);
  instance.pipeline_stages = 1;
  instance.rules.packed = true;
  instance.model.sequence_mib = 0;
  const int most = instance.cost.table.empty() ? 7 : 3;  // eighths of the activations, less one
  ActivationOffload offload{.mib_per_token = (1 + up_to(static_cast<std::uint64_t>(most))) / 8.0,
                            .out_mib_per_ms = 0.25 * (1 + up_to(up_to(1) == 0 ? 3 : 30)),
                            .in_mib_per_ms = 0.25 * (1 + up_to(up_to(1) == 0 ? 3 : 30))};
  if (up_to(2) == 0) offload.host_mib = up_to(30);
  if (up_to(2) == 0) offload.forward_share = 0.25 * up_to(4);
  instance.model.offload = offload;
  return instance;
}

}  // namespace stowage

// Small random scatter steps with valid plans, for tests of code that reads plans.
//
// The plans are valid, not good: sequences go in random order to groups of random degree. The
// plan's values are computed with the cost model, so that a test of the verifier compares both.
//
//   Draw draw(seed);
//   const ScatterInstance step = random_scatter_instance(draw);
//   const ScatterPlan plan = random_scatter_plan(step, draw);
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "instances/scatter/cost/cost_model.h"
#include "instances/scatter/instance.h"
#include "instances/scatter/plan.h"
#include "tests/instances/draw.h"

namespace stowage {

// Returns measured times for all degrees, up to the largest possible groups.
inline std::map<int, TimeGrid> random_time_table(const ScatterInstance& instance, Draw& draw) {
  std::map<int, TimeGrid> table;
  for (const int degree : instance.cluster.degrees) {
    const auto most = static_cast<double>(group_capacity(instance, degree)) + 1;
    TimeGrid& grid = table[degree];
    for (const double share : {0.0, 0.2, 0.5, 1.0}) {
      grid.tokens.push_back(share * most);
      grid.squares.push_back(share * most * most);
    }
    for (std::size_t i = 0; i < grid.tokens.size(); ++i) {
      for (std::size_t j = 0; j < grid.squares.size(); ++j) {
        Ms ms = draw.real(1, 100) + grid.tokens[i] / degree;
        if (i > 0) ms = std::max(ms, grid.entry(i - 1, j));
        if (j > 0) ms = std::max(ms, grid.ms.back());
        grid.ms.push_back(ms);
      }
    }
  }
  return table;
}

// 2 to 16 devices, 1 to 40 sequences, each of which fits the largest degree.
inline ScatterInstance random_scatter_instance(Draw& draw) {
  ScatterInstance instance;
  instance.name = "random";
  Cluster& cluster = instance.cluster;
  cluster.devices = static_cast<int>(draw.whole(2, 16));
  cluster.aligned = draw.coin();
  int last = 1;
  for (int degree = 1; degree <= cluster.devices; ++degree) {
    if ((cluster.aligned && degree % last != 0) || draw.coin()) continue;
    cluster.degrees.push_back(degree);
    last = degree;
  }
  if (cluster.degrees.empty()) cluster.degrees = {1};

  const Tokens room = draw.whole(50, 500);  // tokens of one device
  instance.model.activation_mib_per_token = draw.real(0.5, 5);
  instance.model.states_mib = draw.real(100, 200);
  instance.cluster.memory_mib =
      instance.model.states_mib +
      instance.model.activation_mib_per_token * (static_cast<double>(room) + draw.real(0.1, 0.9));
  // Sometimes memory holds further terms, with correspondingly more room.
  if (draw.below(3) == 0) {
    instance.model.sequence_mib = draw.real(0.1, 10);
    instance.cluster.memory_mib += instance.model.sequence_mib + 5;
  }
  if (draw.below(3) == 0) {
    instance.model.logits_mib_per_token = draw.real(0.01, 1);
    instance.model.logits_chunk_tokens = draw.whole(1, 20);
    instance.cluster.memory_mib += 20;
  }

  instance.cost.quadratic_ms = draw.real(0, 1e-3);
  instance.cost.linear_ms = draw.real(0.1, 1);
  instance.cost.fixed_ms = draw.real(1, 100);
  instance.cost.all_to_all.mib_per_token = draw.coin() ? 0 : draw.real(0.1, 2);
  for (const int degree : cluster.degrees) {
    if (degree == 1) continue;
    instance.cost.all_to_all.mib_per_ms[degree] = draw.real(1, 100);
    if (draw.coin()) instance.cost.all_to_all.latency_ms[degree] = draw.real(0, 5);
  }

  instance.pad_multiple = draw.coin() ? 1 : draw.whole(2, 30);
  const Tokens longest = room * cluster.degrees.back() / instance.pad_multiple;
  if (draw.below(3) == 0) instance.pipeline_stages = static_cast<int>(draw.whole(2, 8));
  for (std::int64_t k = draw.whole(1, 40); k > 0; --k) {
    const Tokens limit = draw.coin() ? longest : std::max<Tokens>(1, longest / 8);
    instance.lengths.push_back(draw.whole(1, limit * instance.pad_multiple));
  }
  // Sometimes there are two recomputation modes with equal memory, so that plans need not choose.
  if (draw.below(3) == 0) {
    const Mib whole = instance.model.activation_mib_per_token;
    instance.model.recomputation = {{.name = "none", .activation_mib_per_token = whole},
                                    {.name = "some",
                                     .activation_mib_per_token = whole,
                                     .quadratic_factor = draw.real(1, 2),
                                     .linear_factor = draw.real(1, 2),
                                     .exchange_factor = draw.real(1, 2)}};
  } else if (draw.below(3) == 0) {
    instance.cost = {.table = random_time_table(instance, draw)};
  }
  // Sometimes groups pad by their degree, if the largest still holds every sequence.
  if (draw.below(3) == 0) {
    instance.padding = Padding{.sequence_multiple = instance.pad_multiple,
                               .row_multiple = draw.coin() ? 1 : draw.whole(2, 9),
                               .device_multiple = static_cast<int>(draw.whole(0, 2))};
    const Tokens pad_multiple = std::exchange(instance.pad_multiple, 1);
    const Tokens largest = room_of_group(instance, cluster.degrees.back()).longest;
    const bool fits = std::ranges::all_of(padded_lengths(instance),
                                          [&](Tokens length) { return length <= largest; });
    if (!fits) {
      instance.padding.reset();
      instance.pad_multiple = pad_multiple;
    }
  }
  return instance;
}

// Recomputes all values that follow from the sequences and the degrees: tokens, cu_seqlens, times.
inline void restate(const ScatterInstance& instance, ScatterPlan& plan) {
  plan.objective_ms = 0;
  Ms longest = 0;
  for (ScatterMicroBatch& micro_batch : plan.micro_batches) {
    micro_batch.makespan_ms = 0;
    for (ScatterGroup& group : micro_batch.groups) {
      const int way = std::max(0, recomputation_index(instance, micro_batch.recomputation));
      const GroupForm form{group.degree, group.exchange, way};
      group.tokens = 0;
      Load load = empty_load(instance, form);
      group.cu_seqlens = {0};
      for (const std::int64_t id : group.sequences) {
        const Tokens length =
            padded_length(instance, instance.lengths[static_cast<std::size_t>(id)], form);
        group.tokens += length;
        load += sequence_load(instance, length, form);
        group.cu_seqlens.push_back(group.tokens);
      }
      load += row_padding_load(instance, group.tokens, form);
      group.tokens = round_up(group.tokens, row_multiple(instance, form));
      group.cu_seqlens.back() = group.tokens;
      group.time_ms = group_ms(instance, form, load);
      micro_batch.makespan_ms = std::max(micro_batch.makespan_ms, group.time_ms);
    }
    plan.objective_ms += micro_batch.makespan_ms;
    longest = std::max(longest, micro_batch.makespan_ms);
  }
  plan.objective_ms += (instance.pipeline_stages - 1) * longest;
}

// A valid plan. Requires that every sequence fits the largest degree.
inline ScatterPlan random_scatter_plan(const ScatterInstance& instance, Draw& draw) {
  std::vector<std::int64_t> ids(instance.lengths.size());
  for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<std::int64_t>(i);
  draw.shuffle(ids);
  const auto length_of = [&](std::int64_t id, int degree) {
    return padded_length(instance, instance.lengths[static_cast<std::size_t>(id)], degree);
  };

  ScatterPlan plan{.name = instance.name, .bound_by = "random"};
  int free_devices = 0;
  while (!ids.empty()) {
    std::vector<int> fitting;
    for (const int degree : instance.cluster.degrees) {
      if (degree <= free_devices &&
          group_capacity(instance, degree) >= length_of(ids.back(), degree)) {
        fitting.push_back(degree);
      }
    }
    if (fitting.empty() || draw.below(8) == 0) {
      if (plan.micro_batches.empty() || !plan.micro_batches.back().groups.empty()) {
        plan.micro_batches.emplace_back();
      }
      free_devices = instance.cluster.devices;
      continue;
    }
    ScatterGroup group{.degree = fitting[draw.below(fitting.size())]};
    const GroupRoom room = room_of_group(instance, group.degree);
    Tokens left = room.longest;
    do {
      left -= length_of(ids.back(), group.degree) + room.sequence_tokens;
      group.sequences.push_back(ids.back());
      ids.pop_back();
    } while (!ids.empty() && length_of(ids.back(), group.degree) <= left && draw.below(4) != 0);
    free_devices -= group.degree;
    plan.micro_batches.back().groups.push_back(std::move(group));
  }
  for (ScatterMicroBatch& micro_batch : plan.micro_batches) {
    if (instance.cluster.aligned) {  // largest first keeps every first rank a multiple
      std::stable_sort(
          micro_batch.groups.begin(), micro_batch.groups.end(),
          [](const ScatterGroup& a, const ScatterGroup& b) { return a.degree > b.degree; });
    }
    const auto& ways = instance.model.recomputation;
    if (!ways.empty()) micro_batch.recomputation = ways[draw.below(ways.size())].name;
    int rank = 0;
    for (ScatterGroup& group : micro_batch.groups) {
      group.first_rank = rank;
      rank += group.degree;
    }
  }
  restate(instance, plan);
  plan.bound_ms = plan.objective_ms * draw.real(0.1, 1);
  return plan;
}

// Returns the strictest rules that the plan satisfies, except those on memory and time.
inline ScatterRules rules_kept_by(const ScatterInstance& instance, const ScatterPlan& plan) {
  ScatterRules rules{
      .no_idle_ranks = true,
      .sorted_groups = true,
      .micro_batches_multiple_of = std::max<std::int64_t>(1, std::ssize(plan.micro_batches)),
      .min_degree = instance.cluster.degrees.back(),
      .max_sequences_per_group = 1,
      .equal_sequences = true};
  for (const ScatterMicroBatch& micro_batch : plan.micro_batches) {
    int devices = 0;
    for (const ScatterGroup& group : micro_batch.groups) {
      devices += group.degree;
      rules.min_degree = std::min(rules.min_degree, group.degree);
      rules.max_sequences_per_group =
          std::max<std::int64_t>(rules.max_sequences_per_group, std::ssize(group.sequences));
      if (group.sequences.size() != micro_batch.groups[0].sequences.size()) {
        rules.equal_sequences = false;
      }
      for (const ScatterGroup& other : micro_batch.groups) {
        if (other.first_rank > group.first_rank && other.degree > group.degree) {
          rules.sorted_groups = false;
        }
      }
    }
    if (devices < instance.cluster.devices) rules.no_idle_ranks = false;
  }
  return rules;
}

}  // namespace stowage

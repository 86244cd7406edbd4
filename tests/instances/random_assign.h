// Small random assign steps with valid plans, for tests of code that reads plans.
//
// The plans are valid, not good: sequences go in random order to a random replica that admits them,
// into its last row or a new one. The plan's values are computed with the pipeline simulator, so
// that a test of the verifier compares both.
//
//   Draw draw(seed);
//   const AssignInstance step = random_assign_instance(draw);
//   const AssignPlan plan = random_assign_plan(step, draw);
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "instances/assign/instance.h"
#include "instances/assign/plan.h"
#include "instances/pipeline/schedule.h"
#include "tests/instances/draw.h"

namespace stowage {

struct RandomAssign {
  std::int64_t most_schemes = 4;
  std::int64_t most_strategies = 3;
  std::int64_t most_replicas = 4;  // of one scheme
  std::int64_t most_sequences = 30;
};

// Every strategy is usable, and no row constraint is set.
inline AssignInstance random_assign_instance(Draw& draw, const RandomAssign& options = {}) {
  AssignInstance instance{.name = "random"};
  const std::int64_t schemes = draw.whole(1, options.most_schemes);
  for (std::int64_t g = 0; g < schemes; ++g) {
    instance.schemes.push_back({.name = "g" + std::to_string(g),
                                .tp = static_cast<int>(draw.whole(1, 4)),
                                .pp = static_cast<int>(draw.coin() ? 1 : draw.whole(2, 5)),
                                .quadratic_ms = draw.coin() ? 0 : draw.real(0, 1e-3),
                                .linear_ms = draw.real(0.01, 1),
                                .fixed_ms = draw.real(0, 30),
                                .max_tokens = draw.whole(40, 400)});
  }
  Tokens longest = 400;
  for (std::int64_t k = draw.whole(1, options.most_strategies); k > 0; --k) {
    Strategy strategy{.name = "S" + std::to_string(k), .replicas = std::vector<int>(schemes)};
    strategy.replicas[draw.below(strategy.replicas.size())] = 1;
    int devices = 0;
    for (std::size_t g = 0; g < strategy.replicas.size(); ++g) {
      if (draw.coin()) {
        strategy.replicas[g] = static_cast<int>(draw.whole(1, options.most_replicas));
      }
      devices += strategy.replicas[g] * instance.schemes[g].tp * instance.schemes[g].pp;
    }
    instance.devices = std::max(instance.devices, devices);
    longest = std::min(longest, longest_allowed(instance, strategy));
    instance.strategies.push_back(std::move(strategy));
  }
  instance.pad_multiple = draw.coin() ? 1 : draw.whole(2, 20);
  for (std::int64_t k = draw.whole(1, options.most_sequences); k > 0; --k) {
    const Tokens limit = longest / instance.pad_multiple * instance.pad_multiple;
    instance.lengths.push_back(draw.whole(1, draw.coin() ? limit : std::max<Tokens>(1, limit / 6)));
  }
  return instance;
}

// Recomputes all values that follow from the sequences and the schemes: tokens, cu_seqlens, times.
// Requires known schemes and ids.
inline void restate(const AssignInstance& instance, AssignPlan& plan) {
  plan.loss_tokens = 0;
  plan.objective_ms = 0;
  plan.simulated_1f1b_ms = 0;
  for (AssignReplica& replica : plan.replicas) {
    const Scheme& scheme =
        *std::find_if(instance.schemes.begin(), instance.schemes.end(),
                      [&](const Scheme& each) { return each.name == replica.scheme; });
    std::vector<Ms> times;
    Ms longest = 0;
    replica.time_ms = 0;
    for (AssignRow& row : replica.rows) {
      row.tokens = 0;
      row.loss_tokens = 0;
      row.time_ms = scheme.fixed_ms;
      row.cu_seqlens = {0};
      for (const std::int64_t id : row.sequences) {
        const Tokens length =
            padded_length(instance, instance.lengths[static_cast<std::size_t>(id)]);
        const auto s = static_cast<double>(length);
        row.tokens += length;
        row.loss_tokens += instance.lengths[static_cast<std::size_t>(id)];
        row.time_ms += scheme.quadratic_ms * s * s + scheme.linear_ms * s;
        row.cu_seqlens.push_back(row.tokens);
      }
      plan.loss_tokens += row.loss_tokens;
      times.push_back(row.time_ms);
      replica.time_ms += row.time_ms;
      longest = std::max(longest, row.time_ms);
    }
    replica.time_ms += (scheme.pp - 1) * longest;
    plan.objective_ms = std::max(plan.objective_ms, replica.time_ms);
    plan.simulated_1f1b_ms = std::max(plan.simulated_1f1b_ms, simulate_1f1b(times, scheme.pp));
  }
}

// A valid plan. Requires usable strategies and no row constraint.
inline AssignPlan random_assign_plan(const AssignInstance& instance, Draw& draw) {
  const Strategy& strategy = instance.strategies[draw.below(instance.strategies.size())];
  AssignPlan plan{.name = instance.name, .strategy = strategy.name, .bound_by = "random"};
  std::vector<Tokens> caps;
  for (std::size_t g = 0; g < strategy.replicas.size(); ++g) {
    for (int n = 0; n < strategy.replicas[g]; ++n) {
      plan.replicas.push_back({.scheme = instance.schemes[g].name});
      caps.push_back(instance.schemes[g].max_tokens);
    }
  }
  std::vector<std::int64_t> ids(instance.lengths.size());
  for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<std::int64_t>(i);
  draw.shuffle(ids);
  for (const std::int64_t id : ids) {
    const Tokens length = padded_length(instance, instance.lengths[static_cast<std::size_t>(id)]);
    std::vector<std::size_t> admitting;
    for (std::size_t r = 0; r < caps.size(); ++r) {
      if (caps[r] >= length) admitting.push_back(r);
    }
    const std::size_t r = admitting[draw.below(admitting.size())];
    std::vector<AssignRow>& rows = plan.replicas[r].rows;
    if (rows.empty() || rows.back().tokens + length > caps[r] || draw.below(5) == 0) {
      rows.emplace_back();
    }
    rows.back().sequences.push_back(id);
    rows.back().tokens += length;
  }
  draw.shuffle(plan.replicas);
  restate(instance, plan);
  plan.bound_ms = plan.objective_ms * draw.real(0.1, 1);
  return plan;
}

}  // namespace stowage

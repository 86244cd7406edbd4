// What would improve a plan: the best move of a poor plan gains what it says.
#include <gtest/gtest.h>

#include <array>

#include "instances/assign/json/json.h"
#include "instances/assign/verify/verify.h"
#include "instances/layout/json/json.h"
#include "instances/layout/verify/verify.h"
#include "instances/scatter/json/json.h"
#include "instances/scatter/plan_builder.h"
#include "instances/scatter/verify/verify.h"
#include "tests/oracles/assign/brute_force.h"
#include "tests/oracles/layout/brute_force.h"
#include "tests/oracles/scatter/brute_force.h"
#include "tests/solvers/explain/explained.h"
#include "tests/tiny_assign.h"
#include "tests/tiny_layout.h"
#include "tests/tiny_scatter.h"

namespace stowage::explain_explain_test {
namespace {

TEST(Explain, NothingHelpsAnOptimalPlan) {
  int with_moves = 0;
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    if (const auto plan = brute_force(tiny_scatter(seed))) {
      ScatterPlan best = *plan;
      best.instance_hash = instance_hash(tiny_scatter(seed));
      const Explanation why = explained(tiny_scatter(seed), best, "fast");
      EXPECT_EQ(why.binding.moves.best_text, "") << "scatter " << seed;
      EXPECT_EQ(why.binding.moves.best_gain, 0) << "scatter " << seed;
      with_moves += why.binding.moves.tried > 0 ? 1 : 0;
    }
    if (const auto plan = brute_force(tiny_recomputing_scatter(seed))) {
      ScatterPlan best = *plan;
      best.instance_hash = instance_hash(tiny_recomputing_scatter(seed));
      const Explanation why = explained(tiny_recomputing_scatter(seed), best, "fast");
      EXPECT_EQ(why.binding.moves.best_text, "") << "recomputing " << seed;
    }
    if (const auto plan = brute_force(tiny_assign(seed))) {
      AssignPlan best = *plan;
      best.instance_hash = instance_hash(tiny_assign(seed));
      const Explanation why = explained(tiny_assign(seed), best, "fast");
      EXPECT_EQ(why.binding.moves.best_text, "") << "assign " << seed;
      with_moves += why.binding.moves.tried > 0 ? 1 : 0;
    }
    if (const auto plan = brute_force(tiny_layout(seed))) {
      LayoutPlan best = *plan;
      best.instance_hash = instance_hash(tiny_layout(seed));
      const Explanation why = explained(tiny_layout(seed), best, "fast");
      EXPECT_EQ(why.binding.moves.best_text, "") << "layout " << seed;
    }
  }
  EXPECT_GT(with_moves, 100);
}

// Applies the move in `best_text` to a scatter plan.
Ms after_move(const ScatterInstance& instance, const ScatterPlan& plan, const std::string& text) {
  std::vector<MicroBatchChoice> choices;
  for (const ScatterMicroBatch& batch : plan.micro_batches) {
    choices.emplace_back();
    for (const ScatterGroup& group : batch.groups) {
      choices.back().push_back({.degree = group.degree,
                                .sequences = group.sequences,
                                .recomputation = form_of(instance, batch, group)->recomputation});
    }
  }
  std::array<char, 20> name{};
  unsigned long long id = 0, b = 0, g = 0, other = 0, c = 0, h = 0;
  int degree = 0;
  const auto group_at = [&](unsigned long long batch, unsigned long long group) -> GroupChoice& {
    return choices.at(batch).at(group);
  };
  const auto erase = [](GroupChoice& group, unsigned long long which) {
    std::erase(group.sequences, static_cast<std::int64_t>(which));
  };
  if (std::sscanf(text.c_str(),
                  "move sequence %llu from /micro_batches/%llu/groups/%llu to "
                  "/micro_batches/%llu/groups/%llu",
                  &id, &b, &g, &c, &h) == 5) {
    group_at(c, h).sequences.push_back(static_cast<std::int64_t>(id));
    erase(group_at(b, g), id);
  } else if (std::sscanf(text.c_str(),
                         "exchange sequence %llu of /micro_batches/%llu/groups/%llu with sequence "
                         "%llu of /micro_batches/%llu/groups/%llu",
                         &id, &b, &g, &other, &c, &h) == 6) {
    erase(group_at(b, g), id);
    erase(group_at(c, h), other);
    group_at(b, g).sequences.push_back(static_cast<std::int64_t>(other));
    group_at(c, h).sequences.push_back(static_cast<std::int64_t>(id));
  } else if (std::sscanf(
                 text.c_str(),
                 "move sequence %llu from /micro_batches/%llu/groups/%llu to a new group of "
                 "degree %d of /micro_batches/%llu",
                 &id, &b, &g, &degree, &c) == 5) {
    erase(group_at(b, g), id);
    const int way = choices.at(c).front().recomputation;
    choices.at(c).push_back(
        {.degree = degree, .sequences = {static_cast<std::int64_t>(id)}, .recomputation = way});
  } else if (std::sscanf(text.c_str(), "recompute \"%19[^\"]\" in /micro_batches/%llu", name.data(),
                         &b) == 2) {
    for (GroupChoice& group : choices.at(b)) {
      group.recomputation = recomputation_index(instance, name.data());
    }
  } else {
    ADD_FAILURE() << text;
  }
  const ScatterPlan moved = compose_plan(instance, std::move(choices));
  EXPECT_TRUE(verify(instance, moved).empty()) << text;
  return moved.objective_ms;
}

TEST(Explain, ABadScatterPlansBestMoveGainsWhatItSays) {
  int helped = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const ScatterInstance instance = tiny_scatter(seed);
    if (!unplaceable_sequences(instance).empty() || instance.lengths.size() < 2) continue;
    // A micro-batch for each sequence, on the largest degree.
    std::vector<MicroBatchChoice> choices;
    for (std::size_t id = 0; id < instance.lengths.size(); ++id) {
      choices.push_back({{instance.cluster.degrees.back(), {static_cast<std::int64_t>(id)}}});
    }
    ScatterPlan plan = compose_plan(instance, std::move(choices));
    plan.instance_hash = instance_hash(instance);
    const Explanation why = explained(instance, plan, "fast");
    const Moves& moves = why.binding.moves;
    if (moves.best_text.empty()) continue;
    ++helped;
    EXPECT_NEAR(plan.objective_ms - after_move(instance, plan, moves.best_text), moves.best_gain,
                1e-9 * plan.objective_ms)
        << seed << ' ' << moves.best_text;
  }
  EXPECT_GT(helped, 100);
}

// The same if micro-batches choose a recomputation mode, without several kinds of exchange.
TEST(Explain, ABadRecomputingPlansBestMoveGainsWhatItSays) {
  int helped = 0;
  int other_way = 0;
  for (std::uint64_t seed = 0; seed < 600; seed += 3) {
    const ScatterInstance instance = tiny_recomputing_scatter(seed);
    if (instance.lengths.size() < 2) continue;
    // Every sequence is in a micro-batch of its own, all with the recomputation mode of the largest
    // capacity.
    const int way = largest_form(instance).recomputation;
    std::vector<MicroBatchChoice> choices;
    for (std::size_t id = 0; id < instance.lengths.size(); ++id) {
      choices.push_back({{.degree = instance.cluster.degrees.back(),
                          .sequences = {static_cast<std::int64_t>(id)},
                          .recomputation = way}});
    }
    ScatterPlan plan = compose_plan(instance, std::move(choices));
    if (!verify(instance, plan).empty()) continue;
    plan.instance_hash = instance_hash(instance);
    const Explanation why = explained(instance, plan, "fast");
    const Moves& moves = why.binding.moves;
    if (moves.best_text.empty()) continue;
    ++helped;
    other_way += moves.best_text.starts_with("recompute") ? 1 : 0;
    EXPECT_NEAR(plan.objective_ms - after_move(instance, plan, moves.best_text), moves.best_gain,
                1e-9 * plan.objective_ms)
        << seed << ' ' << moves.best_text;
  }
  EXPECT_GT(helped, 80);
  EXPECT_GT(other_way, 10);
}

}  // namespace
}  // namespace stowage::explain_explain_test

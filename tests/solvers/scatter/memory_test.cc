// The oracle ladder of tests/solvers/scatter/ladder_test.cc for terms of memory: a part for each
// sequence, logits whole or in chunks, keys and values by kind of exchange; beside terms of time
// and limits of rules.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "formulations/scatter/bounds.h"
#include "heuristics/scatter/registry.h"
#include "instances/scatter/certificate.h"
#include "instances/scatter/verify/reference_counts.h"
#include "instances/scatter/verify/verify.h"
#include "solvers/solve.h"
#include "tests/long_run.h"
#include "tests/oracles/scatter/brute_force.h"
#include "tests/solvers/scatter/rungs.h"
#include "tests/tiny_scatter.h"

namespace stowage::scatter_memory_test {
namespace {

const auto kInstances = static_cast<std::uint64_t>(in_long_run(40, 1000));

TEST(ScatterMemory, BruteForcePlansVerifyAndAreFoundAgain) {
  std::set<ExchangeKind> used;
  for (std::uint64_t seed = 0; seed < 5 * kInstances; ++seed) {
    const ScatterInstance instance = tiny_memory_scatter(seed);
    const auto plan = brute_force(instance);
    ASSERT_EQ(plan.has_value(), unplaceable_sequences(instance).empty()) << seed;
    if (!plan) continue;
    expect_found_again(instance, *plan, seed);
    if (!instance.lengths.empty()) expect_sets_have_the_optimum(instance, *plan, seed);
    for (const ScatterMicroBatch& batch : plan->micro_batches) {
      for (const ScatterGroup& group : batch.groups) used.insert(group.exchange);
    }
  }
  EXPECT_EQ(used.size(), exchange_names().size()) << "every kind is the best now and then";
}

TEST(ScatterMemory, DocumentsReadBack) {
  std::set<std::string> hashes;
  for (std::uint64_t seed = 0; seed < kInstances; ++seed) {
    const ScatterInstance instance = tiny_memory_scatter(seed);
    hashes.insert(expect_read_back(instance, brute_force(instance), seed));
  }
  EXPECT_EQ(hashes.size(), kInstances);
}

// A plan stays valid without a term of the model. With a larger term the verifier reports only the
// limit of memory, or the plan still fits.
TEST(ScatterMemory, MoreOfATermBreaksTheLimitOfMemoryAlone) {
  std::uint64_t broken = 0;
  for (std::uint64_t seed = 0; seed < kInstances; ++seed) {
    const ScatterInstance instance = tiny_memory_scatter(seed);
    const auto plan = brute_force(instance);
    if (!plan || plan->micro_batches.empty()) continue;
    for (const auto term : {&ModelMemory::sequence_mib, &ModelMemory::logits_mib_per_token,
                            &ModelMemory::keys_values_mib_per_token}) {
      ScatterInstance less = instance;
      less.model.*term = 0;
      if (term == &ModelMemory::logits_mib_per_token) less.model.logits_chunk_tokens = 0;
      // A rounded share of fewer MiB per token may be larger.
      if (term == &ModelMemory::sequence_mib || instance.model.sequence_mib == 0) {
        EXPECT_TRUE(verify(less, *plan).empty()) << seed << all_of(verify(less, *plan));
      }
      ScatterInstance more = instance;
      more.model.*term += 40;
      for (const Violation& violation : verify(more, *plan)) {
        EXPECT_EQ(violation.rule, "capacity") << seed << ' ' << to_string(violation);
        ++broken;
      }
    }
  }
  EXPECT_GT(broken, kInstances);
}

// Rounding to whole tokens errs only on the safe side.
TEST(ScatterMemory, PlansFitInMib) {
  for (std::uint64_t seed = 0; seed < kInstances; ++seed) {
    const ScatterInstance instance = tiny_memory_scatter(seed);
    const auto plan = brute_force(instance);
    if (!plan || !instance.rules.packed) continue;
    const ModelMemory& model = instance.model;
    for (const ScatterMicroBatch& batch : plan->micro_batches) {
      for (const ScatterGroup& group : batch.groups) {
        const double share = static_cast<double>(group.tokens) / group.degree;
        const double logits =
            model.logits_chunk_tokens > 0 ? static_cast<double>(model.logits_chunk_tokens) : share;
        double others = 0;  // tokens
        if (group.exchange == ExchangeKind::all_gather) others = static_cast<double>(group.tokens);
        if (group.exchange == ExchangeKind::ring || group.exchange == ExchangeKind::two_level) {
          others = share;
        }
        const double held = model.states_mib + model.activation_mib_per_token * share +
                            model.logits_mib_per_token * logits +
                            model.keys_values_mib_per_token * others +
                            model.sequence_mib * static_cast<double>(group.sequences.size());
        EXPECT_LE(held, instance.cluster.memory_mib) << seed;
      }
    }
  }
}

TEST(ScatterMemory, BoundsAreBelowAndHeuristicsAboveTheOptimum) {
  for (std::uint64_t seed = 0; seed < kInstances; ++seed) {
    const ScatterInstance instance = tiny_memory_scatter(seed);
    const auto optimum = brute_force(instance);
    if (!optimum) continue;
    expect_bounds_below_and_heuristics_above(instance, *optimum, seed, true);
  }
}

// Planners and checkers count micro-batches with different code, and certificates require equal
// counts.
TEST(ScatterMemory, TheFewestMicroBatchesAreCountedAlikeAndRightly) {
  std::uint64_t several = 0;
  for (std::uint64_t seed = 0; seed < 20 * kInstances; ++seed) {
    const ScatterInstance instance = tiny_full_scatter(seed, 20, 8);
    if (!unplaceable_sequences(instance).empty()) continue;
    const std::int64_t fewest = true_fewest_micro_batches(instance, true_length_counts(instance));
    EXPECT_EQ(least_micro_batches(ScatterTable(instance)), fewest) << seed;
    several += fewest > instance.rules.micro_batches_multiple_of ? 1 : 0;
  }
  EXPECT_GT(several, kInstances);
  for (std::uint64_t seed = 0; seed < 5 * kInstances; ++seed) {
    const ScatterInstance instance = tiny_full_scatter(seed);
    const auto plan = brute_force(instance);
    if (!plan) continue;
    EXPECT_TRUE(verify(instance, *plan).empty()) << seed << all_of(verify(instance, *plan));
    EXPECT_LE(least_micro_batches(ScatterTable(instance)), std::ssize(plan->micro_batches)) << seed;
  }
}

class ScatterMemoryOf : public testing::TestWithParam<MilpBackend> {};

TEST_P(ScatterMemoryOf, StepMilpEqualsBruteForce) {
  for (std::uint64_t seed = 0; seed < kInstances; ++seed) {
    const ScatterInstance instance = tiny_memory_scatter(seed, 5, 6);
    const auto optimum = brute_force(instance);
    if (!optimum || instance.lengths.empty()) continue;
    expect_milp_has_the_optimum(instance, *optimum, GetParam(), seed);
  }
}

// The certificates are valid, and not far below the optimum if compute hides no exchange.
TEST_P(ScatterMemoryOf, CertifiedBoundsAreBelowTheOptimum) {
  std::uint64_t certified = 0;
  double closed = 0;
  for (std::uint64_t seed = 0; seed < kInstances; ++seed) {
    const ScatterInstance instance = tiny_memory_scatter(seed);
    const auto optimum = brute_force(instance);
    if (!optimum || instance.lengths.empty()) continue;
    const Certified found = expect_certificates_hold(instance, *optimum, GetParam(), 20, seed);
    certified += found.certificates;
    if (optimum->objective_ms > 0) closed += found.highest / optimum->objective_ms;
  }
  EXPECT_GT(certified, kInstances / 2);
  EXPECT_GT(closed, 0.5 * static_cast<double>(kInstances));
}

// A certificate for a term is refused or true without the term; the same holds for a level under
// another name.
TEST_P(ScatterMemoryOf, CertificatesAreOfTheirOwnMemory) {
  std::uint64_t refused = 0;
  for (std::uint64_t seed = 0; seed < 3 * kInstances; ++seed) {
    const ScatterInstance instance = tiny_memory_scatter(seed);
    const auto optimum = brute_force(instance);
    if (!optimum || instance.lengths.empty()) continue;
    std::vector<std::pair<ScatterInstance, double>> others;  // with their optima
    for (const auto term : {&ModelMemory::sequence_mib, &ModelMemory::logits_mib_per_token,
                            &ModelMemory::keys_values_mib_per_token}) {
      ScatterInstance less = instance;
      less.model.*term = 0;
      if (term == &ModelMemory::logits_mib_per_token) less.model.logits_chunk_tokens = 0;
      if (less == instance) continue;
      const auto best = brute_force(less);
      if (best) others.emplace_back(std::move(less), best->objective_ms);
    }
    const auto look = [&](const ScatterCertificate& certificate) {
      for (const auto& [other, best] : others) {
        refused += refused_or_true(other, best, certificate, seed);
      }
      for (std::size_t level = 0; level < certificate.levels.size(); ++level) {
        for (std::size_t kind = 1; kind < exchange_names().size(); ++kind) {
          ScatterCertificate lie = certificate;
          lie.levels[level].exchange = static_cast<ExchangeKind>(kind);
          refused += refused_or_true(instance, optimum->objective_ms, lie, seed);
        }
      }
    };
    expect_certificates_hold(instance, *optimum, GetParam(), 20, seed, look);
  }
  EXPECT_GT(refused, kInstances / 2);
}

TEST_P(ScatterMemoryOf, TheFacadeKeepsRulesBesides) {
  std::uint64_t planned = 0;
  for (std::uint64_t seed = 0; seed < kInstances; ++seed) {
    planned += expect_facade_proves(tiny_full_scatter(seed, 4, 4), GetParam(), seed);
  }
  EXPECT_GT(planned, kInstances / 4);
}

TEST_P(ScatterMemoryOf, TheFacadeProvesTinySteps) {
  for (std::uint64_t seed = 0; seed < kInstances / 3; ++seed) {
    expect_facade_proves(tiny_memory_scatter(seed), GetParam(), seed);
  }
}

INSTANTIATE_TEST_SUITE_P(Backends, ScatterMemoryOf, testing::ValuesIn(built_backends()),
                         [](const auto& backend) { return std::string(name(backend.param)); });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ScatterMemoryOf);

}  // namespace
}  // namespace stowage::scatter_memory_test

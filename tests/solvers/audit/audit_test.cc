// Verdicts by hand, verdicts of random work, and every error.
#include "solvers/audit/audit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <random>

#include "instances/numeric/random.h"
#include "instances/scatter/presets.h"

namespace stowage::audit_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr AuditCost kTokensAlone{.quadratic = 0, .linear = 1};

TrainerWork work_of(const std::string& text) {
  const Result<TrainerWork> work = read_trainer_work(text);
  EXPECT_TRUE(work) << (work ? "" : to_string(work.errors().front()));
  return work ? *work : TrainerWork();
}

TEST(Audit, RowsByHand) {
  const TrainerWork work = work_of(R"({"lengths": [6, 5, 4, 3], "rows": [[[0, 1], [2]], [[3]]]})");
  const AuditOutcome outcome = audit(work, {.cost = kTokensAlone});
  ASSERT_TRUE(outcome.verdict);
  EXPECT_EQ(outcome.verdict->now, 15);
  EXPECT_EQ(outcome.verdict->planned, 9);
  EXPECT_EQ(outcome.verdict->bound, 9);
  EXPECT_DOUBLE_EQ(outcome.verdict->lost_at_least, 0.4);
  EXPECT_EQ(outcome.line, "stowage.micro_batches(lengths, 2, 11)");
  EXPECT_EQ(outcome.ids.size(), 2U);
}

// Micro-batches are padded to their longest sequence: 2 * 6 + 4 against 2 * 3.
TEST(Audit, PaddingIsTime) {
  const AuditOutcome outcome = audit(work_of(R"({"lengths": [6, 5, 4, 3, 3],
                        "batch_rebalance": [[[0, 1], [2]], [[3, 4]]]})"),
                                     {.cost = kTokensAlone});
  ASSERT_TRUE(outcome.verdict);
  EXPECT_EQ(outcome.verdict->now, 16);
  EXPECT_EQ(outcome.verdict->bound, 11);
  EXPECT_THAT(outcome.line, testing::HasSubstr("StowageTrainer"));
}

// verl's partitions of equal counts keep equal counts.
TEST(Audit, EqualCountsStayEqual) {
  const AuditOutcome equal =
      audit(work_of(R"({"lengths": [9, 1, 1, 1, 1, 1], "partition": [[0, 1, 2], [3, 4, 5]]})"),
            {.cost = kTokensAlone});
  ASSERT_TRUE(equal.verdict);
  EXPECT_EQ(equal.verdict->planned, 11);
  const AuditOutcome free =
      audit(work_of(R"({"lengths": [9, 1, 1, 1, 1, 1], "partition": [[0, 1, 2, 3], [4, 5]]})"),
            {.cost = kTokensAlone});
  ASSERT_TRUE(free.verdict);
  EXPECT_EQ(free.verdict->planned, 9);
  EXPECT_EQ(free.line, "stowage.verl.use()");
}

// A plan of equal counts that does not exist, and an optimal distribution, lose nothing.
TEST(Audit, NothingIsLostWithoutACheaperPlan) {
  for (const char* text : {R"({"lengths": [4, 4, 4], "rows": [[[0], [1]], [[2]]]})",
                           R"({"lengths": [4, 4], "partition": [[0], [1]]})"}) {
    const TrainerWork work = work_of(text);
    const AuditOutcome outcome = audit(work, {.cost = kTokensAlone});
    ASSERT_TRUE(outcome.verdict) << text;
    EXPECT_EQ(outcome.verdict->lost_at_least, 0) << text;
    EXPECT_EQ(outcome.ids, work.ids) << text;
  }
}

TEST(Audit, VerdictsOfRandomWorkHold) {
  std::mt19937_64 random(8);
  int gained = 0;
  for (int trial = 0; trial < 200; ++trial) {
    TrainerWork work{.kind = static_cast<WorkKind>(draw(random, 3))};
    const auto ranks = 1 + draw(random, 5);
    const bool one_row = work.kind == WorkKind::partition;
    work.ids.resize(ranks, std::vector<std::vector<std::int64_t>>(one_row ? 1 : 3));
    for (std::int64_t i = 0; i < 40; ++i) {
      work.lengths.push_back(1 + static_cast<Tokens>(draw(random, 500)));
      auto& rows = work.ids[draw(random, ranks)];
      rows[draw(random, rows.size())].push_back(i);
    }
    const AuditOutcome outcome = audit(work, {});
    ASSERT_TRUE(outcome.verdict) << trial;
    EXPECT_THAT(verify(work, {}, *outcome.verdict), IsEmpty());
    EXPECT_LE(outcome.verdict->bound, outcome.verdict->planned);
    EXPECT_LE(outcome.verdict->lost_at_least, outcome.verdict->lost_at_most);
    gained += outcome.verdict->lost_at_least > 0 ? 1 : 0;
  }
  EXPECT_GT(gained, 100);
}

TEST(Audit, TheVerifierNamesEveryFalseValue) {
  const TrainerWork work = work_of(R"({"lengths": [6, 5, 4, 3], "partition": [[0, 1, 2], [3]]})");
  const AuditVerdict verdict = *audit(work, {.cost = kTokensAlone}).verdict;
  const auto broken = [&](const std::function<void(AuditVerdict&)>& change) {
    AuditVerdict changed = verdict;
    change(changed);
    std::vector<std::string> rules;
    for (const Violation& found : verify(work, kTokensAlone, changed)) rules.push_back(found.rule);
    return rules;
  };
  EXPECT_THAT(broken([](AuditVerdict&) {}), IsEmpty());
  EXPECT_THAT(broken([](AuditVerdict& v) { v.now += 1; }), ElementsAre("now"));
  EXPECT_THAT(broken([](AuditVerdict& v) { v.planned = 16; }), ElementsAre("planned", "lost"));
  EXPECT_THAT(broken([](AuditVerdict& v) { v.bound_by = "faith"; }), ElementsAre("bound"));
  EXPECT_THAT(broken([](AuditVerdict& v) { v.lost_at_most = 0.5; }), ElementsAre("lost"));
  EXPECT_THAT(broken([](AuditVerdict& v) { v.lost_at_least = 0.5; }), ElementsAre("lost"));
}

// Two groups of two ranks with a long and a short sequence: the plan gives them what they need.
TEST(Audit, GroupsAreTimedByTheInstance) {
  ScatterInstance instance = *scatter_preset({.devices = 4, .memory_mib = 1e9});
  instance.pad_multiple = 1;
  const TrainerWork work = work_of(
      R"({"lengths": [30000, 2000, 2000, 2000],
          "sample_id_groups": [[[0], [0], [1], [1]], [[2], [2], [3], [3]]]})");
  Budget budget({.node_limit = 1000});
  const AuditOutcome outcome = audit_groups(work, instance, budget);
  ASSERT_TRUE(outcome.verdict) << (outcome.errors.empty() ? "" : to_string(outcome.errors[0]));
  EXPECT_GT(outcome.verdict->lost_at_least, 0);
  EXPECT_LE(outcome.verdict->bound, outcome.verdict->planned);
  ASSERT_TRUE(outcome.plan);
  EXPECT_EQ(outcome.plan->objective_ms, outcome.verdict->planned);
}

TEST(Audit, EachErrorHasACase) {
  const auto refusal = [](const std::string& text) {
    const Result<TrainerWork> work = read_trainer_work(text);
    if (!work) return to_string(work.errors().front());
    const AuditOutcome outcome = audit(*work, {});
    return outcome.errors.empty() ? "" : to_string(outcome.errors.front());
  };
  EXPECT_EQ(refusal(R"({"lengths": [4]})"),
            "E357 /: must have one of rows, partition, batch_rebalance, sample_id_groups, has 0");
  EXPECT_EQ(refusal(R"({"lengths": [4, 5], "partition": [[0]]})"),
            "E357 /lengths/1: must stand in one row or group of neighbouring ranks, stands in 0");
  EXPECT_EQ(refusal(R"({"lengths": [4], "partition": [[0], [0]]})"),
            "E357 /lengths/0: must stand in one row or group of neighbouring ranks, stands in 2");
  EXPECT_EQ(refusal(R"({"lengths": [4], "rows": []})"), "E357 /rows: must have a rank, has none");
  EXPECT_EQ(refusal(R"({"lengths": [4], "rows": [[[0, 7]]]})"),
            "E205 /rows/0/0: must have ids from 0 to 0, has 7");
  EXPECT_THAT(refusal(R"({"lengths": [4], "rows": [[0]]})"), testing::StartsWith("E203 /rows/0/0"));
  EXPECT_THAT(refusal(R"({"lengths": [0], "partition": [[0]]})"),
              testing::StartsWith("E205 /lengths/0"));
  Budget budget({.node_limit = 10});
  ScatterInstance instance = *scatter_preset({.devices = 2, .memory_mib = 1e9});
  const auto of_groups = [&](const std::string& text) {
    const AuditOutcome outcome = audit_groups(work_of(text), instance, budget);
    return outcome.errors.empty() ? "" : to_string(outcome.errors.front());
  };
  EXPECT_EQ(
      of_groups(R"({"lengths": [4], "sample_id_groups": [[[0]]]})"),
      "E357 /sample_id_groups: must have as many ranks as the instance has devices, 2, has 1");
  EXPECT_THAT(of_groups(R"({"lengths": [4, 4], "sample_id_groups": [[[0], [1]], [[0]]]})"),
              testing::StartsWith("E357 /sample_id_groups/1: must have as many ranks"));
  instance.cluster.memory_mib = 1;
  EXPECT_FALSE(of_groups(R"({"lengths": [4, 4], "sample_id_groups": [[[0], [1]]]})").empty());
}

}  // namespace
}  // namespace stowage::audit_test

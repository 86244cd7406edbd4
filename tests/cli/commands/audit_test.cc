// audit: its input, its output and its errors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/cli/fixture.h"

namespace stowage::commands_audit_test {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

Finished audit(std::vector<std::string> arguments, const std::string& input) {
  arguments.insert(arguments.begin(), {"audit", "-"});
  return run_stowage(arguments, {.input = input});
}

TEST(AuditCommand, SaysWhatIsLostAndTheLine) {
  const Finished run = audit({"--quadratic", "0", "--linear", "1", "--timeless"},
                             R"({"lengths": [6, 5, 4, 3], "partition": [[0, 1, 2], [3]]})");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.err, HasSubstr("audit  now 15  planned 9  bound 9 (average)   lost at least "
                                 "40.00%, at most 40.00%  verified\n  stowage.verl.use()\n"));
  const json answer = json::parse(run.out);
  EXPECT_EQ(answer["format"], "stowage/audit");
  EXPECT_EQ(answer["lost_at_least"], 0.4);
  EXPECT_EQ(answer["rows"].size(), 2U);
  EXPECT_FALSE(answer.contains("seconds"));
}

TEST(AuditCommand, TimesGroups) {
  const Finished run = audit({}, R"({"lengths": [30000, 2000, 2000, 2000],
      "sample_id_groups": [[[0], [0], [1], [1]], [[2], [2], [3], [3]]]})");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.err, HasSubstr("stowage.megatron.register(planner, \"default_dynamic_cp\")"));
  const json answer = json::parse(run.out);
  EXPECT_GT(answer["lost_at_least"], 0);
  EXPECT_LT(answer["seconds"], 2);
  EXPECT_EQ(answer["plan"]["objective_ms"], answer["planned"]);
}

TEST(AuditCommand, RefusesWithPlaceValueAndRule) {
  const auto refusal = [](const std::vector<std::string>& flags, const std::string& input) {
    const Finished run = audit(flags, input);
    EXPECT_EQ(run.exit_code, 2) << run.err;
    return run.err;
  };
  const std::string rows = R"({"lengths": [6, 5], "rows": [[[0]], [[1]]]})";
  EXPECT_THAT(refusal({}, R"({"lengths": [6], "rows": [[[]]]})"),
              HasSubstr("E357 /lengths/0: must stand in one row"));
  EXPECT_THAT(refusal({}, "{"), HasSubstr("E101"));
  EXPECT_THAT(refusal({"--max-tokens", "5"}, rows), HasSubstr("E354 /lengths/0"));
  EXPECT_THAT(refusal({"--instance", "any.json"}, rows), HasSubstr("--instance: has no effect"));
  EXPECT_THAT(refusal({"--max-tokens", "5"}, R"({"lengths": [6], "sample_id_groups": [[[0]]]})"),
              HasSubstr("--max-tokens: has no effect with sample_id_groups"));
  EXPECT_THAT(
      refusal({"--instance", "none.json"}, R"({"lengths": [6], "sample_id_groups": [[[0]]]})"),
      HasSubstr("none.json"));
}

}  // namespace
}  // namespace stowage::commands_audit_test

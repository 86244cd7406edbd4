// Every class of exit code, its number in the JSON answer, and a stdout that contains only JSON.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <ostream>

#include "tests/cli/fixture.h"

namespace stowage::exit_code_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

struct Case {
  std::string name;
  std::vector<std::string> arguments;
  int exit_code;
  std::string format;  // format of the document on stdout
  std::string err;     // part of the text on stderr
  std::string input = "";
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

const Case kCases[] = {
    {.name = "solve_finds_a_plan",
     .arguments = {"solve", "instance.json", "--node-limit", "1000"},
     .exit_code = 0,
     .format = "stowage/outcome",
     .err = "  verified\n"},
    {.name = "solve_writes_the_plan",
     .arguments = {"solve", "instance.json", "-o", "new.json", "--node-limit", "1000"},
     .exit_code = 0,
     .format = "stowage/outcome",
     .err = "plan -> new.json"},
    {.name = "solve_from_stdin",
     .arguments = {"solve", "-", "--node-limit", "1000"},
     .exit_code = 0,
     .format = "stowage/outcome",
     .err = "instance  scatter  tiny   12 sequences, 554 tokens, 4 devices\n",
     .input = kTinyInstance},
    {.name = "solve_from_a_start_plan",
     .arguments = {"solve", "instance.json", "--start", "plan.json", "--node-limit", "1000"},
     .exit_code = 0,
     .format = "stowage/outcome",
     .err = "verified"},
    {.name = "solve_without_time_still_has_a_plan",
     .arguments = {"solve", "instance.json", "-t", "0"},
     .exit_code = 0,
     .format = "stowage/outcome",
     .err = "verified"},
    {.name = "infeasible_names_the_sequence",
     .arguments = {"solve", "infeasible.json", "-o", "new.json"},
     .exit_code = 1,
     .format = "stowage/outcome",
     .err = "sequence 2 has 400 tokens, the largest group holds 320 (degree 4)"},
    {.name = "infeasible_names_the_remedy",
     .arguments = {"solve", "infeasible.json"},
     .exit_code = 1,
     .format = "stowage/outcome",
     .err = "remedy: raise cluster.memory_mib from 100 to 120, or shorten the sequences\n"},
    {.name = "verify_a_plan",
     .arguments = {"verify", "instance.json", "plan.json"},
     .exit_code = 0,
     .format = "stowage/verdict",
     .err = "valid  "},
    {.name = "verify_a_bare_plan",
     .arguments = {"verify", "instance.json", "-"},
     .exit_code = 1,
     .format = "stowage/verdict",
     .err = "violation coverage at /micro_batches: ",
     .input = R"({"format": "stowage/plan", "version": 1, "problem": "scatter", "micro_batches":
        [{"groups": [{"degree": 2, "first_rank": 0, "sequences": [0]}]}]})"},
    {.name = "verify_the_plan_in_an_outcome",
     .arguments = {"verify", "instance.json", "outcome.json"},
     .exit_code = 0,
     .format = "stowage/verdict",
     .err = "valid  "},
    {.name = "verify_the_plan_of_another_instance",
     .arguments = {"verify", "infeasible.json", "plan.json"},
     .exit_code = 1,
     .format = "stowage/verdict",
     .err = "instance_hash at /instance_hash"},
    {.name = "verify_needs_two_files",
     .arguments = {"verify", "-", "-"},
     .exit_code = 2,
     .format = "stowage/outcome",
     .err = "stowage: PLAN: stdin is the instance already\n"},
    {.name = "verify_reports_both_files",
     .arguments = {"verify", "no-instance.json", "no-plan.json"},
     .exit_code = 2,
     .format = "stowage/outcome",
     .err = "stowage: no-instance.json: cannot be read: No such file or directory (errno 2)\n"
            "stowage: no-plan.json: cannot be read: No such file or directory (errno 2)\n"},
    {.name = "a_plan_is_no_instance",
     .arguments = {"solve", "plan.json"},
     .exit_code = 2,
     .format = "stowage/outcome",
     .err = "stowage: plan.json: E207 /format: must be stowage/instance, is \"stowage/plan\"\n"},
    {.name = "all_errors_of_an_instance",
     .arguments = {"solve", "-"},
     .exit_code = 2,
     .format = "stowage/outcome",
     .err = "stowage: stdin: E20",
     .input = R"({"format": "stowage/instance", "version": 1, "problem": "scatter"})"},
    {.name = "an_instance_that_is_no_json",
     .arguments = {"solve", "-"},
     .exit_code = 2,
     .format = "stowage/outcome",
     .err = "stowage: stdin: E1",
     .input = "lengths: 3"},
    {.name = "compare_all_methods",
     .arguments = {"compare", "instance.json", "--node-limit", "1000", "--milp-limit", "2"},
     .exit_code = 0,
     .format = "stowage/comparison",
     .err = "<- best"},
    {.name = "compare_an_infeasible_instance",
     .arguments = {"compare", "infeasible.json"},
     .exit_code = 1,
     .format = "stowage/comparison",
     .err = "infeasible"},
    {.name = "generate_to_stdout",
     .arguments = {"generate", "scatter", "--count", "20"},
     .exit_code = 0,
     .format = "stowage/instance",
     .err = "instance  scatter  "},
    {.name = "convert_to_stdout",
     .arguments = {"convert", "-", "-"},
     .exit_code = 0,
     .format = "stowage/instance",
     .err = "2 sequences, 30 tokens, 64 devices",
     .input = "10\n20\n"},
    {.name = "export_an_lp",
     .arguments = {"export", "instance.json", "-o", "model.lp"},
     .exit_code = 0,
     .format = "stowage/export",
     .err = " micro-batches  -> model.lp\n"},
    {.name = "export_an_infeasible_instance",
     .arguments = {"export", "infeasible.json", "-o", "model.lp"},
     .exit_code = 1,
     .format = "stowage/outcome",
     .err = "stowage: INSTANCE: sequence 2 has 400 tokens"},
    {.name = "export_a_format_nobody_knows",
     .arguments = {"export", "instance.json", "-o", "model.gms"},
     .exit_code = 2,
     .format = "stowage/outcome",
     .err = "stowage: --output: must end in .lp or .mps, is 'model.gms'\n"},
    {.name = "run_a_plan",
     .arguments = {"run", "instance.json", "plan.json"},
     .exit_code = 0,
     .format = "stowage/execution",
     .err = "pass  predicted "},
    {.name = "run_the_plan_of_another_instance",
     .arguments = {"run", "infeasible.json", "plan.json"},
     .exit_code = 1,
     .format = "stowage/execution",
     .err = "stowage: the plan is invalid and was not executed\n"},
    {.name = "run_without_time",
     .arguments = {"run", "instance.json", "plan.json", "-t", "0"},
     .exit_code = 3,
     .format = "stowage/execution",
     .err = "problem   stopped after 0 of 2 groups: the budget is exhausted\nstopped  "},
    {.name = "run_with_two_wishes_at_once",
     .arguments = {"run", "instance.json", "plan.json", "--scale", "2", "--work", "1"},
     .exit_code = 2,
     .format = "stowage/outcome",
     .err = "stowage: --work: has no effect with --scale\n"},
    {.name = "schema_of_nothing",
     .arguments = {"schema", ""},
     .exit_code = 2,
     .format = "stowage/outcome",
     .err = "stowage: NAME: "},
    {.name = "no_command",
     .arguments = {},
     .exit_code = 2,
     .format = "stowage/outcome",
     .err = "stowage: COMMAND: is missing"},
};

class ExitCodes : public testing::TestWithParam<Case> {};

TEST_P(ExitCodes, StandInTheJsonToo) {
  const TempDir dir;
  fill_with_examples(dir);
  const Finished run =
      run_stowage(GetParam().arguments, {.input = GetParam().input, .directory = dir.path()});
  EXPECT_EQ(run.signal, 0);
  EXPECT_EQ(run.exit_code, GetParam().exit_code) << run.err;
  EXPECT_THAT(run.err, HasSubstr(GetParam().err));
  const nlohmann::json document = nlohmann::json::parse(run.out, nullptr, false);
  ASSERT_FALSE(document.is_discarded()) << "stdout is not JSON alone:\n" << run.out;
  EXPECT_EQ(document["format"], GetParam().format);
  if (document["format"] == "stowage/instance") return;
  EXPECT_EQ(document["exit_code"], run.exit_code);
  if (run.exit_code == 2) {
    EXPECT_EQ(document["status"], "error");
    ASSERT_FALSE(document["errors"].empty());
    for (const auto& error : document["errors"]) {
      EXPECT_THAT(error["code"].get<std::string>(), testing::MatchesRegex("E[0-9]+"));
      EXPECT_THAT(run.err, HasSubstr(error["message"].get<std::string>()));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Cli, ExitCodes, testing::ValuesIn(kCases),
                         [](const auto& each) { return each.param.name; });

TEST(ExitCode, AStoppedRunClaimsNothing) {
  const TempDir dir;
  fill_with_examples(dir);
  const RunOptions here{.directory = dir.path()};
  const auto whole =
      nlohmann::json::parse(run_stowage({"run", "instance.json", "plan.json"}, here).out);
  const Finished run = run_stowage({"run", "instance.json", "plan.json", "-t", "0"}, here);
  EXPECT_EQ(run.exit_code, 3);
  const auto stopped = nlohmann::json::parse(run.out);
  EXPECT_EQ(stopped["predicted_ms"], whole["predicted_ms"]);
  EXPECT_GT(whole["measured_ms"], 0);
  for (const char* key : {"measured_ms", "loss", "reference_loss"}) {
    EXPECT_TRUE(stopped.at(key).is_null()) << key;
  }
  for (const char* check : {"output", "input_gradient", "weight_gradient"}) {
    EXPECT_EQ(whole[check]["passed"], true);
    EXPECT_TRUE(stopped[check].at("passed").is_null());
    EXPECT_TRUE(stopped[check].at("error").is_null());
    EXPECT_EQ(stopped[check]["compared"], 0);
  }
  EXPECT_THAT(run.err, Not(HasSubstr("pass")));
  EXPECT_THAT(run.err, HasSubstr("at full length, here at scale measured -\n"));
}

TEST(ExitCode, AnInfeasibleInstanceLeavesNoPlanFile) {
  const TempDir dir;
  dir.write("infeasible.json", kInfeasibleInstance);
  EXPECT_EQ(run_stowage({"solve", "infeasible.json", "-o", "new.json"}, {.directory = dir.path()})
                .exit_code,
            1);
  EXPECT_THAT(dir.names(), testing::ElementsAre("infeasible.json"));
}

TEST(ExitCode, AForgedPlanIsInvalidAndEveryViolationIsListed) {
  const TempDir dir;
  fill_with_examples(dir);
  nlohmann::json plan = nlohmann::json::parse(dir.read("plan.json"));
  plan["objective_ms"] = plan["objective_ms"].get<double>() / 2;
  plan["micro_batches"][0]["groups"][0]["tokens"] = 1;
  dir.write("forged.json", plan.dump());
  const Finished run =
      run_stowage({"verify", "instance.json", "forged.json"}, {.directory = dir.path()});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_THAT(run.err, HasSubstr("tokens at /micro_batches/0/groups/0"));
  EXPECT_THAT(run.err, HasSubstr("objective at /objective_ms"));
  EXPECT_THAT(run.err, HasSubstr("invalid  "));
  const nlohmann::json verdict = nlohmann::json::parse(run.out);
  EXPECT_EQ(verdict["valid"], false);
  EXPECT_GE(verdict["violations"].size(), 2U);
}

TEST(ExitCode, ABoundThatIsFalseIsRefusedWhateverItsName) {
  const TempDir dir;
  fill_with_examples(dir);
  const std::string instance = kTinyInstance;
  // With a large overhead, the gap between groups of one degree and every closed-form bound is
  // large.
  dir.write("slow.json", std::string(instance).replace(instance.find("\"fixed_ms\": 3"), 13,
                                                       "\"fixed_ms\": 40"));
  ASSERT_EQ(run_stowage({"solve", "slow.json", "--method", "homogeneous-2", "-o", "slow-plan.json"},
                        {.directory = dir.path()})
                .exit_code,
            0);
  nlohmann::json plan = nlohmann::json::parse(dir.read("slow-plan.json"));
  plan["bound_ms"] = plan["objective_ms"];
  struct Word {
    const char* by;
    const char* text;
  };
  for (const auto& [by, text] :
       {Word{"area", "ms by area, needs at most "},
        Word{"oracle", "has a bound by \"oracle\", needs one of longest, area, "},
        Word{"milp-cbc", "ms, needs at most the optimum, "}}) {
    plan["bound_by"] = by;
    dir.write("proud.json", plan.dump());
    const Finished run =
        run_stowage({"verify", "slow.json", "proud.json"}, {.directory = dir.path()});
    EXPECT_EQ(run.exit_code, 1) << run.err;
    EXPECT_THAT(run.err, HasSubstr(text));
  }
}

TEST(ExitCode, NothingIsToldWhenOnlyErrorsAreWanted) {
  const TempDir dir;
  fill_with_examples(dir);
  const Finished run =
      run_stowage({"solve", "instance.json", "--log-level", "error", "--node-limit", "10"},
                  {.directory = dir.path()});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(run.err, "");
}

}  // namespace
}  // namespace stowage::exit_code_test

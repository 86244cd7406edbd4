// The exact messages for invalid command lines.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ostream>
#include <utility>

#include "cli/flags/common_flags.h"
#include "tests/cli/fixture.h"

namespace stowage::flags_flags_test {
namespace {

struct Case {
  std::string name;
  std::vector<std::string> arguments;
  std::string err;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

const Case kCases[] = {
    {"unknown_solver",
     {"solve", "instance.json", "--solver", "scip"},
     "stowage: --solver: unknown value 'scip' (choose auto, cbc, glpk, highs)\n"},
    {"misspelt_solver",
     {"solve", "instance.json", "--solver=cbx"},
     "stowage: --solver: unknown value 'cbx' (choose auto, cbc, glpk, highs); did you mean "
     "'cbc'?\n"},
    {"misspelt_flag",
     {"solve", "--sovler", "cbc", "instance.json"},
     "stowage: --sovler: unknown flag; did you mean '--solver'?\n"},
    {"misspelt_flag_with_value",
     {"solve", "instance.json", "--timelimit=3"},
     "stowage: --timelimit: unknown flag; did you mean '--time-limit'?\n"},
    {"flag_like_nothing_known",
     {"solve", "instance.json", "--quantum"},
     "stowage: --quantum: unknown flag\n"},
    {"unknown_short_flag", {"solve", "instance.json", "-x"}, "stowage: -x: unknown flag\n"},
    {"flag_of_another_command",
     {"verify", "instance.json", "plan.json", "--gap", "0.1"},
     "stowage: --gap: unknown flag\n"},
    {"value_for_a_toggle",
     {"solve", "instance.json", "--timeless=yes"},
     "stowage: --timeless: takes no value\n"},
    {"value_missing", {"solve", "instance.json", "--gap"}, "stowage: --gap: a value must follow\n"},
    {"short_value_missing", {"solve", "instance.json", "-o"}, "stowage: -o: a value must follow\n"},
    {"value_empty", {"solve", "instance.json", "-o", ""}, "stowage: --output: must not be empty\n"},
    {"negative_time",
     {"solve", "instance.json", "-t", "-1"},
     "stowage: --time-limit: must be a number from 0 to 1e+09, is '-1'\n"},
    {"time_not_a_number",
     {"solve", "instance.json", "--time-limit", "soon"},
     "stowage: --time-limit: must be a number from 0 to 1e+09, is 'soon'\n"},
    {"time_nan",
     {"solve", "instance.json", "--time-limit", "nan"},
     "stowage: --time-limit: must be a number from 0 to 1e+09, is 'nan'\n"},
    {"time_with_unit",
     {"solve", "instance.json", "-t10s"},
     "stowage: --time-limit: must be a number from 0 to 1e+09, is '10s'\n"},
    {"gap_in_percent",
     {"solve", "instance.json", "--gap", "5"},
     "stowage: --gap: must be a number from 0 to 1, is '5'\n"},
    {"seed_with_fraction",
     {"solve", "instance.json", "--seed", "1.5"},
     "stowage: --seed: must be an integer from 0 to 9007199254740992, is '1.5'\n"},
    {"seed_beyond_64_bits",
     {"solve", "instance.json", "--seed", "99999999999999999999"},
     "stowage: --seed: must be an integer from 0 to 9007199254740992, is '99999999999999999999'\n"},
    {"log_level",
     {"solve", "instance.json", "--log-level", "warning"},
     "stowage: --log-level: unknown value 'warning' (choose error, warn, info, debug)\n"},
    {"instance_missing", {"solve"}, "stowage: INSTANCE: is missing (see stowage solve --help)\n"},
    {"plan_missing",
     {"verify", "instance.json"},
     "stowage: PLAN: is missing (see stowage verify --help)\n"},
    {"argument_too_many",
     {"solve", "instance.json", "plan.json"},
     "stowage: plan.json: unexpected argument (see stowage solve --help)\n"},
    {"plan_to_stdout",
     {"solve", "instance.json", "-o", "-"},
     "stowage: --output: must be a file: stdout has the plan already\n"},
    {"empty_method_in_a_list",
     {"compare", "instance.json", "--methods", "fast,,auto"},
     "stowage: --methods: must be words separated by commas, is 'fast,,auto'\n"},
    {"family",
     {"generate", "scater"},
     "stowage: FAMILY: unknown value 'scater' (choose scatter, assign, layout, order, "
     "strategy); did you mean 'scatter'?\n"},
    {"flag_without_effect",
     {"generate", "scatter", "--lengths", "uniform", "--mu", "3"},
     "stowage: --mu: has no effect with --lengths uniform\n"},
    {"limit",
     {"generate", "scatter", "--limit", "many"},
     "stowage: --limit: must be 1 to 9007199254740 tokens, as 200000, 200k (thousands), 128K "
     "(131072) or 1M (1048576), is 'many'\n"},
    {"schema",
     {"schema", "scatter-plam"},
     "stowage: NAME: unknown value 'scatter-plam' (choose assign-instance, assign-plan, "
     "audit, audited-work, layout-instance, layout-plan, order-instance, order-plan, outcome, "
     "partition, scatter-instance, scatter-plan, strategy-instance, strategy-plan, trainer); did "
     "you mean 'scatter-plan'?\n"},
};

class BadFlags : public testing::TestWithParam<Case> {};

TEST_P(BadFlags, AreNamedWithWhatWouldBeRight) {
  const TempDir dir;
  dir.write("instance.json", kTinyInstance);
  const Finished run = run_stowage(GetParam().arguments, {.directory = dir.path()});
  EXPECT_EQ(run.err, GetParam().err);
  EXPECT_EQ(run.exit_code, 2);
}

INSTANTIATE_TEST_SUITE_P(Cli, BadFlags, testing::ValuesIn(kCases),
                         [](const auto& each) { return each.param.name; });

TEST(Flags, UnknownCommandsGetASuggestion) {
  const Finished run = run_stowage({"sovle", "instance.json"});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, testing::MatchesRegex("stowage: sovle: unknown command \\(choose solve, .*"
                                             "\\); did you mean 'solve'\\?\n"));
}

TEST(Flags, UnknownMethodsGetTheListAndASuggestion) {
  const TempDir dir;
  dir.write("instance.json", kTinyInstance);
  const Finished run =
      run_stowage({"solve", "instance.json", "--method", "autto"}, {.directory = dir.path()});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, testing::MatchesRegex("stowage: --method: unknown value 'autto' \\(choose "
                                             "auto, .*\\); did you mean 'auto'\\?\n"));
}

TEST(Flags, TokensMayBeThousands) {
  for (const auto& [text, tokens] : {std::pair{"192k", 192000},
                                     {"128K", 131072},
                                     {"65536", 65536},
                                     {"2m", 2000000},
                                     {"1M", 1048576}}) {
    const Result<Tokens> read = read_token_flag("--limit", text);
    ASSERT_TRUE(read) << text;
    EXPECT_EQ(*read, tokens);
  }
  for (const char* wrong : {"", "k", "0", "-1k", "1.5k", "192kk", "192 k", "9007199254740992k"}) {
    EXPECT_FALSE(read_token_flag("--limit", wrong)) << wrong;
  }
}

TEST(Flags, AWarningStatesTheNumberBehindK) {
  const auto said = [](const std::string& tokens) {
    return run_stowage({"generate", "assign", "--tokens", tokens}).err;
  };
  EXPECT_THAT(
      said("16K"),
      testing::HasSubstr("warning: --tokens 16K is 16 384 tokens; write 16k for thousands\n"));
  EXPECT_THAT(said("1M"),
              testing::HasSubstr("--tokens 1M is 1 048 576 tokens; write 1m for millions"));
  EXPECT_THAT(said("16k"), testing::Not(testing::HasSubstr("warning")));
  EXPECT_THAT(said("16384"), testing::Not(testing::HasSubstr("warning")));
}

TEST(Flags, TheLastOfTwoCounts) {
  const TempDir dir;
  dir.write("instance.json", kTinyInstance);
  const Finished run = run_stowage({"solve", "instance.json", "--seed", "1", "--seed", "2",
                                    "--timeless", "--timeless", "--node-limit", "10"},
                                   {.directory = dir.path()});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out, testing::HasSubstr("\"seed\": 2,"));
}

TEST(Flags, WhatFollowsTwoDashesIsAFile) {
  const Finished run = run_stowage({"solve", "--", "--gap"});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_EQ(run.err, "stowage: --gap: cannot be read: No such file or directory (errno 2)\n");
}

}  // namespace
}  // namespace stowage::flags_flags_test

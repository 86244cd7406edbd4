// stowage convert, to and between trainer files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "instances/trainer/step.h"
#include "tests/cli/fixture.h"

namespace stowage::commands_trainer_test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::Not;

class Trainer : public testing::Test {
 protected:
  Trainer() { fill_with_examples(dir_); }

  Finished run(const std::vector<std::string>& arguments) const {
    return run_stowage(arguments, {.directory = dir_.path()});
  }

  TempDir dir_;
};

TEST_F(Trainer, BothFormsSayTheSame) {
  const Finished made = run({"convert", "instance.json", "t.bin", "--plan", "plan.json"});
  EXPECT_EQ(made.exit_code, 0);
  EXPECT_EQ(made.out, "");
  EXPECT_THAT(made.err, HasSubstr("trainer   scatter  tiny   4 ranks, "));
  EXPECT_THAT(made.err, HasSubstr(" 554 tokens  -> t.bin"));
  // An outcome can be used in place of its plan, as in all commands.
  const Finished shown = run({"convert", "instance.json", "-", "--plan", "outcome.json"});
  EXPECT_EQ(shown.exit_code, 0);
  const auto from_binary = read_trainer_file(dir_.read("t.bin"));
  const auto from_json = read_trainer_file(shown.out);
  ASSERT_TRUE(from_binary && from_json);
  EXPECT_EQ(*from_binary, *from_json);
  EXPECT_EQ(run({"convert", "t.bin", "t.json"}).exit_code, 0);
  EXPECT_EQ(dir_.read("t.json"), shown.out);
  EXPECT_EQ(run({"convert", "t.json", "again.bin"}).exit_code, 0);
  EXPECT_EQ(dir_.read("again.bin"), dir_.read("t.bin"));
}

TEST_F(Trainer, NoPlanIsWrittenUnverified) {
  std::string plan = dir_.read("plan.json");
  const std::size_t at = plan.find("\"sequences\": [") + 14;
  plan.insert(at, "0, ");
  dir_.write("broken.json", plan);
  const Finished refused = run({"convert", "instance.json", "t.bin", "--plan", "broken.json"});
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.err, HasSubstr("coverage"));
  EXPECT_THAT(refused.err, HasSubstr("--plan: must be valid for the instance, is not"));
  EXPECT_THAT(dir_.names(), Not(IsSupersetOf({"t.bin"})));
}

TEST_F(Trainer, MistakesAreNamed) {
  const auto expect_refused = [this](const std::vector<std::string>& arguments, const char* why) {
    const Finished refused = run(arguments);
    EXPECT_EQ(refused.exit_code, 2);
    EXPECT_THAT(refused.err, HasSubstr(why));
  };
  expect_refused({"convert", "layout.json", "t.bin", "--plan", "layout-plan.json"},
                 "OUT: must be a table (.csv) for a layout");
  expect_refused({"convert", "instance.json", "t.bin", "--plan", "layout-plan.json"},
                 "layout-plan.json: E209 /problem");
  expect_refused({"convert", "instance.json", "t.bin", "--plan", "missing.json"},
                 "missing.json: cannot be read");
  expect_refused({"convert", "plan.json", "t.bin"},
                 "IN: must be the instance, with its plan behind");
  dir_.write("lengths.txt", "608\n1040\n");
  expect_refused({"convert", "lengths.txt", "t.bin"}, "OUT: is a trainer's file by its name");
  expect_refused({"convert", "instance.json", "t.bin"}, "--plan: is needed to make a trainer's");
  expect_refused({"convert", "-", "t.bin", "--plan", "-"}, "stdin is the instance already");
  expect_refused({"convert", "t.json", "t.bin", "--devices", "4"}, "--preset: has an effect only");
  expect_refused({"convert", "t.json", "t.bin", "--name", "x"}, "--name: has an effect only");
  dir_.write("cut.bin", "\x93STOWAGE");
  expect_refused({"convert", "cut.bin", "t.json"}, "cut.bin: E601 byte 0: must be a trainer file");
  EXPECT_THAT(dir_.names(), Not(IsSupersetOf({"t.bin"})));
}

// A common error of users with a list of lengths.
TEST_F(Trainer, AListWhereAnInstanceBelongsIsExplained) {
  const Finished refused = run({"solve", "lengths.txt"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("lengths.txt: E101 "));
  EXPECT_THAT(refused.err, HasSubstr("becomes an instance with stowage convert LIST INSTANCE"));
  dir_.write("table.csv", "id,lower,upper,size\n0,0,2,8\n");
  EXPECT_THAT(run({"solve", "table.csv"}).err,
              HasSubstr("a table becomes an instance with stowage convert TABLE INSTANCE"));
  dir_.write("cut.json", "{\"format\": 1, ");
  EXPECT_THAT(run({"solve", "cut.json"}).err, Not(HasSubstr("stowage convert")));
}

}  // namespace
}  // namespace stowage::commands_trainer_test

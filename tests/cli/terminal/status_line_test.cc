// A user who waits longer than a second sees the reason.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/fixture.h"

namespace stowage::terminal_status_line_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class Status : public testing::Test {
 protected:
  Status() { dir_.write("long.json", long_instance(200)); }

  // The first method takes more than a second, so that the second method begins later.
  Finished compare(const std::vector<std::string>& more, bool terminal) const {
    std::vector<std::string> words = {"compare",   "long.json", "--methods",
                                      "auto,fast", "-t",        "1.2"};
    words.insert(words.end(), more.begin(), more.end());
    return run_stowage(words, {.directory = dir_.path(), .terminal = terminal});
  }

  TempDir dir_;
};

TEST_F(Status, ALineASecondOffATerminal) {
  const Finished run = compare({}, false);
  EXPECT_EQ(run.exit_code, 0);
  // The line reports a better plan after the first second, or the second method.
  EXPECT_THAT(run.err, HasSubstr("\nrunning   "));
  EXPECT_THAT(run.err, Not(HasSubstr("running   auto (1 of 2)\n")));  // no line in the first second
  EXPECT_THAT(run.err, Not(HasSubstr("\r")));
}

TEST_F(Status, OneLineWrittenOverOnATerminal) {
  const Finished run = compare({}, true);
  EXPECT_THAT(run.err, HasSubstr("\rrunning   auto (1 of 2)\033[K"));
  EXPECT_THAT(run.err, HasSubstr("\rrunning   fast (2 of 2)\033[K"));
}

TEST_F(Status, NothingWhereNobodyWantsIt) {
  for (const std::vector<std::string>& more :
       {std::vector<std::string>{"--progress", "never"}, {"--log-level", "warn"}, {"--timeless"}}) {
    EXPECT_THAT(compare(more, false).err, Not(HasSubstr("running"))) << more[0];
  }
}

}  // namespace
}  // namespace stowage::terminal_status_line_test

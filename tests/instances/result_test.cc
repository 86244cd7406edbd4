// Results: values, errors as text, and value().
#include "instances/result.h"

#include <gtest/gtest.h>

#include <memory>
#include <sstream>

#include "instances/violation.h"

namespace stowage::result_test {
namespace {

const InputError kOne{"E205", "/a/3", "must be 1, is 2"};
const InputError kOther{"E101", "", "must be JSON, is not"};

TEST(Result, ErrorsAndViolationsAreWrittenToStreams) {
  std::ostringstream text;
  text << kOne << '|' << kOther << '|'
       << Violation{"capacity", "/groups/0", "9 tokens", "at most 8 tokens"};
  EXPECT_EQ(text.str(),
            "E205 /a/3: must be 1, is 2|E101 /: must be JSON, is not|"
            "capacity at /groups/0: has 9 tokens, needs at most 8 tokens");
}

TEST(Result, ValueIsTheValueOrThrowsAllErrors) {
  const Result<int> seven(7);
  EXPECT_EQ(seven.value(), 7);
  EXPECT_EQ(*Result<std::unique_ptr<int>>(std::make_unique<int>(8)).value(), 8);
  const Result<int> wrong(std::vector{kOne, kOther});
  try {
    wrong.value();
    FAIL() << "no exception";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "E205 /a/3: must be 1, is 2\nE101 /: must be JSON, is not");
  }
  EXPECT_THROW(Result<std::string>(kOne).value(), std::runtime_error);
}

}  // namespace
}  // namespace stowage::result_test

#include "kernels/attention/simd/isa.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "kernels/attention/simd/table.h"

namespace stowage::kernels::attention_isa_test {
namespace {

using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// STOWAGE_ISA for the length of a test.
class Environment {
 public:
  explicit Environment(const char* value) {
    if (const char* was = std::getenv("STOWAGE_ISA")) before_ = was;
    setenv("STOWAGE_ISA", value, 1);
  }
  ~Environment() {
    if (before_.empty()) {
      unsetenv("STOWAGE_ISA");
    } else {
      setenv("STOWAGE_ISA", before_.c_str(), 1);
    }
  }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  std::string before_;
};

TEST(Isa, EveryLevelOfTheMachineCanBeAskedFor) {
  ASSERT_FALSE(isa_levels().empty());
  for (const std::string& level : isa_levels()) {
    const Environment asked(level.c_str());
    EXPECT_EQ(isa_problem(), "");
  }
  EXPECT_THAT(isa_levels(), Contains(std::string(simd_table().name)));
  EXPECT_THAT(isa_levels().front(), AnyOf("v2", "portable"));
}

TEST(Isa, SaysWhatMayBeAskedFor) {
  const Environment asked("v9");
  EXPECT_THAT(isa_problem(), StartsWith("must be " + isa_levels().front()));
  EXPECT_THAT(isa_problem(), HasSubstr("on this machine, is v9"));
}

TEST(Isa, AnEmptyWishIsNone) {
  const Environment asked("");
  EXPECT_EQ(isa_problem(), "");
}

TEST(Isa, ALevelCanBeChanged) {
  const std::string before = std::string(simd_table().name);
  EXPECT_FALSE(use_isa("v9"));
  EXPECT_EQ(std::string(simd_table().name), before);
  for (const std::string& level : isa_levels()) {
    EXPECT_TRUE(use_isa(level));
    EXPECT_EQ(std::string(simd_table().name), level);
  }
  EXPECT_TRUE(use_isa(before));
}

}  // namespace
}  // namespace stowage::kernels::attention_isa_test

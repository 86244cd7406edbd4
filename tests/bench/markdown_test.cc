#include "bench/markdown.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stowage::bench {
namespace {

using ::testing::HasSubstr;

Record result(const std::string& instance, const std::string& method, double objective) {
  return {.instance = instance,
          .method = method,
          .objective = objective,
          .bound = 90,
          .cpu_s = method == "flexsp" ? 20 : 0.04};
}

Record flexsp_chunks(const std::string& instance, double method_bound) {
  Record record = result(instance, "flexsp-chunks", 120);
  record.method_bound = method_bound;
  return record;
}

TEST(Gains, AreRatiosToTheDefaultMethodByLengthList) {
  const std::string table = gains_table(
      {result("7b-64gpu-docs_md-0", "auto", 100), result("7b-64gpu-docs_md-0", "batch-ada", 150),
       result("7b-64gpu-docs_md-0", "fast", 101), result("7b-64gpu-docs_md-1", "auto", 100),
       result("7b-64gpu-docs_md-1", "batch-ada", 130), result("7b-64gpu-docs_md-1", "flexsp", 110),
       result("7b-64gpu-chat-0", "auto", 100), flexsp_chunks("7b-64gpu-docs_md-0", 108)});
  EXPECT_THAT(table, HasSubstr("| docs_md | 2 | 1.40 (1.30 to 1.50) | 1.10 (1.10 to 1.10) | "
                               "1.08 (1.08 to 1.08) | "
                               "1.010 (1.010 to 1.010) | 10.00 (10.00 to 10.00) | 20 s | 40 ms |"));
  EXPECT_THAT(table, HasSubstr("| chat | 1 | - | - | - | - | 10.00 (10.00 to 10.00) | - | - |"));
  EXPECT_THAT(table, HasSubstr("| all | 3 | 1.40"));
}

TEST(Gains, HaveNoRatiosWithoutTheDefaultMethod) {
  EXPECT_THAT(gains_table({result("step", "fast", 101)}),
              HasSubstr("| step | 1 | - | - | - | - | - | - | - |"));
}

}  // namespace
}  // namespace stowage::bench

#include "formulations/milp/export_text.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>

namespace stowage::milp::milp_export_text_test {
namespace {

TEST(ExportNames, AreValid) {
  struct Case {
    std::string wanted, got;
  };
  const Case cases[] = {
      {"x", "x"},
      {"x[1,2]", "x_1_2_"},
      {"C1", "C1"},
      {"", "n_"},
      {"7up", "n_7up"},
      {"_x", "n__x"},
      {"e1", "n_e1"},
      {"E", "n_E"},
      {"edge", "edge"},
      {"FREE", "n_FREE"},
      {"Subject", "n_Subject"},
      {"a b\n", "a_b_"},
      {"-inf", "n__inf"},
      {"inf", "n_inf"},
      {"\xc3\xa4", "n___"},
      {"end", "n_end"},
  };
  for (const Case& one : cases) EXPECT_EQ(ExportNames().make(one.wanted), one.got);
}

TEST(ExportNames, AreUnique) {
  ExportNames names;
  EXPECT_EQ(names.make("x_1"), "x_1");
  EXPECT_EQ(names.make("x"), "x");
  EXPECT_EQ(names.make("x"), "x_2");  // x_1 is taken
  EXPECT_EQ(names.make("x"), "x_3");
  const std::string long_name(500, 'a');
  EXPECT_NE(names.make(long_name), names.make(long_name));
  EXPECT_LE(names.make(long_name).size(), 60U);
}

TEST(NumberText, ReadsBackExactly) {
  for (const double number : {0.0, 1.0, -3.5, 0.1, 1.0 / 3, 1e20, 1e-300, 5e-324,
                              std::nextafter(1.0, 2.0), std::numeric_limits<double>::max()}) {
    EXPECT_EQ(std::strtod(number_text(number).c_str(), nullptr), number);
  }
  EXPECT_EQ(number_text(0.1), "0.1");
  EXPECT_EQ(number_text(1e20), "1e+20");
}

}  // namespace
}  // namespace stowage::milp::milp_export_text_test

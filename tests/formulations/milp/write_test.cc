// The text of the two formats. Tests in tests/solvers check that solvers can read it.
#include <gtest/gtest.h>

#include <sstream>

#include "formulations/milp/write_lp.h"
#include "formulations/milp/write_mps.h"

namespace stowage::milp::milp_write_test {
namespace {

Model example() {
  Model model;
  const int x = model.add_variable({.name = "x", .upper = 4, .objective = -1, .integer = true});
  const int y = model.add_variable({.name = "y[0]", .lower = -kInfinity, .objective = 0.1});
  const int z = model.add_variable({.lower = -kInfinity, .upper = -1.5});
  model.add_variable({.name = "fixed", .lower = 2, .upper = 2});
  model.add_variable({.name = "n", .lower = 1, .integer = true});
  model.add_row({.name = "C1", .upper = 7, .terms = {{x, 2}, {y, -1}}});
  model.add_row({.name = "C2", .lower = -1, .upper = 3, .terms = {{x, 1}, {z, 1}, {x, 1}}});
  model.add_row({.name = "C2_lo", .lower = -0.1, .upper = 0.3, .terms = {{x, 1}, {z, 1}}});
  model.add_row({.name = "C3", .lower = 5, .upper = 5, .terms = {{y, 1}}});
  model.add_row({.name = "free", .terms = {{y, 1}}});
  model.add_row({.lower = -4});
  model.set_offset(2.5);
  return model;
}

TEST(WriteLp, WritesTheExample) {
  std::ostringstream out;
  write_lp(example(), out);
  EXPECT_EQ(out.str(), R"(\ stowage: 5 variables, 6 rows
Minimize
 obj: - 1 x + 0.1 y_0_ + 0 fixed + 0 n + 2.5 objective_offset
Subject To
 C1: + 2 x - 1 y_0_ <= 7
 C2_lo: + 2 x + 1 x2 >= -1
 C2_hi: + 2 x + 1 x2 <= 3
 C2_lo_1_lo: + 1 x + 1 x2 >= -0.1
 C2_lo_1_hi: + 1 x + 1 x2 <= 0.3
 C3: + 1 y_0_ = 5
 r5: + 0 objective_offset >= -4
 offset_is_one: + 0 objective_offset <= 1
Bounds
 objective_offset = 1
 0 <= x <= 4
 y_0_ free
 -inf <= x2 <= -1.5
 fixed = 2
 n >= 1
Generals
 x
 n
End
)");
}

TEST(WriteMps, WritesTheExample) {
  std::ostringstream out;
  write_mps(example(), out);
  EXPECT_EQ(out.str(), R"(NAME stowage FREE
ROWS
 N obj
 L C1
 G C2
 G C2_lo_lo
 L C2_lo_hi
 E C3
 G r5
COLUMNS
 M1 'MARKER' 'INTORG'
 x obj -1
 x C1 2
 x C2 2
 x C2_lo_lo 1
 x C2_lo_hi 1
 M2 'MARKER' 'INTEND'
 y_0_ obj 0.1
 y_0_ C1 -1
 y_0_ C3 1
 x2 C2 1
 x2 C2_lo_lo 1
 x2 C2_lo_hi 1
 fixed obj 0
 M3 'MARKER' 'INTORG'
 n obj 0
 M4 'MARKER' 'INTEND'
 objective_offset obj 2.5
RHS
 RHS C1 7
 RHS C2 -1
 RHS C2_lo_lo -0.1
 RHS C2_lo_hi 0.3
 RHS C3 5
 RHS r5 -4
RANGES
 RNG C2 4
BOUNDS
 FX BND objective_offset 1
 LO BND x 0
 UP BND x 4
 FR BND y_0_
 MI BND x2
 UP BND x2 -1.5
 FX BND fixed 2
 LO BND n 1
 PL BND n
ENDATA
)");
}

}  // namespace
}  // namespace stowage::milp::milp_write_test

// Solution files of five solvers, as they write them, and everything that can be wrong with one.
#include "formulations/milp/read_solution.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ostream>

#include "formulations/milp/solution_values.h"

namespace stowage::milp::milp_read_solution_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// x in {0, ..., 4}, a long name in {0, 1}, y continuous; R1: x + 3 long <= 5; R2: y >= x.
Model example() {
  Model model;
  const int x = model.add_variable({.name = "x", .upper = 4, .objective = -1, .integer = true});
  const int chosen =
      model.add_variable({.name = "a_name_beyond_a_column", .upper = 1, .integer = true});
  const int y = model.add_variable({.name = "y", .objective = 2});
  model.add_row({.name = "R1", .upper = 5, .terms = {{x, 1}, {chosen, 3}}});
  model.add_row({.name = "R2", .lower = 0, .terms = {{y, 1}, {x, -1}}});
  return model;
}

struct Case {
  const char* solver;
  const char* status;
  const char* text;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.solver; }

const Case kCases[] = {
    {"CBC", "Optimal",
     "Optimal - objective value 5.25000000\n"
     "      0 x                      2                      -1\n"
     "      1 a_name_beyond_a_column                      1                       0\n"
     "**      2 y                    2.25                       2\n"
     "      3 objective_offset       1                       0\n"},
    {"GLPK", "INTEGER OPTIMAL",
     "Problem:    \n"
     "Rows:       3\n"
     "Columns:    4 (2 integer, 1 binary)\n"
     "Non-zeros:  6\n"
     "Status:     INTEGER OPTIMAL\n"
     "Objective:  obj = 5.25 (MINimum)\n\n"
     "   No.   Row name        Activity     Lower bound   Upper bound\n"
     "------ ------------    ------------- ------------- -------------\n"
     "     1 R1                          5                           5 \n\n"
     "   No. Column name       Activity     Lower bound   Upper bound\n"
     "------ ------------    ------------- ------------- -------------\n"
     "     1 x            *              2             0             4 \n"
     "     2 a_name_beyond_a_column\n"
     "                    *              1             0             1 \n"
     "     3 y                        2.25             0               \n\n"
     "Integer feasibility conditions:\n\n"
     "KKT.PE: max.abs.err = 0.00e+00 on row 0\n"},
    {"HiGHS", "Optimal",
     "Model status\nOptimal\n\n# Primal solution values\nFeasible\nObjective 5.25\n"
     "Objective_bound 5.25\n# Columns 3\nx 2\na_name_beyond_a_column 1\ny 2.25\n# Rows 2\nR1 5\n"
     "R2 0.25\n\n# Dual solution values\nNone\n"},
    {"HiGHS", "Optimal",
     "Model status\nOptimal\n\n# Primal solution values\nFeasible\nObjective 5.25\n"
     "# Columns -3 sparse\nx 2 0\na_name_beyond_a_column 1 1\ny 2.25 2\n# Rows 0\n"},
    {"HiGHS", "Optimal",
     "Columns\n"
     "    Index Status        Lower        Upper       Primal         Dual  Type        Name\n"
     "        0                   0            4            2               Integer     x\n"
     "        1                   0            1            1               Integer     "
     "a_name_beyond_a_column\n"
     "        2     BS            0          inf         2.25            0  Continuous  y\n"
     "Rows\n"
     "    Index Status        Lower        Upper       Primal         Dual  Name\n"
     "        0     BS         -inf            5            5            0  R1\n"
     "\nModel status: Optimal\n\nObjective value: 5.25\n"},
    // The LP file has x, y and the offset in its objective, so the long name is column 4.
    {"GLPK", "OPTIMAL",
     "c Problem:    \nc Rows:       4\ns mip 4 4 o 5.25\ni 1 5\ni 2 0.25\nj 1 2\nj 2 2.25\n"
     "j 3 1\nj 4 1\ne o f\n"},
    // The MPS file has the columns of the model.
    {"GLPK", "OPTIMAL", "s mip 3 3 o 5.25\nj 1 2\nj 2 1\nj 3 2.25\ne o f\n"},
    {"SCIP", "optimal solution found",
     "solution status: optimal solution found\n"
     "objective value:                                 5.25\n"
     "x                                                   2 \t(obj:-1)\n"
     "a_name_beyond_a_column                              1 \t(obj:0)\n"
     "y                                                2.25 \t(obj:2)\n"},
    {"Gurobi", "",
     "# Solution for model obj\n# Objective value = 5.25\nx 2\na_name_beyond_a_column 1\r\n"
     "y 2.25\n"},
};

class ReadSolution : public testing::TestWithParam<Case> {};

TEST_P(ReadSolution, GivesTheValues) {
  const Result<SolutionFile> file = read_solution(GetParam().text, "m.sol");
  ASSERT_TRUE(file) << to_string(file.errors().front());
  EXPECT_EQ(file->solver, GetParam().solver);
  EXPECT_EQ(file->status, GetParam().status);
  EXPECT_EQ(file->objective, 5.25);
  const Result<std::vector<double>> values = values_of(example(), *file);
  ASSERT_TRUE(values) << to_string(values.errors().front());
  EXPECT_THAT(*values, ElementsAre(2, 1, 2.25));
}

INSTANTIATE_TEST_SUITE_P(Solvers, ReadSolution, testing::ValuesIn(kCases),
                         [](const auto& c) { return c.param.solver + std::to_string(c.index); });

std::string error_of(const std::string& text) {
  const Result<SolutionFile> file = read_solution(text, "m.sol");
  if (!file) return to_string(file.errors().front());
  const Result<std::vector<double>> values = values_of(example(), *file);
  return values ? "" : to_string(values.errors().front());
}

std::string gurobi(const std::string& lines) { return "# Objective value = 1\n" + lines; }

TEST(ReadSolution, NamesWhatIsWrong) {
  EXPECT_EQ(error_of(gurobi("x 1\n")), "");  // what is left out is 0
  EXPECT_THAT(error_of(""), HasSubstr("E421 m.sol:0: must begin a solution file"));
  EXPECT_THAT(error_of("\\ a model\n"), HasSubstr("E421 m.sol:1: "));
  EXPECT_THAT(error_of("c Problem:\ns mip 3 3 o 1\n"), HasSubstr("E423"));
  EXPECT_THAT(error_of("s mip 3 4 o 1\nj 5 2\n"),
              HasSubstr("E424 m.sol:2: must be the number of a column of the model, from 1 to 4"));
  EXPECT_THAT(error_of("s mip 3 4 o 1\nj x 2\n"), HasSubstr("E424 m.sol:2: "));
  EXPECT_THAT(error_of("s mip 3 4 o 1\nj 1\n"), HasSubstr("E422 m.sol:2: "));
  EXPECT_THAT(error_of("Columns\n Index Status Lower Upper Primal Dual Type Name\n"),
              HasSubstr("E423 m.sol: "));
  EXPECT_THAT(error_of("Columns\n Index Primal Name\n     0    1.5 x\n"),
              HasSubstr("x must be a whole number, is 1.5; the pretty style has 6 digits"));
  EXPECT_THAT(error_of(gurobi("x\n")), HasSubstr("E422 m.sol:2: must be a column and its finite"));
  EXPECT_THAT(error_of(gurobi("x nan\n")), HasSubstr("E422"));
  EXPECT_THAT(error_of(gurobi("x 1e999\n")), HasSubstr("E422"));
  EXPECT_THAT(error_of("Optimal - objective value 1\n 0 x\n"), HasSubstr("E422 m.sol:2: "));
  EXPECT_THAT(error_of("Infeasible - objective value 0\n"),
              HasSubstr("E423 m.sol: must have the values of a solution, is a file of CBC without "
                        "any, status \"Infeasible\""));
  EXPECT_THAT(error_of("solution status: infeasible\nno solution available\n"),
              HasSubstr("E423 m.sol: "));
  EXPECT_THAT(error_of("Model status\nInfeasible\n\n# Primal solution values\nNone\n"),
              HasSubstr("E423 m.sol: "));
  EXPECT_THAT(error_of(gurobi("z 1\n")), HasSubstr("E424 m.sol:2: must be a column of the model"));
  EXPECT_THAT(error_of(gurobi("x 1\nx 1\n")), HasSubstr("E424 m.sol:3: must be given once"));
  EXPECT_THAT(error_of(gurobi("x 1.5\n")),
              HasSubstr("E425 m.sol: x must be a whole number, is 1.5"));
  EXPECT_THAT(error_of(gurobi("x 5\n")), HasSubstr("E425 m.sol: x must be from 0 to 4, is 5"));
  EXPECT_THAT(error_of(gurobi("x 3\na_name_beyond_a_column 1\n")),
              HasSubstr("E425 m.sol: must keep row R1, which is 6 and not at most 5"));
}

TEST(ReadSolution, ManyErrorsAreCounted) {
  std::string lines;
  for (int k = 0; k < 200; ++k) lines += "unknown_" + std::to_string(k) + " 1\n";
  const Result<SolutionFile> file = read_solution(gurobi(lines), "m.sol");
  ASSERT_TRUE(file);
  const Result<std::vector<double>> values = values_of(example(), *file);
  ASSERT_FALSE(values);
  EXPECT_EQ(values.errors().size(), 101U);
  EXPECT_EQ(values.errors().back().message, "and 100 more errors");
}

TEST(ReadSolution, SolversMayBeOffByTheirTolerance) {
  const Result<SolutionFile> file =
      read_solution(gurobi("x 1.9999999\na_name_beyond_a_column 1.000001\n"), "m.sol");
  ASSERT_TRUE(file);
  const Result<std::vector<double>> values = values_of(example(), *file);
  ASSERT_TRUE(values) << to_string(values.errors().front());
  EXPECT_THAT(*values, ElementsAre(2, 1, 0));
}

}  // namespace
}  // namespace stowage::milp::milp_read_solution_test

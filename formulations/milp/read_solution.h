// Reads solution files that other solvers wrote for an exported model.
//
//   Result<SolutionFile> file = read_solution(text, "model.sol");
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "instances/result.h"

namespace stowage::milp {

// Error codes, listed with the command's codes in docs/reference/commands.md.
inline constexpr char kSolutionFormat[] = "E421";
inline constexpr char kSolutionLine[] = "E422";
inline constexpr char kNoSolution[] = "E423";

struct SolutionFile {
  struct Value {
    std::string column;
    double value = 0;
    int line = 0;
  };
  std::string name;                 // name of the file, for errors
  std::string solver;               // "CBC", "GLPK", "HiGHS", "SCIP" or "Gurobi"
  std::string status;               // in the solver's words; empty if the file has none
  std::optional<double> objective;  // as stated in the file
  std::vector<Value> values;        // some solvers omit zeros
  std::string remedy;               // of values that break a rule; empty if the file has all digits
  bool by_number = false;           // a column is its number in the model's file, from 1 on
};

// Reads the files of CBC (`solution`), GLPK (`glpsol -o` and `-w`), HiGHS (the raw, sparse and
// pretty styles), SCIP (`write solution`) and Gurobi (`.sol`), and detects the format by the first
// line. `name` is the file's name, for errors. Errors, at NAME:LINE: E421 another format, E422 an
// unreadable line, E423 no values.
Result<SolutionFile> read_solution(std::string_view text, const std::string& name);

}  // namespace stowage::milp

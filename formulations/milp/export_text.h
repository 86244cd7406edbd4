// Names and numbers as the LP and MPS file formats can carry them.
//
//   ExportNames names;
//   names.make("x[1,2]");  // "x_1_2_"
//   names.make("x(1,2)");  // "x_1_2__1": the first is taken
//   number_text(0.1);      // "0.1"
#pragma once

#include <set>
#include <string>
#include <string_view>

namespace stowage::milp {

// Hands out names of letters, digits and underscores, at most 60 characters, each once. A name that
// a reader could take for a number or a keyword gets the prefix "n_".
class ExportNames {
 public:
  std::string make(std::string_view wanted);

 private:
  std::set<std::string> taken_;
};

// The shortest decimal that reads back as the same double; requires a finite number.
std::string number_text(double number);

}  // namespace stowage::milp

// Converts names and numbers to text that the LP and MPS file formats allow.
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

// Makes distinct names of letters, digits and underscores, at most 60 characters each. A name that
// a reader could take for a number or a keyword gets the prefix "n_".
class ExportNames {
 public:
  std::string make(std::string_view wanted);

 private:
  std::set<std::string> taken_;
};

// Returns the shortest decimal that reads back as the same double. Requires a finite number.
std::string number_text(double number);

}  // namespace stowage::milp

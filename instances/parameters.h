// Entries of the parameter lists of the families. A parameter is a number that steers a search and
// that users may set. solvers/parameters.h reads and prints the lists.
//
//   template <class Visitor>
//   void fields(Visitor&& visit, LnsParams& params) {
//     visit({"lns.moves", "moves per sequence", 1, 1e6, "More: ...", kByHand}, params.moves);
//   }
//
// Not installed.
#pragma once

#include <string_view>

namespace stowage {

// The description of one member. The member's default is its value in a default-made struct.
struct ParameterText {
  std::string_view name;  // "lns.moves"
  std::string_view unit;
  double least = 0;  // the range, ends included
  double most = 0;
  std::string_view effect;    // one sentence: the effect of a larger value
  std::string_view evidence;  // where the default comes from
};

// Evidence of a default that no kept experiment supports.
inline constexpr std::string_view kByHand = "set by hand; no table kept";

}  // namespace stowage

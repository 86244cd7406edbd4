// What the parameter lists of the families are made of. A parameter is a number that a search goes
// by and that users may set; solvers/parameters.h has what is made of a list.
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

// What a list states of a member. Its default is the member's value in a default-made struct.
struct ParameterText {
  std::string_view name;  // "lns.moves"
  std::string_view unit;
  double least = 0;  // the range, ends included
  double most = 0;
  std::string_view effect;    // one sentence: what more of it does
  std::string_view evidence;  // where the default comes from
};

// Evidence of a default that no kept experiment supports.
inline constexpr std::string_view kByHand = "set by hand; no table kept";

}  // namespace stowage

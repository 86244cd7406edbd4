// The unit of a family's objective: its name in JSON keys and its form in texts for people.
//
// Thread safety: its functions read their arguments and nothing else; any number of threads may
// call them at once.
#pragma once

#include <cstddef>
#include <string_view>

namespace stowage {

struct Unit {
  std::string_view name;   // "ms": shown behind amounts, and after the '_' of keys
  bool integral = false;   // amounts are whole numbers and are never rounded
  std::size_t width = 10;  // characters of a column of amounts
};

inline constexpr Unit kMs{.name = "ms"};
inline constexpr Unit kBytes{.name = "bytes", .integral = true, .width = 18};

}  // namespace stowage

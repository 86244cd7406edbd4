// The names that bounds of one family may have, by what can be done about them.
#pragma once

#include <algorithm>
#include <span>
#include <string_view>

namespace stowage {

struct BoundNames {
  std::span<const std::string_view> closed;     // computed again from the instance
  std::span<const std::string_view> certified;  // proven by a certificate that an outcome carries
  std::span<const std::string_view> searched;   // what a search or a backend says

  bool knows(std::string_view name) const {
    const auto has = [&](std::span<const std::string_view> names) {
      return std::ranges::find(names, name) != names.end();
    };
    return has(closed) || has(certified) || has(searched);
  }
};

}  // namespace stowage

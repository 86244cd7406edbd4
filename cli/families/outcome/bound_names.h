// The names of a family's bounds, by the way to check them.
#pragma once

#include <algorithm>
#include <span>
#include <string_view>

namespace stowage {

struct BoundNames {
  std::span<const std::string_view> closed;     // recomputed from the instance
  std::span<const std::string_view> certified;  // proven by a certificate in an outcome
  // reported by a search or a backend, and not checkable
  std::span<const std::string_view> searched;

  bool knows(std::string_view name) const {
    const auto has = [&](std::span<const std::string_view> names) {
      return std::ranges::find(names, name) != names.end();
    };
    return has(closed) || has(certified) || has(searched);
  }
};

}  // namespace stowage

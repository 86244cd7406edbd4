// Common parts of the tables of changes that break a valid plan. A change gets its place in the
// plan and returns whether it applies there.
#pragma once

namespace stowage {

// A change that applies everywhere.
template <class Change>
auto always(Change change) {
  return [change](const auto& site) {
    change(site);
    return true;
  };
}

}  // namespace stowage

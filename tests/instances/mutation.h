// What tables of changes that break a valid plan have in common. A change gets the place in the
// plan where it happens, and says whether it applies there.
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

// Version and components of this build.
#pragma once

#include <string>

namespace stowage {

// Returns version, built-in MILP backends and the licences of all linked libraries, one per line.
std::string version_text();

}  // namespace stowage

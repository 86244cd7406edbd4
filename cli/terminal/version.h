// What this build is made of.
#pragma once

#include <string>

namespace stowage {

// Version, MILP backends built in and the licences of everything linked, a line each.
std::string version_text();

}  // namespace stowage

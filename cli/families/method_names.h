// The names of the methods for --method.
#pragma once

#include <string>
#include <vector>

#include "instances/families.h"

namespace stowage {

// Returns the names of all methods for the instance in this build, the default first.
std::vector<std::string> method_names(const Instance& instance);

}  // namespace stowage

// The names that --method takes.
#pragma once

#include <string>
#include <vector>

#include "instances/families.h"

namespace stowage {

// Of every method for the instance that this build can run, the default first.
std::vector<std::string> method_names(const Instance& instance);

}  // namespace stowage

// The MILP backends that this build may have.
//
// Thread safety: the functions only read constants, and any number of threads may call them at
// once.
#pragma once

#include <string_view>
#include <vector>

namespace stowage {

enum class MilpBackend { cbc, glpk, highs };

std::string_view name(MilpBackend backend);
std::vector<MilpBackend> built_backends();  // compiled backends, the preferred one first

}  // namespace stowage

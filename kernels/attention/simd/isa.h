// The choice of the instruction set of the hot kernels.
//
// The kernels are compiled for several x86-64 levels (v2: SSE4.2, v3: AVX2 and FMA, v4: AVX-512).
// The first kernel that runs selects the widest level that the machine supports. The environment
// variable STOWAGE_ISA=v2|v3|v4 selects another level. Results of one level have the same bits on
// every machine; results of two levels differ by rounding. On machines other than x86-64 the only
// level is "portable".
//
//   const std::string problem = isa_problem();
//   if (!problem.empty()) refuse("STOWAGE_ISA", problem);
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace stowage::kernels {

// Returns the levels that are compiled in and that this machine supports, the narrowest vectors
// first.
std::vector<std::string> isa_levels();

// Returns the error of STOWAGE_ISA, for instance "must be v2 or v3 on this machine, is v4", or an
// empty string. After an error, a kernel that runs throws std::runtime_error with that text after
// "STOWAGE_ISA: ".
std::string isa_problem();

// Selects a level for all later kernels and overrides STOWAGE_ISA; meant for tests and benchmarks.
// No kernel may be running. Returns false and changes nothing if `level` is not in isa_levels().
bool use_isa(std::string_view level);

// Returns the kernels of the selected level (table.h).
struct SimdTable;
const SimdTable& simd_table();

}  // namespace stowage::kernels

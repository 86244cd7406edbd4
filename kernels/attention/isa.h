// Which instruction set the hot kernels use.
//
// They are compiled for several x86-64 levels (v2: SSE4.2, v3: AVX2 and FMA, v4: AVX-512) and the
// widest that the machine has is taken when the first kernel runs. The environment variable
// STOWAGE_ISA=v2|v3|v4 asks for another. Results of one level are the same bits everywhere; between
// levels they differ by rounding. Elsewhere than on x86-64 there is one level, "portable".
//
//   const std::string problem = isa_problem();
//   if (!problem.empty()) refuse("STOWAGE_ISA", problem);
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace stowage::kernels {

// The levels that are built in and that this machine has, the narrowest first.
std::vector<std::string> isa_levels();

// Empty, or what is wrong with STOWAGE_ISA: "must be v2 or v3 on this machine, is v4". A kernel
// that runs nevertheless throws std::runtime_error with that text behind "STOWAGE_ISA: ".
std::string isa_problem();

// Another level from now on, whatever STOWAGE_ISA says: for tests and benchmarks, while no kernel
// runs. False, and nothing changed, if it is none of isa_levels().
bool use_isa(std::string_view level);

// The kernels themselves, of simd_table.h.
struct SimdTable;
const SimdTable& simd_table();

}  // namespace stowage::kernels

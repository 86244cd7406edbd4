// The hot kernels for machines that are not x86-64, with the compiler's default instructions
// (simd_body.inc).
#define STOWAGE_LEVEL portable
#define STOWAGE_LANES 4
#define STOWAGE_ROWS 4
#define STOWAGE_VECTORS 2

#include <cstdint>

#include "kernels/attention/simd_table.h"
// simd_body.inc uses the headers above
#include "kernels/attention/simd_body.inc"

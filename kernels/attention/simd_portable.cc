// The hot kernels for machines that are not x86-64; the compiler's default instructions
// (simd_body.inc).
#define STOWAGE_LEVEL portable
#define STOWAGE_LANES 4
#define STOWAGE_ROWS 4
#define STOWAGE_VECTORS 2

#include <cstdint>

#include "kernels/attention/simd_table.h"
// after what it uses
#include "kernels/attention/simd_body.inc"

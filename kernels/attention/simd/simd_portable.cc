// The hot kernels for machines that are not x86-64, with the compiler's default instructions
// (body.inc).
#define STOWAGE_LEVEL portable
#define STOWAGE_LANES 4
#define STOWAGE_ROWS 4
#define STOWAGE_VECTORS 2

#include <cstdint>

#include "kernels/attention/simd/table.h"
// body.inc uses the headers above
#include "kernels/attention/simd/body.inc"

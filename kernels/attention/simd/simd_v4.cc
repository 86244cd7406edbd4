// The hot kernels for x86-64-v4; compiled with -march=x86-64-v4 (body.inc).
#define STOWAGE_LEVEL v4
#define STOWAGE_LANES 16
#define STOWAGE_ROWS 6
#define STOWAGE_VECTORS 4

#include <cstdint>

#include "kernels/attention/simd/table.h"
// body.inc uses the headers above
#include "kernels/attention/simd/body.inc"

// The hot kernels for x86-64-v3; compiled with -march=x86-64-v3 (body.inc).
#define STOWAGE_LEVEL v3
#define STOWAGE_LANES 8
#define STOWAGE_ROWS 6
#define STOWAGE_VECTORS 2

#include <cstdint>

#include "kernels/attention/simd/table.h"
// body.inc uses the headers above
#include "kernels/attention/simd/body.inc"

// The hot kernels for x86-64-v2; compiled with -march=x86-64-v2 (body.inc).
#define STOWAGE_LEVEL v2
#define STOWAGE_LANES 4
#define STOWAGE_ROWS 4
#define STOWAGE_VECTORS 2

#include <cstdint>

#include "kernels/attention/simd/table.h"
// body.inc uses the headers above
#include "kernels/attention/simd/body.inc"

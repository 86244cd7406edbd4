#include "tests/cli/paths.h"

namespace stowage {

const char* const kStowagePath = STOWAGE_BINARY;
const char* const kBenchPath = STOWAGE_BENCH_BINARY;
const char* const kJumpingClockPath = STOWAGE_JUMPING_CLOCK;

}  // namespace stowage

// Paths of the programs that the tests start. Only one unit depends on the build folder, so that
// all other objects are equal in every preset and ccache can reuse them.
#pragma once

namespace stowage {

extern const char* const kStowagePath;       // the command
extern const char* const kBenchPath;         // stowage_bench
extern const char* const kJumpingClockPath;  // loaded into the command

}  // namespace stowage

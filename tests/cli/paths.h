// Where the programs lie that the tests start. One unit knows the build folder, so that all others
// are compiled the same in every preset, and ccache knows them again.
#pragma once

namespace stowage {

extern const char* const kStowagePath;       // the command
extern const char* const kBenchPath;         // stowage_bench
extern const char* const kJumpingClockPath;  // to be loaded into the command

}  // namespace stowage

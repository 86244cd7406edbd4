// Error codes of the command itself; instances/errors.md has those of file contents.
#pragma once

namespace stowage {

inline constexpr char kUsage[] = "E001";       // the command line cannot be understood
inline constexpr char kUnwritable[] = "E002";  // an output file cannot be written
inline constexpr char kInternal[] = "E003";    // a bug of stowage or of a backend
// the machine, or a limit on it, refused more memory
inline constexpr char kOutOfMemory[] = "E004";

}  // namespace stowage

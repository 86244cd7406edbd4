// Error codes of the command itself, beside those of instances/errors.md for what is in a file.
#pragma once

namespace stowage {

inline constexpr char kUsage[] = "E001";        // the command line cannot be understood
inline constexpr char kUnwritable[] = "E002";   // an output file cannot be written
inline constexpr char kInternal[] = "E003";     // a bug of ours or of a backend
inline constexpr char kOutOfMemory[] = "E004";  // the machine or a limit on it gives no more memory

}  // namespace stowage

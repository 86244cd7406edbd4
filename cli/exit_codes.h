// The exit code of every command; the JSON answer repeats it as "exit_code".
//
//   return to_int(ExitCode::refused);
#pragma once

namespace stowage {

enum class ExitCode {
  ok = 0,             // a verified plan, a valid plan, a passed run
  refused = 1,        // proven infeasible, an invalid plan, a failed run
  bad_input = 2,      // usage, an input or output file, a backend that is not built in
  unknown = 3,        // no plan within the limits and no proof that there is none
  internal = 70,      // a bug, a backend that lied, an answer that could not be written to stdout
  interrupted = 130,  // the second Ctrl-C
};

constexpr int to_int(ExitCode code) { return static_cast<int>(code); }

}  // namespace stowage

// The exit code of every command; the JSON answer repeats it as "exit_code".
//
//   return to_int(ExitCode::refused);
#pragma once

#include <array>
#include <string_view>

namespace stowage {

enum class ExitCode {
  ok = 0,         // a verified plan, a valid plan, a passed run
  refused = 1,    // proven infeasible, an invalid plan, a failed run
  bad_input = 2,  // usage error, unreadable input or output file, a backend that is not built in
  unknown = 3,    // no plan (or no layout of an order) and no proof within the limits
  // a bug, wrong results of a backend, an answer that could not be written to stdout
  internal = 70,
  interrupted = 130,  // second Ctrl-C
};

constexpr int to_int(ExitCode code) { return static_cast<int>(code); }

struct ExitCodeText {
  ExitCode code;
  std::string_view meaning;
};

// The texts for the help and the manual page.
inline constexpr std::array<ExitCodeText, 6> kExitCodeTexts = {{
    {ExitCode::ok, "a verified plan, a valid plan, a run that passed"},
    {ExitCode::refused, "proven infeasible, an invalid plan, a run that failed"},
    {ExitCode::bad_input, "bad usage or input, an output that cannot be written"},
    {ExitCode::unknown, "nothing found within the limits, and no proof"},
    {ExitCode::internal, "internal error"},
    {ExitCode::interrupted, "the second Ctrl-C; the first finishes with the best plan"},
}};

}  // namespace stowage

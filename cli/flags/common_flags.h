// The flags that mean the same in every command that has them.
//
//   SolveFlags flags_;                                   // a member of the command
//   flags_.declare(flags);                               // in declare()
//   Result<SolveOptions> options = flags_.options(...);  // in run()
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cli/flags/flags.h"
#include "cli/terminal/console.h"
#include "instances/budget.h"
#include "instances/families.h"
#include "instances/result.h"
#include "solvers/solve.h"

namespace stowage {

// --log-level, --progress (of commands that may take longer than a second) and --timeless.
class OutputFlags {
 public:
  // Without --timeless where clocks make the answer.
  void declare(Flags& flags, bool with_progress, bool with_timeless = true);
  void apply(Console& console) const;

 private:
  std::string level_ = "info";
  std::string progress_ = "auto";
  bool timeless_ = false;
};

// --solver, --time-limit, --gap, --node-limit and --seed.
class SolveFlags {
 public:
  // `time_limit` is what --time-limit means to the command, its default included.
  void declare(Flags& flags,
               const std::string& time_limit =
                   "Wall clock of the search; default none: until it ends, or Ctrl-C ends it with "
                   "the best plan");

  // What the flags ask for, method and start left at their defaults. Error: the solver is not built
  // in.
  Result<SolveOptions> options() const;

  Budget::Limits limits(const std::atomic<bool>& interrupt) const;
  std::uint64_t seed() const { return static_cast<std::uint64_t>(seed_.value_or(0)); }

  // "gap 0.50%  time limit 10 s  seed 0": the limits that are set.
  std::string describe() const;

 private:
  std::string solver_ = "auto";
  std::optional<double> time_limit_s_;
  std::optional<double> gap_;
  std::optional<std::int64_t> node_limit_;
  std::optional<std::int64_t> seed_;
};

// Error E001 at `flag` unless `method` is one of the instance's; names the choices and the nearest.
std::optional<InputError> check_method(const Instance& instance, const std::string& method,
                                       const std::string& flag);

// "192k" and "192K" are 192000, "1M" is 1000000, "192000" is itself. Error: E001 at `flag` for
// anything else.
Result<Tokens> read_token_flag(const std::string& flag, const std::string& text);

// The name of the backend that `options` would use, empty if none is built in.
std::string solver_name(const SolveOptions& options);

}  // namespace stowage

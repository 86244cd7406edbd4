// The flags with the same meaning in several commands.
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

// --log-level, --progress (for commands that may take longer than a second) and --timeless.
class OutputFlags {
 public:
  // `with_timeless` is false for commands whose answer depends on measured times.
  void declare(Flags& flags, bool with_progress, bool with_timeless = true);
  void apply(Console& console) const;

 private:
  std::string level_ = "info";
  std::string progress_ = "auto";
  bool timeless_ = false;
};

// The most that --threads takes.
inline constexpr std::int64_t kMaxThreads = 1024;

// Returns the cores that this process may use, from 1 to kMaxThreads: the default of --threads
// where a command uses all cores.
std::int64_t usable_cores();

// --solver, --time-limit, --gap, --node-limit and --seed.
class SolveFlags {
 public:
  // `time_limit` is the help text of --time-limit in this command, including its default.
  void declare(Flags& flags,
               const std::string& time_limit =
                   "Wall clock of the search; default none: until it ends, or Ctrl-C ends it with "
                   "the best plan");

  // Returns the options that the flags set; method and start keep their defaults. Error: the solver
  // is not built in.
  Result<SolveOptions> options() const;

  Budget::Limits limits(const std::atomic<bool>& interrupt) const;
  std::uint64_t seed() const { return static_cast<std::uint64_t>(seed_.value_or(0)); }

  // Returns the limits that are set, for instance "gap 0.50%  time limit 10 s  seed 0".
  std::string describe() const;

 private:
  std::string solver_ = "auto";
  std::optional<double> time_limit_s_;
  std::optional<double> gap_;
  std::optional<std::int64_t> node_limit_;
  std::optional<std::int64_t> seed_;
};

// Returns E001 at `flag` unless the instance has `method`. The message names the choices and the
// nearest one.
std::optional<InputError> check_method(const Instance& instance, const std::string& method,
                                       const std::string& flag);

// Returns a number of tokens: "192000" and "192k" are 192000, "192K" is 196608, "1m" is 10^6, "1M"
// is 2^20. Configurations of models mean 2^10 by K (a context of 128K is 131072), and so does vLLM,
// whose rule for small and large letters this is. Error: E001 at `flag` for any other text.
Result<Tokens> read_token_flag(const std::string& flag, const std::string& text);

// The same, with a warning that states the number behind K or M.
Result<Tokens> read_token_flag(Console& console, const std::string& flag, const std::string& text);

// Returns the name of the backend that `options` selects, or an empty string if no backend is built
// in.
std::string solver_name(const SolveOptions& options);

}  // namespace stowage

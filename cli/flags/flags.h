// The flags of a command: their names, their values, and errors with texts of our own.
//
//   Flags flags("stowage solve", "INSTANCE", "Plan an instance");
//   flags.choice("--solver", options.solver, {"auto", "cbc", "glpk", "highs"}, "MILP backend");
//   if (auto error = flags.parse(arguments)) complain(*error);
//
// An example of an error is "--solver: unknown value 'scip' (choose auto, cbc, glpk, highs)". For a
// misspelt flag the error names the nearest known flag. If a flag is given twice, its last value
// counts. A variable keeps its value if its flag is not given. CLI11 splits the arguments and lays
// out the help.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "instances/result.h"

namespace CLI {
class App;
}

namespace stowage {

// The texts of one flag or positional for the help, the manual page and the shell completions.
struct FlagText {
  std::vector<std::string> names;    // "-t", "--time-limit"; for a positional only its name
  std::string placeholder;           // placeholder of its value; empty for a flag without a value
  std::vector<std::string> choices;  // allowed values, if they are a list
  std::string help;
  bool repeated = false;  // a positional that takes any number of values

  bool positional() const { return names.front().front() != '-'; }
  bool takes_value() const { return !placeholder.empty(); }
};

class Flags {
 public:
  // `command` is the command's name in errors, `arguments` follow it in the usage line, and
  // `summary` is the first line of the help.
  Flags(const std::string& command, const std::string& arguments, const std::string& summary);
  ~Flags();
  Flags(const Flags&) = delete;
  Flags& operator=(const Flags&) = delete;

  // Every target must outlive parse().
  void positional(const std::string& name, std::string& target, const std::string& help,
                  bool required = true);
  // Takes any number of further values after the other positionals.
  void further(const std::string& name, std::vector<std::string>& target, const std::string& help);
  // A required positional whose value must be one of `choices`.
  void positional_choice(const std::string& name, std::string& target,
                         const std::vector<std::string>& choices, const std::string& help);
  void toggle(const std::string& names, bool& target, const std::string& help);
  void text(const std::string& names, std::string& target, const std::string& placeholder,
            const std::string& help);
  void choice(const std::string& names, std::string& target,
              const std::vector<std::string>& choices, const std::string& help);
  // A decimal in [least, most]; never NaN.
  void number(const std::string& names, std::optional<double>& target,
              const std::string& placeholder, double least, double most, const std::string& help);
  void integer(const std::string& names, std::optional<std::int64_t>& target,
               const std::string& placeholder, std::int64_t least, std::int64_t most,
               const std::string& help);
  // Comma-separated words; none may be empty.
  void list(const std::string& names, std::vector<std::string>& target,
            const std::string& placeholder, const std::string& help);

  // Sets the targets. Returns the first error, with code E001 and the flag as pointer, or nullopt.
  std::optional<InputError> parse(const std::vector<std::string>& arguments);

  // True if the flag is on the command line, at any position and regardless of other errors.
  bool help_wanted() const { return help_wanted_; }
  bool version_wanted() const { return version_wanted_; }
  std::string help() const;

  // Returns the texts in the order of declaration.
  const std::vector<FlagText>& texts() const { return texts_; }

 private:
  struct Positional {
    std::string name;
    const std::string* target;
    bool required;
    std::vector<std::string> choices;  // empty: any value
  };

  std::optional<InputError> check_names(const std::vector<std::string>& arguments) const;
  void describe(const std::string& names, const std::string& placeholder, const std::string& help,
                const std::vector<std::string>& choices = {});
  std::vector<std::string> long_names() const;

  std::unique_ptr<CLI::App> app_;
  std::vector<Positional> positionals_;
  std::vector<FlagText> texts_;
  bool help_wanted_ = false;
  bool version_wanted_ = false;
};

}  // namespace stowage

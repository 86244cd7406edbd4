// The flags of a command: what they are called, what they accept, and errors in our own words.
//
//   Flags flags("stowage solve", "INSTANCE", "Plan an instance");
//   flags.choice("--solver", options.solver, {"auto", "cbc", "glpk"}, "MILP backend");
//   if (auto error = flags.parse(arguments)) complain(*error);
//
// Errors read "--solver: unknown value 'scip' (choose auto, cbc, glpk)" and name the nearest known
// flag for a misspelt one. A flag given twice counts with its last value. Variables keep what they
// held when the flag is not given. CLI11 does the splitting and the layout of the help.
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

// One flag or positional as the help, the manual page and the shell completions tell it.
struct FlagText {
  std::vector<std::string> names;    // "-t", "--time-limit"; of a positional its name alone
  std::string placeholder;           // of its value; empty for a flag that takes none
  std::vector<std::string> choices;  // of its value, where there are such
  std::string help;

  bool positional() const { return names.front().front() != '-'; }
  bool takes_value() const { return !placeholder.empty(); }
};

class Flags {
 public:
  // `command` names the command in errors; `arguments` follow it in the usage line; `summary` heads
  // the help.
  Flags(const std::string& command, const std::string& arguments, const std::string& summary);
  ~Flags();
  Flags(const Flags&) = delete;
  Flags& operator=(const Flags&) = delete;

  // Every target must outlive parse().
  void positional(const std::string& name, std::string& target, const std::string& help,
                  bool required = true);
  // A required one that must be one of `choices`.
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

  // Sets the targets. The first error found, if any: code E001, the flag as pointer.
  std::optional<InputError> parse(const std::vector<std::string>& arguments);

  // Given on the command line, wherever and whatever else is wrong with it.
  bool help_wanted() const { return help_wanted_; }
  bool version_wanted() const { return version_wanted_; }
  std::string help() const;

  // In the order of declaration.
  const std::vector<FlagText>& texts() const { return texts_; }

 private:
  struct Positional {
    std::string name;
    const std::string* target;
    bool required;
    std::vector<std::string> choices;  // empty: anything
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

// One command of `stowage`: its name, its flags and its run.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/flags/flags.h"
#include "cli/terminal/console.h"
#include "cli/terminal/error/exit_codes.h"

namespace stowage {

struct CommandText {
  std::string_view name;                     // "solve", "generate layout"
  std::string_view arguments;                // "INSTANCE [-o PLAN]"
  std::string_view summary;                  // one line
  std::array<std::string_view, 3> examples;  // each example runs after the examples before it
};

class Command {
 public:
  virtual ~Command() = default;
  virtual CommandText text() const = 0;
  virtual void declare(Flags& flags) = 0;
  virtual ExitCode run(Console& console) = 0;  // called after the flags are parsed
};

std::unique_ptr<Command> make_audit_command();
std::unique_ptr<Command> make_calibrate_command();
std::unique_ptr<Command> make_compare_command();
std::unique_ptr<Command> make_completion_command();
std::unique_ptr<Command> make_configure_command();
std::unique_ptr<Command> make_convert_command();
std::unique_ptr<Command> make_explain_command();
std::unique_ptr<Command> make_export_command();
std::unique_ptr<Command> make_fit_command();
std::unique_ptr<Command> make_generate_assign_command();
std::unique_ptr<Command> make_generate_layout_command();
std::unique_ptr<Command> make_generate_order_command();
std::unique_ptr<Command> make_generate_scatter_command();
std::unique_ptr<Command> make_generate_strategy_command();
std::unique_ptr<Command> make_import_command();
std::unique_ptr<Command> make_manual_command();
std::unique_ptr<Command> make_memory_command();
std::unique_ptr<Command> make_params_command();
std::unique_ptr<Command> make_partition_command();
std::unique_ptr<Command> make_plan_stream_command();
std::unique_ptr<Command> make_propose_command();
std::unique_ptr<Command> make_render_command();
std::unique_ptr<Command> make_run_command();
std::unique_ptr<Command> make_schema_command();
std::unique_ptr<Command> make_solve_command();
std::unique_ptr<Command> make_verify_command();

// Returns the text of the error for a command that this build leaves out, with the remedy; empty
// for any other name. A build without kernels leaves run and calibrate out
// (commands/run/no_execution.cc): their makers return null.
std::string_view missing_command(std::string_view name);

// Returns all commands in the order of the help.
std::vector<std::unique_ptr<Command>> make_commands();

// The texts of a command for the manual page and the completions.
struct CommandManual {
  CommandText text;
  std::vector<FlagText> flags;  // including positionals
};
std::vector<CommandManual> command_manuals();

}  // namespace stowage

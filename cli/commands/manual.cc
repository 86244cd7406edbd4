// stowage man: the manual page, for those who have none installed and for the package that does.
#include "cli/flags/manual.h"

#include "cli/flags/command.h"
#include "cli/flags/common_flags.h"

namespace stowage {
namespace {

class ManualCommand : public Command {
 public:
  CommandText text() const override {
    return {.name = "man",
            .arguments = "",
            .summary = "Print the manual page; man -l shows it",
            .examples = {"stowage man", "stowage man --log-level warn",
                         "stowage man --log-level error"}};
  }

  void declare(Flags& flags) override { output_flags_.declare(flags, false); }

  ExitCode run(Console& console) override {
    output_flags_.apply(console);
    return console.answer(manual_page(command_manuals()), ExitCode::ok);
  }

 private:
  OutputFlags output_flags_;
};

}  // namespace

std::unique_ptr<Command> make_manual_command() { return std::make_unique<ManualCommand>(); }

}  // namespace stowage

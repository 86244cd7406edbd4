// stowage completion: what a shell needs to complete command lines.
#include "cli/flags/completion.h"

#include "cli/flags/command.h"
#include "cli/flags/common_flags.h"

namespace stowage {
namespace {

class CompletionCommand : public Command {
 public:
  CommandText text() const override {
    return {.name = "completion",
            .arguments = "SHELL",
            .summary = "Print what a shell needs to complete command lines",
            .examples = {"stowage completion bash", "stowage completion zsh",
                         "stowage completion bash --log-level error"}};
  }

  void declare(Flags& flags) override {
    flags.positional_choice("SHELL", shell_, {"bash", "zsh"},
                            "bash or zsh; read it with source <(stowage completion SHELL)");
    output_flags_.declare(flags, false);
  }

  ExitCode run(Console& console) override {
    output_flags_.apply(console);
    const std::vector<CommandManual> commands = command_manuals();
    return console.answer(shell_ == "zsh" ? zsh_completion(commands) : bash_completion(commands),
                          ExitCode::ok);
  }

 private:
  std::string shell_;
  OutputFlags output_flags_;
};

}  // namespace

std::unique_ptr<Command> make_completion_command() { return std::make_unique<CompletionCommand>(); }

}  // namespace stowage

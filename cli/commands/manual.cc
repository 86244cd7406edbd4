// stowage man: prints the manual page, for users without an installed page and for the package.
#include <string>
#include <string_view>
#include <vector>

#include "cli/flags/command.h"
#include "cli/flags/common_flags.h"
#include "cli/terminal/error/exit_codes.h"

namespace stowage {
namespace {

// Escapes roff text: a hyphen stays a hyphen, and no line is parsed as a macro.
std::string roff(std::string_view text) {
  std::string all;
  if (text.starts_with('.') || text.starts_with('\'')) all += "\\&";
  for (const char c : text) {
    if (c == '\\') {
      all += "\\e";
    } else if (c == '-') {
      all += "\\-";
    } else {
      all += c;
    }
  }
  return all;
}

std::string bold(std::string_view text) { return "\\fB" + roff(text) + "\\fR"; }
std::string italic(std::string_view text) { return "\\fI" + roff(text) + "\\fR"; }

// Returns the ".TP" entry of one flag: its names, its value and its help.
std::string entry(const FlagText& flag) {
  std::string names;
  for (const std::string& name : flag.names) {
    names += (names.empty() ? "" : ", ") + (flag.positional() ? italic(name) : bold(name));
  }
  if (!flag.positional() && flag.takes_value()) names += ' ' + italic(flag.placeholder);
  return ".TP\n" + names + '\n' + roff(flag.help) + '\n';
}

std::string section(const CommandManual& command) {
  std::string text = ".SS " + roff("stowage ") + roff(command.text.name) + ' ' +
                     roff(command.text.arguments) + '\n' + roff(command.text.summary) + ".\n";
  for (const FlagText& flag : command.flags) {
    // flags of every command
    if (flag.names.front() == "-h" || flag.names.front() == "-V") continue;
    text += entry(flag);
  }
  text += ".PP\nFor example:\n.PP\n.nf\n";
  for (const std::string_view example : command.text.examples) text += roff(example) + '\n';
  return text + ".fi\n";
}

// Returns the page in man(7) macros, for man and mandoc, generated from the help of the commands.
std::string manual_page(const std::vector<CommandManual>& commands) {
  std::string text =
      ".TH STOWAGE 1 \"\" \"stowage " STOWAGE_VERSION
      "\" \"User Commands\"\n"
      ".SH NAME\n"
      "stowage \\- plan long\\-context LLM training and prove how good the plans are\n"
      ".SH SYNOPSIS\n";
  for (const CommandManual& command : commands) {
    text += bold("stowage") + ' ' + bold(command.text.name) + ' ' + italic(command.text.arguments) +
            " [" + italic("FLAG") + "]...\n.br\n";
  }
  text +=
      bold("stowage") + ' ' + bold("help") + ' ' + italic("COMMAND") +
      "\n.SH DESCRIPTION\n"
      "stowage plans which sequences of a training step share a micro\\-batch and how many GPUs "
      "each of them is scattered over, which replicas of a cluster take which sequences, and where "
      "in memory every tensor lies. Every plan is checked by code that no planner shares before it "
      "is printed or saved, and comes with a bound that no plan can beat.\n"
      ".PP\n"
      "The answer goes to standard output, as JSON; everything for people goes to standard error. "
      "A file named \\- is standard input or output. Output files appear whole or not at all.\n"
      ".SH COMMANDS\n"
      "Every command takes " +
      bold("--help") + " and " + bold("--version") + ".\n";
  for (const CommandManual& command : commands) text += section(command);
  text += ".SH EXIT STATUS\n";
  for (const auto& [code, meaning] : kExitCodeTexts) {
    text += ".TP\n" + bold(std::to_string(to_int(code))) + '\n' + roff(meaning) + '\n';
  }
  return text +
         ".SH ENVIRONMENT\n"
         ".TP\n" +
         bold("NO_COLOR") +
         "\nIf set and not empty, nothing is printed in colour or bold.\n"
         ".SH NOTES\n"
         "The file formats, the error index and the mathematics are described in docs/ of the "
         "source tree; " +
         bold("stowage schema") + " prints JSON Schemas.\n";
}

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

#include "cli/commands/command_line.h"

#include <unistd.h>

#include <csignal>
#include <exception>
#include <new>

#include "cli/flags/command.h"
#include "cli/flags/suggest.h"
#include "cli/terminal/console.h"
#include "cli/terminal/error/error_codes.h"
#include "cli/terminal/version.h"
#include "solvers/milp/watch.h"

namespace stowage {
namespace {

constexpr std::string_view kExamples =
    "Examples:\n"
    "  stowage generate scatter --preset gpt-7b --devices 16 --count 64 --seed 1 -o step.json\n"
    "  stowage solve step.json -t 1 -o step-plan.json\n"
    "  stowage verify step.json step-plan.json\n";

std::string command_help(const CommandText& text, const Flags& flags) {
  std::string help = flags.help() + "Examples:\n";
  for (const std::string_view example : text.examples) help += "  " + std::string(example) + '\n';
  return help;
}

// Returns a line for each command whose name begins with `prefix`.
std::string list_of(const std::vector<std::unique_ptr<Command>>& commands,
                    const std::string& prefix) {
  std::string list;
  for (const auto& command : commands) {
    const CommandText text = command->text();
    std::string name = "  " + std::string(text.name);
    if (text.name.rfind(prefix, 0) != 0) continue;
    name.resize(21, ' ');
    list += name + std::string(text.summary) + '\n';
  }
  return list;
}

std::string overview(const std::vector<std::unique_ptr<Command>>& commands) {
  std::string help =
      "stowage plans long-context LLM training and proves how good its plans are.\n"
      "\nUsage: stowage COMMAND [ARGUMENTS]   (stowage COMMAND --help tells more)\n\nCommands:\n" +
      list_of(commands, "");
  help += "\nstdout carries the answer (JSON), stderr what people read.\n\nExit codes:\n";
  for (const auto& [code, meaning] : kExitCodeTexts) {
    std::string number = "  " + std::to_string(to_int(code));
    number.resize(7, ' ');
    help += number + std::string(meaning) + '\n';
  }
  help +=
      "\nFlags:\n  -h, --help     Show this help\n  -V, --version  Show version, backends, "
      "licences\n\n";
  return help + std::string(kExamples);
}

std::vector<std::string> names_of(const std::vector<std::unique_ptr<Command>>& commands) {
  std::vector<std::string> names;
  for (const auto& command : commands) names.emplace_back(command->text().name);
  return names;
}

ExitCode run_command(Command& command, const std::vector<std::string>& arguments,
                     Console& console) {
  const CommandText text = command.text();
  Flags flags("stowage " + std::string(text.name), std::string(text.arguments),
              std::string(text.summary));
  command.declare(flags);
  const std::optional<InputError> error = flags.parse(arguments);
  if (flags.help_wanted()) return console.answer(command_help(text, flags), ExitCode::ok);
  if (flags.version_wanted()) return console.answer(version_text(), ExitCode::ok);
  if (error) return console.refuse(*error);
  return command.run(console);
}

// Returns the command that the first one or two words name, and removes these words.
Command* take_command(const std::vector<std::unique_ptr<Command>>& commands,
                      std::vector<std::string>& arguments) {
  for (const auto& command : commands) {
    const std::string_view name = command->text().name;
    std::string words = arguments.front();
    std::ptrdiff_t count = 1;
    if (name.find(' ') != std::string_view::npos && arguments.size() > 1) {
      words += ' ' + arguments[1];
      count = 2;
    }
    if (words != name) continue;
    arguments.erase(arguments.begin(), arguments.begin() + count);
    return command.get();
  }
  return nullptr;
}

// Returns the second words of the commands that begin with `word`: "scatter", "layout" for
// "generate".
std::vector<std::string> families_of(const std::vector<std::unique_ptr<Command>>& commands,
                                     const std::string& word) {
  std::vector<std::string> families;
  for (const auto& command : commands) {
    const std::string name(command->text().name);
    if (name.rfind(word + ' ', 0) == 0) families.push_back(name.substr(word.size() + 1));
  }
  return families;
}

// Returns the error for words that name no command.
InputError unknown_command(const std::vector<std::unique_ptr<Command>>& commands,
                           const std::vector<std::string>& arguments) {
  const std::string& name = arguments.front();
  if (const std::string_view missing = missing_command(name); !missing.empty()) {
    return {kUsage, name, std::string(missing)};
  }
  if (const auto families = families_of(commands, name); !families.empty()) {
    const std::string choice = " (choose " + comma_list(families) + ')';
    if (arguments.size() < 2) return {kUsage, "FAMILY", "is missing" + choice};
    return {kUsage, "FAMILY",
            "unknown value '" + arguments[1] + '\'' + choice + suggestion(arguments[1], families)};
  }
  const bool flag = name.size() > 1 && name.front() == '-';
  return {kUsage, name,
          (flag ? "a command must come first (choose " : "unknown command (choose ") +
              comma_list(names_of(commands)) + ')' + suggestion(name, names_of(commands))};
}

ExitCode dispatch(std::vector<std::string> arguments, Console& console) {
  const std::vector<std::unique_ptr<Command>> commands = make_commands();
  if (arguments.empty()) {
    return console.refuse(
        {kUsage, "COMMAND",
         "is missing (choose " + comma_list(names_of(commands)) + "; see stowage --help)"});
  }
  const std::string first = arguments.front();
  if (first == "-V" || first == "--version") return console.answer(version_text(), ExitCode::ok);
  if (first == "-h" || first == "--help" || (first == "help" && arguments.size() == 1)) {
    return console.answer(overview(commands), ExitCode::ok);
  }
  if (first == "help") {  // stowage help solve
    arguments.erase(arguments.begin());
    arguments.push_back("--help");
  }
  if (Command* command = take_command(commands, arguments)) {
    return run_command(*command, arguments, console);
  }
  const bool helped = arguments.size() == 2 && (arguments[1] == "--help" || arguments[1] == "-h");
  if (helped && !families_of(commands, arguments.front()).empty()) {
    return console.answer("Usage: stowage " + arguments.front() +
                              " FAMILY [ARGUMENTS]   (with --help it tells more)\n\n" +
                              list_of(commands, arguments.front() + ' '),
                          ExitCode::ok);
  }
  return console.refuse(unknown_command(commands, arguments));
}

int run(const std::vector<std::string>& arguments) {
  Console console;
  try {
    return to_int(dispatch(arguments, console));
  } catch (const std::bad_alloc&) {
    return to_int(console.refuse(
        {kOutOfMemory, "memory", "is used up: raise its limit or plan less at a time"},
        ExitCode::internal));
  } catch (const std::exception& e) {
    return to_int(console.refuse({kInternal, "stowage", e.what()}, ExitCode::internal));
  }
}

}  // namespace

int run_command_line(const std::vector<std::string>& arguments) {
  // If the reader of a pipe has gone, the write must fail with an error instead of ending the
  // process.
  std::signal(SIGPIPE, SIG_IGN);
  // A write beyond the limit on file sizes must fail too: a signal would leave the temporary file
  // behind.
  std::signal(SIGXFSZ, SIG_IGN);
  survive_aborts();
  const int code = run(arguments);
  // All output is written, so the process may end without destructors.
  if (backend_left_behind()) _exit(code);
  return code;
}

}  // namespace stowage

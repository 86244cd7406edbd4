// Who hears what: stdout carries the JSON answer and nothing else, stderr everything for people.
//
//   Console console;
//   console.info("feasible  15 310 ms");
//   return console.answer(json_text, ExitCode::ok);
//
// What may come from a file reaches a terminal through here alone, and is made printable here.
//
// A Console takes stdout for itself and points descriptor 1 to stderr, so that a library that
// prints cannot spoil the answer.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/terminal/cli_error.h"
#include "cli/terminal/exit_codes.h"
#include "instances/result.h"

namespace stowage {

class Table;

enum class LogLevel { error, warn, info, debug };
enum class ProgressMode { automatic, always, never };

struct ConsoleSettings {
  LogLevel level = LogLevel::info;
  ProgressMode progress = ProgressMode::automatic;
  bool timeless = false;  // no wall-clock figure on either stream
};

// All of them as errors of `file`; "" for errors whose pointers already say where they are.
std::vector<CliError> errors_in(const std::string& file, const std::vector<InputError>& errors);

class Console {
 public:
  Console();
  ~Console();
  Console(const Console&) = delete;
  Console& operator=(const Console&) = delete;

  ConsoleSettings settings;

  // A line for people, without its '\n'. Lines below settings.level are dropped. Names in a line
  // may come from anyone: every control character of it, line ends included, is shown as '?'
  // (printable() of instances/json/text.h). Colours are added afterwards.
  void error(std::string_view line);
  void warn(std::string_view line);
  void info(std::string_view line);
  void debug(std::string_view line);
  // info() of a word, bold on a terminal without NO_COLOR, and what follows it.
  void verdict(std::string_view word, std::string_view rest);
  // What was asked for and found wrong, such as a violation: as important as a warning, but none.
  void finding(std::string_view line);

  // Not subject to the level.
  void table(const Table& table);

  // Whether stderr is a terminal: only then may a line be written over.
  bool terminal() const { return terminal_; }

  // A line of the progress table. Not subject to the level: ask shows_progress().
  void table_line(std::string_view line);

  // Shows `line` on the terminal until the next line, of whatever kind, is written in its place.
  void rewrite_line(std::string_view line);

  // Whether the progress table is wanted.
  bool shows_progress() const;

  // Writes a part of an answer that comes piece by piece; false when stdout did not take it. The
  // last piece goes through answer().
  bool answer_part(const std::string& text);

  // Writes the answer to stdout. Returns `code`, or internal when stdout did not take it.
  ExitCode answer(const std::string& text, ExitCode code);

  // Lists the errors on stderr.
  void complain(const std::vector<CliError>& errors);

  // Lists the errors on stderr and gives the outcome with status "error" as the answer.
  ExitCode refuse(const std::vector<CliError>& errors, ExitCode code = ExitCode::bad_input);
  ExitCode refuse(const InputError& error, ExitCode code = ExitCode::bad_input);

 private:
  // Writes `marked` in a colour, if there are colours, and `rest`.
  void say(std::string_view colour, std::string_view marked, std::string_view rest);
  void say(std::string_view line) { say({}, {}, line); }
  void erase_line();
  void unanswered(int failure);  // an errno

  int answer_fd_ = -1;
  bool terminal_ = false;
  bool colours_ = false;
  bool line_open_ = false;
};

}  // namespace stowage

// Who hears what: stdout carries the JSON answer and nothing else, stderr everything for people.
//
//   Console console;
//   console.info("feasible  15 310 ms");
//   return console.answer(json_text, ExitCode::ok);
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

enum class LogLevel { error, warn, info, debug };
enum class ProgressMode { automatic, always, never };

struct ConsoleSettings {
  LogLevel level = LogLevel::info;
  ProgressMode progress = ProgressMode::automatic;
  bool timeless = false;  // no wall-clock figure on either stream
};

// `text` with control characters and bytes that are no UTF-8 shown as '?': names come from files
// and must not steer a terminal. The lines of a Console are made so anyway, but for line ends and
// colours.
std::string printable(std::string_view text);

// All of them as errors of `file`; "" for errors whose pointers already say where they are.
std::vector<CliError> errors_in(const std::string& file, const std::vector<InputError>& errors);

class Console {
 public:
  Console();
  ~Console();
  Console(const Console&) = delete;
  Console& operator=(const Console&) = delete;

  ConsoleSettings settings;

  // A line for people, without its '\n'. Lines below settings.level are dropped.
  void error(std::string_view line);
  void warn(std::string_view line);
  void info(std::string_view line);
  void debug(std::string_view line);
  // What was asked for and found wrong, such as a violation: as important as a warning, but none.
  void finding(std::string_view line);

  // Lines that each end in '\n', such as a table. Not subject to the level.
  void block(std::string_view lines);

  // Whether stderr is a terminal: only then may a line be written over.
  bool terminal() const { return terminal_; }

  // A line of the progress table. Not subject to the level: ask shows_progress().
  void table_line(std::string_view line);

  // Shows `line` on the terminal until the next line, of whatever kind, is written in its place.
  void rewrite_line(std::string_view line);

  // `text` as bold or red on a terminal without NO_COLOR, otherwise as it is.
  std::string bold(const std::string& text) const;
  std::string red(const std::string& text) const;

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
  void say(std::string_view line);
  void erase_line();
  void unanswered(int failure);  // an errno

  int answer_fd_ = -1;
  bool terminal_ = false;
  bool colours_ = false;
  bool line_open_ = false;
};

}  // namespace stowage

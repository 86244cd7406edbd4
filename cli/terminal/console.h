// The output streams of a command: stdout carries only the JSON answer, stderr all lines for
// people.
//
//   Console console;
//   console.info("feasible  15 310 ms");
//   return console.answer(json_text, ExitCode::ok);
//
// Text from files reaches a terminal only through this class, which makes it printable.
//
// A Console keeps stdout for itself and redirects descriptor 1 to stderr, so that output of a
// library cannot damage the answer.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/terminal/error/cli_error.h"
#include "cli/terminal/error/exit_codes.h"
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

// Returns the errors with `file` as their file; "" for errors whose pointers already name it.
std::vector<CliError> errors_in(const std::string& file, const std::vector<InputError>& errors);

class Console {
 public:
  Console();
  ~Console();
  Console(const Console&) = delete;
  Console& operator=(const Console&) = delete;

  ConsoleSettings settings;

  // Writes a line for people; `line` has no '
  // '. Lines below settings.level are dropped. A line may contain names from untrusted files, so
  // every control character, line ends included, is shown as '?' (printable() of
  // instances/json/text.h). Colours are added afterwards.
  void error(std::string_view line);
  void warn(std::string_view line);
  void info(std::string_view line);
  void debug(std::string_view line);
  // Writes info() with a word, bold on a terminal without NO_COLOR, and the rest of the line.
  void verdict(std::string_view word, std::string_view rest);
  // Writes a requested finding, such as a violation, at the level of a warning but without the word
  // "warning".
  void finding(std::string_view line);

  // Independent of the level.
  void table(const Table& table);

  // Returns whether stderr is a terminal, where a line may be overwritten.
  bool terminal() const { return terminal_; }

  // Writes a line of the progress table, independent of the level. Callers must check
  // shows_progress().
  void table_line(std::string_view line);

  // Shows `line` on the terminal until the next line of any kind overwrites it.
  void rewrite_line(std::string_view line);

  // Returns whether the progress table is shown.
  bool shows_progress() const;

  // Writes a part of an answer that is produced piece by piece. Returns false if writing to stdout
  // failed. The last piece must be written by answer().
  bool answer_part(const std::string& text);

  // Writes the answer to stdout. Returns `code`, or ExitCode::internal if writing to stdout failed.
  ExitCode answer(const std::string& text, ExitCode code);

  // Lists the errors on stderr.
  void complain(const std::vector<CliError>& errors);

  // Lists the errors on stderr and writes the outcome with status "error" as the answer.
  ExitCode refuse(const std::vector<CliError>& errors, ExitCode code = ExitCode::bad_input);
  ExitCode refuse(const InputError& error, ExitCode code = ExitCode::bad_input);

 private:
  // Writes `marked` in a colour, if colours are enabled, and then `rest`.
  void say(std::string_view colour, std::string_view marked, std::string_view rest);
  void say(std::string_view line) { say({}, {}, line); }
  void erase_line();
  void unanswered(int failure);  // `failure` is an errno

  int answer_fd_ = -1;
  bool terminal_ = false;
  bool colours_ = false;
  bool line_open_ = false;
};

}  // namespace stowage

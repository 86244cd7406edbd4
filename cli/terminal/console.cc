#include "cli/terminal/console.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <system_error>

#include "cli/terminal/error/error_answer.h"
#include "cli/terminal/files.h"
#include "cli/terminal/table.h"
#include "instances/json/text.h"

namespace stowage {
namespace {

constexpr std::string_view kBold = "\033[1m";
constexpr std::string_view kRed = "\033[31m";
constexpr std::string_view kPlain = "\033[0m";
// If the caller closed a standard stream, a file opened later would get its number and receive the
// stream's data. This function opens a substitute with the opposite direction, so that every use of
// it fails.
void fill_standard_streams() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(fd, F_GETFD) == -1) ::open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  }
}

}  // namespace

std::vector<CliError> errors_in(const std::string& file, const std::vector<InputError>& errors) {
  std::vector<CliError> all;
  for (const InputError& error : errors) all.push_back({file == "-" ? "stdin" : file, error});
  return all;
}

Console::Console() {
  fill_standard_streams();
  answer_fd_ = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  ::dup2(STDERR_FILENO, STDOUT_FILENO);
  terminal_ = ::isatty(STDERR_FILENO) == 1;
  const char* no_color = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  colours_ = terminal_ && (no_color == nullptr || *no_color == '\0') && term != nullptr &&
             std::string_view(term) != "dumb";
}

Console::~Console() {
  erase_line();
  if (answer_fd_ >= 0) ::close(answer_fd_);
}

void Console::say(std::string_view colour, std::string_view marked, std::string_view rest) {
  erase_line();
  std::string line = printable(marked);
  if (colours_ && !colour.empty()) line = std::string(colour) + line + std::string(kPlain);
  // A failure of stderr is ignored, since no other stream could report it.
  write_all(STDERR_FILENO, line + printable(rest) + '\n');
}

void Console::error(std::string_view line) { say(kRed, "stowage:", ' ' + std::string(line)); }

void Console::warn(std::string_view line) {
  if (settings.level >= LogLevel::warn) say("stowage: warning: " + std::string(line));
}

void Console::finding(std::string_view line) {
  if (settings.level >= LogLevel::warn) say(line);
}

void Console::info(std::string_view line) {
  if (settings.level >= LogLevel::info) say(line);
}

void Console::debug(std::string_view line) {
  if (settings.level >= LogLevel::debug) say(line);
}

void Console::verdict(std::string_view word, std::string_view rest) {
  if (settings.level >= LogLevel::info) say(kBold, word, rest);
}

void Console::table(const Table& table) {
  erase_line();
  write_all(STDERR_FILENO, table.text());
}

void Console::table_line(std::string_view line) { say(line); }

void Console::rewrite_line(std::string_view line) {
  write_all(STDERR_FILENO, "\r" + printable(line) + "\033[K");
  line_open_ = true;
}

void Console::erase_line() {
  if (line_open_) write_all(STDERR_FILENO, "\r\033[K");
  line_open_ = false;
}

bool Console::shows_progress() const {
  if (settings.progress == ProgressMode::automatic) return settings.level >= LogLevel::info;
  return settings.progress == ProgressMode::always;
}

bool Console::answer_part(const std::string& text) {
  erase_line();
  const int failure = write_all(answer_fd_, text);
  if (failure != 0) unanswered(failure);
  return failure == 0;
}

void Console::unanswered(int failure) {
  error("stdout: cannot be written: " + std::generic_category().message(failure) + " (errno " +
        std::to_string(failure) + ')');
}

ExitCode Console::answer(const std::string& text, ExitCode code) {
  erase_line();
  const int failure = write_all(answer_fd_, text);
  // close() reports errors that write() could not detect (quota, a full network disk).
  const int closing = failure == 0 && ::close(answer_fd_) != 0 ? errno : 0;
  if (failure == 0) answer_fd_ = -1;
  const int errno_value = failure != 0 ? failure : closing;
  if (errno_value == 0) return code;
  unanswered(errno_value);
  return ExitCode::internal;
}

void Console::complain(const std::vector<CliError>& errors) {
  for (const CliError& e : errors) {
    error(e.file.empty() ? e.error.pointer + ": " + e.error.message
                         : e.file + ": " + to_string(e.error));
  }
}

ExitCode Console::refuse(const std::vector<CliError>& errors, ExitCode code) {
  complain(errors);
  return answer(error_json(errors, code), code);
}

ExitCode Console::refuse(const InputError& error, ExitCode code) {
  return refuse(std::vector<CliError>{{"", error}}, code);
}

}  // namespace stowage
